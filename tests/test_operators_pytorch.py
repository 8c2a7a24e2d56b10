"""Operators beside those of PyTorch where the suites do not look: NaN, infinities, ties, nothing.

Each case is a call of ours, PyTorch's, and arrays. The reference, `cpu` and what is lowered to
TensorRT (its layers in NumPy, without rounding) must all say the same.
"""

import numpy as np
import pytest
from oracles.operators import results

import tripyapi as tp

torch = pytest.importorskip("torch", reason="torch is not installed")
F = torch.nn.functional
INF, NAN = np.inf, np.nan
EDGES = np.float32(
    [0, -0.0, 1, -1, 0.5, -0.5, 1e-4, -1e-4, 1e-9, 3, -3, 6.5, 20, -20, 80, -80, INF, -INF, NAN]
)
NONE = np.zeros((0, 3), np.float32)
WHOLE = np.int32([0, 1, -1, 2, -7, 7, 2**31 - 1, -(2**31) + 1])

CASES = {
    "isnan": (tp.isnan, torch.isnan, [EDGES]),
    "isinf": (tp.isinf, torch.isinf, [EDGES]),
    "isfinite": (tp.isfinite, torch.isfinite, [EDGES]),
    "square": (tp.square, torch.square, [EDGES]),
    "square of integers": (tp.square, torch.square, [np.int64([3, -2, 2**31])]),
    "clip": (lambda x: tp.clip(x, -1, 3), lambda x: x.clamp(-1, 3), [EDGES]),
    "clip, crossed": (lambda x: tp.clip(x, 3, -1), lambda x: x.clamp(3, -1), [EDGES]),
    "clip of integers": (lambda x: tp.clip(x, -2), lambda x: x.clamp(-2), [WHOLE]),
    "log2": (tp.log2, torch.log2, [EDGES]),
    "log10": (tp.log10, torch.log10, [EDGES]),
    "log1p": (tp.log1p, torch.log1p, [EDGES]),
    "expm1": (tp.expm1, torch.expm1, [EDGES]),
    "exp2": (tp.exp2, torch.exp2, [EDGES]),
    "trunc": (tp.trunc, torch.trunc, [EDGES]),
    "frac": (tp.frac, torch.frac, [EDGES]),
    "fmod": (tp.fmod, torch.fmod, [EDGES[:, None], EDGES[2:]]),
    "fmod of integers": (tp.fmod, torch.fmod, [WHOLE[:, None], WHOLE[1:]]),
    "logaddexp": (tp.logaddexp, torch.logaddexp, [EDGES[:, None], EDGES]),
    "logaddexp of nothing": (tp.logaddexp, torch.logaddexp, [NONE, NONE]),
}


@pytest.mark.parametrize("name", CASES)
def test_same_as_pytorch(name):
    """Each engine gives what PyTorch gives, in float32 and for integers."""
    ours, theirs, arrays = CASES[name]
    wanted = theirs(*map(torch.from_numpy, arrays))
    several = wanted if isinstance(wanted, tuple) else (wanted,)
    for engine, given in results(ours, arrays).items():
        for got, want in zip(given, several, strict=True):
            assert list(got.shape) == list(want.shape), engine
            np.testing.assert_allclose(got, want.numpy(), 2e-6, 1e-7, err_msg=engine)
