"""Resource budget of a file: work and memory, shared by all stages.

Invariant: a stage spends before it works, so whatever a small file asks for ends soon, and in
words. Nothing is counted where no file is open: what a Python program asks for is its own business.

The limits are ten times and more what the largest real files need, and what they allow takes a few
seconds and some hundred MB. `specs/llama.yaml`, and GPT-2 with a hundred layers, have: 172 and 118
values, 2,238 and 724 characters, 4,076 and 419 steps, 915 and 3,209 operations, 1,825 and 2,950
parts, weights and calls. No operator has more than 448 tuples of dtypes, and no trace of these
models more than 29,000 values. `tests/faults/test_small_files.py` compares.
"""

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

FACTOR: Final = "TRIPYBUILD_BUDGET"


class WorkLimit(NamedTuple):
    """How much of something a file may ask for, and what a person calls it."""

    amount: int
    what: str


LIMITS: Final[Mapping[str, WorkLimit]] = {
    "values": WorkLimit(100_000, "values in its YAML and in what it uses"),
    "characters": WorkLimit(500_000, "characters of expressions"),
    "steps": WorkLimit(5_000_000, "steps of its expressions"),
    "tuples": WorkLimit(10_000, "combinations of the dtypes of its types"),
    "operations": WorkLimit(100_000, "operations"),
    "members": WorkLimit(200_000, "parts, weights and calls of parts"),
    "entries": WorkLimit(5_000_000, "values in its JSON"),
    "expansion": WorkLimit(20_000_000, "characters once its aliases are written out"),
    "bindings": WorkLimit(20_000_000, "names that its parts see"),
    "comparisons": WorkLimit(5_000_000, "comparisons of names of weights"),
    "suggestions": WorkLimit(50_000, "names to suggest"),
}


class BudgetError(Exception):
    """A file asks for more than its budget has."""

    def __init__(self, limit: WorkLimit) -> None:
        self.message = f"the file asks for more than {limit.amount:,} {limit.what}"
        self.hint = f"if you trust the file, `{FACTOR}=10` allows ten times as much of everything"
        super().__init__(self.message)


class Budget:
    """What is left to one file."""

    __slots__ = ("_limits", "left")

    def __init__(self, factor: float | None = None) -> None:
        factor = _limit_factor() if factor is None else factor
        scaled = {unit: int(limit.amount * factor) for unit, limit in LIMITS.items()}
        self._limits = scaled
        self.left = dict(scaled)

    def spend(self, unit: str, amount: int = 1) -> None:
        """Take what is about to be used; `SpentError` where that is more than there is."""
        left = self.left[unit] = self.left[unit] - amount
        if left < 0:
            raise BudgetError(WorkLimit(self._limits[unit], LIMITS[unit].what))

    def try_spend(self, unit: str, amount: int) -> bool:
        """Take it where it is there, for work that may as well be left out."""
        if self.left[unit] < amount:
            return False
        self.left[unit] -= amount
        return True

    def usage(self) -> dict[str, int]:
        """What has been used so far."""
        return {unit: limit - self.left[unit] for unit, limit in self._limits.items()}


def _limit_factor() -> float:
    """By how much a person multiplies all limits; what is no positive number changes nothing."""
    try:
        factor = float(os.environ.get(FACTOR, "1"))
    except ValueError:
        return 1.0
    return min(factor, 1e9) if math.isfinite(factor) and factor > 0 else 1.0


_current: ContextVar[Budget | None] = ContextVar("budget", default=None)
current = _current.get


def spend(unit: str, amount: int = 1) -> None:
    """Take from the budget of the file that is open, if one is."""
    budget = _current.get()
    if budget is not None:
        budget.spend(unit, amount)


def try_spend(unit: str, amount: int) -> bool:
    """Whether the file that is open has so much left, which is taken then."""
    budget = _current.get()
    return budget is None or budget.try_spend(unit, amount)


@contextmanager
def use_budget(budget: Budget | None = None) -> Iterator[Budget]:
    """Work on a file: with this budget, or with that of the file that it is a part of."""
    found = budget or _current.get() or Budget()
    token = _current.set(found)
    try:
        yield found
    finally:
        _current.reset(token)
