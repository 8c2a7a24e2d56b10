"""Bounded JSON reader for untrusted files: nesting and size are counted before parsing.

An empty list takes two bytes of a text and fifty of memory, so the size of a text says little.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from tripybuild.errors.budget import spend

_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_MARKS = (b",", b":", b"[", b"{")


def count_entries(text: bytes) -> int:
    """At least as many as a text has values, keys, lists and objects; texts in it may add some."""
    return 1 + sum(map(text.count, _MARKS))


def parse_json(text: bytes, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Read a text within the budget of the file that it is in.

    Args:
        text: The JSON, in UTF-8.
        pairs: Makes an object of its keys and values; a dictionary otherwise.

    Raises:
        ValueError: It is no JSON.
        SpentError: It holds too much.
    """
    spend("entries", count_entries(text))
    found = json.loads(text.decode(), object_pairs_hook=pairs)
    check_characters(text)
    return found


def check_characters(text: bytes) -> None:
    r"""Refuse JSON with halves of characters, which nothing can write as UTF-8.

    Raises:
        ValueError: One is in it, as `\ud800` is.
    """
    if _HALF.search(text):
        json.dumps(json.loads(text), ensure_ascii=False).encode()
