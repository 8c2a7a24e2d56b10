"""`tensorrt-transpose-reshape-elimination`: where transposes and reshapes go, and what they leave."""

# ruff: noqa: E501  # MLIR has long lines

import numpy as np
import pytest
from rewritten import becomes, function, normal, stays

from tests.oracles.tensorrt_numpy import (
    assert_same,
    count,
    functions,
    parsed,
    random_inputs,
)
from tripybuild.tensorrt.dialect import MatrixMultiplyOp
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.passes.rewriting.driver import greedy
from tripybuild.tensorrt.passes.transpose_reshape_elimination import einsums
from tripybuild.tensorrt.passes.transpose_reshape_elimination.einsum_reshapes import (
    Renamed,
    Renaming,
    renamed,
)

NAME = "tensorrt-transpose-reshape-elimination"

RELU = "{activationType = #tensorrt.activation_type<kRELU>}"
ABS = "{unaryOperation = #tensorrt.unary_operation<kABS>}"
RIGHT = "{op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>}"
REWRITES = {
    "a product between reshapes": (
        "(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>) -> tensor<2x3x5xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
        %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<2x3x5xf32>
        return %2 : tensor<2x3x5xf32>
        """,
        """
        %0 = tensorrt.expand_rank %y : tensor<4x5xf32> to tensor<1x4x5xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %0 : tensor<2x3x4xf32>, tensor<1x4x5xf32>) -> tensor<2x3x5xf32>
        return %1 : tensor<2x3x5xf32>
        """,
    ),
    "a product between transposes is one of vectors": (
        "(%x: tensor<3x4xf32>, %y: tensor<5x4xf32>) -> tensor<5x3xf32>",
        """
        %0 = tensorrt.transpose SWAP %y : tensor<5x4xf32> to tensor<4x5xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %0 : tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
        %2 = tensorrt.transpose SWAP %1 : tensor<3x5xf32> to tensor<5x3xf32>
        return %2 : tensor<5x3xf32>
        """,
        """
        %0 = tensorrt.expand_rank %x : tensor<3x4xf32> to tensor<1x3x4xf32>
        %1 = tensorrt.expand_rank %y : tensor<5x4xf32> to tensor<5x1x4xf32>
        %2 = tensorrt.matrix_multiply PAIRED ins(%0, %1 : tensor<1x3x4xf32>, tensor<5x1x4xf32>) -> tensor<5x3xf32>
        return %2 : tensor<5x3xf32>
        """,
    ),
    "the heads of an attention: the weights are transposed, not what they are multiplied with": (
        "(%x: tensor<2x8x12xf32>, %w: tensor<12x12xf32>) -> tensor<2x3x8x4xf32>",
        """
        %0 = tensorrt.expand_rank %w : tensor<12x12xf32> to tensor<1x12x12xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %0 : tensor<2x8x12xf32>, tensor<1x12x12xf32>) -> tensor<2x8x12xf32>
        %2 = tensorrt.reshape %1 : tensor<2x8x12xf32> to tensor<2x8x3x4xf32>
        %3 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>} %2 : tensor<2x8x3x4xf32> to tensor<2x3x8x4xf32>
        return %3 : tensor<2x3x8x4xf32>
        """,
        """
        %0 = tensorrt.reshape %w : tensor<12x12xf32> to tensor<12x3x4xf32>
        %1 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d1, d0, d2)>} %0 : tensor<12x3x4xf32> to tensor<3x12x4xf32>
        %2 = tensorrt.expand_rank %x : tensor<2x8x12xf32> to tensor<2x1x8x12xf32>
        %3 = tensorrt.expand_rank %1 : tensor<3x12x4xf32> to tensor<1x3x12x4xf32>
        %4 = tensorrt.matrix_multiply PLAIN ins(%2, %3 : tensor<2x1x8x12xf32>, tensor<1x3x12x4xf32>) -> tensor<2x3x8x4xf32>
        return %4 : tensor<2x3x8x4xf32>
        """,
    ),
    "activation, unary, identity and softmax between layouts": (
        "(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32>",
        f"""
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
        %1 = tensorrt.activation {RELU} %0 : tensor<6x4xf32>
        %2 = tensorrt.transpose SWAP %1 : tensor<6x4xf32> to tensor<4x6xf32>
        %3 = tensorrt.softmax {{axis = 0 : i64}} %2 : tensor<4x6xf32>
        %4 = tensorrt.unary {ABS} %3 : tensor<4x6xf32>
        %5 = tensorrt.transpose SWAP %4 : tensor<4x6xf32> to tensor<6x4xf32>
        %6 = tensorrt.reshape %5 : tensor<6x4xf32> to tensor<2x3x4xf32>
        return %6 : tensor<2x3x4xf32>
        """,
        f"""
        %0 = tensorrt.activation {RELU} %x : tensor<2x3x4xf32>
        %1 = tensorrt.softmax {{axis = 2 : i64}} %0 : tensor<2x3x4xf32>
        %2 = tensorrt.unary {ABS} %1 : tensor<2x3x4xf32>
        return %2 : tensor<2x3x4xf32>
        """,
    ),
    "softmax in three dimensions, from above": (
        "(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xf32>",
        """
        %0 = tensorrt.softmax {axis = 1 : i64} %x : tensor<2x3x4xf32>
        %1 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d1, d2, d0)>} %0 : tensor<2x3x4xf32> to tensor<3x4x2xf32>
        return %1 : tensor<3x4x2xf32>
        """,
        """
        %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d1, d2, d0)>} %x : tensor<2x3x4xf32> to tensor<3x4x2xf32>
        %1 = tensorrt.softmax {axis = 0 : i64} %0 : tensor<3x4x2xf32>
        return %1 : tensor<3x4x2xf32>
        """,
    ),
    "softmax in three dimensions, between two transposes": (
        "(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32>",
        """
        %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d1, d2, d0)>} %x : tensor<2x3x4xf32> to tensor<3x4x2xf32>
        %1 = tensorrt.softmax {axis = 0 : i64} %0 : tensor<3x4x2xf32>
        %2 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d2, d0, d1)>} %1 : tensor<3x4x2xf32> to tensor<2x3x4xf32>
        return %2 : tensor<2x3x4xf32>
        """,
        """
        %0 = tensorrt.softmax {axis = 1 : i64} %x : tensor<2x3x4xf32>
        return %0 : tensor<2x3x4xf32>
        """,
    ),
    "quantization with one scale": (
        "(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32>",
        """
        %s = tensorrt.constant dense<0.25> : tensor<f32>
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
        %1 = tensorrt.quantize in(%0 : tensor<6x4xf32>) scale(%s : tensor<f32>) -> tensor<6x4xi8>
        %2 = tensorrt.dequantize in(%1 : tensor<6x4xi8>) scale(%s : tensor<f32>) -> tensor<6x4xf32>
        %3 = tensorrt.reshape %2 : tensor<6x4xf32> to tensor<2x3x4xf32>
        return %3 : tensor<2x3x4xf32>
        """,
        """
        %s = tensorrt.constant dense<0.25> : tensor<f32>
        %1 = tensorrt.quantize in(%x : tensor<2x3x4xf32>) scale(%s : tensor<f32>) -> tensor<2x3x4xi8>
        %2 = tensorrt.dequantize in(%1 : tensor<2x3x4xi8>) scale(%s : tensor<f32>) -> tensor<2x3x4xf32>
        return %2 : tensor<2x3x4xf32>
        """,
    ),
    "a sum: the reshape moves to the other operand": (
        "(%x: tensor<2x3x4xf32>, %y: tensor<6x4xf32>) -> tensor<2x3x4xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
        %1 = tensorrt.element_wise <kSUB>(%0, %y : tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
        %2 = tensorrt.reshape %1 : tensor<6x4xf32> to tensor<2x3x4xf32>
        return %2 : tensor<2x3x4xf32>
        """,
        """
        %0 = tensorrt.reshape %y : tensor<6x4xf32> to tensor<2x3x4xf32>
        %1 = tensorrt.element_wise <kSUB>(%x, %0 : tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
        return %1 : tensor<2x3x4xf32>
        """,
    ),
    "a sum of two reshapes of one shape": (
        "(%x: tensor<2x3x4xf32>, %y: tensor<2x3x4xf32>) -> tensor<6x4xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
        %1 = tensorrt.reshape %y : tensor<2x3x4xf32> to tensor<6x4xf32>
        %2 = tensorrt.element_wise <kSUB>(%0, %1 : tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
        return %2 : tensor<6x4xf32>
        """,
        """
        %0 = tensorrt.element_wise <kSUB>(%x, %y : tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
        %1 = tensorrt.reshape %0 : tensor<2x3x4xf32> to tensor<6x4xf32>
        return %1 : tensor<6x4xf32>
        """,
    ),
    "a transpose that moves ones only": (
        "(%x: tensor<3x1x4xf32>) -> tensor<1x3x4xf32>",
        """
        %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d1, d0, d2)>} %x : tensor<3x1x4xf32> to tensor<1x3x4xf32>
        return %0 : tensor<1x3x4xf32>
        """,
        """
        %0 = tensorrt.reshape %x : tensor<3x1x4xf32> to tensor<1x3x4xf32>
        return %0 : tensor<1x3x4xf32>
        """,
    ),
    "a shuffle is its steps": (
        "(%x: tensor<2x3x4xf32>) -> tensor<2x12xf32>",
        """
        %0 = tensorrt.shuffle {first_transpose = array<i64: 2, 0, 1>, reshape = array<i64: 4, 6>, second_transpose = array<i64: 1, 0>, zero_is_placeholder = false} ins(%x : tensor<2x3x4xf32>) -> tensor<6x4xf32>
        %1 = tensorrt.reshape %0 : tensor<6x4xf32> to tensor<2x12xf32>
        return %1 : tensor<2x12xf32>
        """,
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<2x12xf32>
        return %0 : tensor<2x12xf32>
        """,
    ),
    "an einsum over two dimensions is a product over one": (
        "(%x: tensor<2x3x4xf32>, %y: tensor<5x3x4xf32>) -> tensor<2x5xf32>",
        """
        %0 = tensorrt.einsum {equation = "acd,bcd->ab"} ins(%x, %y : tensor<2x3x4xf32>, tensor<5x3x4xf32>) -> tensor<2x5xf32>
        return %0 : tensor<2x5xf32>
        """,
        f"""
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<2x12xf32>
        %1 = tensorrt.reshape %y : tensor<5x3x4xf32> to tensor<5x12xf32>
        %2 = tensorrt.matrix_multiply {RIGHT} ins(%0, %1 : tensor<2x12xf32>, tensor<5x12xf32>) -> tensor<2x5xf32>
        return %2 : tensor<2x5xf32>
        """,
    ),
    "an einsum takes transposes in, and is a product of vectors": (
        "(%x: tensor<2x3x4x5xf32>, %y: tensor<2x6x3x5xf32>) -> tensor<2x4x6x3xf32>",
        """
        %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>} %y : tensor<2x6x3x5xf32> to tensor<2x3x6x5xf32>
        %1 = tensorrt.einsum {equation = "bhqd,bhkd->bhqk"} ins(%x, %0 : tensor<2x3x4x5xf32>, tensor<2x3x6x5xf32>) -> tensor<2x3x4x6xf32>
        %2 = tensorrt.transpose LAST %1 : tensor<2x3x4x6xf32> to tensor<2x4x6x3xf32>
        return %2 : tensor<2x4x6x3xf32>
        """,
        """
        %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>} %x : tensor<2x3x4x5xf32> to tensor<2x4x3x5xf32>
        %1 = tensorrt.expand_rank %0 : tensor<2x4x3x5xf32> to tensor<2x4x1x3x5xf32>
        %2 = tensorrt.expand_rank %y : tensor<2x6x3x5xf32> to tensor<2x1x6x3x5xf32>
        %3 = tensorrt.matrix_multiply PAIRED ins(%1, %2 : tensor<2x4x1x3x5xf32>, tensor<2x1x6x3x5xf32>) -> tensor<2x4x6x3xf32>
        return %3 : tensor<2x4x6x3xf32>
        """,
    ),
}
LAST = {
    "tensor<2xi32>": np.array([3, 3], np.int32),
    "tensor<1xf32>": np.array([0.5]),
    "tensor<6xf32>": np.array([0.25, 0.5, 1, 2, 4, 8]),
}
KEPT = {
    "quantization with a scale for each row": (
        "(%x: tensor<4x6xf32>, %s: tensor<6xf32>) -> tensor<6x4xf32>",
        """
        %1 = tensorrt.quantize {axis = 1 : i32} in(%x : tensor<4x6xf32>) scale(%s : tensor<6xf32>) -> tensor<4x6xi8>
        %2 = tensorrt.dequantize {axis = 1 : i32} in(%1 : tensor<4x6xi8>) scale(%s : tensor<6xf32>) -> tensor<4x6xf32>
        %3 = tensorrt.transpose SWAP %2 : tensor<4x6xf32> to tensor<6x4xf32>
        return %3 : tensor<6x4xf32>
        """,
    ),
    "quantization along a dimension of size 1": (
        "(%x: tensor<1x6xf32>, %s: tensor<1xf32>) -> tensor<2x3xf32>",
        """
        %1 = tensorrt.quantize {axis = 0 : i32} in(%x : tensor<1x6xf32>) scale(%s : tensor<1xf32>) -> tensor<1x6xi8>
        %2 = tensorrt.dequantize {axis = 0 : i32} in(%1 : tensor<1x6xi8>) scale(%s : tensor<1xf32>) -> tensor<1x6xf32>
        %3 = tensorrt.reshape %2 : tensor<1x6xf32> to tensor<2x3xf32>
        return %3 : tensor<2x3xf32>
        """,
    ),
    "softmax over what is merged": (
        "(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
        %1 = tensorrt.softmax {axis = 0 : i64} %0 : tensor<6x4xf32>
        return %1 : tensor<6x4xf32>
        """,
    ),
    "products of unknown sizes": (
        "(%x: tensor<?x3x4xf32>, %y: tensor<4x5xf32>) -> tensor<?x3x5xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<?x3x4xf32> to tensor<?x4xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
        %2 = tensorrt.reshape %1 : tensor<?x5xf32> to tensor<?x3x5xf32>
        return %2 : tensor<?x3x5xf32>
        """,
    ),
    "two unknown sizes that are reshaped": (
        "(%x: tensor<?x?xf32>, %s: tensor<2xi32>) -> tensor<?x?xf32>",
        """
        %0 = tensorrt.reshape %x shape(%s : tensor<2xi32>) : tensor<?x?xf32> to tensor<?x?xf32>
        return %0 : tensor<?x?xf32>
        """,
    ),
}


