"""Graphs lowered to ONNX compute what the references do, in ONNX Runtime, for all sizes."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from onnx_models import agree, floats, graph_of, operators

import tripyapi as tp
from tripybuild.compiler.lowering.lower_onnx import lower_onnx
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.onnx.protobuf import encode_model
from tripybuild.process import paths
from tripybuild.symbolic.dims import symbol
from tripybuild.trace.graph import Graph
from tripybuild.types import dtypes

B, S = symbol("B", 1), symbol("S", 1)


def test_an_alias_is_one_node():
    """Its attributes are the operator's."""
    graph = graph_of(lambda x: tp.softmax(x, 1), (dtypes.float32, (B, 4)))
    model = agree(graph, ({"B": 3}, floats(3, 4)), ({"B": 1}, floats(1, 4)))
    assert operators(model) == ["Softmax"]
    assert model.graph.node[0].attribute[0].i == 1


def test_a_call_that_no_alias_says_is_decomposed():
    """The softmax of a whole tensor is none of one dimension."""
    graph = graph_of(tp.softmax, (dtypes.float32, (B, 4)))
    model = agree(graph, ({"B": 3}, floats(3, 4)))
    assert "Softmax" not in operators(model)


def test_sizes_are_computed_once():
    """Each distinct size, whatever reads it; what is a number is a constant."""

    def function(x):
        count, shape = x.shape[0] * x.shape[1], [x.shape[0], x.shape[1], 2, 3]
        return [tp.full(sizes, number) for sizes in ([count, 6], shape) for number in (1.0, 2.0)]

    graph = graph_of(function, (dtypes.float32, (B, S, 6)))
    model = agree(graph, ({"B": 2, "S": 3}, floats(2, 3, 6)))
    assert operators(model).count("Mul") == 1
    assert operators(model).count("Shape") == 3  # of both, and of each


def test_names_and_places_are_those_of_the_graph():
    """Inputs and outputs have their names, and symbols are parameters of dimensions."""

    def function(x):
        return tp.exp(x)

    graph = graph_of(function, (dtypes.float32, (B, 4)), names=["image"])
    model = agree(graph, ({"B": 3}, floats(3, 4)))
    (taken,), (given,), (node,) = model.graph.input, model.graph.output, model.graph.node
    assert (taken.name, given.name) == ("image", "y0")
    assert taken.type.tensor_type.shape.dim[0].dim_param == "B"
    assert node.name.endswith("/Exp")
    assert "test_onnx_lowering.py:" in node.doc_string


def test_an_output_that_is_an_input_is_copied():
    """So is one that is there twice."""
    graph = graph_of(lambda x, y: (x, y + 1.0, y + 0.0), *[(dtypes.float32, (B,))] * 2)
    double = Graph("g", graph.inputs, {}, {**graph.outputs, "again": graph.outputs["y1"]})
    model = agree(double, ({"B": 3}, floats(3), floats(3)))
    assert operators(model).count("Identity") == 2


def test_what_no_opset_says_is_a_diagnostic_at_its_place():
    """It names the first opset that does."""

    def function(x):
        return tp.dequantize(tp.quantize(x, 0.5, tp.int4), 0.5, tp.float32)

    graph = graph_of(function, (dtypes.float32, (B,)))
    with pytest.raises(DiagnosticError) as caught:
        lower_onnx(graph, 20)
    (found,) = caught.value.diagnostics
    assert (found.code, found.hint) == ("onnx-unavailable", "opset 21 has it")
    assert found.span.path == __file__


def test_short_floats_go_through_float32_where_the_opset_lacks_them():
    """It holds all of their values, and the result is rounded once."""

    def function(x):
        return tp.acos(x)

    graph = graph_of(function, (dtypes.bfloat16, (B,)))
    numbers = np.linspace(-1, 1, 9).astype(dtypes.bfloat16.numpy)
    assert operators(agree(graph, ({"B": 9}, numbers))) == ["Cast", "Acos", "Cast"]
    newer = lower_onnx(graph, 22).graph.nodes
    assert [node.operator for node in newer] == ["Acos"]


