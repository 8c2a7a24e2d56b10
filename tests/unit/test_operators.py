"""What single operators say of calls that no example and no sample can make."""

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.diagnostics import DiagnosticError
from tripybuild.frontend import Tensor
from tripybuild.suite.cases import outputs
from tripybuild.suite.engines import engine_problems
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dims import symbol
from tripybuild.types.dtypes import float32, int32

K = symbol("K", 1, 2)


def tensor(*shape, dtype=float32):
    """A tensor of which nothing but the type is known."""
    return Tensor.of(Value(TensorType(dtype, shape)))


@pytest.mark.parametrize("name", ["gather_nd", "scatter_nd"])
def test_vectors_of_positions_have_a_length_that_is_known(name):
    """How many dimensions they lead through decides the rank of the result."""
    more = [tensor(5)] if name == "scatter_nd" else []
    with pytest.raises(DiagnosticError, match=f"{name}/known-length") as caught:
        getattr(tp, name)(tensor(4, 3), tensor(5, K, dtype=int32), *more)
    assert "must have a length that is known, and not K" in str(caught.value)


BEYOND = {
    "lrn": (lambda x: tp.lrn(x, 17), (2, 20, 3, 3), "must be odd, from 1 to 15"),
    "sort": (lambda x: tp.sort(x, 0), (3841, 2), "Invalid TopK K"),
    "topk": (lambda x: tp.topk(x, 3841, 0), (4000,), "Invalid TopK K"),
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_tensorrt_refuses_is_said_in_its_words(name):
    """The sizes of samples are too small to meet these limits."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    call, shape, says = BEYOND[name]
    value = Value(TensorType(float32, shape))
    graph = Graph(name, {"x": value}, {}, outputs(call(Tensor.of(value))))
    assert any(says in problem for problem in engine_problems(graph))


def test_a_length_of_vectors_that_is_a_number_is_enough():
    """All other sizes may be symbols."""
    size = symbol("S", 1, 9)
    result = tp.gather_nd(tensor(size, 3), tensor(size, 1, dtype=int32))
    assert np.array_equal(result.value.shape, (size, 3))