@pytest.mark.parametrize("name", REWRITES)
def test_rewrites(name):
    """Layouts meet and cancel, or are taken in."""
    signature, before, after = REWRITES[name]
    becomes(function(signature, before), function(signature, after), NAME)


@pytest.mark.parametrize("name", KEPT)
def test_is_kept(name):
    """Where a layout matters, or its sizes are not known."""
    signature, body = KEPT[name]
    text = function(signature, body)
    given = random_inputs(functions(parsed(text))["main"], {})
    if "%s" in signature:
        given[-1] = LAST[signature.partition("%s: ")[2].partition(")")[0]]
    stays(text, NAME, inputs=given)


def test_an_attention_multiplies_vectors():
    """Queries keep their layout, as what comes of them does; keys and values have their heads first."""
    heads = "{permutation = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>}"
    body = f"""
    %0 = tensorrt.reshape %q : tensor<2x8x12xf32> to tensor<2x8x3x4xf32>
    %1 = tensorrt.transpose {heads} %0 : tensor<2x8x3x4xf32> to tensor<2x3x8x4xf32>
    %2 = tensorrt.reshape %k : tensor<2x8x12xf32> to tensor<2x8x3x4xf32>
    %3 = tensorrt.transpose {heads} %2 : tensor<2x8x3x4xf32> to tensor<2x3x8x4xf32>
    %4 = tensorrt.matrix_multiply {RIGHT} ins(%1, %3 : tensor<2x3x8x4xf32>, tensor<2x3x8x4xf32>) -> tensor<2x3x8x8xf32>
    %5 = tensorrt.softmax {{axis = 3 : i64}} %4 : tensor<2x3x8x8xf32>
    %6 = tensorrt.reshape %v : tensor<2x8x12xf32> to tensor<2x8x3x4xf32>
    %7 = tensorrt.transpose {heads} %6 : tensor<2x8x3x4xf32> to tensor<2x3x8x4xf32>
    %8 = tensorrt.matrix_multiply PLAIN ins(%5, %7 : tensor<2x3x8x8xf32>, tensor<2x3x8x4xf32>) -> tensor<2x3x8x4xf32>
    %9 = tensorrt.transpose {heads} %8 : tensor<2x3x8x4xf32> to tensor<2x8x3x4xf32>
    %10 = tensorrt.reshape %9 : tensor<2x8x3x4xf32> to tensor<2x8x12xf32>
    return %10 : tensor<2x8x12xf32>
    """
    kind = "tensor<2x8x12xf32>"
    text = function(f"(%q: {kind}, %k: {kind}, %v: {kind}) -> {kind}", body)
    found = parsed(assert_same(text, NAME))
    assert count(found, "tensorrt.transpose") == 2
    kinds = [
        tuple(op.value(key) for key in ("op0", "op1"))
        for op in found.walk()
        if isinstance(op, MatrixMultiplyOp)
    ]
    assert kinds == [("kVECTOR", "kTRANSPOSE"), ("kVECTOR", "kNONE")]


