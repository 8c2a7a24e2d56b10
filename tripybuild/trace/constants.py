"""Constant operation: data known at build time, the only operation without a declaration."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tripybuild.symbolic.dims import Dim, Size, substitute_size
from tripybuild.trace.location import Location, UnknownLocation
from tripybuild.trace.operation import Declaration, TraceOp
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import dtype

if TYPE_CHECKING:
    import numpy as np


class Data:
    """An array, or a splat of one number. The digest is computed lazily."""

    def __init__(
        self, value: "np.ndarray[Any, Any] | Dim | float | bool", type: TensorType
    ) -> None:
        self.value = value
        self.type = type
        self._array: np.ndarray[Any, Any] | None = None

    @property
    def number(self) -> float | bool | None:
        """The one number that fills the tensor, where it is kept so."""
        return self.value if isinstance(self.value, bool | int | float) else None

    @property
    def array(self) -> "np.ndarray[Any, Any]":
        """The data with the tensor's own dtype and shape."""
        if self._array is None:
            self._array = self._materialize()
        return self._array

    def _materialize(self) -> "np.ndarray[Any, Any]":
        value, shape, element = self.value, self.type.shape, self.type.dtype
        assert not isinstance(value, Dim), "a size is a number before anything is computed"
        if not isinstance(value, (bool, int, float)):
            return value
        import numpy as np  # noqa: PLC0415 - a graph of numbers needs no NumPy

        if element.kind == "float" and not -(2**63) <= value < 2**63:
            value = float(value)  # an integer beyond 64 bits would be an object of NumPy's
        wide = np.asarray(value, np.bool_ if element.kind == "boolean" else None)
        return (np.full(shape, wide) if shape else wide).astype(element.numpy)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over dtype, shape and bytes."""
        head = f"{self.type}\n".encode()
        spelling = isinstance(self.value, (bool, int, float, Dim))
        body = repr(self.value).encode() if spelling else self.array.tobytes()
        return sha256(head + body).hexdigest()

    def substitute(self, sizes: Mapping[str, Size]) -> "Data":
        """The same data with sizes for symbols."""
        if isinstance(self.value, Dim):
            found = substitute_size(self.value, sizes)
            if self.type.dtype.kind == "boolean" and isinstance(known := found != 0, bool):
                return Data(known, self.type)
            return Data(found, self.type)
        return self

    def __repr__(self) -> str:
        if isinstance(self.value, Dim):
            return str(self.value)
        return repr(self.number) if self.number is not None else f"data {self.digest[:12]}"


@dataclass(frozen=True, eq=False)
class Constant(TraceOp):
    """A tensor whose elements are known."""

    data: Data

    declaration = Declaration("constant", "tripybuild/trace/constants.py")

    @property
    def number(self) -> float | bool | None:
        """The one number that fills the tensor, where it is kept so."""
        return self.data.number


def constant(data: "np.ndarray[Any, Any]", type: dtype, location: Location | None = None) -> Value:
    """A constant tensor that holds an array."""
    tensor = TensorType(type, tuple(data.shape))
    return (
        Constant(Data(data, tensor))
        .with_types(tensor)
        .with_location(location or UnknownLocation())
        .outputs[0]
    )


def number(value: float | bool, type: dtype, location: Location | None = None) -> Value:
    """A constant of rank 0."""
    tensor = TensorType(type, ())
    return (
        Constant(Data(value, tensor))
        .with_types(tensor)
        .with_location(location or UnknownLocation())
        .outputs[0]
    )


def dimension_of(value: object) -> object:
    """The size that a tensor of the frontend or a value stands for; of all else, itself."""
    if isinstance(value, Value):
        producer = value.producer
        found = producer.data.value if isinstance(producer, Constant) else None
        whole = isinstance(found, (Dim, int)) and not isinstance(found, bool) and not value.shape
        return found if whole else value
    return value.dimension if hasattr(type(value), "dimension") else value  # type: ignore[attr-defined]


def fold_to_constant(value: Value, array: "np.ndarray[Any, Any]") -> None:
    """Put what a value was computed to in the place of how: its history is let go.

    Operations that read the value read the same one as before. Sizes that only the computing could
    tell are known from now on.
    """
    for size in value.type.shape:
        if not isinstance(size, int):
            value.type = TensorType(value.type.dtype, array.shape)
            break
    before = value.producer
    assert before is not None, "an input is not computed"
    made = Constant(Data(array, value.type)).with_location(before.location)
    value.producer, value.index, value.known = made.with_outputs((value,), before.serial), 0, None
