"""All ways to resample a tensor: TensorRT's module in NumPy, XLA and the reference say the same."""

import itertools

import numpy as np
import pytest
from oracles.operators import results

import tripyapi as tp

COORDINATES = ("align_corners", "asymmetric", "half_pixel")
SELECTORS = ("formula", "upper")
ROUNDINGS = ("half_up", "half_down", "floor", "ceil")
SHAPES = ([2, 3, 7, 3], [2, 3, 1, 9])
MODES = ("linear", "nearest", "cubic")
OUTSIDE = ("zeros", "border", "reflection")
INPUT = np.random.default_rng(2).standard_normal((2, 3, 4, 5)).astype(np.float32)


def agree(call, *arrays):
    """Ask that each engine gives what TensorRT's documentation says."""
    found = results(call, arrays)
    for engine in ("cpu", "reference"):
        np.testing.assert_allclose(
            found[engine][0], found["tensorrt"][0], rtol=1e-4, atol=2e-5, err_msg=engine
        )


@pytest.mark.parametrize(
    ("coordinates", "selector"), list(itertools.product(COORDINATES, SELECTORS))
)
@pytest.mark.parametrize("shape", SHAPES)
def test_resized(coordinates, selector, shape):
    where = {"coordinates": coordinates, "selector": selector}
    agree(lambda x: tp.resize_linear(x, shape, **where), INPUT)
    agree(lambda x: tp.resize_cubic(x, shape, **where), INPUT)
    for rounding in ROUNDINGS:
        agree(lambda x, way=rounding: tp.resize_nearest(x, shape, **where, rounding=way), INPUT)


@pytest.mark.parametrize(("mode", "outside"), list(itertools.product(MODES, OUTSIDE)))
def test_looked_up_far_outside_too(mode, outside):
    grid = np.random.default_rng(3).uniform(-3.5, 3.5, (2, 3, 6, 2)).astype(np.float32)
    for corners in (False, True):
        agree(lambda x, g, c=corners: tp.grid_sample(x, g, mode, outside, c), INPUT, grid)
