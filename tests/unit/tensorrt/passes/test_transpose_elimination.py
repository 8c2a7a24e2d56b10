"""`tensorrt-transpose-elimination`: what each pattern makes of a text, and when it keeps away."""

# ruff: noqa: E501  # MLIR has long lines

import pytest
from rewritten import becomes, function, settled, stays

from tests.oracles.tensorrt_numpy import assert_same, count, parsed
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.passes import pipeline

NAME = "tensorrt-transpose-elimination"

RELU = "{activationType = #tensorrt.activation_type<kRELU>}"
EXP = "{unaryOperation = #tensorrt.unary_operation<kEXP>}"
REWRITES = {
    "two are one": (
        "(%x: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>",
        """
        %0 = tensorrt.transpose FIRST %x : tensor<2x3x4x5xf32> to tensor<2x5x3x4xf32>
        %1 = tensorrt.transpose FIRST %0 : tensor<2x5x3x4xf32> to tensor<2x4x5x3xf32>
        return %1 : tensor<2x4x5x3xf32>
        """,
        """
        %0 = tensorrt.transpose LAST %x : tensor<2x3x4x5xf32> to tensor<2x4x5x3xf32>
        return %0 : tensor<2x4x5x3xf32>
        """,
    ),
    "and there and back none": (
        "(%x: tensor<2x3xf32>) -> tensor<2x3xf32>",
        """
        %0 = tensorrt.transpose SWAP %x : tensor<2x3xf32> to tensor<3x2xf32>
        %1 = tensorrt.transpose SWAP %0 : tensor<3x2xf32> to tensor<2x3xf32>
        return %1 : tensor<2x3xf32>
        """,
        """
        return %x : tensor<2x3xf32>
        """,
    ),
    "past an activation, to the next one": (
        "(%x: tensor<2x3xf32>) -> tensor<2x3xf32>",
        f"""
        %0 = tensorrt.transpose SWAP %x : tensor<2x3xf32> to tensor<3x2xf32>
        %1 = tensorrt.activation {RELU} %0 : tensor<3x2xf32>
        %2 = tensorrt.transpose SWAP %1 : tensor<3x2xf32> to tensor<2x3xf32>
        return %2 : tensor<2x3xf32>
        """,
        f"""
        %0 = tensorrt.activation {RELU} %x : tensor<2x3xf32>
        return %0 : tensor<2x3xf32>
        """,
    ),
    "past an identity that changes the type": (
        "(%x: tensor<2x3xf16>) -> tensor<2x3xf32>",
        """
        %0 = tensorrt.transpose SWAP %x : tensor<2x3xf16> to tensor<3x2xf16>
        %1 = tensorrt.identity %0 : tensor<3x2xf16> to tensor<3x2xf32>
        %2 = tensorrt.transpose SWAP %1 : tensor<3x2xf32> to tensor<2x3xf32>
        return %2 : tensor<2x3xf32>
        """,
        """
        %0 = tensorrt.identity %x : tensor<2x3xf16> to tensor<2x3xf32>
        return %0 : tensor<2x3xf32>
        """,
    ),
    "what does not meet goes above again": (
        "(%x: tensor<2x3xf32>) -> tensor<3x2xf32>",
        f"""
        %0 = tensorrt.unary {EXP} %x : tensor<2x3xf32>
        %1 = tensorrt.activation {RELU} %0 : tensor<2x3xf32>
        %2 = tensorrt.transpose SWAP %1 : tensor<2x3xf32> to tensor<3x2xf32>
        return %2 : tensor<3x2xf32>
        """,
        f"""
        %0 = tensorrt.transpose SWAP %x : tensor<2x3xf32> to tensor<3x2xf32>
        %1 = tensorrt.unary {EXP} %0 : tensor<3x2xf32>
        %2 = tensorrt.activation {RELU} %1 : tensor<3x2xf32>
        return %2 : tensor<3x2xf32>
        """,
    ),
    "past a sum with a smaller operand": (
        "(%x: tensor<2x3x4x5xf32>, %b: tensor<1x1x1x3xf32>) -> tensor<2x3x4x5xf32>",
        """
        %0 = tensorrt.transpose LAST %x : tensor<2x3x4x5xf32> to tensor<2x4x5x3xf32>
        %1 = tensorrt.element_wise <kSUB>(%0, %b : tensor<2x4x5x3xf32>, tensor<1x1x1x3xf32>) -> tensor<2x4x5x3xf32>
        %2 = tensorrt.transpose FIRST %1 : tensor<2x4x5x3xf32> to tensor<2x3x4x5xf32>
        return %2 : tensor<2x3x4x5xf32>
        """,
        """
        %0 = tensorrt.transpose FIRST %b : tensor<1x1x1x3xf32> to tensor<1x3x1x1xf32>
        %1 = tensorrt.element_wise <kSUB>(%x, %0 : tensor<2x3x4x5xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x4x5xf32>
        return %1 : tensor<2x3x4x5xf32>
        """,
    ),
    "past a sum with a constant, which is folded": (
        "(%x: tensor<2x3xf32>) -> tensor<2x3xf32>",
        """
        %c = tensorrt.constant dense<[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]> : tensor<3x2xf32>
        %0 = tensorrt.transpose SWAP %x : tensor<2x3xf32> to tensor<3x2xf32>
        %1 = tensorrt.element_wise <kSUB>(%c, %0 : tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
        %2 = tensorrt.transpose SWAP %1 : tensor<3x2xf32> to tensor<2x3xf32>
        return %2 : tensor<2x3xf32>
        """,
        """
        %c = tensorrt.constant dense<[[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]> : tensor<2x3xf32>
        %0 = tensorrt.element_wise <kSUB>(%c, %x : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        return %0 : tensor<2x3xf32>
        """,
    ),
    "past a sum of two transposes": (
        "(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<3x2xf32>",
        """
        %0 = tensorrt.transpose SWAP %x : tensor<2x3xf32> to tensor<3x2xf32>
        %1 = tensorrt.transpose SWAP %y : tensor<2x3xf32> to tensor<3x2xf32>
        %2 = tensorrt.element_wise <kSUB>(%0, %1 : tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
        return %2 : tensor<3x2xf32>
        """,
        """
        %0 = tensorrt.element_wise <kSUB>(%x, %y : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        %1 = tensorrt.transpose SWAP %0 : tensor<2x3xf32> to tensor<3x2xf32>
        return %1 : tensor<3x2xf32>
        """,
    ),
    "of two, the larger goes down": (
        "(%x: tensor<1x3xf32>, %y: tensor<2x3xf32>) -> tensor<3x2xf32>",
        """
        %0 = tensorrt.transpose SWAP %x : tensor<1x3xf32> to tensor<3x1xf32>
        %1 = tensorrt.transpose SWAP %y : tensor<2x3xf32> to tensor<3x2xf32>
        %2 = tensorrt.element_wise <kSUB>(%0, %1 : tensor<3x1xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
        return %2 : tensor<3x2xf32>
        """,
        """
        %0 = tensorrt.element_wise <kSUB>(%x, %y : tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        %1 = tensorrt.transpose SWAP %0 : tensor<2x3xf32> to tensor<3x2xf32>
        return %1 : tensor<3x2xf32>
        """,
    ),
    "of two in other orders, too": (
        "(%x: tensor<1x3x2xf32>, %y: tensor<2x3x4xf32>) -> tensor<4x2x3xf32>",
        """
        %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d0, d2, d1)>} %x : tensor<1x3x2xf32> to tensor<1x2x3xf32>
        %1 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d2, d0, d1)>} %y : tensor<2x3x4xf32> to tensor<4x2x3xf32>
        %2 = tensorrt.element_wise <kSUB>(%0, %1 : tensor<1x2x3xf32>, tensor<4x2x3xf32>) -> tensor<4x2x3xf32>
        return %2 : tensor<4x2x3xf32>
        """,
        """
        %0 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d2, d1, d0)>} %x : tensor<1x3x2xf32> to tensor<2x3x1xf32>
        %1 = tensorrt.element_wise <kSUB>(%0, %y : tensor<2x3x1xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
        %2 = tensorrt.transpose {permutation = affine_map<(d0, d1, d2) -> (d2, d0, d1)>} %1 : tensor<2x3x4xf32> to tensor<4x2x3xf32>
        return %2 : tensor<4x2x3xf32>
        """,
    ),
    "a sum with itself": (
        "(%x: tensor<2x3xf32>) -> tensor<3x2xf32>",
        """
        %0 = tensorrt.transpose SWAP %x : tensor<2x3xf32> to tensor<3x2xf32>
        %1 = tensorrt.element_wise <kPROD>(%0, %0 : tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
        return %1 : tensor<3x2xf32>
        """,
        """
        %0 = tensorrt.element_wise <kPROD>(%x, %x : tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
        %1 = tensorrt.transpose SWAP %0 : tensor<2x3xf32> to tensor<3x2xf32>
        return %1 : tensor<3x2xf32>
        """,
    ),
    "above a sum, whose other operand is small and one a constant": (
        "(%x: tensor<2x1xf32>) -> tensor<3x2xf32>",
        """
        %c = tensorrt.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
        %0 = tensorrt.element_wise <kSUB>(%c, %x : tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
        %1 = tensorrt.transpose SWAP %0 : tensor<2x3xf32> to tensor<3x2xf32>
        return %1 : tensor<3x2xf32>
        """,
        """
        %c = tensorrt.constant dense<[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]> : tensor<3x2xf32>
        %0 = tensorrt.transpose SWAP %x : tensor<2x1xf32> to tensor<1x2xf32>
        %1 = tensorrt.element_wise <kSUB>(%c, %0 : tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
        return %1 : tensor<3x2xf32>
        """,
    ),
    "a constant": (
        "() -> tensor<3x2xf32>",
        """
        %c = tensorrt.constant dense<[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]> : tensor<2x3xf32>
        %0 = tensorrt.transpose SWAP %c : tensor<2x3xf32> to tensor<3x2xf32>
        return %0 : tensor<3x2xf32>
        """,
        """
        %c = tensorrt.constant dense<[[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]> : tensor<3x2xf32>
        return %c : tensor<3x2xf32>
        """,
    ),
    "a constant that repeats a number, of any size and with other uses": (
        "() -> (tensor<600x500xf32>, tensor<500x600xf32>)",
        """
        %c = tensorrt.constant dense<1.5> : tensor<500x600xf32>
        %0 = tensorrt.transpose SWAP %c : tensor<500x600xf32> to tensor<600x500xf32>
        return %0, %c : tensor<600x500xf32>, tensor<500x600xf32>
        """,
        """
        %c = tensorrt.constant dense<1.5> : tensor<500x600xf32>
        %0 = tensorrt.constant dense<1.5> : tensor<600x500xf32>
        return %0, %c : tensor<600x500xf32>, tensor<500x600xf32>
        """,
    ),
    "unknown sizes": (
        "(%x: tensor<?x3xf32>, %b: tensor<3x1xf32>) -> tensor<?x3xf32>",
        """
        %0 = tensorrt.transpose SWAP %x : tensor<?x3xf32> to tensor<3x?xf32>
        %1 = tensorrt.element_wise <kSUM>(%0, %b : tensor<3x?xf32>, tensor<3x1xf32>) -> tensor<3x?xf32>
        %2 = tensorrt.transpose SWAP %1 : tensor<3x?xf32> to tensor<?x3xf32>
        return %2 : tensor<?x3xf32>
        """,
        """
        %0 = tensorrt.transpose SWAP %b : tensor<3x1xf32> to tensor<1x3xf32>
        %1 = tensorrt.element_wise <kSUM>(%x, %0 : tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
        return %1 : tensor<?x3xf32>
        """,
    ),
}
KEPT = {
    "past a sum with an operand of the same size": (
        "(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32>",
        """
        %0 = tensorrt.transpose SWAP %x : tensor<2x3xf32> to tensor<3x2xf32>
        %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
        return %1 : tensor<3x2xf32>
        """,
    ),
    "past a sum with one of unknown size": (
        "(%x: tensor<?x3xf32>, %y: tensor<3x?xf32>) -> tensor<3x?xf32>",
        """
        %0 = tensorrt.transpose SWAP %x : tensor<?x3xf32> to tensor<3x?xf32>
        %1 = tensorrt.element_wise <kSUM>(%0, %y : tensor<3x?xf32>, tensor<3x?xf32>) -> tensor<3x?xf32>
        return %1 : tensor<3x?xf32>
        """,
    ),
    "past a sum with a constant that others use": (
        "(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)",
        """
        %c = tensorrt.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
        %0 = tensorrt.transpose SWAP %x : tensor<2x2xf32> to tensor<2x2xf32>
        %1 = tensorrt.element_wise <kSUM>(%0, %c : tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
        %2 = tensorrt.element_wise <kSUM>(%y, %c : tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
        return %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>
        """,
    ),
    "above a sum of arguments": (
        "(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> tensor<3x2xf32>",
        """
        %0 = tensorrt.element_wise <kSUM>(%x, %y : tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
        %1 = tensorrt.transpose SWAP %0 : tensor<2x3xf32> to tensor<3x2xf32>
        return %1 : tensor<3x2xf32>
        """,
    ),
    "above a sum of a small constant": (
        "(%x: tensor<2x3xf32>) -> tensor<3x2xf32>",
        """
        %c = tensorrt.constant dense<[[0.0], [1.0]]> : tensor<2x1xf32>
        %0 = tensorrt.element_wise <kSUM>(%x, %c : tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
        %1 = tensorrt.transpose SWAP %0 : tensor<2x3xf32> to tensor<3x2xf32>
        return %1 : tensor<3x2xf32>
        """,
    ),
    "a constant that others use": (
        "() -> (tensor<2x2xf32>, tensor<2x2xf32>)",
        """
        %c = tensorrt.constant dense<[[0.0, 1.0], [2.0, 3.0]]> : tensor<2x2xf32>
        %0 = tensorrt.transpose SWAP %c : tensor<2x2xf32> to tensor<2x2xf32>
        return %0, %c : tensor<2x2xf32>, tensor<2x2xf32>
        """,
    ),
    "weights that are not in the text": (
        "() -> tensor<3x2xf32>",
        """
        %c = tensorrt.constant dense_resource<weights> : tensor<2x3xf32>
        %0 = tensorrt.transpose SWAP %c : tensor<2x3xf32> to tensor<3x2xf32>
        return %0 : tensor<3x2xf32>
        """,
    ),
}


