"""How values look in messages, and how a broken law says what broke it."""

import re
from collections.abc import Mapping

from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import SnippetError, parse_expression
from tripybuild.trace.operation import Law
from tripybuild.types.vocabulary import SHAPE

_BRACES = re.compile(r"\{([^{}]+)\}")


def shown(value: object) -> str:
    """A value as a person would write it: shapes with brackets, words without quotes."""
    if isinstance(value, (list, tuple, range)):
        return f"[{', '.join(shown(item) for item in value)}]"
    type = getattr(value, "type", None)
    if type is not None:
        return str(type)
    return repr(value) if isinstance(value, (str, bytes)) else str(value)


def law_message(operator: str, law: Law, names: Mapping[str, object]) -> tuple[str, str]:
    """The sentence of a broken law, and the value of each name in it."""
    values = ", ".join(f"{name} = {shown(value)}" for name, value in names.items())
    if law.message is None:
        return f"`{operator}` requires `{law.text}`", values
    return _BRACES.sub(lambda found: _filled(found[1], names), law.message), values


def _filled(expression: str, names: Mapping[str, object]) -> str:
    """The value of one expression in braces; what cannot be evaluated stays as it was written."""
    try:
        return shown(evaluate(parse_expression(expression), names, SHAPE))
    except (SnippetError, EvaluationError):
        return f"{{{expression}}}"
