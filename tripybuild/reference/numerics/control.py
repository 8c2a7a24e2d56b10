"""Control-flow helpers of references: loops whose arguments are functions.

Each function takes arrays and gives a sequence of arrays. No loop goes on for ever.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tripybuild.reference.numerics.arrays import Array

Body = Callable[..., Any]

MOST_STEPS = 1_000_000


class EndlessError(ValueError):
    """A loop has not ended after more steps than a reference may take."""


def run_while(condition: Body, body: Body, state: Sequence[Array]) -> list[Array]:
    """Replace the state by `body(*state)` as long as `condition(*state)` holds."""
    values = list(state)
    for _ in range(MOST_STEPS):
        (holds,) = condition(*values)
        if not holds:
            return values
        values = body(*values)
    raise EndlessError(f"a loop may take {MOST_STEPS:,} steps")


def run_scan(
    body: Body,
    init: Sequence[Array],
    inputs: Sequence[Array],
    results: Sequence[Sequence[int]],
    reverse: bool = False,
) -> list[Array]:
    """Thread values through `body` along the first dimension, and collect what else it gives.

    Args:
        body: Takes the threaded values and a row of each input; gives the next values and rows.
        init: The values before the first row.
        inputs: Arrays of one length.
        results: The shapes of what is collected.
        reverse: Whether to begin with the last row.
    """
    values: list[Array] = list(init)
    rows: list[tuple[Array, ...]] = []
    steps = range(inputs[0].shape[0])
    for step in reversed(steps) if reverse else steps:
        given = body(*values, *(each[step] for each in inputs))
        values = given[: len(values)]
        rows.append(tuple(given[len(values) :]))
    columns = zip(*(rows[::-1] if reverse else rows), strict=True)
    return [*values, *(map(np.stack, columns) if rows else map(np.zeros, results))]
