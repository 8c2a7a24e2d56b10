"""Compiling, saving, loading: what holds from the specification to the second process."""

from pathlib import Path

import numpy as np
import pytest
import tripybuild
from tripybuild.diagnostics import DiagnosticError

SPEC = """\
tripybuild: 1
model: order
doc: Two inputs and two outputs whose names do not stand in the order of the alphabet.
inputs:
  z: int32[B]
  a: int32[B]
ranges:
  B: {min: 1, opt: 2, max: 4}
outputs:
  y: z - a
  b: z + a
"""


def test_inputs_and_outputs_keep_their_order_in_the_file(tmp_path: Path) -> None:
    """Arguments of one dtype and shape are not exchanged by sorting a manifest's keys."""
    spec, file = tmp_path / "order.yaml", tmp_path / "order.tpb"
    spec.write_text(SPEC)
    made = tripybuild.compile(spec, output=file)
    loaded = tripybuild.load(file)
    z, a = np.array([5, 7], np.int32), np.array([1, 2], np.int32)

    for executable in (made, loaded):
        assert list(executable.inputs) == ["z", "a"]
        results = executable(z=z, a=a)
        assert list(results) == ["y", "b"]
        np.testing.assert_array_equal(results["y"], [4, 5])
        np.testing.assert_array_equal(results["b"], [6, 9])


def test_laws_are_decided_for_the_sizes_that_are_compiled_for(tmp_path: Path) -> None:
    """What `opt` breaks is said when the model is compiled, not at the first call."""
    spec = tmp_path / "laws.yaml"
    spec.write_text(
        "tripybuild: 1\nmodel: laws\ninputs:\n  x: float32[S]\n"
        "ranges:\n  S: {min: 1, opt: 33, max: 64}\noutputs:\n  y: reshape(x, [S // 16, 16])\n"
    )

    with pytest.raises(DiagnosticError) as caught:
        tripybuild.compile(spec)

    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "reshape/same-volume"
    assert diagnostic.span is not None
    assert diagnostic.span.line == 6
