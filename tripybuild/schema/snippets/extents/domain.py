"""Abstract domain of extents: bounded numbers, bounded lists, other values; functions over it."""

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tripybuild.language.limits import MAXIMUM_BITS, MAXIMUM_LENGTH, MAXIMUM_PRODUCT
from tripybuild.types.patterns import (
    Pattern,
    TensorPattern,
    TensorsPattern,
    ValuePattern,
    options,
)
from tripybuild.types.safe_math import prod

if TYPE_CHECKING:
    from tripybuild.schema.snippets.extents.walk import Walk

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


# What functions of the vocabulary give: of other functions, nothing but that it is no number.
_LIKE_FIRST: Final = frozenset(
    {"list", "tuple", "sorted", "reversed", "replace", "drop", "inverse"}
)
_OF_SIZES: Final = frozenset({"align", "broadcast", "contracted_shape", "insert"})
_NUMBERS: Final = frozenset(
    {
        "broadcast_size",
        "ceildiv",
        "count",
        "products",
        "quotient",
        "scaled_size",
        "select",
        "unknown",
    }
)
_WHOLE: Final = frozenset({"ceil", "floor", "int"})
_REALS: Final = frozenset({"exp", "float", "log", "log2", "sqrt"})
_LISTS: Final = frozenset({"broadcast_arrays", "broadcast_shapes", "nonzero", "split"})
_TRUTHS: Final = frozenset(
    {"all", "any", "bool", "conformable", "contractible", "in_range", "is_int"}
)
_KINDS: Final[Mapping[Extent, frozenset[str]]] = {
    SIZES: _OF_SIZES,
    NUMBER: _NUMBERS,
    REAL: _REALS,
    ROUNDED: _WHOLE,
    TRUTH: _TRUTHS,
}


def result_extent(name: str, given: list[Extent], walk: "Walk", node: ast.Call) -> Extent:
    """What a call of a function gives; of one that no table has, that it is neither."""
    if name in _CALLS:
        return _CALLS[name](walk, node, given)
    first = given[0] if given else UNKNOWN
    whole = name in _WHOLE and first.most is not None and not first.real
    if name in _LIKE_FIRST or whole:
        return first
    return next((kind for kind, names in _KINDS.items() if name in names), OPAQUE)


def returns_list(name: str) -> bool:
    """Whether a function makes a list of what it is given, a generator too."""
    return name in _LIKE_FIRST


def is_list_of_numpy(name: str) -> bool:
    """Whether a function of NumPy gives a list of arrays."""
    return name in _LISTS


def _range(walk: "Walk", node: ast.Call, given: list[Extent]) -> Extent:
    most = sum(LARGEST if each.most is None else each.most for each in given)
    item = Extent(most=max((each.most or LARGEST for each in given), default=1))
    del walk, node
    return Extent(length=min(most, MAXIMUM_LENGTH), item=item)


def _round(walk: "Walk", node: ast.Call, given: list[Extent]) -> Extent:
    digits = given[1].most if len(given) > 1 else 0
    if digits is None or digits > MOST_DIGITS:
        walk.fail(node, f"`round` takes at most {MOST_DIGITS} digits")
    return ROUNDED if given and given[0].most is not None else OPAQUE


def _prod(walk: "Walk", node: ast.Call, given: list[Extent]) -> Extent:
    del walk, node, given
    return PRODUCT  # `shapes.prod` refuses more


def _sum(walk: "Walk", node: ast.Call, given: list[Extent]) -> Extent:
    values = given[0] if given else UNKNOWN
    if len(given) > 1 or item_of(values).length is not None:
        walk.fail(node, "`sum` adds numbers; lists are joined by `[*a, *b]`")
    most = (item_of(values).most or LARGEST) * (GIVEN if values.length is None else values.length)
    return walk.number(node, most)


def _extreme(walk: "Walk", node: ast.Call, given: list[Extent]) -> Extent:
    del walk, node
    found = item_of(given[0]) if len(given) == 1 else given[0] if given else UNKNOWN
    for each in given[1:]:
        found = found.join(each)
    return found


def _pairs(walk: "Walk", node: ast.Call, given: list[Extent]) -> Extent:
    """`zip` is as long as the shortest."""
    del walk, node
    lengths = [each.length for each in given if each.length is not None]
    return Extent(length=min(lengths, default=GIVEN), item=tuple_of(map(item_of, given)))


def _enumerate(walk: "Walk", node: ast.Call, given: list[Extent]) -> Extent:
    del walk, node
    values = given[0] if given else UNKNOWN
    return Extent(length=values.length, item=tuple_of((NUMBER, item_of(values))))


def _length(walk: "Walk", node: ast.Call, given: list[Extent]) -> Extent:
    del walk, node
    known = given[0].length if given else None
    return Extent(most=RANK if known is None else known)


def _magnitude(walk: "Walk", node: ast.Call, given: list[Extent]) -> Extent:
    del walk, node
    return given[0] if given else UNKNOWN


_Rule = Callable[["Walk", ast.Call, list[Extent]], Extent]
_CALLS: Final[Mapping[str, _Rule]] = {
    "abs": _magnitude,
    "enumerate": _enumerate,
    "len": _length,
    "max": _extreme,
    "min": _extreme,
    prod.__name__: _prod,
    "range": _range,
    "round": _round,
    "sum": _sum,
    "zip": _pairs,
}
