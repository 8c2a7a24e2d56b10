"""Random numbers: known answers, distributions, and that a test of them can fail."""

import numpy as np
import pytest

from tripybuild import stablehlo as hlo
from tripybuild.reference.compare import distributions_differ
from tripybuild.reference.numerics import draws
from tripybuild.targets.xla import pjrt
from tripybuild.types.dtypes import bfloat16, float16, float32

# The authors' known answers for Threefry-2x32 with twenty rounds: counters, key, result.
KNOWN = [
    ("00000000 00000000", "00000000 00000000", "6b200159 99ba4efe"),
    ("ffffffff ffffffff", "ffffffff ffffffff", "1cb996fc bb002be7"),
    ("243f6a88 85a308d3", "13198a2e 03707344", "c4923a9c 483df7a0"),
]


def words(text):
    """Pairs of 32 bits."""
    first, second = (int(word, 16) for word in text.split())
    return first, second


def drawn(build):
    """What two calls of a compiled program draw."""
    module = hlo.HloModule({}, {})
    with module:
        module.finish({"y": build()})
    program = pjrt.load(pjrt.compile(module.bytecode()))
    return program()[0], program()[0]


@pytest.mark.parametrize(("counters", "key", "wanted"), KNOWN)
def test_threefry_gives_the_known_answers(counters, key, wanted):
    """Of its authors."""
    pair = tuple(np.array([word], np.uint64) for word in words(counters))
    found = draws.threefry(pair, words(key))
    assert tuple(int(word[0]) for word in found) == words(wanted)


@pytest.mark.parametrize("seed", [0, 7, 2**31, 2**40 + 5, 2**64 - 1, -3])
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (0, 2)])
def test_a_seed_gives_the_same_numbers_everywhere(seed, shape):
    """In NumPy and in StableHLO, whenever they are asked for."""
    uniform = drawn(lambda: hlo.random_uniform(shape, -1.0, 2.0, float32, seed))
    normal = drawn(lambda: hlo.random_normal(shape, 1.0, 0.5, float32, seed))

    for found, wanted in (
        (uniform, draws.draw_uniform(shape, -1.0, 2.0, seed)),
        (normal, draws.draw_normal(shape, 1.0, 0.5, seed)),
    ):
        assert np.array_equal(*found)
        assert found[0].shape == wanted.shape == shape
        np.testing.assert_allclose(found[0], wanted, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("dtype", [float32, float16, bfloat16], ids=str)
def test_without_a_seed_numbers_are_new(dtype):
    """At each call, and distributed as they should be."""
    for build, reference in (
        (lambda: hlo.random_uniform((40, 50), -1.0, 2.0, dtype), draws.draw_uniform),
        (lambda: hlo.random_normal((40, 50), -1.0, 2.0, dtype), draws.draw_normal),
    ):
        first, second = drawn(build)
        assert first.dtype == dtype.numpy
        assert not np.array_equal(first, second)
        wanted = reference((40, 50), -1.0, 2.0, None).astype(dtype.numpy)
        assert distributions_differ(first, wanted) is None
        assert distributions_differ(second, wanted) is None
        assert not np.array_equal(wanted, reference((40, 50), -1.0, 2.0, None))


def test_uniform_numbers_stay_below_the_end():
    """And reach both ends nearly."""
    found = draws.draw_uniform([100_000], 0.0, 1.0, 3)
    assert found.min() >= 0
    assert found.max() < 1
    assert found.min() < 1e-4
    assert found.max() > 1 - 1e-4


def test_distributions_that_differ_are_told():
    """Another mean, another deviation, another form; the wrong shape; what is no number."""
    random = np.random.default_rng(1)
    wanted = random.normal(0, 1, (40, 50))

    assert distributions_differ(random.normal(0, 1, (40, 50)), wanted) is None
    assert "mean" in distributions_differ(random.normal(0.3, 1, (40, 50)), wanted)
    assert "deviation" in distributions_differ(random.normal(0, 1.3, (40, 50)), wanted)
    form = random.uniform(-(3**0.5), 3**0.5, (40, 50)) ** 3 / 1.96
    assert distributions_differ(form, wanted) is not None
    signs = np.sign(random.normal(0, 1, (40, 50)))
    assert "distributed otherwise" in distributions_differ(signs, wanted)
    assert "want float64[40, 50]" in distributions_differ(wanted[:3], wanted)
    assert "finite" in distributions_differ(np.where(wanted > 2, np.nan, wanted), wanted)
    assert distributions_differ(np.zeros((0, 2)), np.zeros((0, 2))) is None
