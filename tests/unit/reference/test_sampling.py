"""Values between the elements of a grid: the references' helpers and the builders, beside loops."""

import math

import numpy as np
import pytest

from tripybuild import stablehlo as hlo
from tripybuild.reference.numerics import sampling
from tripybuild.symbolic.dims import symbol
from tripybuild.targets.xla import pjrt
from tripybuild.tensorrt import layers as trt
from tripybuild.tensorrt.emission import emit_module
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.types import dtypes
from tripybuild.types.size_range import SizeRange

WAYS = ("align_corners", "asymmetric", "half_pixel")
ROUNDINGS = ("half_up", "half_down", "floor", "ceil")


def place(i, length, resized, way):
    """Where an element lies, as NVIDIA's documentation of resizing has it."""
    if way == "align_corners":
        return i * (length - 1) / (resized - 1) if resized > 1 else 0.0
    if way == "asymmetric":
        return i * (length / resized)
    return (i + 0.5) * (length / resized) - 0.5


def cubic(x, a):
    """The convolution kernel of Keys."""
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def looped(row, resized, way, weigh, reach):
    """Each element of the result, as a sum over all taps that may count."""
    found = []
    for i in range(resized):
        where = place(i, len(row), resized, way)
        below = math.floor(where)
        found.append(
            sum(
                row[min(max(tap, 0), len(row) - 1)] * weigh(where - tap)
                for tap in range(below - reach, below + reach + 2)
            )
        )
    return found


def run(build, array):
    """What the CPU compiler makes of a builder."""
    module = hlo.HloModule({}, {"x": (dtypes.from_numpy(array.dtype), array.shape)})
    with module:
        module.finish({"y": build(module.inputs["x"])})
    return pjrt.load(pjrt.compile(module.bytecode()))(array)[0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("resized", [1, 3, 5, 8, 11])
def test_places_follow_from_sizes(way, resized):
    """By the formulas; a single element is the first one where the selector says so."""
    wanted = [place(i, 5, resized, way) for i in range(resized)]

    np.testing.assert_allclose(sampling.resize_coordinates(5, resized, way), wanted, atol=1e-12)
    assert sampling.resize_coordinates(5, 1, way, "upper").tolist() == [0]
    assert sampling.resize_coordinates(5, 0, way).tolist() == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("resized", [1, 4, 9])
@pytest.mark.parametrize(
    ("kind", "weigh", "reach"),
    [
        ("linear", lambda x: max(1 - abs(x), 0), 0),
        ("cubic", lambda x: cubic(x, -0.6), 1),
    ],
)
def test_between_elements_is_a_weighted_sum(way, resized, kind, weigh, reach):
    """Along either dimension, in the reference and in StableHLO."""
    random = np.random.default_rng(resized)
    rows = random.normal(size=(3, 5)).astype(np.float32)
    wanted = np.array([looped(row, resized, way, weigh, reach) for row in rows.astype(float)])
    places = sampling.resize_coordinates(5, resized, way)

    for array, shape, where, expected in (
        (rows, (3, resized), [np.arange(3), places], wanted),
        (rows.T, (resized, 3), [places, np.arange(3)], wanted.T),
    ):
        reference = sampling.interpolate(array.astype(float), where, kind, -0.6)
        np.testing.assert_allclose(reference, expected, atol=1e-12)
        built = run(lambda x, s=shape: hlo.resample(x, s, kind, way, coefficient=-0.6), array)
        np.testing.assert_allclose(built, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_the_nearest_is_said_by_the_rounding(rounding):
    """In the middle of two, too."""
    wanted = {
        "half_up": [0, 1, 1, 2, 0],
        "half_down": [0, 0, 1, 2, -1],
        "floor": [0, 0, 0, 1, -1],
        "ceil": [0, 1, 1, 2, 0],
    }
    found = sampling.nearest(np.array([0.0, 0.5, 0.75, 1.6, -0.5]), rounding)
    assert found.tolist() == wanted[rounding]

    row = np.arange(6, dtype=np.float32)
    steps = {"floor": [0, 1, 3, 4], "ceil": [0, 2, 3, 5]}
    steps |= {"half_up": [0, 2, 3, 5], "half_down": [0, 1, 3, 4]}
    built = run(lambda x: hlo.resample(x, [4], "nearest", "asymmetric", rounding=rounding), row)
    assert built.tolist() == steps[rounding]


def test_what_is_infinite_stays_where_it_is():
    """Elements that have no weight are not multiplied."""
    row = np.array([1, 2, np.inf, 4, 5, 6], np.float32)
    wanted = [1.0, 1.25, 1.75, np.inf, np.inf, np.inf, np.inf, 4.25]

    places = sampling.resize_coordinates(6, 12, "half_pixel")
    assert sampling.interpolate(row.astype(float), [places], "linear")[:8].tolist() == wanted
    built = run(lambda x: hlo.resample(x, [12], "linear", "half_pixel"), row)
    assert built[:8].tolist() == wanted


def test_integers_are_rounded_and_kept_in_range():
    """A cubic curve leaves the range of its elements."""
    row = np.array([-128, 127, 127, -128], np.int8)
    built = run(lambda x: hlo.resample(x, [8], "cubic", "half_pixel"), row)
    places = sampling.resize_coordinates(4, 8, "half_pixel")
    wide = sampling.interpolate(row.astype(float), [places], "cubic")
    assert wide.max() > 127
    assert wide.min() < -128
    assert built.tolist() == np.clip(np.rint(wide), -128, 127).tolist()


@pytest.mark.parametrize(
    ("shape", "arguments"),
    [([2], ("box", "half_pixel")), ([2, 2], ("linear", "half_pixel")), ([2], ("linear", "middle"))],
)
def test_resampling_that_cannot_be_is_refused(shape, arguments):
    """In words."""
    with pytest.raises(ValueError, match="resampl"):
        run(lambda x: hlo.resample(x, shape, *arguments), np.zeros(3, np.float32))


def resized(given, wanted, scales):
    """The text of a network that resizes, in NVIDIA's dialect."""
    network = trt.Network({}, {"x": (dtypes.float32, given)})
    with network:
        network.finish({"y": trt.resize_linear(network.inputs["x"], wanted, scales)})
    profile = {"B": SizeRange(1, 2, 8)}
    return printer.text(emit_module(network, "resized", [profile]).module)


def test_scales_are_said_where_they_give_the_shape():
    """By the engine's single precision; else the sizes are said."""
    text = resized((2, 2), (4, 4), (2, 2))
    assert (
        "tensorrt.resize_linear {coordinateTransformation ="
        " #tensorrt.resize_coordinate_transformation<kHALF_PIXEL>, scales = array<f32:"
        " 2.000000e+00, 2.000000e+00>,"
        " selectorForSinglePixel = #tensorrt.resize_selector<kFORMULA>}"
    ) in text

    nearly_one = 1.0 + 2.0**-30  # which single precision takes for one
    assert "scales" not in resized((2, 2**30), (2, 2**30 + 1), (1, nearly_one))


def test_scales_of_unknown_sizes_stay_scales():
    """Whole factors need no sizes to be computed."""
    batch = symbol("B", 1, 8)
    text = resized((batch, 1, 2, 2), (batch, 1, 4, 4), (1, 1, 2, 2))
    assert "scales = array<f32" in text
