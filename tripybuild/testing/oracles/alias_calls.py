"""Alias calls: foreign arguments computed from the arguments of our call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tripybuild.language.vocabulary import Vocabulary
from tripybuild.reference.call_names import CallNames, OperatorNames
from tripybuild.reference.numerics.arrays import Array, round_cast
from tripybuild.schema.operator.operator import Alias, Operator, Snippet
from tripybuild.testing.cases import Case
from tripybuild.types.dtypes import dtype, from_numpy
from tripybuild.types.vocabulary import SHAPE


def _tensor(value: float, type: dtype) -> Array:
    return round_cast(np.asarray(value), type)


def _dtype_of(array: Array) -> dtype:
    return from_numpy(array.dtype)


VOCABULARY = SHAPE | Vocabulary(
    functions={"tensor": _tensor, "dtype_of": _dtype_of},
    attributes=((np.ndarray, frozenset({"shape"})),),
)


@dataclass(frozen=True)
class AliasCall:
    """One call of ours, with its names bound: what an alias makes of it."""

    operator: Operator
    case: Case
    names: OperatorNames

    @classmethod
    def of(cls, operator: Operator, case: Case) -> "AliasCall":
        """Bind the names of a call: those of its shapes, its arguments and their defaults."""
        names = OperatorNames(operator)
        given = _attributes(operator, case)
        names.update(dict.fromkeys(operator.types))  # a number in a tensor's place binds none
        names.update(CallNames(operator, case.arrays, given).names)
        names.update({name: value for name, value in given.items() if name in operator.inputs})
        names.update(case.arrays)
        for name, attribute in operator.attributes.items():
            if name in given:
                names[name] = names.spread(attribute.pattern, given[name])
        return cls(operator, case, names)

    def value(self, snippet: Snippet) -> Any:
        """The value of a snippet of an alias."""
        return self.names.evaluate(snippet.program, VOCABULARY)

    def applies(self, alias: Alias) -> bool:
        """Whether the other operator can say the call."""
        return alias.when is None or bool(self.value(alias.when))

    def arguments(self, alias: Alias) -> dict[str, Any]:
        """The other's arguments, by its parameters."""
        return {name: self.value(snippet) for name, snippet in alias.arguments.items()}

    def differences(self, alias: Alias) -> list[str]:
        """The names of the declared differences that the call meets."""
        return [name for name, d in alias.differs.items() if self.value(d.when)]


def _attributes(operator: Operator, case: Case) -> Mapping[str, Any]:
    """The attributes as the operation holds them, or as they are given where there is none."""
    operation = next(iter(case.graph.outputs.values())).producer
    if operation is None or operation.operator != operator.name:
        return case.attributes
    found = operation.arguments()
    return {**case.attributes, **{name: found[name] for name in operator.attributes}}
