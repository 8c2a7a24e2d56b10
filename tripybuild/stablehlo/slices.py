"""Slices: rectangular parts at static or dynamic offsets.

Invariant: a place that is known is checked here; a computed one is clamped by the compiler's own
rule, so that the part always lies inside.
"""

from collections.abc import Callable, Sequence

from tripybuild.stablehlo.comparison import convert
from tripybuild.stablehlo.constants import constant
from tripybuild.stablehlo.functions import call_noinline
from tripybuild.stablehlo.indexing import take
from tripybuild.stablehlo.module import emit, integers
from tripybuild.stablehlo.operands import same_types
from tripybuild.stablehlo.shapes import pad, reshape, reverse
from tripybuild.stablehlo.value import HloValue, Operand, same_sizes
from tripybuild.types import dtypes


def slice(
    input: HloValue,
    start: Sequence[int],
    limit: Sequence[int],
    strides: Sequence[int] | None = None,
) -> HloValue:
    """Every `strides[i]`-th element from `start[i]` up to but without `limit[i]`."""
    steps = tuple(strides) if strides is not None else (1,) * input.rank
    whole = len(start) == len(limit) == len(steps) == input.rank
    if not whole or not all(
        0 <= a <= b <= n and s > 0
        for a, b, s, n in zip(start, limit, steps, input.shape, strict=True)
    ):
        part = f"{tuple(start)} to {tuple(limit)} by {steps}"
        raise ValueError(f"a slice from {part} does not lie in shape {input.shape}")
    shape = tuple([-((a - b) // s) for a, b, s in zip(start, limit, steps, strict=True)])
    if same_sizes(shape, input.shape):
        return input
    attributes = {
        "start_indices": integers(start),
        "limit_indices": integers(limit),
        "strides": integers(steps),
    }
    return emit("stablehlo.slice", (input,), input.dtype, shape, attributes)


def strided_slice(
    input: HloValue,
    start: Sequence[int],
    size: Sequence[int],
    step: Sequence[int],
    mode: str = "strict",
    fill: Operand | None = None,
) -> HloValue:
    """Take `size` elements from `start` in steps of `step`, which may be negative.

    What lies outside is refused (`strict`), `fill` (0 by default), or read from inside after
    `reflect`ing at the edges, `wrap`ping around, or `clamp`ing to the edge.
    """
    if not len(start) == len(size) == len(step) == input.rank or any(n < 0 for n in size):
        part = f"{tuple(start)}, {tuple(size)} and {tuple(step)}"
        raise ValueError(f"start, size and step {part} do not fit shape {input.shape}")
    if mode not in ("strict", "fill", *MODES):
        raise ValueError(f"mode {mode!r} is none of strict, fill, {', '.join(MODES)}")
    begin, distance = list(start), list(step)
    if mode == "fill":
        low, high = _reach(input.shape, start, size, step)
        input = pad(input, 0 if fill is None else fill, low, high)
        begin = [first + edge for first, edge in zip(start, low, strict=True)]
    for dim, (low_reach, high_reach) in enumerate(
        zip(*_reach(input.shape, begin, size, distance), strict=True)
    ):
        if distance[dim] == 0 or (mode in MODES and low_reach + high_reach > 0):
            where = [begin[dim] + i * distance[dim] for i in range(size[dim])]
            input = _pick(input, where, dim, mode)
            begin[dim], distance[dim] = 0, 1
    return _straight(input, begin, size, distance)


def _reach(
    shape: Sequence[int], start: Sequence[int], size: Sequence[int], step: Sequence[int]
) -> tuple[list[int], list[int]]:
    """How far the wanted places reach out of each dimension, before it and behind it."""
    low, high = [], []
    for extent, first, count, distance in zip(shape, start, size, step, strict=True):
        begin, end = _ends(first, count, distance)
        low.append(max(0, -begin) if count else 0)
        high.append(max(0, end - extent + 1) if count else 0)
    return low, high


def _ends(first: int, count: int, distance: int) -> tuple[int, int]:
    """The first and the last of places, whichever way they go."""
    last = first + (count - 1) * distance
    return (last, first) if distance < 0 else (first, last)


def _reflect(place: int, size: int) -> int:
    period = 2 * (size - 1)
    return min(place % period, period - place % period) if period else 0


MODES: dict[str, Callable[[int, int], int]] = {
    "reflect": _reflect,
    "wrap": lambda place, size: place % size,
    "clamp": lambda place, size: min(max(place, 0), size - 1),
}


def _pick(input: HloValue, places: list[int], dim: int, mode: str) -> HloValue:
    """The elements at the places of one dimension, each brought inside as the mode says."""
    extent = input.shape[dim]
    inside = [MODES[mode](place, extent) if mode in MODES else place for place in places]
    if any(not 0 <= place < extent for place in inside):
        raise ValueError(f"positions {inside} are outside of dimension {dim} of {input.shape}")
    return take(input, constant(inside, dtypes.int32, [len(inside)]), dim)


def _straight(
    input: HloValue, start: Sequence[int], size: Sequence[int], step: Sequence[int]
) -> HloValue:
    """A slice whose steps are not 0; a backward one is a forward one reversed."""
    low, high, strides = [], [], []
    for first, count, distance in zip(start, size, step, strict=True):
        begin, end = _ends(first, count, distance)
        low.append(begin if count else 0)
        high.append(end + 1 if count else 0)
        strides.append(abs(distance))
    part = slice(input, low, high, strides)
    return reverse(part, [dim for dim, distance in enumerate(step) if distance < 0])


def _starts(input: HloValue, starts: Sequence[Operand]) -> list[HloValue]:
    if len(starts) != input.rank:
        raise ValueError(f"{len(starts)} start positions do not fit shape {input.shape}")
    values = [start for start in starts if isinstance(start, HloValue)]
    kinds = {value.dtype for value in values}
    wide = next(iter(kinds)) if len(kinds) == 1 else dtypes.int32
    return [
        reshape(convert(start, wide), ()) if isinstance(start, HloValue) else constant(start, wide)
        for start in starts
    ]


def dynamic_slice(input: HloValue, starts: Sequence[Operand], sizes: Sequence[int]) -> HloValue:
    """A part of the given sizes at computed places, moved inside where it would reach out."""
    shape = tuple(sizes)
    if len(shape) != input.rank or any(n > m for n, m in zip(shape, input.shape, strict=True)):
        raise ValueError(f"a part of shape {shape} does not lie in shape {input.shape}")
    operands = [input, *_starts(input, starts)]
    attributes = {"slice_sizes": integers(shape)}
    return emit("stablehlo.dynamic_slice", operands, input.dtype, shape, attributes)


def dynamic_update_slice(input: HloValue, update: HloValue, starts: Sequence[Operand]) -> HloValue:
    """The input with `update` written over it at computed places, moved inside."""
    same_types(input, update)
    if update.rank != input.rank or any(
        n > m for n, m in zip(update.shape, input.shape, strict=True)
    ):
        raise ValueError(f"an update of shape {update.shape} does not lie in {input.shape}")
    operands = [input, update, *_starts(input, starts)]
    return emit("stablehlo.dynamic_update_slice", operands, input.dtype, input.shape)


def update_rows(cache: HloValue, update: HloValue, position: HloValue) -> HloValue:
    """Write `update[b]` into `cache[b]` along dimension 2, from row `position[b]` on.

    The writes are a function that XLA does not inline. Else it fuses them with whatever reads the
    cache, once for each reader, and copies the whole cache for each.
    """
    batch = cache.shape[0] if cache.rank else 0
    if cache.rank < 3 or position.shape != (batch,) or update.shape[:1] != (batch,):
        shapes = f"{cache.shape}, {update.shape} and {position.shape}"
        raise ValueError(f"cache, update and position of shapes {shapes} do not fit together")
    (updated,) = call_noinline("update_rows", [cache, update, position], _write_rows)
    return updated


def _write_rows(arguments: Sequence[HloValue]) -> list[HloValue]:
    cache, update, position = arguments
    for index in range(cache.shape[0]):
        row = slice(update, [index] + [0] * (update.rank - 1), [index + 1, *update.shape[1:]])
        where = reshape(slice(position, [index], [index + 1]), ())
        corner = [constant(i, position.dtype) for i in (index, 0)]
        rest = [constant(0, position.dtype) for _ in cache.shape[3:]]
        cache = dynamic_update_slice(cache, row, [*corner, where, *rest])
    return [cache]
