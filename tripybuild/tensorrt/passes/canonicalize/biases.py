"""Convolution biases in the form that TensorRT fuses: a sum in the convolution's precision.

`sum(x, -c)` and `sub(x, c)` do not take turns: after a convolution a constant is added, and
elsewhere only what is no constant is subtracted.
"""

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect import (
    ConstantOp,
    ConvolutionOp,
    ElementWiseOp,
    IdentityOp,
    UnaryOp,
)
from tripybuild.tensorrt.dialect.base import element
from tripybuild.tensorrt.passes.canonicalize.matching import constant_of, unary, with_element
from tripybuild.tensorrt.passes.rewriting.driver import PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import defining_op

CHANNEL_WISE = ("kSUB", "kPROD", "kSUM")


def _follows_convolution(value: SSAValue) -> bool:
    """Whether a value is a convolution's, scaled and shifted perhaps."""
    owner = value.owner
    while isinstance(owner, ElementWiseOp):
        if owner.value("elementwise_operation") not in CHANNEL_WISE:
            return False
        owner = owner.input1.owner
    return isinstance(owner, ConvolutionOp)


def bias_in_half(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """A convolution in f16, made f32, and then its bias: the bias comes first, in f16.

    TensorRT fuses both only in one precision. This rounds in another way, as mlir-tensorrt does.
    """
    wide, bias = op.operands
    widened = defining_op(wide, IdentityOp)
    if widened is None or defining_op(bias, ConstantOp) is None or element(wide) != f32:
        return False
    if element(widened.input) != f16 or not _follows_convolution(widened.input):
        return False
    half = rewriter.create(IdentityOp, bias, result_types=[with_element(bias.type, f16)])
    biased = rewriter.create(
        ElementWiseOp,
        widened.input,
        half.result,
        elementwise_operation=op.elementwise_operation,
        result_types=[with_element(op.result.type, f16)],
    )
    made = rewriter.create(IdentityOp, biased.result, result_types=[op.result.type])
    rewriter.replace(op, made)
    return True


def added_bias(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`sub(convolution, constant)` is a sum with the negated constant."""
    source, bias = op.operands
    if defining_op(source, ConvolutionOp) is None or constant_of(bias) is None:
        return False
    _rewrite_as(op, rewriter, "kSUM", rewriter.create(UnaryOp, bias, unary_operation="kNEG").result)
    return True


def sum_to_difference(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`sum(x, neg(y))` is `sub(x, y)`, unless y is a constant."""
    negation = unary(op.input2, "kNEG")
    if negation is None or constant_of(negation.input) is not None:
        return False
    _rewrite_as(op, rewriter, "kSUB", negation.input)
    return True


def _rewrite_as(
    op: ElementWiseOp, rewriter: PatternRewriter, operation: str, right: SSAValue
) -> None:
    made = rewriter.create(
        ElementWiseOp,
        op.input1,
        right,
        elementwise_operation=operation,
        result_types=[op.result.type],
    )
    rewriter.replace(op, made)
