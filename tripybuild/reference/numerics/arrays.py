"""Array helpers of references that NumPy lacks. Each has a test of its own.

All of them are total on float64 arrays and on integer arrays, and none changes its arguments.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tripybuild.reference.numerics.numpy_guard import check_elements
from tripybuild.types import dtypes
from tripybuild.types.dtypes import dtype

Array = np.ndarray[Any, Any]

_ACCUMULATED = {
    "sum": (np.add, 0),
    "product": (np.multiply, 1),
    "maximum": (np.maximum, None),
    "minimum": (np.minimum, None),
}
OCTET = 8  # bits
REGISTERED = 2  # what NumPy says of the dtypes of ml_dtypes


def widen(array: Array) -> Array:
    """The array as references compute on it: every float type in float64, integers as they are."""
    kind = array.dtype.kind
    if kind in "iub" or (kind == "f" and array.dtype == np.float64):
        return array
    if kind != "f" and array.dtype == dtypes.int4.numpy:
        return array.astype(np.int8)
    wide: Array = array.astype(np.float64)
    return wide


def round_cast(array: Any, type: dtype) -> Array:
    """Round once to a dtype: floats to nearest even; integers wrap as in the engines."""
    with np.errstate(all="ignore"):
        return round_cast_quiet(array, type)


def round_cast_quiet(array: Any, type: dtype) -> Array:
    """The same without NumPy warnings, which the caller has disabled."""
    exact: Array = np.asarray(array)
    wanted = type.numpy
    if exact.dtype == wanted:
        return exact
    # ml_dtypes goes from float64 to its dtypes by way of float32, and would round twice.
    registered = type.kind == "float" and wanted.isbuiltin == REGISTERED
    twice = registered and exact.dtype == np.float64
    result: Array = (_round_to_odd(exact) if twice else exact).astype(wanted)
    return np.asarray(result)  # NumPy makes a scalar of an array without dimensions


def _round_to_odd(array: Array) -> Array:
    """In float32, cut off toward zero, and odd where something was: rounding that is right."""
    near = array.astype(np.float32)
    below = np.nextafter(near, np.float32(0))
    cut = np.where(np.abs(near) > np.abs(array), below, near)
    odd: Array = (cut.view(np.uint32) | (cut != array)).view(np.float32)
    return odd


def convert(input: Array, type: dtype) -> Array:
    """Cast: booleans are `!= 0`; floats to integers are cut off and kept in range."""
    if type.kind == "boolean":
        truth: Array = input != 0
        return truth
    if input.dtype == object:  # integers and symbols of sizes, which stay what they are
        return input
    if type.kind == "integer" and input.dtype.kind == "f":
        low, high = lowest(type), highest(type)
        if type.bits <= OCTET:  # each float type has both bounds, and all integers between
            few = np.clip(input, low, high)
            whole = np.where(np.isnan(few), 0, few).astype(np.int16)
            return whole.astype(type.numpy)
        clean = np.nan_to_num(input, nan=0.0, posinf=high, neginf=low)
        inside = np.trunc(np.clip(clean, low, high))
        # The largest int64 is no float64: the clipped value may round up to just beyond it.
        safe = np.where(inside >= high, 0, inside).astype(np.int64)
        return np.where(inside >= high, high, safe).astype(type.numpy)
    if type.kind == "integer":
        return input.astype(np.int64).astype(type.numpy)
    return widen(round_cast(input, type))


def round_to(type: dtype, input: Array) -> Array:
    """The nearest value that a dtype has, ties to even, without leaving float64."""
    if type.kind == "integer":
        return np.rint(input)
    return widen(round_cast(input, type))


def lowest(type: dtype) -> float:
    """The least finite value of a dtype."""
    return type.lowest


def highest(type: dtype) -> float:
    """The greatest finite value of a dtype."""
    return type.highest


def erf(input: Array) -> Array:
    """The error function, in double precision."""
    return (
        np.vectorize(math.erf, otypes=[np.float64])(input)
        if input.size
        else input.astype(np.float64)
    )


def sliding_windows(
    input: Array, window: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Array:
    """Windows over the trailing dimensions: `[..., *D]` becomes `[..., *E, *window]`.

    A window along a dimension of size `d` starts at each multiple of the stride while its last
    element, `dilation * (window - 1)` further on, lies inside.
    """
    lead = input.ndim - len(window)
    reach = [r * (k - 1) + 1 for k, r in zip(window, dilation, strict=True)]
    axes = tuple(range(lead, input.ndim))
    view = np.lib.stride_tricks.sliding_window_view(input, reach, axis=axes)
    steps = [slice(None)] * lead + [slice(None, None, s) for s in stride]
    taps = [slice(None, None, r) for r in dilation]
    return view[(*steps, *taps)]


def unfold(
    input: Array, window: Sequence[int], stride: Sequence[int], dilation: Sequence[int]
) -> Array:
    """Patches of a batch: `[N, C, *D]` becomes `[N, C, *E, *window]`, places before taps."""
    return sliding_windows(input, window, stride, dilation)


def dilate_pad(input: Array, step: Sequence[int], edges: Sequence[Sequence[int]]) -> Array:
    """The trailing dimensions with `step - 1` zeros between elements and zeros around them.

    An edge below zero cuts elements off.
    """
    lead = input.ndim - len(step)
    sizes = [max((d - 1) * s + 1, 0) for d, s in zip(input.shape[lead:], step, strict=True)]
    wide = np.zeros((*input.shape[:lead], *sizes), input.dtype)
    spread: tuple[slice, ...] = tuple(slice(None, None, s) for s in step)
    wide[(slice(None),) * lead + spread] = input
    around = [(max(low, 0), max(high, 0)) for low, high in edges]
    padded = np.pad(wide, [(0, 0)] * lead + around)
    inside: tuple[slice, ...] = tuple(
        slice(max(-low, 0), n - max(-high, 0))
        for (low, high), n in zip(edges, padded.shape[lead:], strict=True)
    )
    return padded[(slice(None),) * lead + inside]


def strided_slice(
    input: Array, start: Sequence[int], size: Sequence[int], step: Sequence[int]
) -> Array:
    """The elements of a slice, all of which are inside of the array: a view of it."""
    ends = [a + n * t for a, n, t in zip(start, size, step, strict=True)]
    parts = [
        slice(a, end if end >= 0 else None, t) if n else slice(0)
        for a, n, t, end in zip(start, size, step, ends, strict=True)
    ]
    return np.asarray(input[tuple(parts)])


def index_grid(start: Sequence[int], size: Sequence[int], step: Sequence[int]) -> tuple[Array, ...]:
    """The positions that a slice reads in each dimension, shaped to broadcast."""
    rank = len(start)
    grids = []
    for d in range(rank):
        check_elements(size[d])
        places = start[d] + step[d] * np.arange(size[d])
        grids.append(places.reshape([-1 if i == d else 1 for i in range(rank)]))
    return tuple(grids)


def in_range(grid: Sequence[Array], shape: Sequence[int]) -> Array:
    """Which places of a grid lie inside of a shape."""
    inside: Array = np.asarray(True)
    for places, size in zip(grid, shape, strict=True):
        inside = inside & (places >= 0) & (places < size)
    return inside


def pick(input: Array, grid: Sequence[Array], mode: str = "clamp") -> Array:
    """The elements at the places of a grid; `mode` is for outside: clamp, wrap or reflect."""
    check_elements(math.prod(np.broadcast_shapes(*(np.shape(where) for where in grid))))
    places = []
    for where, size in zip(grid, input.shape, strict=True):
        if mode == "wrap":
            places.append(where % max(size, 1))
        elif mode == "reflect" and size > 1:
            around = where % (2 * size - 2)
            places.append(np.where(around < size, around, 2 * size - 2 - around))
        else:
            places.append(np.clip(where, 0, max(size - 1, 0)))
    if 0 in input.shape:
        return np.zeros(np.broadcast_shapes(*(p.shape for p in places)), input.dtype)
    return input[tuple(places)] if places else input


def spread_scale(scale: Array, shape: Sequence[int], dim: int | None) -> Array:
    """A scale for each element: from one for all, one for each channel, or one for each block."""
    if scale.ndim == 0:
        return scale
    if dim is not None:
        return scale.reshape([-1 if d == dim else 1 for d in range(len(shape))])
    check_elements(math.prod(shape))
    for axis, size in enumerate(shape):
        if scale.shape[axis] != size:
            scale = np.repeat(scale, size // scale.shape[axis], axis=axis)
    return scale


def write_rows(cache: Array, update: Array, position: Array) -> Array:
    """`cache[b, h, position[b] + i] = update[b, h, i]`, as a new array."""
    result = np.array(cache)
    for batch, start in enumerate(np.asarray(position)):
        result[batch, :, int(start) : int(start) + update.shape[2]] = update[batch]
    return result


def scatter_nd(input: Array, indices: Array, updates: Array) -> Array:
    """A copy in which `result[*indices[*j]] = updates[*j]`; the last of several updates stays."""
    result = np.array(input)
    result[tuple(np.moveaxis(indices, -1, 0))] = updates
    return result


def scatter_along(
    input: Array, indices: Array, updates: Array, dim: int, kind: str | None = None
) -> Array:
    """A copy in which each update stands at its place, but for `dim`, which its index says.

    With a kind of `cumulative_reduce`, all updates of a place are combined with what was there.
    """
    places: list[Array] = list(np.indices(indices.shape, sparse=True))
    places[dim] = indices
    result = np.array(input)
    if kind is None:
        result[tuple(places)] = updates
    else:
        _ACCUMULATED[kind][0].at(result, tuple(places), updates)
    return result


def cumulative_reduce(
    input: Array, kind: str, dim: int, reverse: bool = False, exclusive: bool = False
) -> Array:
    """Each element combined with all before it: sum, product, maximum or minimum so far.

    `reverse` runs from the end; `exclusive`, for sums and products, leaves out the element itself.
    """
    combine, neutral = _ACCUMULATED[kind]
    lines = np.flip(np.moveaxis(input, dim, -1), -1) if reverse else np.moveaxis(input, dim, -1)
    if exclusive:
        first = np.full((*lines.shape[:-1], 1), neutral, lines.dtype)
        lines = np.concatenate([first, lines], -1)[..., : lines.shape[-1]]
    found: Array = combine.accumulate(lines, axis=-1, dtype=lines.dtype)
    return np.moveaxis(np.flip(found, -1) if reverse else found, -1, dim)