def test_indices_are_the_integers_that_the_operator_takes():
    """Lengths of 32 bits, of which ONNX takes those of 64; and the other way round."""

    def reverse(x, lengths):
        return tp.reverse_sequence(x, lengths)

    graph = graph_of(reverse, (dtypes.float32, (4, B)), (dtypes.int32, (B,)))
    model = agree(graph, ({"B": 3}, floats(4, 3), np.array([1, 4, 2], np.int32)))
    assert operators(model) == ["Cast", "Clip", "ReverseSequence"]

    def best(x):
        return tp.argmax(x, 1)

    graph = graph_of(best, (dtypes.float32, (B, 3)))
    assert operators(agree(graph, ({"B": 2}, floats(2, 3))))[-2:] == ["ArgMax", "Cast"]


def test_the_same_call_is_one_node():
    """Random numbers are new ones each time."""

    def function(x):
        return tp.exp(x) + tp.softmax(tp.exp(x), 0), tp.softmax(tp.exp(x), 0), tp.exp(-x)

    graph = graph_of(function, (dtypes.float32, (B,)))
    model = agree(graph, ({"B": 3}, floats(3)))
    assert operators(model).count("Exp") == 2
    assert operators(model).count("Softmax") == 1

    def draw(x):
        return [tp.random_uniform([2]) + x for _ in range(2)]

    nodes = lower_onnx(graph_of(draw, (dtypes.float32, (2,))), 20).graph.nodes
    assert [node.operator for node in nodes].count("RandomUniformLike") == 2


def test_one_node_has_the_symbols_of_all_that_it_stands_for():
    """Each search for what is not zero finds a number that no type tells."""

    def function(x):
        first, second = (tp.nonzero(x > 0.0) for _ in range(2))
        return [tp.full([each.shape[0] * 2 + 1], 1.0) for each in (first, second)]

    agree(graph_of(function, (dtypes.float32, (B,))), ({"B": 6}, floats(6)))


def test_what_has_no_tensors_in_the_opset_is_refused():
    """Whatever is done with them."""

    def function(x):
        return tp.cast(x, tp.float32)

    graph = graph_of(function, (dtypes.int4, (B,)))
    with pytest.raises(DiagnosticError) as caught:
        lower_onnx(graph, 20)
    (found,) = caught.value.diagnostics
    assert found.message == "`x0` is int4, and ONNX has no tensors of int4 in opset 20"
    assert (found.code, found.hint) == ("onnx-unavailable", "opset 21 has them")


def test_equal_graphs_have_equal_bytes():
    """Whatever else this process has lowered before."""

    def text():
        graph = graph_of(lambda x: tp.softmax(x * 2.0, 1) + 3.0, (dtypes.float32, (B, S)))
        return encode_model(lower_onnx(graph, 20))

    assert text() == text()


def test_another_process_gives_the_same_model(monkeypatch):
    """Names and constants do not depend on hashes."""
    program = (
        "from hashlib import sha256; from pathlib import Path;"
        "from tripybuild.compiler.lowering.lower_onnx import lower_onnx;"
        "from tripybuild.model.graph_builder import build;"
        "graph = build(Path('specs/digits.yaml'), {}).entry().graph;"
        "print(sha256(repr(lower_onnx(graph, 20)).encode()).hexdigest())"
    )
    child = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        cwd=paths.CHECKOUT,
        check=True,
        capture_output=True,
        text=True,
    )
    monkeypatch.chdir(paths.CHECKOUT)
    graph = build(Path("specs/digits.yaml"), {}).entry().graph
    found = sha256(repr(lower_onnx(graph, 20)).encode()).hexdigest()
    assert found == child.stdout.strip()