@pytest.mark.parametrize("name", REWRITES)
def test_rewrites(name):
    """Transposes meet, are smaller, or are folded."""
    signature, before, after = REWRITES[name]
    becomes(function(signature, before), function(signature, after), NAME)


@pytest.mark.parametrize("name", KEPT)
def test_is_kept(name):
    """Where nothing would be won."""
    signature, body = KEPT[name]
    stays(function(signature, body), NAME)


def test_large_constants_are_not_folded():
    """Half a megabyte is the most that is computed here; TensorRT folds the rest."""
    for side, transposes in ((362, 0), (363, 1)):
        numbers = bytes(range(256)) * (side * side * 4 // 256 + 1)
        data = numbers[: side * side * 4].hex().upper()
        body = f"""
        %c = tensorrt.constant dense<"0x{data}"> : tensor<{side}x{side}xi32>
        %0 = tensorrt.transpose SWAP %c : tensor<{side}x{side}xi32> to tensor<{side}x{side}xi32>
        return %0 : tensor<{side}x{side}xi32>
        """
        found = assert_same(function(f"() -> tensor<{side}x{side}xi32>", body), NAME)
        assert count(parsed(found), "tensorrt.transpose") == transposes


def test_channels_last():
    """A block of a model with channels last: transposes meet between its convolutions."""
    body = f"""
    %w = tensorrt.constant dense_resource<w> : tensor<3x3x1x1xf32>
    %b = tensorrt.constant dense<[[[[0.5, 1.0, 2.0]]]]> : tensor<1x1x1x3xf32>
    %0 = tensorrt.transpose FIRST %x : tensor<2x4x5x3xf32> to tensor<2x3x4x5xf32>
    %1 = tensorrt.convolution {{post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>}} in(%0 : tensor<2x3x4x5xf32>) kernel(%w : tensor<3x3x1x1xf32>) -> tensor<2x3x4x5xf32>
    %2 = tensorrt.transpose LAST %1 : tensor<2x3x4x5xf32> to tensor<2x4x5x3xf32>
    %3 = tensorrt.element_wise <kSUM>(%2, %b : tensor<2x4x5x3xf32>, tensor<1x1x1x3xf32>) -> tensor<2x4x5x3xf32>
    %4 = tensorrt.activation {RELU} %3 : tensor<2x4x5x3xf32>
    %5 = tensorrt.transpose FIRST %4 : tensor<2x4x5x3xf32> to tensor<2x3x4x5xf32>
    %6 = tensorrt.convolution {{post_padding = array<i64: 0, 0>, pre_padding = array<i64: 0, 0>, stride = array<i64: 1, 1>}} in(%5 : tensor<2x3x4x5xf32>) kernel(%w : tensor<3x3x1x1xf32>) -> tensor<2x3x4x5xf32>
    %7 = tensorrt.transpose LAST %6 : tensor<2x3x4x5xf32> to tensor<2x4x5x3xf32>
    return %7 : tensor<2x4x5x3xf32>
    """
    text = function("(%x: tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>", body)
    found = assert_same(text, NAME)
    assert count(parsed(found), "tensorrt.transpose") == 2
    assert settled(found, NAME)


def test_weights_that_were_left_out():
    """A text without its weights is rewritten as the one with them."""
    body = """
        %c = tensorrt.constant dense_resource<__elided__> : tensor<2x3xf32>
        %0 = tensorrt.transpose SWAP %c : tensor<2x3xf32> to tensor<3x2xf32>
        return %0 : tensor<3x2xf32>
    """
    module = parsed(function("() -> tensor<3x2xf32>", body))
    pipeline.run(module, [NAME])
    assert "dense_resource<__elided__> : tensor<3x2xf32>" in printer.text(module)
    assert count(module, "tensorrt.transpose") == 0
