"""`element_wise` with a splat constant."""

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect import ElementWiseOp
from tripybuild.tensorrt.dialect.base import tensor_type
from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.passes.canonicalize.matching import (
    dense_of,
    element_wise,
    float_splat,
    integer_splat,
    stretches,
)
from tripybuild.tensorrt.passes.rewriting.driver import PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import splat_of

_Constant = DenseIntOrFPElementsAttr[Any]


def small_splat(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """Such a constant has size 1 where the other operand brings the size along.

    Not so for infinities: TensorRT was seen to round scalars to finite numbers.
    """
    for place in (1, 0):
        found = dense_of(op.operands[place])
        if found is None:
            continue
        shape = _small(op.operands[place], op.operands[1 - place])
        number = splat_of(found) if shape is not None else None
        if shape is None or number is None or not math.isfinite(number):
            continue
        type = tensor_type(shape, found.type.element_type)
        one = found.data.data[: elements.size_of(found.type.element_type)]
        data = elements.splat_bytes(one, math.prod(shape))
        small: _Constant = DenseIntOrFPElementsAttr(type, BytesAttr(data))
        rewriter.set_operand(op, place, rewriter.constant(small, type))
        return True
    return False


def _small(constant: SSAValue, other: SSAValue) -> Sequence[int] | None:
    """The smallest shape that a constant can have beside a value; None if it is that small."""
    assert isinstance(constant.type, TensorType)
    assert isinstance(other.type, TensorType)
    before = constant.type.get_shape()
    shape = tuple(
        1 if size == beside else size
        for size, beside in zip(before, other.type.get_shape(), strict=True)
    )
    return shape if shape != before else None


def product_and_quotient(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`x * a / a` is x: mlir-tensorrt accepts what this changes where the product overflows.

    The factors must have stretched nothing, which mlir-tensorrt does not ask.
    """
    product = element_wise(op.input1, "kPROD")
    if product is None:
        return False
    source, factor = product.operands
    if source.type != op.result.type or not _cancels(factor, op.input2):
        return False
    if stretches(factor, source) or stretches(op.input2, source):
        return False
    rewriter.replace(op, source)
    return True


def _cancels(factor: SSAValue, divisor: SSAValue) -> bool:
    """Whether `x * factor / divisor` is x: one finite float that is not zero, or the integer 1."""
    if integer_splat(factor) == 1:
        return integer_splat(divisor) == 1
    number = float_splat(factor)
    if number is None or number == 0 or not math.isfinite(number):
        return False
    return number == float_splat(divisor)
