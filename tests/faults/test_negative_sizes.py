"""A size that a call makes negative is refused in words, before an engine or NumPy sees it."""

import numpy as np
import pytest
import written

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError

TEXT = """
    inputs:
      x: F[8]
      z: F[R]
    ranges: {R: {min: 0, opt: 2}}
    outputs:
      y: STEP
    """
STEPS = {
    "reshape(x, [R - 1, R - 1, 8])": "reshape/not-negative",
    "unflatten(x, 0, [R - 1, R - 1, 8])": "unflatten/known-sizes",
    "expand(x[0:1], [R - 1])": "expand/known-sizes",
    "expand(x[0:1], [R - 1, 1])": "expand/known-sizes",
    "zeros([R - 1])": "full/not-negative",
    "tile(x, [R - 1])": "tile/not-negative",
    "repeat(x, R - 1, 0)": "repeat/not-negative",
    "pad(x, [[R - 1, 0]])": "pad/not-negative",
    "x[R - 9]": "slice/inside",
}


@pytest.mark.parametrize("step", STEPS)
def test_a_call_that_makes_a_size_negative_is_refused(tmp_path, step):
    """With the law of the operator, which is asked before a target is."""
    path = written.write(tmp_path, TEXT.replace("STEP", step))
    made = tripybuild.compile(path, target="reference")
    with pytest.raises(DiagnosticError) as raised:
        made(x=np.zeros(8, np.float32), z=np.zeros(0, np.float32))
    assert STEPS[step] in [each.code for each in raised.value.diagnostics]
