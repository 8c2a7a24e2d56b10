"""Comparison and selection, and arithmetic built on both.

Invariant: comparisons with NaN are false, except `not_equal`; integers divide as StableHLO says,
and Python's rounding (`//` and `%` look at the divisor's sign) is composed here.
"""

from typing import Any

from tripybuild.stablehlo import elementwise
from tripybuild.stablehlo.broadcast import broadcast_shapes, broadcast_to
from tripybuild.stablehlo.elementwise import Binary, Unary, abs, floor, xor
from tripybuild.stablehlo.module import current, emit
from tripybuild.stablehlo.operands import pair, same_types
from tripybuild.stablehlo.value import OPERATORS, HloValue, Operand
from tripybuild.types import dtypes

BOOL = dtypes.BY_NAME["bool"]


def _order(dtype: dtypes.dtype) -> str:
    if dtype.kind == "float":
        return "FLOAT"
    return "UNSIGNED" if dtype.kind == "boolean" or dtype.lowest == 0 else "SIGNED"


def _compare(name: str, direction: str, doc: str) -> Binary:
    def build(lhs: Operand, rhs: Operand) -> HloValue:
        first, second = pair(lhs, rhs)
        module = current()
        order = _order(first.dtype)
        attributes: dict[str, Any] = {
            "comparison_direction": module.parse_attribute(
                f"#stablehlo<comparison_direction {direction}>"
            ),
            "compare_type": module.parse_attribute(f"#stablehlo<comparison_type {order}>"),
        }
        return emit("stablehlo.compare", (first, second), BOOL, first.shape, attributes)

    build.__name__ = build.__qualname__ = name
    build.__doc__ = doc
    return build


equal = _compare("equal", "EQ", "Whether both are the same.")
not_equal = _compare("not_equal", "NE", "Whether they differ; NaN differs from all.")
less = _compare("less", "LT", "Whether `lhs` is the smaller one.")
less_equal = _compare("less_equal", "LE", "Whether `lhs` is not the larger one.")
greater = _compare("greater", "GT", "Whether `lhs` is the larger one.")
greater_equal = _compare("greater_equal", "GE", "Whether `lhs` is not the smaller one.")


def select(condition: HloValue, on_true: Operand, on_false: Operand) -> HloValue:
    """Elements of `on_true` where the condition holds, else of `on_false`; all broadcast."""
    if condition.dtype is not BOOL:
        raise ValueError(f"a condition must be bool, not {condition.dtype.name}")
    first, second = same_types(on_true, on_false)
    shape = broadcast_shapes(condition.shape, first.shape, second.shape)
    operands = [broadcast_to(value, shape) for value in (condition, first, second)]
    return emit("stablehlo.select", operands, first.dtype, shape)


def clamp(minimum: Operand, input: HloValue, maximum: Operand) -> HloValue:
    """The input, but no less than `minimum` and no more than `maximum`; NaN stays."""
    low, middle, high = same_types(minimum, input, maximum)
    bounds = [
        bound if bound.shape == () else broadcast_to(bound, input.shape) for bound in (low, high)
    ]
    operands = (bounds[0], middle, bounds[1])
    return emit("stablehlo.clamp", operands, input.dtype, input.shape)


def _test(name: str, doc: str) -> Unary:
    def build(input: HloValue) -> HloValue:
        if input.dtype.kind != "float":
            raise ValueError(f"{name} takes float, not {input.dtype.name}")
        if name == "is_nan":
            return not_equal(input, input)
        if name == "is_inf":
            return equal(abs(input), float("inf"))
        return emit("stablehlo.is_finite", (input,), BOOL, input.shape)

    build.__name__ = build.__qualname__ = name
    build.__doc__ = doc
    return build


is_finite = _test("is_finite", "Whether it is neither infinite nor NaN.")
is_inf = _test("is_inf", "Whether it is infinite; never, where the dtype has no infinity.")
is_nan = _test("is_nan", "Whether it is not a number.")


def divide(lhs: Operand, rhs: Operand) -> HloValue:
    """The quotient; of integers: toward zero, and 0 where the divisor is 0."""
    return _safe_division(elementwise.divide, lhs, rhs)


def remainder(lhs: Operand, rhs: Operand) -> HloValue:
    """What `divide` leaves: the sign of `lhs`; of integers 0 where the divisor is 0."""
    return _safe_division(elementwise.remainder, lhs, rhs)


def _safe_division(build: Binary, lhs: Operand, rhs: Operand) -> HloValue:
    """XLA's constant folding dies of an integer divided by 0, and its code gives -1."""
    first, second = pair(lhs, rhs)
    never_zero = not isinstance(rhs, HloValue) and rhs != 0
    if first.dtype.kind == "float" or never_zero:
        return build(first, second)
    by_zero = equal(second, 0)
    return select(by_zero, 0, build(first, select(by_zero, 1, second)))


def _rounds_up(rest: HloValue, rhs: HloValue) -> HloValue:
    """Whether truncation went up: there is a rest, and its sign is not the divisor's."""
    return not_equal(rest, 0) & xor(less(rest, 0), less(rhs, 0))


def floor_divide(lhs: Operand, rhs: Operand) -> HloValue:
    """The quotient, rounded down; of floats: the floor of what `divide` gives, as in TensorRT."""
    first, second = pair(lhs, rhs)
    if first.dtype.kind == "float" and first.dtype.bits < 32:
        # The narrow quotient may have been rounded up to an integer already.
        wide = floor_divide(convert(first, dtypes.float32), convert(second, dtypes.float32))
        return convert(wide, first.dtype)
    divisor = second if isinstance(rhs, HloValue) else rhs
    quotient = divide(first, divisor)
    if first.dtype.kind == "float":
        return floor(quotient)
    if first.dtype.lowest == 0:
        return quotient
    rest = remainder(first, divisor)
    return select(_rounds_up(rest, second), quotient - 1, quotient)


def modulo(lhs: Operand, rhs: Operand) -> HloValue:
    """Python's `%`: what is left by rounding down, with the divisor's sign."""
    first, second = pair(lhs, rhs)
    rest = remainder(first, second if isinstance(rhs, HloValue) else rhs)
    if first.dtype.lowest == 0:
        return rest
    return select(_rounds_up(rest, second), rest + second, rest)


def convert(input: HloValue, dtype: dtypes.dtype) -> HloValue:
    """The same values in another dtype.

    To bool: whether it is not 0. Float to integer: toward zero, saturating, NaN gives 0.
    """
    if input.dtype is dtype:
        return input
    if dtype is BOOL:
        return not_equal(input, 0)
    if input.dtype.kind == "float" and input.dtype.bits < 16 and dtype.kind == "integer":
        # XLA saturates by comparing with the integers' limit in the float's own few values, where
        # it is rounded: float4's 6.0 would become int4's 7.
        input = emit("stablehlo.convert", (input,), dtypes.float32, input.shape)
    return emit("stablehlo.convert", (input,), dtype, input.shape)


def bitcast_convert(input: HloValue, dtype: dtypes.dtype) -> HloValue:
    """The same bits read as another dtype of the same width."""
    if input.dtype.bits != dtype.bits:
        raise ValueError(f"{input.dtype.name} and {dtype.name} differ in width")
    return emit("stablehlo.bitcast_convert", (input,), dtype, input.shape)


OPERATORS.update({"divide": divide, "floor_divide": floor_divide, "modulo": modulo})
