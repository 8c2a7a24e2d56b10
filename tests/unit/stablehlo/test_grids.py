"""Images that are looked up at the places of a grid: the reference and StableHLO, beside loops."""

import itertools
import math

import numpy as np
import pytest

from tripybuild import stablehlo as hlo
from tripybuild.reference.numerics import sampling
from tripybuild.targets.xla import pjrt
from tripybuild.types.dtypes import float32


def mirrored(position, low, high):
    """A position brought between two mirrors, bounce by bounce."""
    while high > low and not low <= position <= high:
        position = 2 * low - position if position < low else 2 * high - position
    return position if high > low else low


def looked_up(image, place, padding, align):
    """One element between its neighbours, by the definition; `image` has any number of sizes."""
    positions = []
    for size, number in zip(image.shape, place[::-1], strict=True):
        at = (number + 1) / 2 * (size - 1) if align else ((number + 1) * size - 1) / 2
        if padding == "reflection":
            at = mirrored(at, 0, size - 1) if align else mirrored(at, -0.5, size - 0.5)
        positions.append(at if padding == "zeros" else min(max(at, 0), size - 1))
    total = 0.0
    for corner in itertools.product(*[(math.floor(p), math.floor(p) + 1) for p in positions]):
        weight = math.prod(1 - abs(p - c) for p, c in zip(positions, corner, strict=True))
        if all(0 <= c < size for c, size in zip(corner, image.shape, strict=True)):
            total += weight * image[corner]
    return total


def run(array, grid, *arguments):
    """What the CPU compiler makes of the builder."""
    module = hlo.HloModule({}, {"x": (float32, array.shape), "grid": (float32, grid.shape)})
    with module:
        made = hlo.grid_sample(module.inputs["x"], module.inputs["grid"], *arguments)
        module.finish({"y": made})
    return pjrt.load(pjrt.compile(module.bytecode()))(array, grid)[0]


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("sizes", [(4, 5), (1, 3), (3, 2, 4)], ids=str)
def test_lines_between_neighbours(sizes, padding, align):
    """Inside, at the edges and far outside."""
    random = np.random.default_rng(len(sizes))
    images = random.normal(size=(2, 3, *sizes)).astype(np.float32)
    grid = random.uniform(-3, 3, (2, *[2] * len(sizes), len(sizes))).astype(np.float32)
    wanted = np.zeros((2, 3, *[2] * len(sizes)))
    for place in itertools.product(*map(range, wanted.shape)):
        number, channel, *at = place
        wanted[place] = looked_up(
            images[number, channel].astype(float), grid[number, *at].astype(float), padding, align
        )

    found = sampling.sample_grid(images.astype(float), grid, "linear", padding, align)
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    built = run(images, grid, "linear", padding, align)
    np.testing.assert_allclose(built, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("kind", ["nearest", "cubic"])
def test_other_kinds_agree(kind, padding):
    """The reference and StableHLO, which are written apart."""
    random = np.random.default_rng(3)
    images = random.normal(size=(2, 3, 4, 5)).astype(np.float32)
    grid = random.uniform(-2, 2, (2, 3, 6, 2)).astype(np.float32)
    for align in (False, True):
        wanted = sampling.sample_grid(images.astype(float), grid, kind, padding, align)
        built = run(images, grid, kind, padding, align)
        np.testing.assert_allclose(built, wanted, rtol=1e-4, atol=1e-4)


def test_zeros_come_from_outside_whatever_the_edge_holds():
    """Nothing that is infinite is multiplied by zero."""
    images = np.full((1, 1, 2, 2), np.inf, np.float32)
    grid = np.full((1, 1, 1, 2), 5, np.float32)

    assert run(images, grid, "linear", "zeros").tolist() == [[[[0.0]]]]
    found = sampling.sample_grid(images.astype(float), grid, "linear", "zeros", False)
    assert found.tolist() == [[[[0.0]]]]


@pytest.mark.parametrize(
    ("shape", "kind", "padding"),
    [
        ((1, 2, 2, 3), "linear", "zeros"),
        ((2, 2, 2, 2), "linear", "zeros"),
        ((1, 2, 2, 2), "box", "zeros"),
        ((1, 2, 2, 2), "linear", "wrap"),
    ],
)
def test_what_cannot_be_looked_up_is_refused(shape, kind, padding):
    """Places of another size, another batch, unknown words."""
    with pytest.raises(ValueError, match=r"not looked up|what is outside"):
        run(np.zeros((1, 1, 3, 3), np.float32), np.zeros(shape, np.float32), kind, padding)
