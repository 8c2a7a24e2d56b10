"""Weight names: paths of a model mapped to names in a checkpoint, and names for many at once.

A pattern covers what it matches and everything below. `*` stands for one part of a name, or for
some of its characters, and `**` for any number of parts.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby

from tripybuild.errors.budget import spend
from tripybuild.schema.files import WeightsEntry

COMPILED = 500  # comparisons take as long as to compile one pattern
MOST_ALTERNATIVES = 4  # last parts of names that are listed as `{weight,bias}`
_STARS = re.compile(r"(?<![^.])\*\*(?:\.|$)|\*")


def name_in_file(path: str, entry: WeightsEntry) -> str:
    """The name of a weight in the checkpoint.

    Each star of a name that `rename:` gives takes what the star of its kind matched in the pattern.
    """
    for pattern, renamed in entry.rename.items():
        match = match_name(pattern, path)
        if match:
            *stars, rest = match.groups()
            return entry.prefix + _fill_stars(pattern, renamed, stars) + (rest or "")
    return entry.prefix + path


def is_unused_name(name: str, entry: WeightsEntry) -> bool:
    """Whether `unused:` covers a name of the checkpoint."""
    return any(match_name(pattern, name) for pattern in entry.unused)


def match_name(pattern: str, name: str) -> re.Match[str] | None:
    """The match of a name: a group for each star, and one for what is below."""
    expression, stars = _pattern_regex(pattern)
    spend("comparisons", max(1, len(name)) ** max(0, stars - 1))
    return expression.fullmatch(name)


def _fill_stars(pattern: str, renamed: str, found: Sequence[str | None]) -> str:
    taken: dict[bool, list[str]] = {True: [], False: []}
    for star, text in zip(_STARS.finditer(pattern), found, strict=True):
        taken[star[0].startswith("**")].append(text or "")

    def fill(star: re.Match[str]) -> str:
        rest = taken[star[0].startswith("**")]
        return rest.pop(0) if rest else star[0]

    return _STARS.sub(fill, renamed)


@lru_cache(maxsize=1 << 14)  # a model may have as many patterns as its budget allows
def _pattern_regex(pattern: str) -> tuple[re.Pattern[str], int]:
    """The expression of a pattern, and the most stars that share a stretch of a name."""
    expression, at, deep = "", 0, 0
    for star in _STARS.finditer(pattern):
        expression += re.escape(pattern[at : star.start()])
        deep += star[0].startswith("**")
        expression += {"*": "([^.]+)", "**": "(.+)"}.get(star[0], r"((?:[^.]+\.)*)")
        at = star.end()
    most = max(part.count("*") for part in pattern.replace("**", "").split("."))
    return re.compile(f"{expression}{re.escape(pattern[at:])}(\\..*)?"), deep * 2 + most


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
