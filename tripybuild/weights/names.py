"""Weight names: paths of a model mapped to names in a checkpoint, and names for many at once.

A pattern covers what it matches and everything below. `*` stands for one part of a name, or for
some of its characters, and `**` for any number of parts.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from tripybuild.errors.budget import spend

if TYPE_CHECKING:  # executables are loaded without pydantic
    from tripybuild.schema.files import WeightsEntry

COMPILED = 500  # comparisons take as long as to compile one pattern
MOST_ALTERNATIVES = 4  # last parts of names that are listed as `{weight,bias}`
RUN = "**"


@dataclass(frozen=True, slots=True)
class NameMatch:
    """What a pattern found in a name.

    Args:
        stars: The text of each `*`.
        runs: The parts of each `**`.
        rest: The parts below what the pattern matches.
    """

    stars: tuple[str, ...]
    runs: tuple[tuple[str, ...], ...]
    rest: tuple[str, ...]

    def fill(self, renamed: str) -> str:
        """A name with stars, each of which takes what the star of its kind found."""
        stars, runs = iter(self.stars), iter(self.runs)
        parts: list[str] = []
        for part in renamed.split("."):
            if part == RUN:
                parts += next(runs, (RUN,))
            else:
                parts.append(re.sub(r"\*", lambda _: next(stars, "*"), part))
        return ".".join([*parts, *self.rest])


def name_in_file(path: str, entry: "WeightsEntry") -> str:
    """The name of a weight in the checkpoint, by the first pattern of `rename:` that matches."""
    found = matching_rename(path, entry)
    return entry.prefix + (path if found is None else found[1].fill(entry.rename[found[0]]))


def matching_rename(path: str, entry: "WeightsEntry") -> tuple[str, NameMatch] | None:
    """The pattern of `rename:` that covers a weight, with what it found."""
    matches = ((pattern, match_name(pattern, path)) for pattern in entry.rename)
    return next(((pattern, match) for pattern, match in matches if match), None)


def is_unused_name(name: str, entry: "WeightsEntry") -> bool:
    """Whether `unused:` covers a name of the checkpoint."""
    return any(match_name(pattern, name) for pattern in entry.unused)


def match_name(pattern: str, name: str) -> NameMatch | None:
    """What a pattern finds in a name, or None; a `**` takes as many parts as it can."""
    wanted, parts = _compile_pattern(pattern), tuple(name.split("."))
    longest = max(map(len, parts))
    spend("comparisons", sum(max(1, longest) ** max(0, stars - 1) for _, stars in wanted))
    runs = sum(part is None for part, _ in wanted)
    spend("comparisons", len(parts) ** max(0, runs - 1))
    return next(_matches(wanted, parts), None)


def _matches(
    wanted: Sequence[tuple[re.Pattern[str] | None, int]], parts: tuple[str, ...]
) -> Iterator[NameMatch]:
    if not wanted:
        yield NameMatch((), (), parts)
        return
    (part, _), *others = wanted
    if part is None:
        for count in range(len(parts), -1 if others else 0, -1):
            for found in _matches(others, parts[count:]):
                yield NameMatch(found.stars, (parts[:count], *found.runs), found.rest)
    elif parts and (match := part.fullmatch(parts[0])):
        for found in _matches(others, parts[1:]):
            yield NameMatch((*match.groups(), *found.stars), found.runs, found.rest)


@lru_cache(maxsize=1 << 14)  # a model may have as many patterns as its budget allows
def _compile_pattern(pattern: str) -> tuple[tuple[re.Pattern[str] | None, int], ...]:
    """The expression of each part with the number of its stars; None for a run of parts."""
    return tuple(
        (None, 0)
        if part == RUN
        else (re.compile("(.+)".join(map(re.escape, part.split("*")))), part.count("*"))
        for part in pattern.split(".")
    )


def join_names(names: Iterable[str]) -> list[str]:
    """Patterns for many names: `*` for numbers that differ, `{weight,bias}` for last parts."""
    groups: dict[tuple[str, ...], list[list[str]]] = defaultdict(list)
    for name in names:
        parts = name.split(".")
        groups[tuple("*" if part.isdigit() else part for part in parts)].append(parts)
    joined = [
        [_join_part(column) for column in zip(*rows, strict=True)] for rows in groups.values()
    ]
    found = []
    for parent, rows in groupby(joined, key=lambda parts: parts[:-1]):
        last = [parts[-1] for parts in rows]
        if len(last) > 1:
            more = [] if len(last) <= MOST_ALTERNATIVES else ["..."]
            last = ["{" + ",".join([*last[:MOST_ALTERNATIVES], *more]) + "}"]
        found.append(".".join([*parent, *last]))
    return found


def _join_part(column: Sequence[str]) -> str:
    return column[0] if len(set(column)) == 1 else "*"
