"""Lookups: what a command asked the cache for, and whether it was there.

A command that explains them listens while it works (`listen`); where none does, nothing is noted.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum

from tripybuild.cache.keys import CacheKey
from tripybuild.cache.records import current_origin


class LookupOutcome(StrEnum):
    """What came of a lookup."""

    HIT = "hit"
    FETCHED = "fetched"
    MISS = "miss"


@dataclass(frozen=True, slots=True)
class Lookup:
    """One lookup: its key, what came of it, and what the content was needed for."""

    key: CacheKey
    outcome: LookupOutcome
    origin: dict[str, str] = field(default_factory=dict)


_listener: ContextVar[list[Lookup] | None] = ContextVar("lookups", default=None)


@contextmanager
def listen() -> Iterator[list[Lookup]]:
    """Collect the lookups within the block, in their order."""
    found: list[Lookup] = []
    token = _listener.set(found)
    try:
        yield found
    finally:
        _listener.reset(token)


def note_lookup(key: str, outcome: LookupOutcome) -> None:
    """Tell a listener what came of a lookup; a key without parts explains nothing."""
    found = _listener.get()
    if found is not None and isinstance(key, CacheKey):
        found.append(Lookup(key, outcome, current_origin()))
