"""Own calls: one call of ours with its names bound, and what an alias makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tripybuild.importer.reading.values import (
    EXPRESSIONS,
    UnknownDataError,
    is_tensor,
    unwrap,
    wrap,
)
from tripybuild.language.vocabulary import Vocabulary
from tripybuild.reference.call_names import CallNames, OperatorNames
from tripybuild.schema.operator.operator import Alias, Attribute, Operator, Snippet
from tripybuild.types.patterns import ValuePattern, options


@dataclass(frozen=True)
class OwnCall:
    """One call of ours, with its names bound: what an alias makes of it."""

    operator: Operator
    names: OperatorNames
    vocabulary: Vocabulary = EXPRESSIONS

    @classmethod
    def of(cls, operator: Operator, arguments: Mapping[str, Any]) -> "OwnCall":
        """Bind the names of a call: those of its shapes, its arguments and their defaults."""
        tensors = {
            name: value
            for name, value in arguments.items()
            if name in operator.inputs and is_tensor(value)
        }
        values = {name: value for name, value in arguments.items() if name not in tensors}
        names = bind_call(operator, tensors, values)
        names.update({name: wrap(value) for name, value in tensors.items()})
        for attribute in operator.attributes.values():
            if isinstance(names.get(attribute.name), (int, list, tuple)):
                names[attribute.name] = _positive_axes(attribute, names)
        return cls(operator, names)

    def value(self, snippet: Snippet) -> Any:
        """The value of a snippet of an alias."""
        return unwrap(self.names.evaluate(snippet.program, self.vocabulary))

    def applies(self, alias: Alias) -> bool:
        """Whether the other operator can say the call."""
        return alias.when is None or bool(self.value(alias.when))

    def arguments(self, alias: Alias) -> dict[str, Any]:
        """The other's arguments, by its parameters."""
        return {name: self.value(snippet) for name, snippet in alias.arguments.items()}

    def differences(self, alias: Alias) -> list[str]:
        """The names of the declared differences that the call meets."""
        return [name for name, d in alias.differs.items() if self.value(d.when)]


def bind_call(
    operator: Operator, tensors: Mapping[str, Any], values: Mapping[str, Any]
) -> OperatorNames:
    """The names of a call, by its tensors and its other arguments."""
    names = OperatorNames(operator)
    names.update(dict.fromkeys(operator.types))  # a number in a tensor's place binds none
    names.update(CallNames(operator, tensors, values).names)
    names.update({name: value for name, value in values.items() if name in operator.inputs})
    names.update(tensors)
    for name, attribute in operator.attributes.items():
        if name in values:
            names[name] = names.spread(attribute.pattern, values[name])
    return names


def _positive_axes(attribute: Attribute, names: OperatorNames) -> Any:
    """Axes as an operation has them, none of which counts from the end."""
    value = names[attribute.name]
    for option in options(attribute.pattern):
        if isinstance(option, ValuePattern) and option.kind == "axis" and option.argument:
            of = names.evaluate(option.argument, EXPRESSIONS)
            shape = getattr(of, "shape", of)
            if not isinstance(shape, int | list | tuple):
                raise UnknownDataError(f"`{attribute.name}` counts dimensions, and {of} has none")
            rank = shape if isinstance(shape, int) else len(shape)
            if isinstance(value, int):
                return value + rank if value < 0 else value
            return [a + rank if isinstance(a, int) and a < 0 else a for a in value]
    return value
