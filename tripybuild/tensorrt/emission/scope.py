"""Insertion scopes and their types: the prologue of a function, its body, and region bodies.

Invariant: what a scope holds may be used in it and in the scopes inside, never outside. Sizes of
inputs are computed in the prologue, so every region sees them.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from xdsl.dialects.builtin import Float4E2M1FNType, LocationAttr, TensorType, UnknownLoc
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.symbolic.scopes import SymbolScope
from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.dialect.base import TensorrtOperation, element, tensor_type
from tripybuild.tensorrt.mlir.elements import element_of
from tripybuild.tensorrt.mlir.operation_factory import create_operation
from tripybuild.tensorrt.recorder.value import NetworkValue
from tripybuild.types import dtypes


def tensor(dtype: dtypes.dtype, shape: Sequence[Any]) -> TensorType[Any]:
    """The type of a tensor; sizes that are no numbers print as `?`."""
    sizes = [size if isinstance(size, int) else None for size in shape]
    return tensor_type(sizes, element_of(dtype.mlir))


def type_of(value: NetworkValue) -> TensorType[Any]:
    """The type of a recorded value; ValueError where its shape is not known."""
    if value.shape is None:
        raise ValueError(f"the shape of {value!r} is not known")
    return tensor(value.dtype, value.shape)


class EmissionScope(SymbolScope[SSAValue]):
    """A list of operations that is being filled, and what was computed in it."""

    def __init__(self, outer: Self | None = None) -> None:
        super().__init__(outer)
        self.operations: list[Operation] = []

    def live_operations(self) -> list[Operation]:
        """The operations, without the constants that only others were made of."""
        return [op for op in self.operations if not _is_dead_constant(op)]


def _is_dead_constant(op: Operation) -> bool:
    return (
        type(op) in (dialect.ConstantOp, dialect.ConstantF4Op) and op.results[0].first_use is None
    )


class Scopes:
    """The scopes of a function; `current` is the one that layers go to."""

    def __init__(self) -> None:
        self.prologue = EmissionScope()
        self.current = EmissionScope(self.prologue)
        self.body = self.current
        self.location: LocationAttr = UnknownLoc()

    @contextmanager
    def region(self) -> Iterator[EmissionScope]:
        """A region's scope."""
        outer, self.current = self.current, EmissionScope(self.current)
        try:
            yield self.current
        finally:
            self.current = outer

    def add(
        self,
        kind: type[TensorrtOperation],
        /,
        *operands: Any,
        scope: EmissionScope | None = None,
        location: LocationAttr | None = None,
        **attributes: Any,
    ) -> Operation:
        """Append an operation, from the current place or from another."""
        operation = kind.make(*operands, location=location or self.location, **attributes)
        (scope or self.current).operations.append(operation)
        return operation

    def one(self, kind: type[TensorrtOperation], /, *operands: Any, **attributes: Any) -> SSAValue:
        """Append an operation that has one result."""
        return self.add(kind, *operands, **attributes).results[0]

    def constant(
        self, weights: Attribute, type: Attribute, location: LocationAttr | None = None
    ) -> SSAValue:
        """Append a constant; its type is that of the weights. NVIDIA's dialect has none of f4."""
        place = location or self.location
        short = isinstance(element(type), Float4E2M1FNType)
        kind = dialect.ConstantF4Op if short else dialect.ConstantOp
        operation = create_operation(kind, (), [type], {"weights": weights}, location=place)
        self.current.operations.append(operation)
        return operation.results[0]
