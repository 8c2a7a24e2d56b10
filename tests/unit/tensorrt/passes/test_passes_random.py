"""Each pass, and the pipeline, on random functions: what they give does not change."""

import pytest
from oracles.random_programs import program
from oracles.tensorrt_numpy import assert_same, printer

from tripybuild.tensorrt.passes import pipeline

FUSED = (
    "tensorrt-broadcast-elimination",
    "tensorrt-transpose-reshape-elimination",
    "canonicalize",
    "cse",
    "tensorrt-expand-ops",
)
EXTENSIONS = ("argm", "broadcast ", "collapse_rank", "expand_rank", "reshape ", "transpose ")


@pytest.mark.parametrize("seed", range(12))
def test_the_pipeline_changes_no_value(seed):
    """The whole of it, and the way through einsum; afterwards no extension op is left."""
    text = printer.text(program(seed, steps=20))
    after = assert_same(text, *pipeline.PIPELINE)
    assert not [name for name in EXTENSIONS if f"tensorrt.{name}" in after]
    assert_same(text, *FUSED)


@pytest.mark.parametrize("name", pipeline.PASSES)
def test_each_pass_changes_no_value(name):
    """Alone, and twice as once."""
    for seed in range(100, 104):
        text = printer.text(program(seed))
        after = assert_same(text, name)
        assert assert_same(after, name) == after


def test_programs_are_worth_it():
    """The seeds have most kinds of ops, and the pipeline leaves fewer of them."""
    before = [printer.text(program(seed, steps=20)) for seed in range(6)]
    kinds = {
        line.split("tensorrt.")[1].split()[0]
        for text in before
        for line in text.splitlines()
        if "= tensorrt." in line
    }
    assert len(kinds) >= 12
    after = [assert_same(text, "canonicalize", "cse") for text in before]
    assert sum(map(len, after)) < sum(map(len, before))
