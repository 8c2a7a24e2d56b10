"""Grid sampling: interpolation of images at computed positions.

Invariant: places are computed in float32; what is outside is never multiplied, so that zeros come
from there whatever the edge holds.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tripybuild.stablehlo.broadcast import broadcast_in_dim
from tripybuild.stablehlo.comparison import clamp, convert, greater_equal, less_equal, select
from tripybuild.stablehlo.constants import iota
from tripybuild.stablehlo.elementwise import abs, floor, minimum, round_nearest_even
from tripybuild.stablehlo.indexing import take
from tripybuild.stablehlo.shapes import reshape, transpose
from tripybuild.stablehlo.slices import slice
from tripybuild.stablehlo.value import HloValue
from tripybuild.types import dtypes

COEFFICIENT = -0.75
KINDS = ("nearest", "linear", "cubic")
Bring = Callable[[HloValue, int], HloValue]


@dataclass(frozen=True)
class Tap:
    """An element that counts along one dimension: its position, its weight, whether it is there."""

    index: HloValue
    weight: HloValue | None
    inside: HloValue | None


def grid_sample(
    input: HloValue, grid: HloValue, kind: str, padding: str, align_corners: bool = False
) -> HloValue:
    """Look `[N, C, *D]` up at the places `[N, *O, len(D)]`, which say the last dimension first.

    From -1 to 1 lies the input: between the outer edges of its elements, or between the elements
    themselves (`align_corners`). Outside are `zeros`, the nearest element (`border`), or what
    mirrors at the edges show (`reflection`).
    """
    sizes = input.shape[2:]
    fits = grid.rank == input.rank == len(sizes) + 2 and grid.shape[-1] == len(sizes)
    if kind not in KINDS or not fits or grid.shape[0] != input.shape[0] or 0 in sizes:
        raise ValueError(f"shape {input.shape} is not looked up by {kind!r} at {grid.shape}")
    bring = _boundary_rule(padding, align_corners)
    places = convert(grid, dtypes.float32)
    taps = []
    for dim, size in enumerate(sizes):
        place = _element_position(places, len(sizes) - 1 - dim, size, align_corners)
        taps.append(_taps(place, size, kind, bring, zeros=padding == "zeros"))
    found = _weighted_sum(convert(input, dtypes.float32), taps)
    last = found.rank - 1
    return convert(transpose(found, [0, last, *range(1, last)]), input.dtype)


def _element_position(places: HloValue, column: int, size: int, align_corners: bool) -> HloValue:
    """One column of the places, from -1 to 1, as positions of elements."""
    lead = places.shape[:-1]
    start, stop = [0] * len(lead), list(lead)
    one = reshape(slice(places, [*start, column], [*stop, column + 1]), lead)
    return (one + 1) * ((size - 1) / 2) if align_corners else (one + 1) * (size / 2) - 0.5


def _boundary_rule(padding: str, align_corners: bool) -> Bring:
    """What brings a position inside."""
    edge = 0.0 if align_corners else 0.5

    def mirror(place: HloValue, size: int) -> HloValue:
        period = 2 * (size - 1 + 2 * edge)
        if period == 0:
            return clamp(0.0, place, 0.0)
        along = abs(place + edge)
        rest = along - floor(along / period) * period
        return clamp(0.0, minimum(rest, period - rest) - edge, size - 1.0)

    ways: dict[str, Bring] = {
        "zeros": lambda place, _: place,
        "border": lambda place, size: clamp(0.0, place, size - 1.0),
        "reflection": mirror,
    }
    if padding not in ways:
        raise ValueError(f"what is outside is one of {', '.join(ways)}, not {padding!r}")
    return ways[padding]


def _taps(place: HloValue, size: int, kind: str, bring: Bring, *, zeros: bool) -> list[Tap]:
    if kind == "cubic":  # each element is brought inside by itself
        below = floor(place)
        part = place - below
        steps = range(-1, 3)
        return [_tap(bring(below + i, size), _cubic(abs(part - i)), size, zeros) for i in steps]
    place = bring(place, size)
    if kind == "nearest":
        return [_tap(round_nearest_even(place), None, size, zeros)]
    below = floor(place)
    part = place - below
    return [_tap(below, 1 - part, size, zeros), _tap(below + 1, part, size, zeros)]


def _tap(position: HloValue, weight: HloValue | None, size: int, zeros: bool) -> Tap:
    inside = greater_equal(position, 0.0) & less_equal(position, size - 1.0) if zeros else None
    return Tap(convert(clamp(0.0, position, size - 1.0), dtypes.int32), weight, inside)


def _cubic(distance: HloValue) -> HloValue:
    """Keys' kernel."""
    a = COEFFICIENT
    inner = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    outer = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return select(less_equal(distance, 1.0), inner, outer)


def _weighted_sum(input: HloValue, taps: Sequence[Sequence[Tap]]) -> HloValue:
    """The weighted sum over all combinations of taps, as `[N, *O, C]`."""
    count, channels, *sizes = input.shape
    lead = taps[0][0].index.shape
    order = [0, *range(2, input.rank), 1]
    rows = reshape(transpose(input, order), [count * math.prod(sizes), channels])
    batch = iota(lead, 0, dtypes.int32)
    total: HloValue | None = None
    for chosen in itertools.product(*taps):
        row, weight, inside = batch, None, None
        for tap, size in zip(chosen, sizes, strict=True):
            row = row * size + tap.index
            weight = tap.weight if weight is None or tap.weight is None else weight * tap.weight
            inside = tap.inside if inside is None or tap.inside is None else inside & tap.inside
        part = take(rows, row, 0)
        part = part if weight is None else part * _spread(weight, channels)
        part = part if inside is None else select(_spread(inside, channels), part, 0.0)
        total = part if total is None else total + part
    assert total is not None
    return total


def _spread(value: HloValue, channels: int) -> HloValue:
    """The same for each channel."""
    return broadcast_in_dim(value, [*value.shape, channels], range(value.rank))
