"""The forms and the order in which mlir-tensorrt writes down what its passes make."""

# ruff: noqa: E501  # MLIR has long lines

import pytest
from rewritten import becomes, function, normal

from tests.oracles.tensorrt_numpy import assert_same
from tripybuild.tensorrt.passes.transpose_reshape_elimination.equations import (
    Equation,
    input_like_result,
    of_product,
)

REWRITES = {
    "the operand that nothing is won by is transposed first": (
        "tensorrt-transpose-elimination",
        "(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) -> tensor<3x2xf32>",
        """
        %c = tensorrt.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
        %0 = tensorrt.element_wise <kSUM>(%x, %c : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        %1 = tensorrt.transpose SWAP %y : tensor<1x3xf32> to tensor<3x1xf32>
        %2 = tensorrt.transpose SWAP %0 : tensor<2x3xf32> to tensor<3x2xf32>
        %3 = tensorrt.element_wise <kSUM>(%2, %1 : tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
        return %3 : tensor<3x2xf32>
        """,
        """
        %c = tensorrt.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
        %0 = tensorrt.element_wise <kSUM>(%x, %c : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
        %2 = tensorrt.transpose SWAP %1 : tensor<2x3xf32> to tensor<3x2xf32>
        return %2 : tensor<3x2xf32>
        """,
    ),
    "two operands of a constant and a small value": (
        "tensorrt-transpose-elimination",
        "(%x: tensor<1x2xf32>) -> tensor<2x3xf32>",
        """
        %c = tensorrt.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
        %0 = tensorrt.element_wise <kSUB>(%c, %x : tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
        %1 = tensorrt.transpose SWAP %0 : tensor<3x2xf32> to tensor<2x3xf32>
        return %1 : tensor<2x3xf32>
        """,
        """
        %c = tensorrt.constant dense<[[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]> : tensor<2x3xf32>
        %0 = tensorrt.transpose SWAP %x : tensor<1x2xf32> to tensor<2x1xf32>
        %1 = tensorrt.element_wise <kSUB>(%c, %0 : tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
        return %1 : tensor<2x3xf32>
        """,
    ),
    "a broadcast that adds dimensions adds them before it is pushed": (
        "tensorrt-broadcast-elimination",
        "(%x: tensor<3xf32>) -> tensor<4x3xf32>",
        """
        %0 = tensorrt.broadcast %x broadcast_dims<2> : tensor<3xf32> to tensor<1x4x3xf32>
        %1 = tensorrt.collapse_rank %0 : tensor<1x4x3xf32> to tensor<4x3xf32>
        return %1 : tensor<4x3xf32>
        """,
        """
        %0 = tensorrt.expand_rank %x : tensor<3xf32> to tensor<1x1x3xf32>
        %1 = tensorrt.collapse_rank %0 : tensor<1x1x3xf32> to tensor<1x3xf32>
        %2 = tensorrt.broadcast %1 broadcast_dims<0, 1> : tensor<1x3xf32> to tensor<4x3xf32>
        return %2 : tensor<4x3xf32>
        """,
    ),
    "the last reshape is looked at before the first becomes another op": (
        "tensorrt-reshape-elimination",
        "(%x: tensor<2x1x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x1x4xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x1x3xf32> to tensor<2x3xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
        %2 = tensorrt.reshape %1 : tensor<2x4xf32> to tensor<2x1x4xf32>
        return %2 : tensor<2x1x4xf32>
        """,
        """
        %0 = tensorrt.expand_rank %y : tensor<3x4xf32> to tensor<1x3x4xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %0 : tensor<2x1x3xf32>, tensor<1x3x4xf32>) -> tensor<2x1x4xf32>
        return %1 : tensor<2x1x4xf32>
        """,
    ),
}


REWRITES["only what a reshape merges gets new letters"] = (
    "tensorrt-transpose-reshape-elimination",
    "(%x: tensor<10x12xf32>, %y: tensor<10x5xf32>) -> tensor<12xf32>",
    """
    %0 = tensorrt.reshape %x : tensor<10x12xf32> to tensor<10x3x4xf32>
    %1 = tensorrt.einsum {equation = "cab,cd->ab"} ins(%0, %y : tensor<10x3x4xf32>, tensor<10x5xf32>) -> tensor<3x4xf32>
    %2 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %1 : tensor<3x4xf32>
    %3 = tensorrt.reshape %2 : tensor<3x4xf32> to tensor<12xf32>
    return %3 : tensor<12xf32>
    """,
    """
    %0 = tensorrt.expand_rank %y : tensor<10x5xf32> to tensor<10x1x5xf32>
    %1 = tensorrt.einsum {equation = "ce,ced->e"} ins(%x, %0 : tensor<10x12xf32>, tensor<10x1x5xf32>) -> tensor<12xf32>
    %2 = tensorrt.activation {activationType = #tensorrt.activation_type<kRELU>} %1 : tensor<12xf32>
    return %2 : tensor<12xf32>
    """,
)


@pytest.mark.parametrize("what", REWRITES)
def test_the_form_is_mlir_tensorrts(what):
    name, signature, before, after = REWRITES[what]
    becomes(function(signature, before), function(signature, after), name)


@pytest.mark.parametrize(
    ("kinds", "letters"),
    [
        (("kNONE", "kNONE"), "abc,acd->abd"),
        (("kTRANSPOSE", "kNONE"), "abc,abd->acd"),
        (("kVECTOR", "kTRANSPOSE"), "ab,acb->ac"),
        (("kTRANSPOSE", "kVECTOR"), "abc,ab->ac"),
    ],
)
def test_products_have_mlir_tensorrts_letters(kinds, letters):
    """In the order of the first input; what an einsum stays shows them."""
    assert str(of_product(1, *kinds)) == letters


def test_a_row_next_to_a_sum_stays_there():
    """A product of a matrix and a vector reads the matrix either way round."""
    assert input_like_result(Equation.parse("ab,a->b"), 0) == (0, 1)
    assert input_like_result(Equation.parse("abc,acd->abd"), 0) == (0, 1, 2)
    assert input_like_result(Equation.parse("cab,cd->abd"), 0) == (1, 0, 2)


FOLDED = function(
    "() -> tensor<2x3xi32>",
    """
    %c = tensorrt.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
    %0 = tensorrt.reshape %c : tensor<6xi32> to tensor<2x3xi32>
    return %0 : tensor<2x3xi32>
    """,
)


def test_a_reshape_of_a_constant_is_a_constant_where_reshapes_are_canonical():
    """That is a pattern of `reshape`, which not every pass has, and no folder."""
    assert "shuffle" in assert_same(FOLDED, "tensorrt-expand-ops")
    for name in ("canonicalize", "tensorrt-reshape-elimination", "tensorrt-broadcast-elimination"):
        assert "reshape" not in assert_same(FOLDED, name)
    untouched = assert_same(FOLDED, "tensorrt-transpose-elimination")
    assert normal(untouched) == normal(FOLDED)


CAST = """
func.func @main(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
  %g = tensorrt.constant dense<1.5> : tensor<1x3xf32>
  %b = tensorrt.constant dense<0.5> : tensor<1x3xf32>
  %0 = tensorrt.cast %x : tensor<2x3xf16> to tensor<2x3xf32>
  %1 = tensorrt.normalization {axis = array<i64: 1>, eps = 1.0e-06 : f32} (%0 : tensor<2x3xf32>, %g : tensor<1x3xf32>, %b : tensor<1x3xf32>) -> tensor<2x3xf32>
  %2 = tensorrt.cast %1 : tensor<2x3xf32> to tensor<2x3xf16>
  return %2 : tensor<2x3xf16>
}
"""


def test_only_canonicalize_folds_casts_of_constants():
    """mlir-tensorrt has no folder for `cast`, so scale and bias are cast in the text."""
    after = assert_same(CAST, "tensorrt-raise-normalizations", tolerance=1e-2)
    assert after.count("tensorrt.cast") == 2
    assert assert_same(after, "canonicalize", tolerance=1e-2).count("tensorrt.cast") == 0
