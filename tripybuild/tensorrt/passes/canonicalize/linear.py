"""Canonicalization of products, convolutions and reductions.

Constant kernels become attributes, and products such that TensorRT fuses: it wants the left side as
it is; a transpose of the right side is free. Reductions keep dimensions, and sums become averages.
"""

from tripybuild.tensorrt.dialect import (
    ConstantOp,
    ConvolutionOp,
    ElementWiseOp,
    ExpandRankOp,
    MatrixMultiplyOp,
    ReduceOp,
    SoftMaxOp,
    TransposeOp,
)
from tripybuild.tensorrt.dialect.attributes import ENUMERATION_ATTRIBUTES, EnumerationAttribute
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.passes.elimination.layouts import (
    make_transpose,
    matrix_transposition,
    permutation_of,
    permute,
    type_with_shape,
)
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import defining_op, float_splat, only_user
from tripybuild.tensorrt.shape_rules import compatible

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
    return rewriter.replace(op, made)


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
    product = rewriter.value(
        MatrixMultiplyOp,
        op.input1,
        op.input0,
        op0="kNONE",
        op1="kTRANSPOSE",
        result_types=[type_with_shape(op.result, permute(swap, sizes(op.result)))],
    )
    return rewriter.replace(op, make_transpose(product, swap, rewriter))


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


def _axis(op: ReduceOp) -> int | None:
    axes = op.value("reduce_axes")
    return axes[0] if len(axes) == 1 else None


def _keepdim_shape(op: ReduceOp, axis: int) -> tuple[int | None, ...]:
    """The sizes that a reduction has when it keeps the dimension."""
    return tuple(1 if index == axis else size for index, size in enumerate(sizes(op.input)))


def keep_dimension(op: ReduceOp, rewriter: PatternRewriter) -> bool:
    """A reduced dimension that `expand_rank` brings back at its old place is kept.

    The 1 must stand where the dimension was, which mlir-tensorrt asks only of the new shape.
    """
    axis = _axis(op)
    expanded = only_user(op.result)
    if axis is None or op.value("keep_dimensions") or not isinstance(expanded, ExpandRankOp):
        return False
    if not compatible(_keepdim_shape(op, axis), sizes(expanded.result)):
        return False
    kind = op.value("reduce_operation")
    return _replace_chain(op, expanded, rewriter, keep=True, operation=kind)


def average(op: ReduceOp, rewriter: PatternRewriter) -> bool:
    """A sum over as many elements as it is divided by is their average."""
    axis = _axis(op)
    quotient = only_user(op.result)
    if axis is None or op.value("reduce_operation") != "kSUM":
        return False
    if not isinstance(quotient, ElementWiseOp) or quotient.result.type != op.result.type:
        return False
    if quotient.value("elementwise_operation") != "kDIV":
        return False
    size = sizes(op.input)[axis]
    divisor = quotient.input2
    if size is None or defining_op(divisor, ConstantOp) is None or float_splat(divisor) != size:
        return False
    keep = bool(op.value("keep_dimensions"))
    return _replace_chain(op, quotient, rewriter, keep=keep, operation="kAVG")


def _replace_chain(
    op: ReduceOp,
    last: ElementWiseOp | ExpandRankOp,
    rewriter: PatternRewriter,
    *,
    keep: bool,
    operation: str,
) -> bool:
    """Let one reduction do what a reduction and the op after it did."""
    return rewriter.replace_with(
        last,
        ReduceOp,
        op.input,
        reduce_axes=op.reduce_axes,
        keep_dimensions=keep,
        reduce_operation=operation,
        location=last.location,
    )


PATTERNS = (
    Pattern("static kernel", ConvolutionOp, static_kernel, "weights are known when it is built"),
    Pattern("swapped product", MatrixMultiplyOp, swap_product, "fused attention"),
    Pattern(
        "left as it is", MatrixMultiplyOp, split_left_transpose, "products become convolutions"
    ),
    Pattern("right transposed", MatrixMultiplyOp, absorb_right_transpose, "no transpose"),
    Pattern("kept dimension", ReduceOp, keep_dimension, "no reshape"),
    Pattern("average", ReduceOp, average, "one layer"),
)
