"""`tensorrt-expand-ops`: extension ops are shuffles, slices and `top_k` afterwards."""

import numpy as np
import pytest
from oracles.tensorrt_numpy import assert_same, names, parsed

from tripybuild.tensorrt.passes import pipeline

PASS = "tensorrt-expand-ops"
EXTENSIONS = {
    "argmax", "argmin", "broadcast", "collapse_rank", "expand_rank", "reshape", "transpose",
}  # fmt: skip


def function(line, source, result, *, more="", extra=""):
    """One op from `%x` to `%0`."""
    return f"""
func.func @main(%x: tensor<{source}>{more}) -> tensor<{result}> {{
{extra}  %0 = {line} : tensor<{source}> to tensor<{result}>
  return %0 : tensor<{result}>
}}"""


def expanded(text, **arguments):
    """The names of the ops after the pass, which must give the same."""
    assert_same(text, PASS, **arguments)
    module = parsed(text)
    pipeline.run(module, [PASS])
    found = names(module)
    assert not EXTENSIONS & set(found)
    return found


def test_a_transpose_is_a_shuffle():
    """The permutation goes first."""
    line = "tensorrt.transpose {permutation = affine_map<(a, b, c) -> (c, a, b)>} %x"
    text = function(line, "2x3x4xf32", "4x2x3xf32")
    result = assert_same(text, PASS)
    assert expanded(text) == ["shuffle"]
    assert "first_transpose = array<i64: 2, 0, 1>" in result
    assert "second_transpose = array<i64: 0, 1, 2>" in result
    assert "zero_is_placeholder = false" in result


@pytest.mark.parametrize(
    ("op", "source", "result", "reshape"),
    [
        ("reshape", "2x3xf32", "3x2xf32", "3, 2"),
        ("reshape", "2x3xf32", "?xf32", "-1"),
        ("reshape", "?x3xf16", "3x?xf16", "3, -1"),
        ("expand_rank", "2x3xf32", "2x1x3xf32", "2, 1, 3"),
        ("expand_rank", "?x3xi32", "1x?x3xi32", "1, -1, 3"),
        ("collapse_rank", "1x2x1xf32", "2xf32", "2"),
        ("expand_rank", "?x?xf32", "?x?x1xf32", "0, 0, 1"),
        ("expand_rank", "?x?xf32", "?x1x?xf32", "0, 1, -1"),
        ("collapse_rank", "?x?x1xf32", "?x?xf32", "0, 0"),
        ("collapse_rank", "?x1x?x4xf32", "?x?x4xf32", "0, -1, 4"),
    ],
)
def test_a_reshape_is_a_shuffle(op, source, result, reshape):
    """One size may be -1; of more, those that keep their place are zeros that stand for it."""
    text = function(f"tensorrt.{op} %x", source, result)
    after = assert_same(text, PASS, dynamic={0: None})
    assert expanded(text) == ["shuffle"]
    assert f"reshape = array<i64: {reshape}>" in after
    assert ("zero_is_placeholder = false" in after) == ("0" not in reshape.split(", "))


def test_a_reshape_to_the_same_type_is_nothing():
    """Unless its shape is computed, or two sizes are unknown."""
    assert expanded(function("tensorrt.reshape %x", "?x4xf32", "?x4xf32")) == []


def test_a_scalar_becomes_a_matrix():
    """No dimensions at all."""
    assert expanded(function("tensorrt.expand_rank %x", "f32", "1x1xf32")) == ["shuffle"]
    assert expanded(function("tensorrt.collapse_rank %x", "1x1xf32", "f32")) == ["shuffle"]


def test_unknown_sizes_that_move_are_computed():
    """Neither -1 nor a placeholder says what two moved sizes are."""
    text = function("tensorrt.expand_rank %x", "?x?xf32", "1x?x?xf32")
    found = expanded(text, dynamic={0: (2, 5)})
    assert found[-1] == "shuffle"
    assert "shape" in found
    assert "concatenation" in found