def rewritten(pattern, signature, body):
    """What a pattern alone makes of a function."""
    module = parsed(function(signature, body))
    greedy(module, [pattern])
    return normal(printer.text(module))


EXPANDED = """
        %0 = tensorrt.einsum {{equation = "{before}"}} ins(%x, %y : tensor<1x5xf32>, tensor<5x6xf32>) -> tensor<{shape}xf32>
        %1 = tensorrt.expand_rank %0 : tensor<{shape}xf32> to tensor<1x{shape}xf32>
        return %1 : tensor<1x{shape}xf32>
"""
TAKEN = """
        %0 = tensorrt.einsum {equation = "ab,bc->ac"} ins(%x, %y : tensor<1x5xf32>, tensor<5x6xf32>) -> tensor<1x6xf32>
        return %0 : tensor<1x6xf32>
"""


def test_an_einsum_has_each_letter_once_in_its_result():
    """A dimension of size 1 that is summed may be in the result instead, and only once."""
    signature = "(%x: tensor<1x5xf32>, %y: tensor<5x6xf32>) -> tensor<1x6xf32>"
    body = EXPANDED.format(before="ab,bc->c", shape="6")
    assert rewritten(einsums.EXPAND, signature, body) == normal(function(signature, TAKEN))
    signature = "(%x: tensor<1x5xf32>, %y: tensor<5x6xf32>) -> tensor<1x1x6xf32>"
    body = EXPANDED.format(before="ab,bc->ac", shape="1x6")
    assert rewritten(einsums.EXPAND, signature, body) == normal(function(signature, body))


