"""Arguments of calls: the defaults of what is left out, and what is inferred of what is given."""

from collections.abc import Mapping, Sequence
from typing import Any

from tripybuild.importer.call_program import CallValue
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.schema.operator.operator import Operator
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.patterns import tensors
from tripybuild.types.vocabulary import SHAPE


def default_of(operator: Operator, name: str) -> Any:
    """What an argument is that a call leaves out."""
    attribute = operator.attributes.get(name)
    if attribute is None or attribute.default is None:
        return None
    words = {word: word for each in operator.attributes.values() for word in _words(each.pattern)}
    try:
        return evaluate(attribute.default.program, {**BY_NAME, **words}, SHAPE)
    except (EvaluationError, UndecidedSize):
        return None


def inferred(operator: Operator, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What an operator computes of the arguments of a call, by name."""
    names: dict[str, Any] = {**BY_NAME, **arguments}
    for input in operator.inputs.values():
        value = arguments.get(input.name)
        for pattern in tensors(input.pattern):
            bound: dict[str, Any] = {d.name: None for d in pattern.shape or () if d.name}
            if isinstance(value, CallValue):
                bound |= pattern.bindings(value.shape)
                bound[pattern.element] = value.dtype
            names |= {name: found for name, found in bound.items() if names.get(name) is None}
    for name, snippet in operator.infer.items():
        names[name] = evaluate(snippet.program, names, SHAPE, passes=(UndecidedSize,))
    return {name: value for name, value in names.items() if name not in {*BY_NAME, *arguments}}


def _words(pattern: object) -> Sequence[str]:
    return getattr(pattern, "options", ()) if type(pattern).__name__ == "ChoicePattern" else ()
