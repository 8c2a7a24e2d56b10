"""What computes nothing is moved as it is: large tensors do not become float64 in between."""

import tracemalloc

import numpy as np
import pytest

import tripyapi as tp
from tripyapi.tensor import Tensor
from tripybuild.reference import execute
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import BY_NAME, from_numpy

MOVES = {
    "permute": lambda x: tp.permute(x, [1, 0]),
    "stack": lambda x: tp.stack([x, x], 0),
    "slice": lambda x: x[1:, ::2],
    "gather": lambda x: tp.gather(x, 0, tp.Tensor([2, 0])),
    "gather_elements": lambda x: tp.gather_elements(x, 0, tp.Tensor([[2, 0, 1, 1]])),
    "scatter": lambda x: tp.scatter_elements(x, 0, tp.Tensor([[0, 2, 1, 0]]), x[:1]),
    "expand": lambda x: tp.expand(tp.reshape(x, [1, 3, 4]), [2, 3, 4]),
    "chain": lambda x: tp.permute(tp.concatenate([x, x], 1), [1, 0])[3:],
}


def run(make, array):
    """Run a graph of operators by their references on a weight."""
    value = Value(TensorType(from_numpy(array.dtype), array.shape), name="w", weight=True)
    graph = Graph("moved", {}, {"w": value}, {"y": make(Tensor.of(value)).value})
    return execute.execute(graph, {"w": array})["y"]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "bool"])
@pytest.mark.parametrize("name", MOVES)
def test_large_tensors_move_as_small_ones_do(name, dtype, monkeypatch):
    """The same elements, not-a-number and zeros with signs included."""
    values = [[1.5, -0.0, np.nan, 3.0], [-2.0, np.inf, 6e-5, 0.1], [7.0, 8.0, -9.5, 100.0]]
    with np.errstate(invalid="ignore"):
        array = np.nan_to_num(values) if dtype in ("int32", "bool") else np.array(values)
        array = np.clip(array, -100, 100).astype(BY_NAME[dtype].numpy)
    plain = run(MOVES[name], array)
    monkeypatch.setattr(execute, "MUCH", 0)

    moved = run(MOVES[name], array)

    assert moved.dtype == plain.dtype
    assert moved.shape == plain.shape
    assert moved.tobytes() == plain.tobytes()


def test_stacking_takes_no_more_than_the_result():
    """Neither the operands nor the result are there in float64."""
    array = np.ones((1024, 1024), np.float16)
    tracemalloc.start()

    result = run(lambda x: tp.stack([x, x, x, x], 0), array)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.nbytes == 4 * array.nbytes
    assert peak < 1.2 * result.nbytes


def test_what_is_given_does_not_change():
    """A result may be the memory that was given, and cannot be written to."""
    array = np.ones((1024, 1024), np.float32)

    result = run(lambda x: tp.permute(x, [1, 0]), array)

    with pytest.raises(ValueError, match="read-only"):
        result[0] = 2.0
