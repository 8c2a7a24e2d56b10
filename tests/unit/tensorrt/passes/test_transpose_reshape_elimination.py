"""`tensorrt-transpose-reshape-elimination`: where transposes and reshapes go, and what they leave."""

# ruff: noqa: E501  # MLIR has long lines

from rewritten import function, normal

from tests.oracles.tensorrt_numpy import (
    parsed,
)
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.passes.rewriting.driver import greedy
from tripybuild.tensorrt.passes.transpose_reshape_elimination import einsums
from tripybuild.tensorrt.passes.transpose_reshape_elimination.einsums import (
    LabelSubstitution,
    RelabeledTensor,
    rename,
)


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
    alone, together = (
        LabelSubstitution("a", (3,), "c", (3,)),
        LabelSubstitution("ab", (3, 4), "c", (12,)),
    )
    assert rename("ab", (1, 4), [alone]) == RelabeledTensor((0, 1), (1, 4), "cb")
    assert rename("dba", (2, 4, 3), [together]) == RelabeledTensor((0, 2, 1), (2, 12), "dc")
    assert rename("ab", (1, 4), [together]) is None
    assert rename("bd", (4, 2), [together]) is None
    assert rename("ba", (4, 3), [LabelSubstitution("ab", (3, 4), "c", (12,))]).permutation == (1, 0)
