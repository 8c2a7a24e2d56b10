"""Convolutions with their kernel in place, and matrix products that TensorRT fuses.

TensorRT wants the left side of a product as it is; a transpose of the right side is free.
"""

from tripybuild.tensorrt.dialect import (
    ConstantOp,
    ConvolutionOp,
    MatrixMultiplyOp,
    SoftMaxOp,
    TransposeOp,
)
from tripybuild.tensorrt.dialect.attributes import ENUMERATION_ATTRIBUTES, EnumerationAttribute
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.passes.elimination.layouts import (
    permutation_of,
    retyped,
    sizes_of,
    transposed,
)
from tripybuild.tensorrt.passes.elimination.permutations import Permutation, applied, identity
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, Rewriter
from tripybuild.tensorrt.passes.rewriting.values import made_by

_HEADS = 4  # the rank of attention: batch, head, row, column


def static_kernel(op: ConvolutionOp, rewriter: Rewriter) -> bool:
    """A kernel that is a constant becomes an attribute."""
    constant = made_by(op.kernel, ConstantOp) if op.kernel is not None else None
    if constant is None:
        return False
    made = rewriter.create(
        ConvolutionOp,
        op.input,
        None,
        op.bias,
        kernel_static=constant.weights,
        bias_static=op.bias_static,
        stride=op.stride,
        pre_padding=op.pre_padding,
        post_padding=op.post_padding,
        num_groups=op.num_groups,
        dilation=op.dilation,
        result_types=[op.result.type],
    )
    made.attributes.update(op.attributes)
    rewriter.replace(op, made)
    return True


def last_two_swapped(rank: int) -> Permutation:
    """The permutation that transposes matrices."""
    return (*identity(rank - 2), rank - 1, rank - 2)


def swapped_product(op: MatrixMultiplyOp, rewriter: Rewriter) -> bool:
    """`x * softmax^T` is `(softmax * x^T)^T`: attention is fused with the softmax on the left.

    Two softmaxes would take turns for ever, so they stay (mlir-tensorrt does not end).
    """
    if op.value("op0") != "kNONE" or op.value("op1") != "kTRANSPOSE":
        return False
    softmax = made_by(op.input1, SoftMaxOp)
    if softmax is None or made_by(op.input0, SoftMaxOp) is not None:
        return False
    if len(sizes(op.input1)) != _HEADS or len(sizes(op.result)) != _HEADS:
        return False
    swap = last_two_swapped(_HEADS)
    product = rewriter.create(
        MatrixMultiplyOp,
        op.input1,
        op.input0,
        op0="kNONE",
        op1="kTRANSPOSE",
        result_types=[retyped(op.result, applied(swap, sizes_of(op.result)))],
    )
    rewriter.replace(op, transposed(product.result, swap, rewriter))
    return True


def left_as_it_is(op: MatrixMultiplyOp, rewriter: Rewriter) -> bool:
    """A transpose of the left side becomes an op of its own; the other side is left alone.

    (mlir-tensorrt transposes both sides if they are one value.)
    """
    if op.value("op0") != "kTRANSPOSE":
        return False
    turned = transposed(op.input0, last_two_swapped(len(sizes(op.input0))), rewriter)
    rewriter.set_property(op, "op0", _operation("kNONE"))
    rewriter.set_operand(op, 0, turned)
    return True


def right_transposed(op: MatrixMultiplyOp, rewriter: Rewriter) -> bool:
    """A transpose of the right side that nobody else uses goes into the product."""
    transpose = made_by(op.input1, TransposeOp)
    if op.value("op1") != "kNONE" or transpose is None:
        return False
    if transpose.result.get_unique_use() is None:
        return False
    if permutation_of(transpose) != last_two_swapped(len(sizes(op.input1))):
        return False
    rewriter.set_property(op, "op1", _operation("kTRANSPOSE"))
    rewriter.set_operand(op, 1, transpose.input)
    return True


def _operation(name: str) -> EnumerationAttribute:
    return ENUMERATION_ATTRIBUTES["matrix_operation"](name)


PATTERNS = (
    Pattern("static kernel", ConvolutionOp, static_kernel, "weights are known when it is built"),
    Pattern("swapped product", MatrixMultiplyOp, swapped_product, "fused attention"),
    Pattern("left as it is", MatrixMultiplyOp, left_as_it_is, "products become convolutions"),
    Pattern("right transposed", MatrixMultiplyOp, right_transposed, "no transpose"),
)
