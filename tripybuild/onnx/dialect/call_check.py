"""Static check of calls of ONNX's operators in snippets, against the newest versions."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tripybuild.language.call_check import check_arguments
from tripybuild.onnx.model import AttributeValue
from tripybuild.onnx.table import NEWEST, OperatorSchema, find_operator
from tripybuild.types.dtypes import dtype


def check_operator_call(
    name: str,
    positional_count: int | None,
    keywords: Iterable[str],
    literals: Mapping[int | str, object] | None = None,
) -> str | None:
    """What is wrong with `onnx.NAME(...)` in a snippet, as a sentence, or None.

    Args:
        name: The name of an operator.
        positional_count: How many arguments are positional; None when there is a `*` among them.
        keywords: The names of the others.
        literals: Arguments that are plain literals, by position or keyword.
    """
    schema = find_operator(name, NEWEST)
    if schema is None:
        return f"ONNX has no operator `{name}`"
    given = list(keywords)
    needed = {each.name: not each.optional and not each.variadic for each in schema.inputs}
    variadic = bool(schema.inputs) and schema.inputs[-1].variadic
    count = positional_count
    if count is not None and variadic:
        count = min(count, len(needed))
    if count is not None and count > len(needed):
        most = f"{len(needed)} input{'' if len(needed) == 1 else 's'}"
        return f"`onnx.{name}` takes {most}, and {count} are given by position"
    parameters = needed | {n: each.required for n, each in schema.attributes.items()}
    problem = check_arguments(f"onnx.{name}", parameters, count, given)
    return problem or _check_literals(schema, literals or {})


def _check_literals(schema: OperatorSchema, literals: Mapping[int | str, object]) -> str | None:
    """What is wrong with a literal in the place of an attribute."""
    for key, value in literals.items():
        formal = schema.attributes.get(str(key))
        if formal is None or value is None:
            continue
        try:
            READERS[formal.kind](value)
        except (KeyError, TypeError, ValueError):
            return f"`{key}` of `onnx.{schema.name}` is of kind {formal.kind}, not {value!r}"
    return None


def _integer(value: Any) -> AttributeValue:
    if isinstance(value, dtype):
        return value
    if not isinstance(value, int):
        raise TypeError(value)
    return int(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _integers(value: Any) -> AttributeValue:
    return [int(each) for each in value]


def _floats(value: Any) -> AttributeValue:
    return [float(each) for each in value]


def _texts(value: Any) -> AttributeValue:
    return [_text(each) for each in value]


READERS: Mapping[str, Callable[[Any], AttributeValue]] = {
    "int": _integer,
    "float": float,
    "string": _text,
    "ints": _integers,
    "floats": _floats,
    "strings": _texts,
}
