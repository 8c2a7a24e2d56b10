"""Elementwise operations: arithmetic, logic, and unary functions.

Invariant: names and meaning are StableHLO's (or CHLO's, which the compiler takes as it is); what
StableHLO lacks is composed at the end of this file.
"""

from typing import Protocol

from tripybuild.stablehlo.module import emit
from tripybuild.stablehlo.operands import pair
from tripybuild.stablehlo.value import OPERATORS, HloValue, Operand

FLOAT = ("float",)
NUMBER = ("float", "integer")
BITS = ("boolean", "integer")
ANY = ("boolean", "float", "integer")


class Unary(Protocol):
    """A builder that takes one tensor."""

    def __call__(self, input: HloValue) -> HloValue:
        """Record the operation."""


class Binary(Protocol):
    """A builder that takes two tensors, or a tensor and a number, and broadcasts them."""

    def __call__(self, lhs: Operand, rhs: Operand) -> HloValue:
        """Record the operation."""


def _unary(operation: str, kinds: tuple[str, ...], doc: str) -> Unary:
    def build(input: HloValue) -> HloValue:
        if input.dtype.kind not in kinds:
            raise ValueError(f"{operation} takes {' or '.join(kinds)}, not {input.dtype.name}")
        return emit(operation, (input,), input.dtype, input.shape)

    build.__name__ = build.__qualname__ = operation.partition(".")[2]
    build.__doc__ = doc
    return build


def _binary(operation: str, kinds: tuple[str, ...], doc: str) -> Binary:
    def build(lhs: Operand, rhs: Operand) -> HloValue:
        first, second = pair(lhs, rhs)
        if first.dtype.kind not in kinds:
            raise ValueError(f"{operation} takes {' or '.join(kinds)}, not {first.dtype.name}")
        return emit(operation, (first, second), first.dtype, first.shape)

    build.__name__ = build.__qualname__ = operation.partition(".")[2]
    build.__doc__ = doc
    return build


negate = _unary("stablehlo.negate", NUMBER, "Change the sign.")
abs = _unary("stablehlo.abs", NUMBER, "Drop the sign; not for uint8.")
sign = _unary("stablehlo.sign", NUMBER, "-1, 0 or 1; NaN stays; not for uint8.")
floor = _unary("stablehlo.floor", FLOAT, "Round down.")
ceil = _unary("stablehlo.ceil", FLOAT, "Round up.")
round_nearest_even = _unary("stablehlo.round_nearest_even", FLOAT, "Round; halves go to even.")
round_nearest_afz = _unary("stablehlo.round_nearest_afz", FLOAT, "Round; halves go away from 0.")
exponential = _unary("stablehlo.exponential", FLOAT, "e to the power of the input.")
exponential_minus_one = _unary("stablehlo.exponential_minus_one", FLOAT, "exp(x) - 1, exact at 0.")
log = _unary("stablehlo.log", FLOAT, "The natural logarithm.")
log_plus_one = _unary("stablehlo.log_plus_one", FLOAT, "log(1 + x), exact near 0.")
sqrt = _unary("stablehlo.sqrt", FLOAT, "The square root.")
rsqrt = _unary("stablehlo.rsqrt", FLOAT, "One over the square root.")
cbrt = _unary("stablehlo.cbrt", FLOAT, "The cube root.")
logistic = _unary("stablehlo.logistic", FLOAT, "1 / (1 + exp(-x)).")
tanh = _unary("stablehlo.tanh", FLOAT, "The hyperbolic tangent.")
sine = _unary("stablehlo.sine", FLOAT, "The sine.")
cosine = _unary("stablehlo.cosine", FLOAT, "The cosine.")
tan = _unary("stablehlo.tan", FLOAT, "The tangent.")
not_ = _unary("stablehlo.not", BITS, "Logical, or bitwise, negation.")
erf = _unary("chlo.erf", FLOAT, "The error function.")
erfc = _unary("chlo.erfc", FLOAT, "1 - erf(x), exact for large x.")
asin = _unary("chlo.asin", FLOAT, "The inverse sine.")
acos = _unary("chlo.acos", FLOAT, "The inverse cosine.")
atan = _unary("chlo.atan", FLOAT, "The inverse tangent.")
sinh = _unary("chlo.sinh", FLOAT, "The hyperbolic sine.")
cosh = _unary("chlo.cosh", FLOAT, "The hyperbolic cosine.")
asinh = _unary("chlo.asinh", FLOAT, "The inverse hyperbolic sine.")
acosh = _unary("chlo.acosh", FLOAT, "The inverse hyperbolic cosine.")
atanh = _unary("chlo.atanh", FLOAT, "The inverse hyperbolic tangent.")

add = _binary("stablehlo.add", ANY, "The sum; of bools: or.")
subtract = _binary("stablehlo.subtract", NUMBER, "The difference.")
multiply = _binary("stablehlo.multiply", ANY, "The product; of bools: and.")
divide = _binary("stablehlo.divide", NUMBER, "The quotient; of integers: toward zero.")
remainder = _binary("stablehlo.remainder", NUMBER, "What `divide` leaves: the sign of `lhs`.")
power = _binary("stablehlo.power", NUMBER, "`lhs` to the power of `rhs`.")
maximum = _binary("stablehlo.maximum", ANY, "The larger one; NaN if either is.")
minimum = _binary("stablehlo.minimum", ANY, "The smaller one; NaN if either is.")
atan2 = _binary("stablehlo.atan2", FLOAT, "The angle of the point (rhs, lhs).")
and_ = _binary("stablehlo.and", BITS, "Logical, or bitwise, and.")
or_ = _binary("stablehlo.or", BITS, "Logical, or bitwise, or.")
xor = _binary("stablehlo.xor", BITS, "Logical, or bitwise, exclusive or.")
shift_left = _binary("stablehlo.shift_left", ("integer",), "Move bits up; zeros come in.")
shift_right_arithmetic = _binary(
    "stablehlo.shift_right_arithmetic", ("integer",), "Move bits down; copies of the sign come in."
)
shift_right_logical = _binary(
    "stablehlo.shift_right_logical", ("integer",), "Move bits down; zeros come in."
)

OPERATORS.update(
    {
        "add": add,
        "subtract": subtract,
        "multiply": multiply,
        "power": power,
        "negate": negate,
        "not_": not_,
        "and_": and_,
        "or_": or_,
        "xor": xor,
    }
)
