"""Extents of vocabulary functions' results."""

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from tripybuild.language.limits import MAXIMUM_LENGTH
from tripybuild.schema.snippets.extents.domain import (
    GIVEN,
    LARGEST,
    MOST_DIGITS,
    NUMBER,
    OPAQUE,
    PRODUCT,
    RANK,
    REAL,
    ROUNDED,
    SIZES,
    TRUTH,
    UNKNOWN,
    Extent,
    item_of,
    tuple_of,
)
from tripybuild.types.safe_math import prod

if TYPE_CHECKING:
    from tripybuild.schema.snippets.extents.walk import Walk

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
