"""Pairwise sampling: a few tuples of dtypes in which each pair of dtypes occurs that any tuple has.

What `--full` asks of every tuple is asked of these by default, where a proof holds for all of them:
the decomposition of an operator is checked for each legal tuple when its package is generated.
"""

from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations
from typing import TypeVar

import pytest

OPTION = "--full"
T = TypeVar("T")
_options: dict[str, bool] = {OPTION: False}


def add_full_option(parser: pytest.Parser) -> None:
    """Add the option, unless a `conftest.py` beside this one has it already."""
    with suppress(ValueError):
        parser.addoption(OPTION, action="store_true", help="run the slow tests, too")


def read_full_option(config: pytest.Config) -> None:
    """Take the option before suites are imported."""
    _options[OPTION] = bool(config.getoption(OPTION, default=False))


def sample_tuples(tuples: Sequence[str]) -> list[str]:
    """The tuples of dtypes that a suite asks: a pairwise sample, and all with `--full`."""
    return list(tuples) if is_full() else pairwise(tuples)


def is_full() -> bool:
    """Whether everything is asked."""
    return _options[OPTION]


def pairwise(tuples: Sequence[str]) -> list[str]:
    """A sample with each pair of dtypes, in the order of the tuples.

    It chooses among tuples that are legal, which generators of whole designs do not know.
    """
    return [tuples[at] for at in cover([_pairs(each) for each in tuples])] or list(tuples[:1])


def cover(candidates: Sequence[frozenset[T]]) -> list[int]:
    """The places of candidates that together have what all have; the same ones each time.

    Greedy: the next one is the first of those that have most of what is still missing.
    """
    uncovered = frozenset[T]().union(*candidates)
    chosen: set[int] = set()
    while uncovered:
        best = max(range(len(candidates)), key=lambda at: len(candidates[at] & uncovered))
        uncovered -= candidates[best]
        chosen.add(best)
    return sorted(chosen)


def _pairs(types: str) -> frozenset[tuple[tuple[int, str], ...]]:
    """The pairs of a tuple such as `float32-int8-bool`: of one slot, the dtype itself."""
    slots = list(enumerate(types.split("-")))
    return frozenset(combinations(slots, min(2, len(slots))))
