"""`element_wise` sums, differences and quotients in the form that TensorRT recognises."""

from xdsl.ir import SSAValue

from tripybuild.dialects.tensorrt.ops import ConvolutionOp, ElementWiseOp, UnaryOp
from tripybuild.passes.canonicalize.matching import (
    constant_of,
    dense_of,
    element_wise,
    float_splat,
    integer_splat,
    unary,
)
from tripybuild.passes.rewriting import Pattern, Rewriter
from tripybuild.passes.values import made_by


def added_bias(op: ElementWiseOp, rewriter: Rewriter) -> bool:
    """`sub(convolution, constant)` is a sum with the negated constant."""
    if op.value("elementwise_operation") != "kSUB":
        return False
    if made_by(op.input1, ConvolutionOp) is None or constant_of(op.input2) is None:
        return False
    negated = rewriter.create(UnaryOp, op.input2, unary_operation="kNEG").result
    _become(op, rewriter, "kSUM", negated)
    return True


def subtracted(op: ElementWiseOp, rewriter: Rewriter) -> bool:
    """`sum(x, neg(y))` is `sub(x, y)`, unless y is a constant."""
    if op.value("elementwise_operation") != "kSUM":
        return False
    negation = unary(op.input2, "kNEG")
    if negation is None or constant_of(negation.input) is not None:
        return False
    _become(op, rewriter, "kSUB", negation.input)
    return True


def _become(op: ElementWiseOp, rewriter: Rewriter, operation: str, right: SSAValue) -> None:
    made = rewriter.create(
        ElementWiseOp,
        op.input1,
        right,
        elementwise_operation=operation,
        result_types=[op.result.type],
    )
    rewriter.replace(op, made)


def _undone(factor: SSAValue, divisor: SSAValue) -> bool:
    """Whether `x * factor / divisor` is x: one finite float that is not zero, or the integer 1."""
    first, second = dense_of(factor), dense_of(divisor)
    if first is None or second is None:
        return False
    number = float_splat(factor)
    if number is not None:
        return number / number == 1 and number == float_splat(divisor) if number else False
    return integer_splat(factor) == 1 == integer_splat(divisor)


def product_and_quotient(op: ElementWiseOp, rewriter: Rewriter) -> bool:
    """`x * a / a` is x: mlir-tensorrt accepts what this changes where the product overflows.

    The factors must have stretched nothing, which mlir-tensorrt does not ask.
    """
    if op.value("elementwise_operation") != "kDIV":
        return False
    product = element_wise(op.input1, "kPROD")
    if product is None or product.input1.type != op.result.type:
        return False
    if not _undone(product.input2, op.input2):
        return False
    rewriter.replace(op, product.input1)
    return True


PATTERNS = (
    Pattern("added bias", ElementWiseOp, added_bias, "TensorRT knows a bias by its sum"),
    Pattern("subtracted", ElementWiseOp, subtracted, "one layer"),
    Pattern("product and quotient", ElementWiseOp, product_and_quotient, "no layers"),
)
