"""Constants and iota.

Invariant: a Python number becomes the nearest value of its dtype, or is refused: no silent wrapping
of integers and no fraction that disappears.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.broadcast import broadcast_in_dim
from tripybuild.stablehlo.module import current, emit, integer
from tripybuild.stablehlo.value import HloValue, Number
from tripybuild.symbolic.dims import Dim
from tripybuild.types import dtypes

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


def constant(
    value: "Number | Dim | Sequence[Any] | Array",
    dtype: dtypes.dtype,
    shape: Sequence[int] | None = None,
) -> HloValue:
    """A number (repeated to `shape`), nested lists or an array as a tensor."""
    if isinstance(value, bool | int | float | Dim):
        return scalar(value, dtype, tuple(shape or ()))
    array = bindings.numpy.asarray(value)
    if array.size and array.dtype.kind == "f" and dtype.kind != "float":
        raise ValueError(f"fractions do not fit in a constant of type {dtype.name}")
    array = bindings.numpy.array(array.astype(dtype.numpy), order="C")
    if shape is not None and tuple(shape) != array.shape:
        raise ValueError(f"a constant of shape {array.shape} is not {tuple(shape)}")
    return _dense(array, dtype)


def _dense(array: "Array", dtype: dtypes.dtype) -> HloValue:
    kind = current().type(dtype, array.shape)
    attribute = bindings.ir.DenseElementsAttr.get(
        array, type=kind.element_type, shape=list(array.shape)
    )
    return emit("stablehlo.constant", (), dtype, array.shape, {"value": attribute})


def scalar(value: Number | Dim, dtype: dtypes.dtype, shape: tuple[int, ...] = ()) -> HloValue:
    """A number, or the size of a call, repeated to a shape; made once per module."""
    module = current()
    key = (str(value), dtype, shape)  # as text, -0.0 is not 0.0, and NaN is itself
    made = module.constants.get(key)
    if made is None:
        made = broadcast_in_dim(scalar(value, dtype), shape, ()) if shape else _number(value, dtype)
        if module.depth == 0:
            module.constants[key] = made
    return made


def _number(value: Number | Dim, dtype: dtypes.dtype) -> HloValue:
    bounds = current().bounds
    if isinstance(value, Dim):
        assert bounds is not None  # or there would be a number
        return bounds.scalar(value, dtype)
    ir = bindings.ir
    kind = current().type(dtype, ())
    if dtype.kind == "float":
        element = ir.FloatAttr.get(kind.element_type, float(value))
    else:
        element = ir.IntegerAttr.get(kind.element_type, _whole(value, dtype))
    attribute = ir.DenseElementsAttr.get_splat(kind, element)
    return emit("stablehlo.constant", (), dtype, (), {"value": attribute})


def _whole(value: Number, dtype: dtypes.dtype) -> int:
    if isinstance(value, float) and not value.is_integer():  # nor are infinities and NaN
        raise ValueError(f"{value} is not a value of type {dtype.name}")
    low, high = dtype.lowest, dtype.highest
    if not low <= value <= high:
        raise ValueError(f"{value} is outside of {dtype.name}, which holds {low} to {high}")
    return int(value)


def iota(shape: Sequence[int], dim: int, dtype: dtypes.dtype) -> HloValue:
    """0, 1, 2, ... along one dimension, the same along all others."""
    if not 0 <= dim < len(shape):
        raise ValueError(f"dimension {dim} is outside of shape {tuple(shape)}")
    if dtype.kind == "boolean":
        raise ValueError("iota counts numbers; compare or convert them to get bool")
    return emit("stablehlo.iota", (), dtype, tuple(shape), {"iota_dimension": integer(dim)})
