"""Mixtral with the matrices of experts gathered, beside the library that gathers tokens."""

import pytest
import spec_tests
from spec_tests import Comparison, difference

import tripybuild

pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(autouse=True)
def _cache(shared_cache):
    """Nothing is found that another session compiled."""


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_gathered_experts_are_the_peers(dtype, tmp_path):
    """Stacks of matrices are in the executable, and the matrices that they are made of are not."""
    comparison = Comparison(spec_tests.SPECS / "mixtral.yaml", tmp_path)
    (call,) = comparison.calls
    executable = tripybuild.compile(
        comparison.path,
        sizes={"gathered": True, "F": dtype},
        config=comparison.own_config,
        weights=comparison.weights,
    )
    experts = [name for name in executable.weights if "block_sparse_moe." in name]
    assert {name.rpartition("block_sparse_moe.")[2] for name in experts} == {
        "gate.weight",
        "w1",
        "w2",
        "w3",
    }
    sizes = call.section.shapes[0]
    arrays = call.draw(sizes, 0)
    apart = difference(call.run(executable, arrays, sizes), call.expected(arrays))
    assert apart <= comparison.tolerance(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_gathered_experts_build(dtype, tmp_path):
    """By TensorRT-RTX, for ranges of sizes."""
    pytest.importorskip("tensorrt_rtx", reason="TensorRT-RTX is not installed")
    comparison = Comparison(spec_tests.SPECS / "mixtral.yaml", tmp_path)
    engine = tripybuild.compile(
        comparison.path,
        target="tensorrt-rtx",
        sizes={"gathered": True, "F": dtype},
        config=comparison.own_config,
        weights=comparison.weights,
    )
    assert len(engine.manifest["entries"]) == 1
