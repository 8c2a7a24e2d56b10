"""Bounds of integers: between which numbers the elements of a tensor are.

OpenVINO computes with integers of 32 bits, and part of that in float32. Both are exact for numbers
that are small enough, such as sizes, positions and tokens; bounds tell where that is so.
"""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from tripybuild.types.dtypes import dtype, int32


class ValueBounds(NamedTuple):
    """The least and the greatest number that an element can be."""

    low: int
    high: int

    def within(self, other: "ValueBounds") -> bool:
        """Whether each of these numbers is one of the others."""
        return other.low <= self.low and self.high <= other.high

    def clamp(self, other: "ValueBounds") -> "ValueBounds":
        """The nearest numbers within others."""
        low, high = (min(max(each, other.low), other.high) for each in self)
        return ValueBounds(low, high)

    def __str__(self) -> str:
        return f"{_power(self.low)} to {_power(self.high)}"


def _power(number: int) -> str:
    """A large power of two, or its neighbor, as people read it."""
    size = abs(number)
    if size >= 1 << 16:
        for each, rest in ((size, ""), (size + 1, " - 1")):
            if each & (each - 1) == 0:
                text = f"2**{each.bit_length() - 1}{rest}"
                return text if number > 0 else f"-({text})" if rest else f"-{text}"
    return str(number)


INT32 = ValueBounds(int(int32.lowest), int(int32.highest))
# Each integer up to here is a float32 of its own; the last of them is that of the next one, too.
FLOAT32 = ValueBounds(-(1 << 24), 1 << 24)
# Sizes at a call; it is refused for others (`program`).
SIZES = ValueBounds(0, (1 << 24) - 1)


def dtype_bounds(kind: dtype) -> ValueBounds:
    """All numbers of a dtype."""
    return ValueBounds(int(kind.lowest), int(kind.highest))


def hull(several: Iterable[ValueBounds]) -> ValueBounds:
    """Bounds of numbers that are of one or the other."""
    known = list(several)
    return ValueBounds(min(each.low for each in known), max(each.high for each in known))


def add(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of a sum."""
    return ValueBounds(sum(each.low for each in several), sum(each.high for each in several))


def subtract(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of a difference."""
    left, right = several
    return ValueBounds(left.low - right.high, left.high - right.low)


def multiply(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of a product."""
    ends = [left * right for left, right in product(*several)]
    return ValueBounds(min(ends), max(ends))


def divide(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of a quotient, which is no farther from zero than the dividend."""
    dividend, divisor = several
    if divisor.low > 0:  # toward zero, or down
        ends = [int(n // d) for n, d in product(dividend, divisor)]
        return hull([ValueBounds(min(ends), max(ends)), ValueBounds(0, 0).clamp(dividend)])
    size = max(abs(dividend.low), abs(dividend.high))
    return ValueBounds(-size, size)


def remainder(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of a remainder: less than the divisor, whichever sign it has."""
    dividend, divisor = several
    size = max(abs(divisor.low), abs(divisor.high), 1) - 1
    return ValueBounds(0 if min(dividend.low, divisor.low) >= 0 else -size, size)


def negate(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of the negative."""
    return ValueBounds(-several[0].high, -several[0].low)


def absolute(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of the absolute value."""
    low, high = several[0]
    return ValueBounds(max(low, -high, 0), max(abs(low), abs(high)))


def maximum(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of the greatest."""
    return ValueBounds(max(each.low for each in several), max(each.high for each in several))


def minimum(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of the least."""
    return ValueBounds(min(each.low for each in several), min(each.high for each in several))


def bits(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of what has no more bits than the widest."""
    widest = hull(several)
    size = 1 << max(widest.high.bit_length(), (-widest.low - 1).bit_length())
    return ValueBounds(0 if widest.low >= 0 else -size, size - 1)


def total(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of a sum of elements, of which there can be as many as a size allows."""
    low, high = several[0]
    return ValueBounds(min(low * SIZES.high, 0), max(high * SIZES.high, 0))


def sign(_several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of a sign."""
    return ValueBounds(-1, 1)


def with_zero(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of elements of which some are replaced by zeros."""
    return hull([*several, ValueBounds(0, 0)])


def between(several: Sequence[ValueBounds]) -> ValueBounds:
    """Bounds of `Range`: from its start to its limit, whichever is greater."""
    return hull(several[:2])
