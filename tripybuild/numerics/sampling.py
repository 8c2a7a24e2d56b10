"""The named helpers of references that find values between the elements of a grid.

Each has a test of its own. All compute in float64, and none changes its arguments.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tripybuild.numerics.bounded import check_elements

Array = np.ndarray[Any, Any]


def resized_places(length: int, resized: int, coordinates: str, selector: str = "formula") -> Array:
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
