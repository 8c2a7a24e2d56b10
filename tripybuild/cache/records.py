"""Records of cache entries: the parts of the key, and what the entry was made for, beside it.

Invariant: a record decides nothing. An entry without one, or with a damaged one, is as good as any;
only what made it cannot be said. The key is computed again from the parts that are recorded, and
the content's digest is that of the content, so a record belongs to one entry alone.
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from tripybuild.cache.keys import CacheKey, read_key

FORMAT = 1
LONGEST_RECORD = 1 << 18  # bytes
LONGEST_FACT = 400  # characters of a name or a value
MOST_FACTS = 200
BYTES, FILE, MAPPED = FORMS = "bytes", "file", "mapped"
# What is known of the model that something is made for, by name: a text, or what computes it where
# one is needed.
Facts = Mapping[str, str | Callable[[], str]]


class MalformedRecordError(ValueError):
    """The bytes are no record of an entry."""


@dataclass(frozen=True, slots=True)
class EntryRecord:
    """What is recorded of an entry.

    Args:
        key: Its key, with the parts.
        origin: What it was made for first: the spec, digests of files, options.
        created: When, in seconds since 1970 by the clock of the machine that made it.
        seconds: How long that took.
        size: Bytes of the content.
        digest: Of the content, by the algorithm for its size.
        form: How it lies in a cache: `BYTES`, a `FILE` behind free space, or a file that is
            `MAPPED`.
    """

    key: CacheKey
    origin: Mapping[str, str]
    created: float
    seconds: float
    size: int
    digest: str
    form: str = BYTES

    def encode(self) -> bytes:
        """The record as a line of JSON with keys in order."""
        data = {
            "format": FORMAT,
            "key": self.key,
            "parts": self.key.parts,
            "origin": self.origin,
            "created": round(self.created, 3),
            "seconds": round(self.seconds, 3),
            "size": self.size,
            "digest": self.digest,
            "form": self.form,
        }
        return json.dumps(data, sort_keys=True, allow_nan=False).encode("ascii") + b"\n"


def decode_record(content: bytes) -> EntryRecord:
    """Read a record.

    Raises:
        MalformedRecordError: It is not as `encode` writes it, or its key is not that of its parts.
    """
    if len(content) > LONGEST_RECORD:
        raise MalformedRecordError("the record is too long")
    try:
        data = json.loads(content)
        key = read_key(data["parts"])
        origin, created, seconds = data["origin"], data["created"], data["seconds"]
        size, digest, form = data["size"], data["digest"], data["form"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise MalformedRecordError("the record is malformed") from error
    is_sound = (
        data.get("format") == FORMAT
        and data.get("key") == key
        and _are_facts(origin)
        and all(_is_time(each) for each in (created, seconds))
        and type(size) is int
        and 0 <= size < 1 << 62
        and isinstance(digest, str)
        and len(digest) == 64
        and form in FORMS
    )
    if not is_sound:
        raise MalformedRecordError("the record is malformed")
    return EntryRecord(key, origin, created, seconds, size, digest, form)


def _are_facts(origin: object) -> bool:
    return (
        isinstance(origin, dict)
        and len(origin) <= MOST_FACTS
        and all(
            isinstance(text, str) and len(text) <= LONGEST_FACT and text.isprintable()
            for each in origin.items()
            for text in each
        )
    )


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and abs(value) < 1 << 40


_origin: ContextVar[Facts] = ContextVar("origin", default={})  # noqa: B039 - never changed


@contextmanager
def entry_origin(facts: Facts) -> Iterator[None]:
    """Within the block, new entries say that they were made for this, beside what is known."""
    token = _origin.set({**_origin.get(), **facts})
    try:
        yield
    finally:
        _origin.reset(token)


def current_origin() -> dict[str, str]:
    """What an entry that is made now is for."""
    listed = list(_origin.get().items())[:MOST_FACTS]
    return {_printable(n): _printable(v() if callable(v) else v) for n, v in listed}


def _printable(text: str) -> str:
    shown = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
    return shown[:LONGEST_FACT]


def new_record(
    key: CacheKey, size: int, digest: str, seconds: float = 0.0, form: str = BYTES
) -> EntryRecord:
    """The record of an entry that was made just now."""
    return EntryRecord(key, current_origin(), time.time(), seconds, size, digest, form)
