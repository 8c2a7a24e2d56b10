"""Abstract domain of extents: bounded numbers, bounded lists, and other values."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tripybuild.language.limits import MAXIMUM_BITS, MAXIMUM_PRODUCT
from tripybuild.types.patterns import (
    Pattern,
    TensorPattern,
    TensorsPattern,
    ValuePattern,
    options,
)

RANK: Final = 64  # no shape is longer
GIVEN: Final = 1_000  # a list that a caller gives: what it costs grows with what was given
LARGEST: Final = 1 << 63  # sizes and integers of callers
MOST_BITS: Final = 1 << 17  # a product of such numbers takes a millisecond
MOST_STEPS: Final = 4 * 10**8  # some seconds, where a caller's sizes are as large as lists may be
MOST_DIGITS: Final = 20


@dataclass(frozen=True, slots=True)
class Extent:
    """All values of an expression: a number up to `most`, a list up to `length`, or neither.

    A number that is `real` is a float, which arithmetic makes no larger.

    A list has items of one extent, a pair of `zip` those of its `parts`. What is `opaque` (a
    tensor, a dtype) is no list either; of what is not, nothing is known.
    """

    most: int | None = None
    length: int | None = None
    item: "Extent | None" = None
    opaque: bool = False
    real: bool = False
    parts: "tuple[Extent, ...]" = ()

    def join(self, other: "Extent") -> "Extent":
        """What is one or the other."""
        if other in (self, NOTHING):
            return self
        if self == NOTHING:
            return other
        if self.most is not None and other.most is not None:
            return Extent(most=max(self.most, other.most), real=self.real and other.real)
        if self.length is not None and other.length is not None:
            item = (self.item or UNKNOWN).join(other.item or UNKNOWN)
            pairs = zip(self.parts, other.parts, strict=False)
            parts = tuple(a.join(b) for a, b in pairs) if self.length == other.length else ()
            return Extent(length=max(self.length, other.length), item=item, parts=parts)
        return OPAQUE if self.opaque and other.opaque else UNKNOWN


OPAQUE: Final = Extent(opaque=True)
UNKNOWN: Final = Extent()
NOTHING: Final = Extent(length=0, item=None)  # an empty list, which is like any other
NUMBER: Final = Extent(most=LARGEST)
ROUNDED: Final = Extent(most=1 << 1024)  # the integers that floats are rounded to
REAL: Final = Extent(most=1 << 1024, real=True)
POWER: Final = Extent(most=1 << MAXIMUM_BITS)
PRODUCT: Final = Extent(most=1 << MAXIMUM_PRODUCT)
TRUTH: Final = Extent(most=1)
SIZES: Final = Extent(length=RANK, item=NUMBER)


def of_type(pattern: Pattern) -> Extent:
    """The extent of an argument of a type."""
    found = [_of_option(option) for option in options(pattern)]
    joined = found[0]
    for each in found[1:]:
        joined = joined.join(each)
    return joined


def _of_option(pattern: Pattern) -> Extent:
    match pattern:
        case TensorPattern():
            return OPAQUE
        case TensorsPattern():
            return Extent(length=GIVEN, item=OPAQUE)
        case ValuePattern(kind="subscripts" | "string" | "device", lengths=None):
            return Extent(length=GIVEN, item=OPAQUE)  # a string is a list of letters
        case ValuePattern(kind="index" | "dtype", lengths=None):
            return OPAQUE
        case ValuePattern(kind="mapping"):
            return Extent(length=GIVEN, item=OPAQUE)
        case ValuePattern(lengths=lengths, fields=fields):
            value = Extent(length=len(fields), item=UNKNOWN) if fields else NUMBER
            value = REAL if pattern.kind == "float" and not fields else value
            if lengths is None:
                return value
            for length in reversed(lengths or (None,)):
                known = isinstance(length, ast.Constant) and isinstance(length.value, int)
                most = length.value if known else GIVEN if length is None else RANK  # type: ignore[union-attr]
                value = Extent(length=int(most), item=value)
            return value
    return OPAQUE


def tuple_of(values: Iterable[Extent]) -> Extent:
    """The extent of a list of which each part is known."""
    parts = tuple(values)
    item = NOTHING
    for each in parts:
        item = item.join(each)
    return Extent(length=len(parts), item=item, parts=parts)


def item_of(value: Extent) -> Extent:
    """What an element of a value can be."""
    return value.item or (OPAQUE if value.opaque else UNKNOWN)


def of_constant(value: object) -> Extent:
    """The extent of a constant; a string is a list of its letters."""
    if isinstance(value, bool):
        return TRUTH
    if isinstance(value, int):
        return Extent(most=abs(value))
    if isinstance(value, float):
        return REAL
    if isinstance(value, str):
        return Extent(length=len(value), item=OPAQUE)
    return OPAQUE


def weight(value: Extent) -> int:
    """How many elements a function may look at."""
    if value.length is None:
        return 1
    return value.length * (weight(value.item) if value.item is not None else 1)
