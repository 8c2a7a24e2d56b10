"""What operations are made of is kept by their form, and nothing of the tensors that they read."""

import gc
import linecache
import weakref

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend import decompose


@pytest.fixture(autouse=True)
def _empty():
    decompose._compositions.clear()


def softmax(x: np.ndarray, axis: int) -> np.ndarray:
    """In float64, by its definition."""
    shares = np.exp(x.astype(np.float64))
    return (shares / shares.sum(axis, keepdims=True)).astype(x.dtype)


def test_each_call_computes_its_own_tensors():
    """One composition for each axis and type, whatever the tensors hold."""
    for seed in range(3):
        x = np.random.default_rng(seed).normal(size=(3, 4)).astype(np.float32)
        for axis in (0, 1):
            found = np.asarray(tp.softmax(tp.Tensor(x), axis))
            np.testing.assert_allclose(found, softmax(x, axis), rtol=1e-6)
    assert len(decompose._compositions) == 2
    tp.softmax(tp.ones((3, 4), dtype=tp.float16), 0).eval()
    assert len(decompose._compositions) == 3


def test_one_tensor_for_several_and_several_tensors():
    """They have the same types, and are two forms."""
    draw = np.random.default_rng(0).normal
    one, two, three = (tp.Tensor(draw(size=(1, 2, 3, 4)).astype(np.float32)) for _ in range(3))

    def expected(q, k, v):
        scores = np.asarray(q) @ np.asarray(k).swapaxes(-1, -2) / 2.0
        return softmax(scores, -1) @ np.asarray(v)

    for tensors in ((one, one, one), (one, two, three), (two, two, one), (three, one, one)):
        found = np.asarray(tp.attention(*tensors))
        np.testing.assert_allclose(found, expected(*tensors), rtol=1e-5)
    assert len(decompose._compositions) == 5, "four, and the softmax in them"


def test_no_tensor_stays_in_memory():
    """The first call's neither."""
    x = tp.Tensor(np.ones((2, 3), np.float32))
    held = weakref.ref(x.value)
    tp.softmax(x, 1).eval()
    assert decompose._compositions
    del x
    gc.collect()
    assert held() is None


def test_it_begins_anew_when_it_is_full(monkeypatch):
    """Programs without end do not fill the memory."""
    monkeypatch.setattr(decompose, "MOST", 2)
    for size in range(1, 6):
        tp.softmax(tp.ones((size,)), 0).eval()
        assert len(decompose._compositions) <= 2


def test_faults_are_at_the_call_that_is_computed():
    """And not at the first one of its form."""
    weights = tp.Tensor(np.ones((3, 2), np.float32))

    x = tp.ones((1, 1, 2, 4))
    tp.rotary_embedding(x, weights, weights, tp.Tensor([[0, 1]])).eval()
    with pytest.raises(DiagnosticError, match="`rotary_embedding` cannot") as caught:
        tp.rotary_embedding(x, weights, weights, tp.Tensor([[0, 7]])).eval()
    assert linecache.getline(__file__, caught.value.diagnostics[0].span.line).count("[0, 7]") == 1
