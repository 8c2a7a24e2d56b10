"""`tensorrt-reshape-elimination`: which products need no reshapes, and which do."""

# ruff: noqa: E501  # MLIR has long lines

import pytest
from rewritten import becomes, function, stays

NAME = "tensorrt-reshape-elimination"

REWRITES = {
    "rows are merged and split again": (
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
    "rows, behind a batch of both sides": (
        "(%x: tensor<7x2x3x4xf32>, %y: tensor<7x4x5xf32>) -> tensor<7x2x3x5xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<7x2x3x4xf32> to tensor<7x6x4xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<7x6x4xf32>, tensor<7x4x5xf32>) -> tensor<7x6x5xf32>
        %2 = tensorrt.reshape %1 : tensor<7x6x5xf32> to tensor<7x2x3x5xf32>
        return %2 : tensor<7x2x3x5xf32>
        """,
        """
        %0 = tensorrt.expand_rank %y : tensor<7x4x5xf32> to tensor<7x1x4x5xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %0 : tensor<7x2x3x4xf32>, tensor<7x1x4x5xf32>) -> tensor<7x2x3x5xf32>
        return %1 : tensor<7x2x3x5xf32>
        """,
    ),
    "rows, of a product with columns of unknown number": (
        "(%x: tensor<2x3x4xf32>, %y: tensor<4x?xf32>) -> tensor<2x3x?xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<6x4xf32>, tensor<4x?xf32>) -> tensor<6x?xf32>
        %2 = tensorrt.reshape %1 : tensor<6x?xf32> to tensor<2x3x?xf32>
        return %2 : tensor<2x3x?xf32>
        """,
        """
        %0 = tensorrt.expand_rank %y : tensor<4x?xf32> to tensor<1x4x?xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %0 : tensor<2x3x4xf32>, tensor<1x4x?xf32>) -> tensor<2x3x?xf32>
        return %1 : tensor<2x3x?xf32>
        """,
    ),
    "the batch of the right side is merged and split again": (
        "(%x: tensor<6x5x4xf32>, %y: tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>",
        """
        %0 = tensorrt.reshape %y : tensor<2x3x4x7xf32> to tensor<6x4x7xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %0 : tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
        %2 = tensorrt.reshape %1 : tensor<6x5x7xf32> to tensor<2x3x5x7xf32>
        return %2 : tensor<2x3x5x7xf32>
        """,
        """
        %0 = tensorrt.reshape %x : tensor<6x5x4xf32> to tensor<2x3x5x4xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
        return %1 : tensor<2x3x5x7xf32>
        """,
    ),
    "the batch of the right side, which the left one has not": (
        "(%x: tensor<1x5x4xf32>, %y: tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>",
        """
        %0 = tensorrt.reshape %y : tensor<2x3x4x7xf32> to tensor<6x4x7xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %0 : tensor<1x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
        %2 = tensorrt.reshape %1 : tensor<6x5x7xf32> to tensor<2x3x5x7xf32>
        return %2 : tensor<2x3x5x7xf32>
        """,
        """
        %0 = tensorrt.expand_rank %x : tensor<1x5x4xf32> to tensor<1x1x5x4xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<1x1x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
        return %1 : tensor<2x3x5x7xf32>
        """,
    ),
    "the batch, of a product with rows of unknown number": (
        "(%x: tensor<6x?x4xf32>, %y: tensor<2x3x4x7xf32>) -> tensor<2x3x?x7xf32>",
        """
        %0 = tensorrt.reshape %y : tensor<2x3x4x7xf32> to tensor<6x4x7xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %0 : tensor<6x?x4xf32>, tensor<6x4x7xf32>) -> tensor<6x?x7xf32>
        %2 = tensorrt.reshape %1 : tensor<6x?x7xf32> to tensor<2x3x?x7xf32>
        return %2 : tensor<2x3x?x7xf32>
        """,
        """
        %0 = tensorrt.reshape %x : tensor<6x?x4xf32> to tensor<2x3x?x4xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<2x3x?x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x?x7xf32>
        return %1 : tensor<2x3x?x7xf32>
        """,
    ),
    "two reshapes are one": (
        "(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<3x8xf32>
        %1 = tensorrt.reshape %0 : tensor<3x8xf32> to tensor<4x6xf32>
        return %1 : tensor<4x6xf32>
        """,
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<4x6xf32>
        return %0 : tensor<4x6xf32>
        """,
    ),
}
KEPT = {
    "the dimension that is summed is merged": (
        "(%x: tensor<2x3x4xf32>, %y: tensor<12x5xf32>) -> tensor<2x1x5xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<2x12xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<2x12xf32>, tensor<12x5xf32>) -> tensor<2x5xf32>
        %2 = tensorrt.expand_rank %1 : tensor<2x5xf32> to tensor<2x1x5xf32>
        return %2 : tensor<2x1x5xf32>
        """,
    ),
    "rows are split in another way": (
        "(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>) -> tensor<3x2x5xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
        %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<3x2x5xf32>
        return %2 : tensor<3x2x5xf32>
        """,
    ),
    "rows change places with a batch of both sides": (
        "(%x: tensor<2x3x4x5xf32>, %y: tensor<6x5x7xf32>) -> tensor<2x3x4x7xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4x5xf32> to tensor<6x4x5xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<6x4x5xf32>, tensor<6x5x7xf32>) -> tensor<6x4x7xf32>
        %2 = tensorrt.reshape %1 : tensor<6x4x7xf32> to tensor<2x3x4x7xf32>
        return %2 : tensor<2x3x4x7xf32>
        """,
    ),
    "only the batch is merged": (
        "(%x: tensor<2x3x4x5xf32>, %y: tensor<1x5x7xf32>) -> tensor<2x3x4x7xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4x5xf32> to tensor<6x4x5xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<6x4x5xf32>, tensor<1x5x7xf32>) -> tensor<6x4x7xf32>
        %2 = tensorrt.reshape %1 : tensor<6x4x7xf32> to tensor<2x3x4x7xf32>
        return %2 : tensor<2x3x4x7xf32>
        """,
    ),
    "rows are torn apart by a batch of both sides": (
        "(%x: tensor<2x6x4x5xf32>, %y: tensor<3x5x7xf32>) -> tensor<2x6x4x7xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x6x4x5xf32> to tensor<3x16x5xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<3x16x5xf32>, tensor<3x5x7xf32>) -> tensor<3x16x7xf32>
        %2 = tensorrt.reshape %1 : tensor<3x16x7xf32> to tensor<2x6x4x7xf32>
        return %2 : tensor<2x6x4x7xf32>
        """,
    ),
    "rows of unknown number": (
        "(%x: tensor<?x3x4xf32>, %y: tensor<4x5xf32>) -> tensor<?x3x5xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<?x3x4xf32> to tensor<?x4xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
        %2 = tensorrt.reshape %1 : tensor<?x5xf32> to tensor<?x3x5xf32>
        return %2 : tensor<?x3x5xf32>
        """,
    ),
    "a side is read transposed": (
        "(%x: tensor<2x3x4xf32>, %y: tensor<5x4xf32>) -> tensor<2x3x5xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
        %1 = tensorrt.matrix_multiply {op0 = #tensorrt.matrix_operation<kNONE>, op1 = #tensorrt.matrix_operation<kTRANSPOSE>} ins(%0, %y : tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<6x5xf32>
        %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<2x3x5xf32>
        return %2 : tensor<2x3x5xf32>
        """,
    ),
    "columns are merged with the batch": (
        "(%x: tensor<2x5x4xf32>, %y: tensor<2x3x4x8xf32>) -> tensor<2x3x5x8xf32>",
        """
        %0 = tensorrt.reshape %y : tensor<2x3x4x8xf32> to tensor<2x4x24xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %0 : tensor<2x5x4xf32>, tensor<2x4x24xf32>) -> tensor<2x5x24xf32>
        %2 = tensorrt.reshape %1 : tensor<2x5x24xf32> to tensor<2x3x5x8xf32>
        return %2 : tensor<2x3x5x8xf32>
        """,
    ),
    "rows and columns of the result are others": (
        "(%x: tensor<6x4x4xf32>, %y: tensor<2x3x4x8xf32>) -> tensor<2x3x8x4xf32>",
        """
        %0 = tensorrt.reshape %y : tensor<2x3x4x8xf32> to tensor<6x4x8xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%x, %0 : tensor<6x4x4xf32>, tensor<6x4x8xf32>) -> tensor<6x4x8xf32>
        %2 = tensorrt.reshape %1 : tensor<6x4x8xf32> to tensor<2x3x8x4xf32>
        return %2 : tensor<2x3x8x4xf32>
        """,
    ),
    "the reshape after the product takes dimensions out": (
        "(%x: tensor<2x3x4xf32>, %y: tensor<4x5xf32>) -> tensor<30xf32>",
        """
        %0 = tensorrt.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
        %1 = tensorrt.matrix_multiply PLAIN ins(%0, %y : tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
        %2 = tensorrt.reshape %1 : tensor<6x5xf32> to tensor<30xf32>
        return %2 : tensor<30xf32>
        """,
    ),
}


@pytest.mark.parametrize("name", REWRITES)
def test_rewrites(name):
    """The product has the dimensions that the reshapes took away and gave back."""
    signature, before, after = REWRITES[name]
    becomes(function(signature, before), function(signature, after), NAME)


@pytest.mark.parametrize("name", KEPT)
def test_is_kept(name):
    """Where the product would be another one, or nobody knows."""
    signature, body = KEPT[name]
    stays(function(signature, body), NAME)
