"""Sampling: the choice of a token from scores, in float64 and repeatable by a seed."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real

import numpy as np

from tripybuild.artifact.call_signature import Array
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

LEAST_TEMPERATURE = 1e-6  # below it quotients overflow, and the best token is taken anyway


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a token is chosen from scores.

    Args:
        temperature: What scores are divided by before they become probabilities; 0 takes the
            highest score (greedy decoding), the first of equal ones.
        top_k: Choose among so many tokens with the highest scores; None is all.
        top_p: Choose among the fewest tokens that together have this probability (nucleus
            sampling, Holtzman et al., 2019); those of `top_k` are normalized before.
        seed: Where the random numbers begin. One seed gives one text, on each machine alike if the
            scores are.

    Raises:
        DiagnosticError: A value is outside of its range, or has no effect.
    """

    temperature: float = 0.0
    top_k: int | None = None
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        real = isinstance(self.temperature, Real) and not isinstance(self.temperature, bool)
        rules = {
            "temperature": ("0, or a number from 1e-06", real and self._is_temperature()),
            "top_k": ("an integer, 1 or more", self.top_k is None or _is_above(self.top_k, 1)),
            "top_p": (
                "above 0 and at most 1",
                isinstance(self.top_p, Real) and 0 < self.top_p <= 1,
            ),
            "seed": ("an integer, 0 or more", _is_above(self.seed, 0)),
        }
        found = [
            Diagnostic("wrong-value", f"`{name}` must be {rule}, but is {getattr(self, name)!r}")
            for name, (rule, holds) in rules.items()
            if not holds
        ]
        if found:
            raise DiagnosticError(*found)
        if self.temperature == 0 and (self.top_k is not None or self.top_p != 1):
            message = "`top_k` and `top_p` choose at random, and with `temperature` 0 nothing does"
            raise DiagnosticError(Diagnostic("wrong-value", message, hint="say `temperature`, too"))

    def _is_temperature(self) -> bool:
        return self.temperature == 0 or LEAST_TEMPERATURE <= self.temperature < np.inf

    def chooser(self, sequences: int) -> Callable[[Array], Array]:
        """A function from scores `[B, V]` to tokens `[B]`.

        Each sequence has random numbers of its own: its text does not depend on how long others
        are.
        """
        seeds = np.random.SeedSequence(self.seed).spawn(sequences)
        randoms = [np.random.default_rng(each) for each in seeds]

        def choose(scores: Array) -> Array:
            highest = scores.max(-1)  # NaN if one is
            if not np.isfinite(highest).all():
                message = f"the scores of the next token have no highest one: {highest.min()}"
                hint = "look at the weights; in float16 a value may have overflowed"
                raise DiagnosticError(Diagnostic("scores-not-finite", message, hint=hint))
            if self.temperature == 0.0:
                return np.asarray(np.argmax(scores, -1))
            pairs = zip(randoms, scores, strict=True)
            return np.array([self._sample(random, row) for random, row in pairs])

        return choose

    def _sample(self, random: np.random.Generator, scores: Array) -> int:
        """One token of scores `[V]`."""
        kept = np.arange(len(scores))
        if self.top_k is not None and self.top_k < len(scores):
            kept = np.sort(np.argpartition(scores, -self.top_k)[-self.top_k :])
        values = scores[kept].astype(np.float64)
        weights = np.exp((values - values.max()) / self.temperature)
        weights /= weights.sum()
        if self.top_p < 1.0:
            order = np.argsort(-weights, kind="stable")
            before = np.cumsum(weights[order]) - weights[order]
            weights[order[before >= self.top_p]] = 0.0
            weights /= weights.sum()
        reached = np.cumsum(weights)
        # Rounding may leave the last sum below 1: what is drawn lies below it anyway.
        return int(kept[np.searchsorted(reached, random.random() * reached[-1], side="right")])


def is_integer(value: object) -> bool:
    """Whether a value is an integer, of Python or of NumPy, and no boolean."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _is_above(value: object, least: int) -> bool:
    return isinstance(value, (int, np.integer)) and is_integer(value) and int(value) >= least
