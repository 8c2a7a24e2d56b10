"""Resampling: tensors resized by interpolation.

Invariant: where the elements of the result lie follows from the two sizes of a dimension alone, as
in TensorRT's `IResizeLayer`; what lies outside is what is at the edge. Dimensions are resampled one
after another, each by a few elements that are taken and weighted: what is infinite stays where it
is, which a product with a matrix of weights would not grant.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.comparison import clamp, convert
from tripybuild.stablehlo.constants import constant
from tripybuild.stablehlo.elementwise import round_nearest_even
from tripybuild.stablehlo.indexing import take
from tripybuild.stablehlo.value import HloValue
from tripybuild.types import dtypes

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]
    Taps = list[tuple[Array, Array]]

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
    order = sorted(range(input.rank), key=lambda d: shape[d] / max(input.shape[d], 1))
    for dim in (d for d in order if shape[d] != input.shape[d]):
        places = _source_positions(input.shape[dim], shape[dim], coordinates, selector)
        taps = _nearest(places, rounding) if kind == "nearest" else _taps(places, kind, coefficient)
        value = _weighted_sum(value, taps, dim)
    if narrow.kind != "float" and value.dtype is not narrow:
        value = clamp(dtypes.lowest(narrow), round_nearest_even(value), dtypes.highest(narrow))
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
    return [(first + i, _cubic(np.abs(part - i), coefficient)) for i in (-1, 0, 1, 2)]


def _cubic(distance: "Array", a: float) -> "Array":
    """Keys' kernel: two cubic polynomials, for the inner and the outer neighbors."""
    inner = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    outer = ((distance - 5) * distance + 8) * distance * a - 4 * a
    weights: Array = bindings.numpy.where(distance <= 1, inner, outer)
    return weights


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
