"""Graphs lowered to ONNX compute what the references do, in ONNX Runtime, for all sizes."""

import numpy as np
import pytest
from onnx_models import agree, graph_of

import tripyapi as tp
from tripybuild.compiler.lowering.lower import lower_onnx
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.onnx.protobuf import encode_model
from tripybuild.symbolic.dims import symbol
from tripybuild.trace.graph import Graph
from tripybuild.types import dtypes

B, S = symbol("B", 1), symbol("S", 1)


def floats(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def operators(model):
    return [node.op_type for node in model.graph.node]


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
        return tp.gelu(x)

    graph = graph_of(function, (dtypes.float32, (B,)))
    with pytest.raises(DiagnosticError) as caught:
        lower_onnx(graph, 17)
    (found,) = caught.value.diagnostics
    assert (found.code, found.hint) == ("onnx-unavailable", "opset 20 has it")
    assert found.span.path == __file__


def test_equal_graphs_have_equal_bytes():
    """Whatever else this process has lowered before."""

    def text():
        graph = graph_of(lambda x: tp.softmax(x * 2.0, 1) + 3.0, (dtypes.float32, (B, S)))
        return encode_model(lower_onnx(graph, 20))

    assert text() == text()
