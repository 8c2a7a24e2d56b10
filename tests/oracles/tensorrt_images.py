"""Images of other sizes and at other places: TensorRT's `IResizeLayer` and `IGridSampleLayer`.

A place is exact where it is a ratio of sizes, so that what lies between two elements is a matter
of the documented rule alone. Dimensions are independent of each other: each gives neighbours and
their weights, and a tensor is the sum over all combinations.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

from tripybuild.tensorrt.dialect.base import sizes

HALF = Fraction(1, 2)
ROUNDINGS = {
    "kHALF_UP": lambda place: math.floor(place + HALF),
    "kHALF_DOWN": lambda place: math.ceil(place - HALF),
    "kFLOOR": math.floor,
    "kCEIL": math.ceil,
}
GRID_SLOPE = -0.75  # of cubic curves that a grid is looked up with: what ONNX and PyTorch have


def origin(op, index, length, resized):
    """The place in a dimension of the input that an element of the result comes from.

    Of a single element `kUPPER` takes the first; a ratio of nothing to nothing is zero.
    """
    if resized == 1 and op.value("selector_for_single_pixel") == "kUPPER":
        return Fraction(0)
    kind = op.value("coordinate_transformation")
    if kind == "kALIGN_CORNERS":
        return Fraction(index * (length - 1), max(resized - 1, 1))
    ratio = Fraction(length, resized)
    return index * ratio if kind == "kASYMMETRIC" else (index + HALF) * ratio - HALF


def near(place):
    """The two neighbours of a place, and the weight of each."""
    low = math.floor(place)
    return [(low, 1 - (place - low)), (low + 1, place - low)]


def curved(place, slope):
    """The four neighbours of a place, and the weight of each by Keys' convolution kernel."""
    low = math.floor(place)
    return [(at, keys(float(abs(place - at)), slope)) for at in range(low - 1, low + 3)]


def keys(distance, slope):
    """Keys' kernel of 1981: a cubic polynomial up to a distance of 1, another one up to 2."""
    if distance <= 1:
        return (slope + 2) * distance**3 - (slope + 3) * distance**2 + 1
    return slope * (distance**3 - 5 * distance**2 + 8 * distance - 4)


def wanted_shape(op, x, shape):
    """The sizes that are asked for as a tensor, by scales, or by the type of the result."""
    if op.output_shape is not None:
        return [int(size) for size in shape[0]]
    scales = op.value("scales")
    if scales is not None:
        return [math.floor(size * scale) for size, scale in zip(x.shape, scales, strict=True)]
    return [old if new is None else new for old, new in zip(x.shape, sizes(op.result), strict=True)]


def resize(op, x, *shape):
    """Each dimension in turn; beyond the edges is what is at the edges."""
    result = x.astype(np.float64)
    for axis, resized in enumerate(wanted_shape(op, x, shape)):
        length = x.shape[axis]
        weights = np.zeros((resized, length))
        for index in range(resized):
            for at, weight in neighbours(op, origin(op, index, length, resized)):
                weights[index, min(max(at, 0), length - 1)] += weight
        result = np.moveaxis(np.tensordot(weights, result, (1, axis)), 0, axis)
    # How TensorRT rounds integers is not documented; operators say to the nearest.
    return np.clip(np.rint(result), -128, 127) if x.dtype == np.int8 else result


def neighbours(op, place):
    """What an element is made of, along one dimension."""
    if op.name == "tensorrt.resize_nearest":
        return [(ROUNDINGS[op.value("nearest_rounding")](place), 1)]
    if op.name == "tensorrt.resize_linear":
        return near(place)
    return curved(place, op.value("cubic_coeff"))


def mirrored(at, length, *, centres):
    """An index outside as a mirror shows it: in the middle of the last element, or behind it."""
    if not centres:
        at %= 2 * length
        return min(at, 2 * length - 1 - at)
    if length == 1:
        return 0
    at %= 2 * (length - 1)
    return min(at, 2 * (length - 1) - at)


def inside(op, at, length):
    """The index that stands for one that may be outside; None for what is filled with zero."""
    if op.value("mode") == "kCLAMP":
        return min(max(at, 0), length - 1)
    if op.value("mode") == "kREFLECT":
        return mirrored(at, length, centres=op.value("align_corners"))
    return at if 0 <= at < length else None


def looked_up(op, number, length):
    """The indices and weights for a number of the grid, of which -1 and 1 are the edges."""
    if op.value("align_corners"):
        place = (float(number) + 1) / 2 * (length - 1)
    else:
        place = ((float(number) + 1) * length - 1) / 2
    kind = op.value("interpolation")
    if kind == "kNEAREST":
        found = [(int(np.rint(place)), 1.0)]
    else:
        found = near(place) if kind == "kLINEAR" else curved(place, GRID_SLOPE)
    known = [(inside(op, at, length), weight) for at, weight in found]
    return [(at, weight) for at, weight in known if at is not None]


def grid_sample(op, x, grid):
    """Each point of the grid names a place, its last dimension first."""
    points = grid.shape[1:-1]
    result = np.zeros((*x.shape[:2], *points))
    for batch, *point in np.ndindex(x.shape[0], *points):
        numbers = grid[(batch, *point)][::-1]
        along = [looked_up(op, *each) for each in zip(numbers, x.shape[2:], strict=True)]
        for chosen in itertools.product(*along):
            place = tuple(at for at, _ in chosen)
            weight = math.prod(each for _, each in chosen)
            result[(batch, slice(None), *point)] += weight * x[(batch, slice(None), *place)]
    return result


IMAGES = {
    "tensorrt.resize_cubic": resize,
    "tensorrt.resize_linear": resize,
    "tensorrt.resize_nearest": resize,
    "trtx.grid_sample": grid_sample,
}
