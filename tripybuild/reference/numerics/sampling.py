"""Interpolation helpers of references. Each has a test of its own.

All compute in float64, and none changes its arguments.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tripybuild.reference.numerics.arrays import Array
from tripybuild.reference.numerics.numpy_guard import check_elements


def resize_coordinates(
    length: int, resized: int, coordinates: str, selector: str = "formula"
) -> Array:
    """Where `resized` elements lie on a line of `length` elements: NVIDIA's `IResizeLayer`.

    `selector` is `upper` where a single element is the first, whatever `coordinates` says.
    """
    check_elements(resized)
    index = np.arange(resized)
    ways: Mapping[str, Callable[[], Array]] = {
        "align_corners": lambda: index * (length - 1) / max(resized - 1, 1),
        "asymmetric": lambda: index * length / resized,
        "half_pixel": lambda: (2 * index + 1) * length / (2 * resized) - 0.5,
    }
    single = resized == 1 and selector == "upper"
    return index * 0.0 if single or resized == 0 else ways[coordinates]()


def nearest(places: Array, rounding: str) -> Array:
    """The whole numbers nearest to places; `rounding` says what is nearest."""
    ways: Mapping[str, Callable[[Array], Array]] = {
        "floor": np.floor,
        "ceil": np.ceil,
        "half_up": lambda p: np.floor(p + 0.5),
        "half_down": lambda p: np.ceil(p - 0.5),
    }
    return ways[rounding](places)


def kernel(kind: str, distance: Array, coefficient: float = -0.75) -> Array:
    """The weight of an element at a distance: a hat (`linear`), or Keys' kernel (`cubic`)."""
    x, a = np.abs(distance), coefficient
    if kind == "linear":
        hat: Array = np.maximum(1 - x, 0)
        return hat
    inner = (a + 2) * x**3 - (a + 3) * x**2 + 1
    outer = a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a
    return np.where(x <= 1, inner, np.where(x < 2, outer, 0))


def interpolate(
    input: Array, places: Sequence[Array], kind: str, coefficient: float = -0.75
) -> Array:
    """The values at the places of a grid, one row of places for each dimension.

    Beyond an edge is what is at the edge. A dimension whose places are its own elements is left
    alone, so that nothing in it is multiplied.
    """
    value = input + 0.0
    for dim, where in enumerate(places):
        size = input.shape[dim]
        if len(where) == size and np.array_equal(where, np.arange(size)):
            continue
        check_elements(value.size // max(value.shape[dim], 1) * len(where))
        below = np.floor(where).astype(np.int64)
        total: Any = 0.0
        for tap in (0, 1) if kind == "linear" else (-1, 0, 1, 2):
            weights = kernel(kind, where - (below + tap), coefficient)
            part = np.take(value, np.clip(below + tap, 0, max(size - 1, 0)), axis=dim)
            total = total + np.where(
                (weights == 0).all(), 0.0, part * _along(weights, dim, value.ndim)
            )
        value = total
    return value


def _along(row: Array, dim: int, rank: int) -> Array:
    """A row that lies along one dimension."""
    return row.reshape([-1 if d == dim else 1 for d in range(rank)])


def sample_grid(input: Array, grid: Array, kind: str, padding: str, align_corners: bool) -> Array:
    """The values of images at the places of a grid, between -1 and 1: `[N, C, *O]`.

    A place has a number for each spatial dimension, the last one first. `padding` says what lies
    outside: `zeros`, the nearest element (`border`), or the mirrored input (`reflection`).
    """
    batch, channels, *sizes = input.shape
    shape = grid.shape[1:-1]
    check_elements(batch * channels * math.prod(shape))
    lines = []
    for column, size in zip(np.moveaxis(grid, -1, 0)[::-1], sizes, strict=True):
        place = (column + 1) / 2 * (size - 1) if align_corners else ((column + 1) * size - 1) / 2
        lines.append(_grid_taps(place, size, kind, padding, align_corners))
    number = np.arange(batch).reshape([-1] + [1] * len(shape))
    total = np.zeros((batch, *shape, channels))
    moved = np.moveaxis(input + 0.0, 1, -1)
    for chosen in itertools.product(*lines):
        inside: Array = np.ones((batch, *shape), bool)
        weight: Array = np.ones((batch, *shape))
        index = []
        for (position, share), size in zip(chosen, sizes, strict=True):
            inside = inside & (position >= 0) & (position <= size - 1)
            weight = weight * share
            index.append(np.clip(position, 0, size - 1).astype(np.int64))
        part = moved[(number, *index)] * weight[..., None]
        total = total + np.where(inside[..., None], part, 0.0)
    return np.moveaxis(total, -1, 1)


def _grid_taps(
    place: Array, size: int, kind: str, padding: str, align_corners: bool
) -> list[tuple[Array, Array]]:
    """The positions that count along one dimension, and their weights."""

    def bring(position: Array) -> Array:
        if padding == "zeros":
            return position
        if padding == "reflection":
            low, high = (0.0, size - 1.0) if align_corners else (-0.5, size - 0.5)
            turns, rest = np.divmod(np.abs(position - low), max(high - low, 1.0))
            position = np.where(turns % 2 == 0, rest + low, high - rest)
        return np.clip(position, 0, size - 1)

    below = np.floor(place)
    if kind == "cubic":
        return [(bring(below + i), kernel("cubic", place - below - i)) for i in range(-1, 3)]
    place = bring(place)
    below = np.floor(place)
    if kind == "nearest":
        return [(np.rint(place), np.ones_like(place))]
    return [(below + i, kernel("linear", place - below - i)) for i in (0, 1)]
