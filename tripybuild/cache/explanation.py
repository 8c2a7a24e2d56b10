"""Explanations of lookups: of a miss, in what it differs from the nearest entry that is known.

The nearest is the one of the same kind that agrees in most: first in what it was made for, then in
the parts of the key. Digests of long parts, such as a lowered program, say only that something
changed; what did is said by what is recorded of the origin: the texts of the spec's files, its
sizes, the weights' files, the registries.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tripybuild.cache.keys import KIND, TEXT, Part
from tripybuild.cache.lookups import Lookup, LookupOutcome
from tripybuild.cache.records import (
    LONGEST_RECORD,
    EntryRecord,
    MalformedRecordError,
    decode_record,
)
from tripybuild.cache.store import RECORDS, Cache, read_file

SPEC, PROGRAM, PART = PLACE = "spec", "program", "part"  # facts: which place of which model it is
WEIGHTS = "weights"  # the part that is of weights; facts of their files begin so, too
TITLES = {"cpu": "the processor", "flags": "`XLA_FLAGS`", "gpu": "the GPU", "target": "the target"}
SHOWN = 12  # digits of a key


@dataclass(frozen=True, slots=True)
class PartDifference:
    """Something that is not what it was for another entry; None where there is or was nothing."""

    what: str
    now: str | None
    then: str | None

    def __str__(self) -> str:
        if not any(_is_digest(each or "") for each in (self.then, self.now)):
            then, now = (f"`{each}`" if each else "none" for each in (self.then, self.now))
            return f"{self.what}: {then} then, {now} now"
        if self.then is None:
            return f"{self.what} is new"
        return f"{self.what} is gone" if self.now is None else f"{self.what} has changed"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a lookup ended as it did.

    Args:
        lookup: The lookup.
        nearest: Of a miss, the entry that is nearest to it.
        differences: In what it differs from that.
    """

    lookup: Lookup
    nearest: EntryRecord | None = None
    differences: tuple[PartDifference, ...] = ()

    @property
    def subject(self) -> str:
        """What was looked for."""
        origin = self.lookup.origin
        place = " ".join(origin[name] for name in (PROGRAM, PART) if name in origin)
        of = f" of `{origin[SPEC]}`" if SPEC in origin else ""
        return f"{self.lookup.key.kind} {place}".rstrip() + of

    @property
    def reason(self) -> str:
        """Of a miss, what the cache lacks; of a hit, which entry it is."""
        key, near = self.lookup.key, self.nearest
        if self.lookup.outcome is not LookupOutcome.MISS:
            return f"entry {key[:SHOWN]}"
        if near is None:
            return "nothing of this kind is known here"
        if near.key == key:
            return "it was here, and was removed or damaged since"
        own, other = self.lookup.origin.get(SPEC), near.origin.get(SPEC)
        if own != other:
            return f"nothing is known here that was made for `{own}`" if own else "it is new"
        place = self.lookup.origin.get(PROGRAM)
        if place != near.origin.get(PROGRAM):
            return f"nothing is known here for {place}" if place else "it is new"
        changes = "; ".join(map(str, self.differences))
        return f"unlike entry {near.key[:SHOWN]}, {changes}"

    def __str__(self) -> str:
        return f"{self.lookup.outcome}: {self.subject}: {self.reason}"


def known_records(cache: Cache) -> list[EntryRecord]:
    """The records of a cache, also those whose entries are gone."""
    found = []
    with contextlib.suppress(OSError):
        for path in sorted((cache.folder / RECORDS).glob("??/*.json")):
            with contextlib.suppress(OSError, MalformedRecordError):
                found.append(decode_record(read_file(path, LONGEST_RECORD)))
    return found


def explain_lookups(lookups: Sequence[Lookup], known: Sequence[EntryRecord]) -> list[Explanation]:
    """Explain what came of lookups, each once.

    Args:
        lookups: The lookups.
        known: What was recorded before the first of them.
    """
    last = {each.key: each for each in reversed(lookups)}  # the first of each key counts
    return [_explain(last[key], known) for key in dict.fromkeys(each.key for each in lookups)]


def _explain(lookup: Lookup, known: Iterable[EntryRecord]) -> Explanation:
    if lookup.outcome is not LookupOutcome.MISS:
        return Explanation(lookup)
    near = max(
        (each for each in known if each.key.kind == lookup.key.kind),
        key=lambda each: _nearness(lookup, each),
        default=None,
    )
    if near is None:
        return Explanation(lookup)
    return Explanation(lookup, near, tuple(_differences(lookup, near)))


def _nearness(lookup: Lookup, record: EntryRecord) -> tuple[bool, int, int, float]:
    is_same = record.key == lookup.key or record.origin.get(SPEC) == lookup.origin.get(SPEC)
    place = sum(record.origin.get(name) == lookup.origin.get(name) for name in PLACE)
    parts = sum(record.key.parts.get(name) == part for name, part in lookup.key.parts.items())
    facts = sum(record.origin.get(name) == fact for name, fact in lookup.origin.items())
    return is_same, (record.key == lookup.key) * 100 + place, parts + facts, record.created


def _differences(lookup: Lookup, record: EntryRecord) -> Iterator[PartDifference]:
    """What differs, in terms of the model where a digest does."""
    now, then = lookup.key.parts, record.key.parts
    changed = list(_changes(lookup.origin, record.origin))
    of_weights = [each for each in changed if each.what.startswith(WEIGHTS)]
    of_model = [each for each in changed if each not in of_weights and each.what not in PLACE]
    for name in dict.fromkeys((*now, *then)):
        if name == KIND or now.get(name) == then.get(name):
            continue
        title = TITLES.get(name, f"`{name}`")
        one, other = _text(now.get(name)), _text(then.get(name))
        if name == WEIGHTS:
            yield from of_weights or [PartDifference("what is read of the weights", one, other)]
        elif not _is_shown(now.get(name)) and not _is_shown(then.get(name)):
            text = f"the {name}, though nothing of its source that is recorded,"
            yield from of_model or [PartDifference(text, one, other)]
        elif one is not None and other is not None and one[:1] == other[:1] == "{":
            yield from _options(one, other)
        else:
            yield PartDifference(title, one, other)


def _changes(now: Mapping[str, str], then: Mapping[str, str]) -> Iterator[PartDifference]:
    for name in dict.fromkeys((*now, *then)):
        if now.get(name) != then.get(name):
            yield PartDifference(name, now.get(name), then.get(name))


def _options(now: str, then: str) -> Iterator[PartDifference]:
    """The keys of two objects in JSON that differ."""
    with contextlib.suppress(ValueError):
        one, other = json.loads(now), json.loads(then)
        for name in dict.fromkeys((*one, *other)):
            if one.get(name) != other.get(name):
                texts = (None if name not in e else json.dumps(e[name]) for e in (one, other))
                yield PartDifference(f"the option `{name}`", *texts)


def _is_shown(part: Part | None) -> bool:
    return part is not None and part[0] == TEXT


def _text(part: Part | None) -> str | None:
    return None if part is None else part[1]


def _is_digest(text: str) -> bool:
    return len(text) >= 32 and all(each in "0123456789abcdef" for each in text)
