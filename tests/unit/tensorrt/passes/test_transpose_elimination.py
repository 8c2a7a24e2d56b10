"""`tensorrt-transpose-elimination` of constants that are too large for a file."""

from rewritten import function

from tests.oracles.tensorrt_numpy import assert_same, count, parsed

NAME = "tensorrt-transpose-elimination"


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
