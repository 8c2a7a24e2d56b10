"""What single operators say of calls that no example and no sample can make."""

import json

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.artifact.graph_json import from_data, to_data
from tripybuild.compiler.lowering.lower import lower_stablehlo, lower_tensorrt
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend import Tensor
from tripybuild.process import paths
from tripybuild.reference.execute import execute
from tripybuild.symbolic.dims import Dim, symbol
from tripybuild.testing.cases import outputs
from tripybuild.testing.engines.layer_builds import engine_problems
from tripybuild.testing.registry import registry
from tripybuild.testing.sample import bind
from tripybuild.testing.target_facts import (
    CPU,
    ENGINE,
    matches_refusal,
    refusal_mismatches,
    refusals,
)
from tripybuild.trace.generated_code import operation_class
from tripybuild.trace.graph import Graph
from tripybuild.trace.printer import canonical
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import float32, int32
from tripybuild.types.shapes import fresh_symbols

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


def test_what_an_engine_cannot_hold_is_refused_with_the_reason():
    """At the place of the call, before XLA is asked; TensorRT's layer leaves the size open."""
    value = Value(TensorType(float32, (3, 4)))
    graph = Graph("nonzero", {"x": value}, {}, outputs(tp.nonzero(Tensor.of(value))))
    with pytest.raises(DiagnosticError, match="cannot be run by `stablehlo`") as caught:
        lower_stablehlo(graph)
    assert "XLA has no shapes that depend on values" in str(caught.value)
    network = lower_tensorrt(graph)
    assert network.outputs["output0"].shape == (2, None)


def test_a_size_that_depends_on_data_stays_a_symbol():
    """Numbers for the other symbols leave it; a reference gives as many as there are."""
    size = symbol("S", 1, 9)
    value = Value(TensorType(float32, (size,)))
    graph = Graph("nonzero", {"x": value}, {}, outputs(tp.nonzero(Tensor.of(value)) * 2))
    fixed = graph.substitute({"S": 4})
    assert isinstance(fixed.outputs["output0"].shape[1], Dim)
    found = execute(fixed, {"x": np.float32([0, 5, 0, -1])})
    assert found["output0"].tolist() == [[2, 6]]


def test_what_follows_a_size_that_depends_on_data_has_numbers():
    """In what reads sizes, in what is decomposed, and in regions."""
    value = Value(TensorType(float32, (4,)))
    found = tp.nonzero(Tensor.of(value))
    flat = tp.reshape(found, [-1])
    rows = tp.expand(tp.unsqueeze(flat, 0), (2, -1))
    padded = tp.pad(tp.cast(flat, tp.float32), [(1, 2)])
    kept = tp.cond(tp.any(padded > 0.0), lambda: padded * 2.0, lambda: padded)
    wanted = {"rows": rows, "shares": tp.softmax(tp.cast(rows, tp.float32), 1), "kept": kept}
    graph = Graph("g", {"x": value}, {}, {name: each.value for name, each in wanted.items()})
    got = execute(graph, {"x": np.float32([0, 5, 0, -1])})
    assert got["rows"].tolist() == [[1, 3], [1, 3]]
    shares = np.exp([1.0, 3.0]) / np.exp([1.0, 3.0]).sum()
    np.testing.assert_allclose(got["shares"], [shares, shares], rtol=1e-6)
    assert got["kept"].tolist() == [0, 2, 6, 0, 0]


def test_sizes_that_depend_on_data_survive_json():
    """Under their own names, though an operation that nobody used has taken one."""
    size = symbol("S", 1, 9)
    value = Value(TensorType(float32, (size,)))
    x = Tensor.of(value)
    with fresh_symbols():
        tp.nonzero(x)
        both = tp.concatenate([tp.nonzero(x), tp.nonzero(tp.relu(x))], 1)
    graph = Graph("nonzero", {"x": value}, {}, outputs(both))
    data, arrays = to_data(graph)
    read = from_data(json.loads(json.dumps(data)), arrays, {"S": size}, operation_class)
    assert canonical(read) == canonical(graph)
    assert str(read.outputs["output0"].shape[1]) == "_1 + _2"
    found = execute(read.substitute({"S": 3}), {"x": np.float32([-4, 0, 1])})
    assert found["output0"].tolist() == [[0, 2, 2]]


def test_facts_of_a_declaration_are_proved():
    """What is not refused at all, and what is refused in other words, are both told."""
    operator = registry(paths.registry()).operators["nonzero"]
    sample = bind(operator, {"T": float32})
    found = refusals(operator, ENGINE, sample)
    assert list(found) == ["no-runner"]
    assert list(refusals(operator, CPU, sample)) == ["data-dependent"]
    assert "nothing is rejected" in next(refusal_mismatches(found, []))
    assert "another message" in next(refusal_mismatches(found, ["TensorRT is tired"]))
    assert not list(refusal_mismatches(found, ["[x] has no runners that implement it"]))
    assert matches_refusal(operator, ENGINE, "[x] has no runners that implement it")
    assert not matches_refusal(operator, ENGINE, "TensorRT is tired")


def test_a_length_of_vectors_that_is_a_number_is_enough():
    """All other sizes may be symbols."""
    size = symbol("S", 1, 9)
    result = tp.gather_nd(tensor(size, 3), tensor(size, 1, dtype=int32))
    assert np.array_equal(result.value.shape, (size, 3))
