"""Numbers of few bits, as TensorRT documents `IQuantizeLayer` and `IDynamicQuantizeLayer`.

A narrow type of floats is the list of the numbers that it has; rounding is a search in that list.
"""

import ml_dtypes
import numpy as np

from oracles import tensorrt_numpy as oracle
from tripybuild.tensorrt.dialect.base import element

BLOCK = 16
# All that is not negative and finite, by code: an even code has an even last bit.
F4 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0])
F8 = np.arange(127, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float64)
FLOATS = {"f4E2M1FN": F4, "f8E4M3FN": F8}


def nearest(x, table):
    """The numbers of a table nearest to others, ties to even codes; the largest for all beyond."""
    size = np.minimum(np.abs(x), table[-1])
    above = np.minimum(np.searchsorted(table, size), len(table) - 1)
    below = np.maximum(above - 1, 0)
    over, under = table[above] - size, size - table[below]
    takes_above = (over < under) | ((over == under) & (above % 2 == 0))
    found = np.where(takes_above, table[above], table[below])
    return np.where(np.isnan(x), x, np.copysign(found, x))


def spread(op, x, scale):
    """A scale for each element: of the tensor, of its index along the axis, or of its block."""
    if op.value("axis") is not None or not scale.ndim:
        return oracle.scaled(op, x, scale)
    for axis, (size, count) in enumerate(zip(x.shape, scale.shape, strict=True)):
        scale = np.repeat(scale, size // max(count, 1), axis)
    return scale


def quantize(op, x, scale):
    """Divided by the scale, rounded, and kept within what the type can hold."""
    kind = str(element(op.result))
    scaled = x / spread(op, x, scale)
    if kind in FLOATS:
        return nearest(scaled, FLOATS[kind])
    low, high = {"i4": (-8, 7), "i8": (-128, 127)}[kind]
    return np.clip(np.rint(scaled), low, high).astype(np.int8)


def dequantize(op, x, scale):
    """Times the scale."""
    return x.astype(np.float64) * spread(op, x, scale)


def dynamic_quantize(op, x, unit):
    """A block's scale makes its largest number the largest of f4, and is itself f8 times a unit."""
    axis = op.value("axis")
    blocks = np.moveaxis(x, axis, -1).reshape(*np.delete(x.shape, axis), -1, BLOCK)
    scales = nearest(np.abs(blocks).max(-1) / F4[-1] / unit, F8)
    steps = scales[..., None] * unit
    narrow = np.where(steps == 0, 0, nearest(blocks / np.where(steps == 0, 1, steps), F4))
    whole = narrow.reshape(*np.delete(x.shape, axis), x.shape[axis])
    return [np.moveaxis(each, -1, axis) for each in (whole, scales)]


NARROW = {
    "tensorrt.dequantize": dequantize,
    "tensorrt.dynamic_quantize": dynamic_quantize,
    "tensorrt.quantize": quantize,
    "trtx.quantize": quantize,
}
