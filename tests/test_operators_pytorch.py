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
FINITE = EDGES[np.isfinite(EDGES)]
ROWS = np.float32([[1, -2, 3], [-INF, 0, 1], [NAN, 0, 1], [-INF, -INF, 5]])
BATCH = np.random.default_rng(7).standard_normal((2, 4, 5)).astype(np.float32)
PAIRS = np.int32([[[0, 2], [3, 1], [2, 0]]])
SLOPES = np.linspace(-1, 2, EDGES.size, dtype=np.float32)
WHOLE = np.int32([0, 1, -1, 2, -7, 7, 2**31 - 1, -(2**31) + 1])


def recurrent(kind, gates, states):
    """A layer of PyTorch on packed sequences, in both directions, and arrays for it."""

    def run(x, *given):
        weights, first, lengths = given[:4], given[4:-1], given[-1]
        layer = kind(x.shape[2], weights[1].shape[2], bidirectional=True)
        for name, several in zip(
            ("weight_ih", "weight_hh", "bias_ih", "bias_hh"), weights, strict=True
        ):
            for end, each in zip(("", "_reverse"), several, strict=True):
                getattr(layer, f"{name}_l0{end}").data = each
        rows = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False)
        with torch.no_grad():
            y, last = layer(rows, first if len(first) > 1 else first[0])
        padded, _ = torch.nn.utils.rnn.pad_packed_sequence(y)
        return (padded, *(last if isinstance(last, tuple) else [last]))

    size = gates * 2
    shapes = [(4, 3, 5), (2, size, 5), (2, size, 2), (2, size), (2, size), *[(2, 3, 2)] * states]
    random = np.random.default_rng(11)
    arrays = [random.uniform(-0.5, 0.5, shape).astype(np.float32) for shape in shapes]
    return run, [*arrays, np.int32([2, 4, 1])]


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
    "relu6": (tp.relu6, F.relu6, [EDGES]),
    "hard_tanh": (lambda x: tp.hard_tanh(x, -2, 0.5), lambda x: F.hardtanh(x, -2, 0.5), [EDGES]),
    "hard_swish": (tp.hard_swish, F.hardswish, [EDGES]),
    "scaled_tanh": (lambda x: tp.scaled_tanh(x, 2, 3), lambda x: 2 * (3 * x).tanh(), [EDGES]),
    "thresholded_relu": (tp.thresholded_relu, lambda x: x.where(x > 1, 0), [EDGES]),
    "threshold": (lambda x: tp.threshold(x, 1, 9), lambda x: F.threshold(x, 1, 9), [EDGES]),
    "celu": (lambda x: tp.celu(x, 2), lambda x: F.celu(x, 2), [EDGES]),
    "mish": (tp.mish, F.mish, [FINITE]),
    "log_sigmoid": (tp.log_sigmoid, F.logsigmoid, [FINITE]),
    "gelu_tanh": (tp.gelu_tanh, lambda x: F.gelu(x, approximate="tanh"), [FINITE]),
    "quick_gelu": (tp.quick_gelu, lambda x: x * torch.sigmoid(1.702 * x), [FINITE]),
    "softshrink": (tp.softshrink, F.softshrink, [EDGES]),
    "hardshrink": (tp.hardshrink, F.hardshrink, [EDGES]),
    "tanhshrink": (tp.tanhshrink, F.tanhshrink, [EDGES]),
    "log_softmax": (lambda x: tp.log_softmax(x, 0), lambda x: x.log_softmax(0), [FINITE]),
    "log_softmax, infinite": (lambda x: tp.log_softmax(x, 1), lambda x: x.log_softmax(1), [ROWS]),
    "log_softmax of nothing": (tp.log_softmax, lambda x: x.log_softmax(0), [NONE]),
    "softmin": (lambda x: tp.softmin(x, 1), lambda x: F.softmin(x, 1), [ROWS]),
    "glu": (lambda x: tp.glu(x, 0), lambda x: F.glu(x, 0), [ROWS]),
    "prelu": (
        lambda x, w: tp.prelu(x, tp.unsqueeze(w, 1)),
        F.prelu,
        [EDGES[None, :, None], SLOPES],
    ),
    "logit": (tp.logit, torch.logit, [np.float32([0, 1e-6, 0.5, 0.75, 1, 2, -1, NAN])]),
    "logit, kept": (lambda x: tp.logit(x, 0.1), lambda x: x.logit(0.1), [np.float32([0, 1, 0.5])]),
    "gather_elements": (
        lambda x, k: tp.gather_elements(x, 1, k),
        lambda x, k: x.gather(1, k.long()),
        [ROWS, np.int32([[2, 0, 0, 1], [1, 1, 2, 0]])],
    ),
    "gather_elements of nothing": (
        lambda x, k: tp.gather_elements(x, 0, k),
        lambda x, k: x.gather(0, k),
        [NONE, np.zeros((0, 2), np.int64)],
    ),
    "gather_nd": (tp.gather_nd, lambda x, k: x[tuple(k.long().movedim(-1, 0))], [ROWS, PAIRS]),
    "scatter_elements": (
        lambda x, k, u: tp.scatter_elements(x, 1, k, u),
        lambda x, k, u: x.scatter(1, k.long(), u),
        [ROWS, np.int32([[2, 0], [1, 2], [0, 1]]), np.float32([[9, INF], [NAN, -9], [1, 2]])],
    ),
    "scatter_nd": (
        tp.scatter_nd,
        lambda x, k, u: x.index_put(tuple(k.long().movedim(-1, 0)), u),
        [ROWS, PAIRS, np.float32([[7, NAN, INF]])],
    ),
    "one_hot": (
        lambda k, v: tp.one_hot(k, 4, v),
        lambda k, v: F.one_hot(k, 4).to(v.dtype) * (v[1] - v[0]) + v[0],
        [np.int64([[0, 3], [1, 2]]), np.int64([-1, 5])],
    ),
    "cumsum": (
        lambda x: tp.cumsum(x, 1, exclusive=True, reverse=True),
        lambda x: x.flip(1).cumsum(1).flip(1) - x,
        [BATCH],
    ),
    "cumprod": (lambda x: tp.cumprod(x, 1), lambda x: x.cumprod(1), [ROWS]),
    "cumprod, reversed": (
        lambda x: tp.cumprod(x, 0, reverse=True),
        lambda x: x.flip(0).cumprod(0).flip(0),
        [ROWS],
    ),
    "cumprod of integers": (lambda x: tp.cumprod(x, 0), lambda x: x.cumprod(0).int(), [WHOLE]),
    "cummax": (lambda x: tp.cummax(x, 0), lambda x: x.cummax(0).values, [EDGES]),
    "cummin": (lambda x: tp.cummin(x, 1), lambda x: x.cummin(1).values, [ROWS]),
    "cummin of nothing": (lambda x: tp.cummin(x, 0), lambda x: x, [NONE]),
    "instancenorm": (
        lambda x, w, b: tp.instancenorm(x, w, b, 4),
        lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
        [BATCH, BATCH[0, :, 0], BATCH[1, :, 1]],
    ),
    "groupnorm": (
        lambda x, w, b: tp.groupnorm(x, 2, w, b, 1e-3),
        lambda x, w, b: F.group_norm(x, 2, w, b, 1e-3),
        [BATCH, BATCH[0, :, 0], BATCH[1, :, 1]],
    ),
    "groupnorm of rows": (
        lambda x, w, b: tp.groupnorm(x, 2, w, b),
        lambda x, w, b: F.group_norm(x, 2, w, b),
        [BATCH[:, :, 0], BATCH[0, :, 0], BATCH[1, :, 1]],
    ),
    "batchnorm": (
        tp.batchnorm,
        lambda x, w, b, m, v: F.batch_norm(x, m, v, w, b),
        [BATCH, BATCH[0, :, 0], BATCH[1, :, 1], BATCH[0, :, 2], BATCH[1, :, 3] ** 2],
    ),
    "rmsnorm": (
        lambda x, w: tp.rmsnorm(x, w, 1e-3),
        lambda x, w: F.rms_norm(x, w.shape, w, 1e-3),
        [BATCH, BATCH[0, 0]],
    ),
    "lrn": (
        lambda x: tp.lrn(x, 3, 0.5, 0.8, 2.0),
        lambda x: F.local_response_norm(x, 3, 0.5, 0.8, 2.0),
        [BATCH],
    ),
    "sort": (lambda x: tp.sort(x, 0), lambda x: x.sort(dim=0, stable=True), [EDGES]),
    "sort of equals": (
        lambda x: tp.sort(x, 1, descending=True),
        lambda x: x.sort(dim=1, descending=True, stable=True),
        [np.int64([[3, 1, 3, 2, 1], [0, 0, -5, 2**40, 0]])],
    ),
    "argsort of nothing": (tp.argsort, lambda x: x.argsort(), [NONE]),
    "std": (lambda x: tp.std(x, 1), lambda x: x.std(1), [ROWS]),
    "logsumexp": (lambda x: tp.logsumexp(x, 1), lambda x: x.logsumexp(1), [ROWS]),
    "logsumexp of all": (tp.logsumexp, lambda x: x.logsumexp((0, 1)), [BATCH[0] * 40]),
    "logsumexp of nothing": (lambda x: tp.logsumexp(x, 0), lambda x: x.logsumexp(0), [NONE]),
    **{
        f"norm {p}": (
            lambda x, p=p: tp.norm(x, p, 1, keepdim=True),
            lambda x, p=p: torch.linalg.vector_norm(x, p, 1, keepdim=True),
            [ROWS],
        )
        for p in (2, 1, 0, 3, 0.5, -1, INF, -INF)
    },
    "norm of nothing": (lambda x: tp.norm(x, 3, 0), lambda x: x.norm(3, 0), [NONE]),
    "deconvolution": (
        lambda x, w, b: tp.deconvolution(x, w, b, [2], [[1, 1]], 2, [3]),
        lambda x, w, b: F.conv_transpose1d(x, w, b, 2, 1, 0, 2, 3),
        [BATCH, BATCH[0, :, :3].reshape(4, 1, 3), BATCH[0, 0, :2]],
    ),
    "lstm": (
        lambda *given: tp.lstm(*given, direction="bidirectional"),
        *recurrent(torch.nn.LSTM, 4, 2),
    ),
    "gru": (
        lambda *given: tp.gru(*given, direction="bidirectional"),
        *recurrent(torch.nn.GRU, 3, 1),
    ),
    "rnn": (
        lambda *given: tp.rnn(*given, direction="bidirectional"),
        *recurrent(torch.nn.RNN, 1, 1),
    ),
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
