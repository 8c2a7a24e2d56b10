"""Alias calls: foreign arguments computed from the arguments of our call, with arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tripybuild.importer.call_program import CallValue
from tripybuild.importer.reading.own_call import OwnCall
from tripybuild.reference.call_names import OperatorNames
from tripybuild.schema.operator.operator import Alias, Operator
from tripybuild.testing.cases import Case
from tripybuild.trace.values import TensorType
from tripybuild.types.dtypes import from_numpy


@dataclass(frozen=True)
class AliasCall:
    """One call of ours, with its names bound: what an alias makes of it."""

    operator: Operator
    case: Case
    own: OwnCall

    @classmethod
    def of(cls, operator: Operator, case: Case) -> "AliasCall":
        """Bind the names of a call: those of its shapes, its arguments and their defaults."""
        arguments = {**to_tensors(case.arrays), **_attributes(operator, case)}
        return cls(operator, case, OwnCall.of(operator, arguments))

    @property
    def names(self) -> OperatorNames:
        """The names of the call."""
        return self.own.names

    def applies(self, alias: Alias) -> bool:
        """Whether the other operator can say the call."""
        return self.own.applies(alias)

    def arguments(self, alias: Alias) -> dict[str, Any]:
        """The other's arguments, by its parameters."""
        found: dict[str, Any] = to_arrays(self.own.arguments(alias))
        return found

    def differences(self, alias: Alias) -> list[str]:
        """The names of the declared differences that the call meets."""
        return self.own.differences(alias)


def to_tensors(value: Any) -> Any:
    """A value with tensors for its arrays, whose elements are known."""
    if isinstance(value, Mapping):
        return {name: to_tensors(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_tensors(each) for each in value]
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        return CallValue(TensorType(from_numpy(array.dtype), array.shape), data=array)
    return value


def to_arrays(value: Any) -> Any:
    """A value with arrays for its tensors."""
    if isinstance(value, Mapping):
        return {name: to_arrays(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_arrays(each) for each in value]
    return value.data if isinstance(value, CallValue) else value


def _attributes(operator: Operator, case: Case) -> Mapping[str, Any]:
    """The attributes as the operation holds them, or as they are given where there is none."""
    operation = next(iter(case.graph.outputs.values())).producer
    if operation is None or operation.operator != operator.name:
        return case.attributes
    found = operation.arguments()
    return {**case.attributes, **{name: found[name] for name in operator.attributes}}
