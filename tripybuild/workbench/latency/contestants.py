"""Contestants that take turns, and what is concluded of what their calls took.

Rounds alternate, so that whatever else the machine does meets all of them.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import exp, log
from statistics import fmean, median
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.memory import is_out_of_memory
from tripybuild.workbench.latency.callers import Caller, Turn, exhausted_memory

WARM = 0.1  # the part of the seconds that is not measured
RESAMPLES, CONFIDENCE = 2000, 0.95
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}


@dataclass(slots=True)
class Contestant:
    """One of what is measured.

    Args:
        name: What the user called it.
        caller: Calls it; None if it cannot be called.
        problems: Why it has no turn, or no turn more.
        rounds: The seconds of each call, round by round.
        elapsed: The seconds of all rounds, in which clients call at the same time.
    """

    name: str
    caller: Caller | None = None
    problems: tuple[Diagnostic, ...] = ()
    rounds: list[list[float]] = field(default_factory=list)
    elapsed: float = 0.0

    def open(self, open_caller: Callable[[], Caller]) -> None:
        """Load it; what goes wrong is its own problem, and not that of the others."""
        if not self.problems:
            with self._own_problems():
                self.caller = open_caller()

    def turn(self, seconds: float, clients: int) -> Turn | None:
        """Call it for some seconds; None if it cannot be called any more."""
        with self._own_problems():
            if self.caller is not None and not self.problems:
                return self.caller.turn(seconds, clients)
        return None

    @contextmanager
    def _own_problems(self) -> Iterator[None]:
        try:
            yield
        except DiagnosticError as error:
            self.problems = error.diagnostics
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            self.problems = exhausted_memory(self.name, error).diagnostics

    @property
    def calls(self) -> list[float]:
        """The seconds of all calls, the shortest first."""
        return sorted(each for found in self.rounds for each in found)

    def facts(self) -> dict[str, Any]:
        """What was measured, in seconds and bytes."""
        assert self.caller is not None
        calls, start = self.calls, self.caller.start
        medians = [median(found) for found in self.rounds]
        return {
            "name": self.name,
            "target": start.target,
            "calls": len(calls),
            **{name: calls[int(part * (len(calls) - 1))] for name, part in QUANTILES.items()},
            "p50_interval": list(_interval(medians)),
            "best": calls[0],
            "calls_per_second": len(calls) / self.elapsed,
            "load": start.load,
            "first_call": start.first,
            "memory": start.memory,
        }


def measure(contestants: Sequence[Contestant], rounds: int, seconds: float, clients: int) -> None:
    """Call all in alternating rounds: in each, all have their turn, and begin with another one."""
    for each in contestants:
        each.turn(seconds * WARM, clients)
    for number in range(rounds):
        first = number % len(contestants)
        for each in (*contestants[first:], *contestants[:first]):
            done = each.turn(seconds / rounds, clients)
            if done is not None:
                each.rounds.append(done[0])
                each.elapsed += done[1]


def ratio(one: Contestant, other: Contestant) -> dict[str, Any]:
    """How many times as long a call takes as that of another one, by rounds, with an interval."""
    pairs = zip(one.rounds, other.rounds, strict=True)
    logs = [log(median(own) / median(base)) for own, base in pairs]
    low, high = _interval(logs)
    return {"to": other.name, "value": exp(fmean(logs)), "interval": [exp(low), exp(high)]}


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """The bootstrap interval of a mean (Efron, 1979): resamples of the rounds, always the same."""
    draw = random.Random(0)  # noqa: S311 - no secret
    found = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(RESAMPLES))
    edge = (1 - CONFIDENCE) / 2
    return found[int(edge * RESAMPLES)], found[int((1 - edge) * RESAMPLES) - 1]
