"""Composite layers: shared compositions for what TensorRT has no layer for.

Invariant: a composition takes values of any rank, and its result has the dtype of its first value.
"""

from collections.abc import Sequence

from tripybuild.tensorrt.recorder.builder import align, einsum, element_wise, select, unary
from tripybuild.tensorrt.recorder.value import NetworkValue, Operand
from tripybuild.types.subscripts import pairwise


def truncate(value: NetworkValue) -> NetworkValue:
    """Floats without their fraction: rounded toward zero. NaN and infinities stay."""
    below_zero = element_wise(*align(value, 0.0), "kLESS")
    return select(below_zero, unary(value, "kCEIL"), unary(value, "kFLOOR"))


def remainder(lhs: Operand, rhs: Operand) -> NetworkValue:
    """What division leaves when the quotient is cut off: it has the sign of `lhs`, as in C.

    A float that is smaller than the divisor is left as it is, also by an infinity.
    """
    first, second = align(lhs, rhs)
    quotient = element_wise(first, second, "kDIV")
    if first.dtype.kind != "float":
        return first - quotient * second
    smaller = element_wise(unary(first, "kABS"), unary(second, "kABS"), "kLESS")
    return select(smaller, first, first - truncate(quotient) * second)


def contraction(inputs: Sequence[NetworkValue], equation: str) -> NetworkValue:
    """The sum of the products of any number of values, which a layer has of two at most."""
    first, *rest = inputs
    for step in pairwise(equation):
        first = einsum([first, *rest[:1]], step)
        rest = rest[1:]
    return first
