"""Compact notation for sets of dtype tuples: `T: float32, float16; I: any but bool`.

A set is written as boxes: products of one set of dtypes for each slot, which together hold each
tuple once.
"""

from collections.abc import Iterable, Sequence
from itertools import product

from tripybuild.types.dtypes import BY_NAME

Names = tuple[str, ...]  # the dtype of each slot
Box = tuple[frozenset[str], ...]

ALL = frozenset(BY_NAME)
ANY = "any"
BUT = "any but "
# From so many dtypes on, the others are listed.
HALF = len(ALL) // 2


def boxes(tuples: Iterable[Names]) -> list[Box]:
    """The boxes of a set of tuples: first choices with the same rest share theirs."""
    found = set(tuples)
    if found <= {()}:
        return [()] * len(found)
    rests: dict[str, set[Names]] = {}
    for first, *rest in found:
        rests.setdefault(first, set()).add(tuple(rest))
    shared: dict[frozenset[Names], set[str]] = {}
    for first in (name for name in BY_NAME if name in rests):
        shared.setdefault(frozenset(rests[first]), set()).add(first)
    return [(frozenset(firsts), *box) for rest, firsts in shared.items() for box in boxes(rest)]


def tuples_of(box: Box) -> set[Names]:
    """The tuples of a box."""
    return set(product(*box))


def format_box(box: Box, slots: Sequence[str]) -> str:
    """A box in words; the name of a single slot is left out."""
    if len(slots) == 1:
        return _format_names(box[0])
    pairs = zip(slots, box, strict=True)
    return "; ".join(f"{slot}: {_format_names(names)}" for slot, names in pairs) or ANY


def parse_box(text: str, slots: Sequence[str]) -> Box:
    """The box that `spelled` wrote.

    Raises:
        ValueError: The text is of other slots, or of dtypes that there are not.
    """
    if not slots and text == ANY:
        return ()
    if len(slots) == 1:
        return (_parse_names(text),)
    pairs = [part.partition(": ") for part in text.split("; ")]
    if [name for name, _, _ in pairs] != list(slots):
        message = f"`{text}` is not of {', '.join(slots)}"
        raise ValueError(message)
    return tuple(_parse_names(names) for _, _, names in pairs)


def _format_names(names: frozenset[str]) -> str:
    if names == ALL:
        return ANY
    shown = names if len(names) <= HALF else ALL - names
    return (BUT if shown is not names else "") + ", ".join(n for n in BY_NAME if n in shown)


def _parse_names(text: str) -> frozenset[str]:
    if text == ANY:
        return ALL
    names = frozenset(text.removeprefix(BUT).split(", "))
    if not names <= ALL:
        message = f"`{text}` has no dtypes {', '.join(sorted(names - ALL))}"
        raise ValueError(message)
    return ALL - names if text.startswith(BUT) else names
