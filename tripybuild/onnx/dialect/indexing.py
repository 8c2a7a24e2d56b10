"""Indexing of the ONNX dialect: positions, shapes, slices and the order of values.

Invariant: no index that a runtime sees is outside of what it indexes, unless that is empty.
"""

from collections.abc import Sequence

from tripybuild.onnx.dialect.calls import call, convert
from tripybuild.onnx.dialect.compositions import full, holds, tensor, where
from tripybuild.onnx.value import OnnxValue, Size
from tripybuild.symbolic.dims import Dim, maximum, same
from tripybuild.types import dtypes
from tripybuild.types.dtypes import dtype

# What `Slice` takes for the end of any dimension.
END = 2**63 - 1
# Beyond all finite float32, and finite.
BEYOND = 1e300


def arange(size: Size, dtype: dtype) -> OnnxValue:
    """The numbers from 0 up to, but without, a size."""
    start, stop, step = (tensor(each, dtypes.int64) for each in (0, size, 1))
    found = convert(call("Range", start, stop, step), dtype)
    found.shape = (size,)
    return found


def clamp_index(index: OnnxValue, size: Size) -> OnnxValue:
    """Positions inside of a dimension, whose end is -1."""
    low, high = (tensor(each, index.dtype) for each in (0 - size, size - 1))
    inside: OnnxValue = call("Clip", index, low, high)
    return inside


def clamp_vectors(index: OnnxValue, sizes: Sequence[Size]) -> OnnxValue:
    """Vectors of positions along the last dimension, each inside of a dimension of its own."""
    below = call("Min", convert(index, dtypes.int64), [size - 1 for size in sizes])
    inside: OnnxValue = call("Max", below, [0 - size for size in sizes])
    return inside


def reshape(value: OnnxValue, shape: Sequence[Size]) -> OnnxValue:
    """The values in another shape, of which as little as possible is computed at run time.

    A dimension that stays in its place is 0, and one other that is not known is -1.
    """
    if value.shape is not None and same(value.shape, tuple(shape)):
        return value
    sizes, zeros = _new_shape(value.shape or (), shape)
    found: OnnxValue = call("Reshape", value, sizes, allowzero=int(zeros))
    found.shape = tuple(shape)
    return found


def _new_shape(old: Sequence[Size], new: Sequence[Size]) -> tuple[list[Size], bool]:
    """What `Reshape` takes, and whether 0 is a size there."""
    unknown = [axis for axis, size in enumerate(new) if isinstance(size, Dim)]
    kept = [axis for axis in unknown if axis < len(old) and same(new[axis], old[axis])]
    rest = [axis for axis in unknown if axis not in kept]
    others = [size for axis, size in enumerate(new) if axis not in rest]
    empty = any(same(size, 0) for size in new)
    if not empty and (not rest or (len(rest) == 1 and all(map(_is_positive, others)))):
        said = [0 if a in kept else -1 if a in rest else size for a, size in enumerate(new)]
        return said, False
    return list(new), not all(map(_is_positive, new))


def _is_positive(size: Size) -> bool:
    return holds(size > 0)


def sort_keys(value: OnnxValue, nan: float) -> OnnxValue:
    """What sorts as the values do, with NaN beyond all others: `nan` is an infinity.

    Runtimes compare NaN in no order. In float64, what is infinite is finite.
    """
    if value.dtype.kind != "float":
        return value
    wide = convert(value, dtypes.float64)
    kept = call("Max", wide, -BEYOND) if nan < 0 else call("Min", wide, BEYOND)
    return where(call("IsNaN", value), nan, kept)


def strided_slice(
    value: OnnxValue,
    start: Sequence[Size],
    size: Sequence[Size],
    step: Sequence[int],
    mode: str,
    filling: OnnxValue | None = None,
) -> OnnxValue:
    """Take elements from `start` on in steps; `mode` says what those outside of the value are."""
    shape = list(value.shape or ())
    if mode == "fill":
        value, start, shape = _pad(value, start, size, step, filling)
    if mode in ("strict", "fill"):
        return _window(value, shape, start, size, step)
    for axis, (first, count, stride) in enumerate(zip(start, size, step, strict=True)):
        if not _is_whole(first, count, stride, shape[axis]):
            places = arange(count, dtypes.int64)
            places = places if stride == 1 else places * stride
            places = places if same(first, 0) else places + tensor(first, dtypes.int64)
            value = call("Gather", value, _map_places(places, shape[axis], mode), axis=axis)
    return value


def _is_whole(start: Size, size: Size, step: int, dimension: Size) -> bool:
    return step == 1 and same(start, 0) and same(size, dimension)


def _pad(
    value: OnnxValue,
    start: Sequence[Size],
    size: Sequence[Size],
    step: Sequence[int],
    filling: OnnxValue | None,
) -> tuple[OnnxValue, list[Size], list[Size]]:
    """A value that holds all of a slice, where the slice starts in it, and its shape."""
    shape = list(value.shape or ())
    before, after = [], []
    for first, count, stride, dimension in zip(start, size, step, shape, strict=True):
        last = first + (count - 1) * stride
        low, high = (first, last) if stride > 0 else (last, first)
        before.append(maximum(0 - low, 0))
        after.append(maximum(high - dimension + 1, 0))
    if not all(same(each, 0) for each in (*before, *after)):
        value = call("Pad", value, [*before, *after], filling)
    starts = [first + low for first, low in zip(start, before, strict=True)]
    sizes = [low + each + high for low, each, high in zip(before, shape, after, strict=True)]
    return value, starts, sizes


def _window(
    value: OnnxValue,
    shape: Sequence[Size],
    start: Sequence[Size],
    size: Sequence[Size],
    step: Sequence[int],
) -> OnnxValue:
    """A slice that lies inside. A step back counts from the end, where -1 is no position."""
    if any(same(each, 0) for each in size):
        return full(0, value.dtype, size)
    found = list(zip(range(len(shape)), start, size, step, shape, strict=True))
    parts = [each for each in found if not _is_whole(*each[1:])]
    if not parts:
        return value
    starts, ends = [], []
    for _, first, count, stride, dimension in parts:
        shift = 0 if stride > 0 else dimension
        end = first + count * stride
        starts.append(first - shift)
        ends.append(END if stride == 1 and same(end, dimension) else end - shift)
    if any(isinstance(each, Dim) for each in ends):  # computed with them, END is a number, too
        sizes = [(each[1] + each[2] * each[3], each[4]) for each in parts]
        ends = [e if end is END else end for end, (e, _) in zip(ends, sizes, strict=True)]
    strides = [each[3] for each in parts]
    axes = [each[0] for each in parts]
    sliced: OnnxValue = call("Slice", value, starts, ends, axes, strides)
    return sliced


def _map_places(places: OnnxValue, size: Size, mode: str) -> OnnxValue:
    """Positions that are inside of a dimension: its edge, around it, or reflected in its edges."""
    if mode == "clamp":
        edge: OnnxValue = call("Clip", places, 0, tensor(size - 1, dtypes.int64))
        return edge
    turn = maximum(size if mode == "wrap" else 2 * size - 2, 1)  # a remainder by 0 traps
    period = tensor(turn, dtypes.int64)
    inside: OnnxValue = call("Mod", places, period)
    return inside if mode == "wrap" else call("Min", inside, period - inside)
