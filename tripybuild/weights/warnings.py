"""Weight warnings: signs of diverged training or a truncated file."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.trace.values import Value
from tripybuild.types.nonfinite import Nonfinite, Occurrences
from tripybuild.weights.source import WeightSource

MOST = 5  # weights that are named
KINDS = {"weight-nan": ("nan", "NaN"), "weight-infinite": ("infinite", "infinity")}


def nonfinite_warnings(
    found: Mapping[str, Nonfinite], declared: Mapping[str, Value], weights: WeightSource
) -> Iterator[Diagnostic]:
    """Yield a warning for all weights that hold NaN, and one for all that hold infinity.

    Args:
        found: The weights with elements that are no finite numbers.
        declared: All weights of the graph, whose shapes say where an element is.
        weights: Where they are.
    """
    for code, (kind, holds) in KINDS.items():
        named = {name: each for name in declared if (each := _of_kind(found, name, kind))}
        if named:
            where = f" in {weights.place}" if weights.place else ""
            told = [_occurrence_text(name, each, declared[name]) for name, each in named.items()]
            message = f"{_subject(weights.noun, len(named))}{where} {_verb(named)} {holds}"
            yield Diagnostic(code, f"{message}: {_join_first(told)}", weights.span)


def _of_kind(found: Mapping[str, Nonfinite], name: str, kind: str) -> Occurrences | None:
    each = found.get(name)
    return None if each is None else getattr(each, kind)


def _subject(noun: str, count: int) -> str:
    return f"a {noun}" if count == 1 else f"{count:,} {noun}s"


def _verb(named: Mapping[str, object]) -> str:
    return "holds" if len(named) == 1 else "hold"


def _occurrence_text(name: str, each: Occurrences, value: Value) -> str:
    shape = [int(size) for size in value.shape]
    index = [int(at) for at in np.unravel_index(each.first, shape)]
    return f"`{name}` in {each.count:,} of {math.prod(shape):,} elements, first at {index}"


def _join_first(told: Sequence[str]) -> str:
    more = len(told) - MOST
    return "; ".join([*told[:MOST], *([f"and {more:,} more"] if more > 0 else [])])