def test_a_reshape_to_a_computed_shape():
    """The shape is given to the shuffle, and zeros in it are zeros."""
    text = """
func.func @main(%x: tensor<?x4xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = tensorrt.reshape %x shape(%s: tensor<2xi32>) : tensor<?x4xf32> to tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}"""
    given = [np.arange(12.0).reshape(3, 4), np.array([2, 6], np.int32)]
    assert expanded(text, inputs=given) == ["shuffle"]
    assert "zero_is_placeholder = false" in assert_same(text, PASS, inputs=given)


@pytest.mark.parametrize("op", ["reshape", "expand_rank", "collapse_rank"])
def test_truths_go_through_integers(op):
    """Older shuffles take no i1."""
    source, result = {
        "reshape": ("2x3xi1", "6xi1"),
        "expand_rank": ("2x3xi1", "1x2x3xi1"),
        "collapse_rank": ("1x2xi1", "2xi1"),
    }[op]
    text = function(f"tensorrt.{op} %x", source, result)
    assert expanded(text) == ["identity", "shuffle", "identity"]


@pytest.mark.parametrize(
    ("source", "places", "result"),
    [
        ("1x3xf32", "0, 1", "2x3xf32"),
        ("3xf32", "1", "2x3x4xf32"),
        ("f32", "", "2x3xf32"),
        ("3x1xf32", "1, 0", "2x3xf32"),
        ("4x1xf32", "2, 0", "5x3x4xf32"),
        ("1x1xf32", "0, 1", "2x3xf32"),
    ],
)
def test_a_broadcast_is_a_slice_that_wraps(source, places, result):
    """Ranks are made equal first; dimensions out of order are transposed."""
    text = function(f"tensorrt.broadcast %x broadcast_dims<{places}>", source, result)
    found = expanded(text)
    assert found[-1] == "slice"
    assert set(found) <= {"slice", "shuffle"}
    assert "kWRAP" in assert_same(text, PASS)


def test_a_broadcast_to_a_computed_shape():
    """The size of the slice is the shape; ones stand where the input has no dimension."""
    text = """
func.func @main(%x: tensor<?x1xf32>, %s: tensor<3xi32>) -> tensor<?x?x?xf32> {
  %0 = tensorrt.broadcast %x broadcast_dims<0, 2> shape(%s : tensor<3xi32>)
    : tensor<?x1xf32> to tensor<?x?x?xf32>
  return %0 : tensor<?x?x?xf32>
}"""
    given = [np.arange(2.0).reshape(2, 1), np.array([2, 5, 3], np.int32)]
    found = expanded(text, inputs=given)
    assert found[-1] == "slice"
    assert "shuffle" in found


@pytest.mark.parametrize("op", ["argmin", "argmax"])
@pytest.mark.parametrize(
    ("shape", "axis", "element", "expected"),
    [
        ((3, 4), 1, "f32", ["top_k"]),
        ((3, 4), 0, "f16", ["top_k"]),
        ((3, 4), 0, "i64", ["top_k"]),
        ((3, 4), 1, "i32", ["identity", "top_k", "identity"]),
        ((5,), 0, "f32", ["shuffle", "top_k", "shuffle", "shuffle"]),
        ((5,), 0, "i32", ["identity", "shuffle", "top_k", "shuffle", "shuffle", "identity"]),
    ],
)
def test_the_largest_is_the_first_of_top_k(op, shape, axis, element, expected):
    """Integers as floats, but those that floats cannot hold; vectors as matrices."""
    source = "x".join([*map(str, shape), element])
    kept = [1 if i == axis else n for i, n in enumerate(shape)]
    values, indices = ("x".join([*map(str, kept), kind]) for kind in (element, "i32"))
    types = f"tensor<{values}>, tensor<{indices}>"
    text = f"""
func.func @main(%x: tensor<{source}>) -> ({types}) {{
  %0, %1 = tensorrt.{op} {{axis = {axis} : i64}} %x : tensor<{source}> -> {types}
  return %0, %1 : {types}
}}"""
    assert sorted(expanded(text)) == sorted(expected)
    assert f"<k{op[-3:].upper()}>" in assert_same(text, PASS)


def test_what_has_layers_stays():
    """Other ops are left alone."""
    text = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tensorrt.softmax {axis = 1 : i64} %x : tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}"""
    assert expanded(text) == ["softmax"]
