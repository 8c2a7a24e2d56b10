"""Interpolation: tensors resized to other shapes, and images looked up at computed positions.

Invariant: where the elements of a resized tensor lie follows from the two sizes of a dimension
alone, as in TensorRT's `IResizeLayer`; what lies outside is what is at the edge. Dimensions are
resampled one after another, each by a few elements that are taken and weighted: what is infinite
stays where it is, which a product with a matrix of weights would not grant. Positions of a grid are
computed in float32; what is outside is never multiplied, so that zeros come from there whatever the
edge holds.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.comparison import clamp, convert
from tripybuild.stablehlo.constants import constant
from tripybuild.stablehlo.elementwise import round_nearest_even
from tripybuild.stablehlo.indexing import take
from tripybuild.stablehlo.value import HloValue, same_sizes
from tripybuild.types import dtypes

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]
    Taps = list[tuple[Array, Array]]
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from tripybuild.stablehlo.broadcast import broadcast_in_dim
from tripybuild.stablehlo.comparison import greater_equal, less_equal, select
from tripybuild.stablehlo.constants import iota
from tripybuild.stablehlo.elementwise import abs, floor, minimum
from tripybuild.stablehlo.shapes import reshape, transpose
from tripybuild.stablehlo.slices import slice

KINDS = ("nearest", "linear", "cubic")
COORDINATES = ("align_corners", "asymmetric", "half_pixel")
ROUNDING = ("half_up", "half_down", "floor", "ceil")


def resample(
    input: HloValue,
    shape: Sequence[int],
    kind: str,
    coordinates: str,
    selector: str = "formula",
    rounding: str = "floor",
    coefficient: float = -0.75,
) -> HloValue:
    """The input in another shape of the same rank.

    Args:
        input: Numbers of any dtype; integers are rounded to the nearest, and kept in range.
        shape: The sizes of the result.
        kind: `nearest`, `linear` or `cubic`.
        coordinates: `align_corners`, `asymmetric` or `half_pixel`.
        selector: `upper` if a single element is the first one, whatever `coordinates` says.
        rounding: `half_up`, `half_down`, `floor` or `ceil`: what is nearest.
        coefficient: The slope of the cubic kernel at its first zero.
    """
    if kind not in KINDS or coordinates not in COORDINATES or rounding not in ROUNDING:
        raise ValueError(f"there is no resampling by {kind!r}, {coordinates!r} and {rounding!r}")
    if len(shape) != input.rank or any(n > 0 == m for n, m in zip(shape, input.shape, strict=True)):
        raise ValueError(f"a tensor of shape {input.shape} cannot be resampled to {tuple(shape)}")
    narrow = input.dtype
    value = input if kind == "nearest" else convert(input, dtypes.float32)
    # The dimensions that shrink most come first: they leave less for the others to do.
    resized = [d for d in range(input.rank) if not same_sizes(shape[d], input.shape[d])]
    for dim in sorted(resized, key=lambda d: shape[d] / max(input.shape[d], 1)):
        places = _source_positions(input.shape[dim], shape[dim], coordinates, selector)
        taps = _nearest(places, rounding) if kind == "nearest" else _taps(places, kind, coefficient)
        value = _weighted_sum(value, taps, dim)
    if narrow.kind != "float" and value.dtype is not narrow:
        value = clamp(narrow.lowest, round_nearest_even(value), narrow.highest)
    return convert(value, narrow)


@lru_cache(maxsize=256)
def _source_positions(length: int, resized: int, coordinates: str, selector: str) -> "Array":
    """Where the elements of the result lie among those of the input, in float64."""
    np = bindings.numpy
    index: Array = np.arange(resized, dtype=np.float64)
    if resized == 1 and (selector == "upper" or coordinates == "align_corners"):
        index = np.zeros(1)
    elif coordinates == "align_corners":
        index = index * (length - 1) / max(resized - 1, 1)
    elif coordinates == "asymmetric":
        index = index * length / max(resized, 1)
    else:
        index = (index + 0.5) * length / max(resized, 1) - 0.5
    return index


def _nearest(places: "Array", rounding: str) -> "Taps":
    np = bindings.numpy
    rounded = {
        "floor": np.floor(places),
        "ceil": np.ceil(places),
        "half_up": np.floor(places + 0.5),
        "half_down": np.ceil(places - 0.5),
    }
    return [(rounded[rounding], np.ones_like(places))]


def _taps(places: "Array", kind: str, coefficient: float) -> "Taps":
    """The positions of the elements that count, and their weights."""
    np = bindings.numpy
    first = np.floor(places)
    part = places - first
    if kind == "linear":
        return [(first, 1 - part), (first + 1, part)]
    steps = [(i, np.abs(part - i)) for i in (-1, 0, 1, 2)]
    return [(first + i, np.where(far <= 1, *_cubic(far, coefficient))) for i, far in steps]


def _cubic(distance: Any, a: float) -> tuple[Any, Any]:
    """Keys' kernel: two cubic polynomials, for the inner and the outer neighbors."""
    inner = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    outer = ((distance - 5) * distance + 8) * distance * a - 4 * a
    return inner, outer


def _weighted_sum(input: HloValue, taps: "Taps", dim: int) -> HloValue:
    """The sum of the elements at each tap's positions of a dimension, times their weights."""
    np = bindings.numpy
    total: HloValue | None = None
    for positions, weights in taps:
        if not weights.any() and total is not None:
            continue
        places = np.clip(positions, 0, max(input.shape[dim] - 1, 0)).astype(np.int32)
        part = take(input, constant(places, dtypes.int32), dim)
        if not (weights == 1).all():
            column = weights.reshape([-1 if d == dim else 1 for d in range(input.rank)])
            part = part * constant(column, input.dtype)
        total = part if total is None else total + part
    assert total is not None
    return total


COEFFICIENT = -0.75
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
        taps.append(_grid_taps(place, size, kind, bring, zeros=padding == "zeros"))
    found = _sum_of_taps(convert(input, dtypes.float32), taps)
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


def _grid_taps(place: HloValue, size: int, kind: str, bring: Bring, *, zeros: bool) -> list[Tap]:
    if kind == "cubic":  # each element is brought inside by itself
        below = floor(place)
        part = place - below
        steps = range(-1, 3)
        return [
            _tap(bring(below + i, size), _cubic_weight(abs(part - i)), size, zeros) for i in steps
        ]
    place = bring(place, size)
    if kind == "nearest":
        return [_tap(round_nearest_even(place), None, size, zeros)]
    below = floor(place)
    part = place - below
    return [_tap(below, 1 - part, size, zeros), _tap(below + 1, part, size, zeros)]


def _tap(position: HloValue, weight: HloValue | None, size: int, zeros: bool) -> Tap:
    inside = greater_equal(position, 0.0) & less_equal(position, size - 1.0) if zeros else None
    return Tap(convert(clamp(0.0, position, size - 1.0), dtypes.int32), weight, inside)


def _cubic_weight(distance: HloValue) -> HloValue:
    return select(less_equal(distance, 1.0), *_cubic(distance, COEFFICIENT))


def _sum_of_taps(input: HloValue, taps: Sequence[Sequence[Tap]]) -> HloValue:
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
