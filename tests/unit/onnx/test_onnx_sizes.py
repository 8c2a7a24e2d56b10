"""Symbolic sizes as tensors: every form of a size has the value that it has in Python."""

import itertools

import numpy as np
import onnx
import onnx_models
import pytest

from tripybuild.onnx.completion import complete_model
from tripybuild.onnx.dialect import OnnxGraph
from tripybuild.onnx.protobuf import encode_model
from tripybuild.symbolic.conditions import conjunction, disjunction
from tripybuild.symbolic.dims import evaluate, maximum, minimum, select, symbol
from tripybuild.types.dtypes import float32

A, B = symbol("A"), symbol("B", 1)
M = symbol("M", 0, 64, 16)
FORMS = [
    A,
    A * B + 3,
    2 * A - B - 5,
    (A - 7) // 3,
    (A - 7) % 3,
    -A // B,
    A // (B + 1),
    M // 16,
    M // 32,
    maximum(A, B, 3),
    minimum(A - B, 2),
    select(A > B, A, 7),
    select(A != 4, B, A + 1),
    select(conjunction([A >= 2, B <= 3]), A, B),
    select(disjunction([A == 0, B < 2]), 5, A * A),
]


def values_of(sizes, shape, given):
    """What the tensors of sizes are, for an input of a shape."""
    graph = OnnxGraph({}, {"x": (float32, shape)}, 20)
    with graph:
        found = graph.sizes.vector(sizes)
        graph.declare(found, (len(sizes),))
        graph.finish({"sizes": found})
    model = complete_model(graph, "g")
    text = encode_model(model)
    onnx.checker.check_model(onnx.load_from_string(text), full_check=True)
    return [
        onnx_models.run(text, {"x": np.zeros(each, np.float32)})[0].tolist() for each in given
    ], model


def test_every_form_of_a_size():
    """Quotients round down, whatever the signs are."""
    numbers = list(itertools.product((0, 1, 4, 9), (1, 2, 5), (0, 16, 48)))
    found, _ = values_of(FORMS, (A, B, M), numbers)
    names = [{"A": a, "B": b, "M": m} for a, b, m in numbers]
    assert found == [[evaluate(form, sizes) for form in FORMS] for sizes in names]


def test_dimensions_side_by_side_are_one_node():
    """What is there twice is one node, too."""
    found, model = values_of([A, B, 5, 6, A, B], (A, B, 3), [(2, 4, 3)])
    assert found == [[2, 4, 5, 6, 2, 4]]
    assert [node.operator for node in model.graph.nodes] == ["Shape", "Concat"]


def test_a_symbol_is_read_of_a_size_that_it_is_a_part_of():
    """Where no dimension is the symbol itself."""
    found, _ = values_of([A, 3 * A], (2 * A + 1, 4), [(7, 4)])
    assert found == [[3, 9]]


def test_a_symbol_that_nothing_has_is_refused():
    with pytest.raises(ValueError, match="no tensor has a dimension of size `B`"):
        values_of([B], (A,), [])
