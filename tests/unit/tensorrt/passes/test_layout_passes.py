"""Layouts in random functions: values stay, less is left, and passes come to an end."""

import pytest
from rewritten import settled

from tests.oracles.random_layouts import Layouts
from tests.oracles.tensorrt_numpy import assert_same, count, parsed
from tripybuild.tensorrt.passes.pipeline import SIMPLIFICATION

BROADCAST, TRANSPOSE, RESHAPE = (
    f"tensorrt-{name}-elimination" for name in ("broadcast", "transpose", "reshape")
)
BOTH = "tensorrt-transpose-reshape-elimination"
SEEDS = range(16)
SMALLER = {BROADCAST: "broadcast", TRANSPOSE: "transpose", BOTH: "transpose"}


@pytest.mark.parametrize("dynamic", [False, True], ids=["known", "unknown"])
@pytest.mark.parametrize("seed", SEEDS)
def test_values_stay(seed, dynamic):
    """Each pass gives a valid module that computes the same, and is done then."""
    made = Layouts(seed, dynamic=dynamic)
    for name in (BROADCAST, TRANSPOSE, RESHAPE, BOTH):
        found = assert_same(made.text(), name, dynamic=made.inputs())
        assert name == BOTH or settled(found, name)


@pytest.mark.parametrize("dynamic", [False, True], ids=["known", "unknown"])
@pytest.mark.parametrize("seed", range(100, 108))
def test_values_stay_in_the_pipeline(seed, dynamic):
    """What one pass leaves is what the next one understands."""
    made = Layouts(seed, dynamic=dynamic)
    assert_same(made.text(), *SIMPLIFICATION, dynamic=made.inputs())


@pytest.mark.parametrize("name", SMALLER)
def test_less_is_left(name):
    """Over all functions, a third of what a pass is for goes at least."""
    op = f"tensorrt.{SMALLER[name]}"
    before = after = 0
    for seed in SEEDS:
        text = Layouts(seed).text()
        before += count(parsed(text), op)
        after += count(parsed(assert_same(text, name)), op)
    assert after * 3 <= before * 2
