"""Linear algebra canonicalization: constant kernels, and fusible matrix products.

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
    make_transpose,
    permutation_of,
    sizes_of,
    type_with_shape,
)
from tripybuild.tensorrt.passes.elimination.permutations import Permutation, identity, permute
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import defining_op

_HEADS = 4  # the rank of attention: batch, head, row, column


def static_kernel(op: ConvolutionOp, rewriter: PatternRewriter) -> bool:
    """A kernel that is a constant becomes an attribute."""
    constant = defining_op(op.kernel, ConstantOp) if op.kernel is not None else None
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


def matrix_transposition(rank: int) -> Permutation:
    """The permutation that transposes matrices."""
    return (*identity(rank - 2), rank - 1, rank - 2)


def swap_product(op: MatrixMultiplyOp, rewriter: PatternRewriter) -> bool:
    """`x * softmax^T` is `(softmax * x^T)^T`: attention is fused with the softmax on the left.

    Two softmaxes would take turns for ever, so they stay (mlir-tensorrt does not end).
    """
    if op.value("op0") != "kNONE" or op.value("op1") != "kTRANSPOSE":
        return False
    softmax = defining_op(op.input1, SoftMaxOp)
    if softmax is None or defining_op(op.input0, SoftMaxOp) is not None:
        return False
    if len(sizes(op.input1)) != _HEADS or len(sizes(op.result)) != _HEADS:
        return False
    swap = matrix_transposition(_HEADS)
    product = rewriter.create(
        MatrixMultiplyOp,
        op.input1,
        op.input0,
        op0="kNONE",
        op1="kTRANSPOSE",
        result_types=[type_with_shape(op.result, permute(swap, sizes_of(op.result)))],
    )
    rewriter.replace(op, make_transpose(product.result, swap, rewriter))
    return True


def split_left_transpose(op: MatrixMultiplyOp, rewriter: PatternRewriter) -> bool:
    """A transpose of the left side becomes an op of its own; the other side is left alone.

    (mlir-tensorrt transposes both sides if they are one value.)
    """
    if op.value("op0") != "kTRANSPOSE":
        return False
    turned = make_transpose(op.input0, matrix_transposition(len(sizes(op.input0))), rewriter)
    rewriter.set_property(op, "op0", _operation("kNONE"))
    rewriter.set_operand(op, 0, turned)
    return True


def absorb_right_transpose(op: MatrixMultiplyOp, rewriter: PatternRewriter) -> bool:
    """Fold a transpose of the right operand with a single use into the product."""
    transpose = defining_op(op.input1, TransposeOp)
    if op.value("op1") != "kNONE" or transpose is None:
        return False
    if transpose.result.get_unique_use() is None:
        return False
    if permutation_of(transpose) != matrix_transposition(len(sizes(op.input1))):
        return False
    rewriter.set_property(op, "op1", _operation("kTRANSPOSE"))
    rewriter.set_operand(op, 1, transpose.input)
    return True


def _operation(name: str) -> EnumerationAttribute:
    return ENUMERATION_ATTRIBUTES["matrix_operation"](name)


PATTERNS = (
    Pattern("static kernel", ConvolutionOp, static_kernel, "weights are known when it is built"),
    Pattern("swapped product", MatrixMultiplyOp, swap_product, "fused attention"),
    Pattern(
        "left as it is", MatrixMultiplyOp, split_left_transpose, "products become convolutions"
    ),
    Pattern("right transposed", MatrixMultiplyOp, absorb_right_transpose, "no transpose"),
)