def test_an_einsum_that_others_use_is_no_other():
    """Its result is not transposed where that would compute it twice."""
    signature = "(%x: tensor<4x5xf32>) -> (tensor<5x4xf32>, tensor<4x5xf32>)"
    body = """
        %0 = tensorrt.einsum {equation = "ab->ba"} ins(%x : tensor<4x5xf32>) -> tensor<5x4xf32>
        %1 = tensorrt.transpose SWAP %0 : tensor<5x4xf32> to tensor<4x5xf32>
        return %0, %1 : tensor<5x4xf32>, tensor<4x5xf32>
    """
    assert rewritten(einsums.RESULT, signature, body) == normal(function(signature, body))


def test_merged_dimensions_have_their_full_sizes():
    """One that is broadcast keeps its 1 if it is renamed alone; together they are not renamed."""
    alone, together = Renaming("a", (3,), "c", (3,)), Renaming("ab", (3, 4), "c", (12,))
    assert renamed("ab", (1, 4), [alone]) == Renamed((0, 1), (1, 4), "cb")
    assert renamed("dba", (2, 4, 3), [together]) == Renamed((0, 2, 1), (2, 12), "dc")
    assert renamed("ab", (1, 4), [together]) is None
    assert renamed("bd", (4, 2), [together]) is None
    assert renamed("ba", (4, 3), [Renaming("ab", (3, 4), "c", (12,))]).permutation == (1, 0)
