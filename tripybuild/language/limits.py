"""Limits of snippets: source size, value size, work; and value formatting in messages.

A registry or a spec may come from a stranger, so nothing that a snippet says may take much time
or memory. A list that is shared a thousand times is counted a thousand times: that is what a
comparison of it would cost.
"""

from collections.abc import Iterable
from math import isinf
from typing import Final

from tripybuild.language.records import Record

MAXIMUM_CHARACTERS: Final = 4_000
MAXIMUM_STATEMENTS: Final = 8
MAXIMUM_NESTING: Final = 60
MAXIMUM_STRING: Final = 1_000
MAXIMUM_CONSTANT_BITS: Final = 128
MAXIMUM_BITS: Final = 256
MAXIMUM_LENGTH: Final = 100_000
MAXIMUM_PRODUCT: Final = 4_096
MAXIMUM_STEPS: Final = 200_000

_LARGEST: Final = 2**MAXIMUM_BITS
_SHOWN_ITEMS: Final = 6
_SHOWN_LEVELS: Final = 3
_SHOWN_CHARACTERS: Final = 60
_WEIGHED: Final = (list, tuple, dict, str, Record)


class LimitError(ValueError):
    """A value or the work on it would be larger than snippets may be."""


def check_value(value: object) -> object:
    """Give the value back, or refuse an integer, text or collection that is too large."""
    if isinstance(value, int):
        if not -_LARGEST < value < _LARGEST:
            raise LimitError(f"an integer may have at most {MAXIMUM_BITS} bits")
    elif isinstance(value, complex):
        raise LimitError("complex numbers are not part of the snippet language")
    elif isinstance(value, (list, tuple, str, dict, bytes)):
        check_length(len(value))
    return value


def oversize_reason(constant: object) -> str | None:
    """Say in what a constant is larger than a snippet may write, or None where it is not."""
    if isinstance(constant, str) and len(constant) > MAXIMUM_STRING:
        return f"a string may have at most {MAXIMUM_STRING:,} characters"
    if isinstance(constant, int) and constant.bit_length() > MAXIMUM_CONSTANT_BITS:
        return f"an integer may have at most {MAXIMUM_CONSTANT_BITS} bits"
    if isinstance(constant, float) and isinf(constant):
        return "this number is larger than any float: write `inf`"
    return None


def check_length(length: int) -> None:
    """Refuse a collection of this length where it is too long, before it is made."""
    if length > MAXIMUM_LENGTH:
        raise LimitError(f"a list may have at most {MAXIMUM_LENGTH:,} elements")


def weigh(value: object, limit: int) -> int:
    """Count the value and all that it holds; stop soon after the limit."""
    if not isinstance(value, _WEIGHED):
        return 1
    weight, waiting = 0, [value]
    while waiting and weight <= limit:
        item = waiting.pop()
        weight += len(item) + 1
        if isinstance(item, str) or weight > limit:
            continue
        held: Iterable[object] = item
        if isinstance(item, (dict, Record)):
            held = [*item, *item.values()]
        waiting.extend(part for part in held if isinstance(part, _WEIGHED))
    return weight


def show(value: object, level: int = 0) -> str:
    """Write a plain value briefly; name the type of any other, whose `repr` may cost anything.

    A class of the host can have a `NOUN`, which names it in the words of its users.
    """
    if value is None or value is ... or isinstance(value, (bool, int, float, str)):
        text = repr(value[:_SHOWN_CHARACTERS] if isinstance(value, str) else value)
        return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
    if isinstance(value, (list, tuple)):
        start, end = "[]" if isinstance(value, list) else "()"
        if level == _SHOWN_LEVELS and value:
            return f"{start}...{end}"
        shown = [show(item, level + 1) for item in value[:_SHOWN_ITEMS]]
        return f"{start}{', '.join(shown + ['...'] * (len(value) > _SHOWN_ITEMS))}{end}"
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, Record):
        return f"the record `{value.path()}`"
    return getattr(type(value), "NOUN", f"a `{type(value).__name__}`")
