"""Versions of TensorRT that passes are told, and how near constants have to be."""

import pytest
from oracles.tensorrt_numpy import parsed

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.tensorrt.passes import pipeline
from tripybuild.tensorrt.passes.rewriting.matching import near

WARS, ACTIVATIONS = "tensorrt-apply-wars", "tensorrt-raise-activations"


@pytest.mark.parametrize("version", ["10", "10.9.0", "x.y", ""])
def test_workarounds_take_a_version_of_two_numbers(version):
    """The diagnostic has mlir-tensorrt's words."""
    with pytest.raises(DiagnosticError, match="failed to parse version string"):
        pipeline.run(parsed(""), [WARS], {WARS: {"tensorrt-version": version}})


@pytest.mark.parametrize("version", ["ten", "10.0.0.0.0", "", "10.-1"])
def test_activations_take_a_version(version):
    """The diagnostic says that it is invalid."""
    options = {ACTIVATIONS: {"target-tensorrt-version": version}}
    with pytest.raises(DiagnosticError, match="invalid version"):
        pipeline.run(parsed(""), [ACTIVATIONS], options)


def test_how_near_a_constant_is():
    """A thousandth, and less for small numbers; bfloat16 has three digits."""
    assert near(0.797, 0.797884583)
    assert not near(0.0455, 0.044715)
    assert not near(0.796875, 0.797884583)
    assert near(0.796875, 0.797884583, coarse=True)
    assert not near(float("nan"), 1.0)
