"""The forms and the order in which mlir-tensorrt writes down what its passes make."""

# ruff: noqa: E501  # MLIR has long lines

import pytest

from tests.oracles.tensorrt_numpy import assert_same
from tripybuild.tensorrt.passes.transpose_reshape_elimination.equations import (
    Equation,
    input_like_result,
    of_product,
)


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
