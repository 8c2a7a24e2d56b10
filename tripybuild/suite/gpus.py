"""Engines for one GPU: each builds what it has the dtypes for, and refuses the rest as expected."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tripybuild.schema.operator import Fact
from tripybuild.suite.batch import unbuilt
from tripybuild.suite.cases import Case
from tripybuild.suite.facts import ENGINE, refusals
from tripybuild.suite.gates import lacking
from tripybuild.suite.truth import Subject, matches
from tripybuild.suite.verdicts import Verdict, verdict


@dataclass(frozen=True)
class Expected:
    """What TensorRT will say of a legal call: facts of which it is a case, dtypes that lack."""

    facts: Sequence[Fact] = ()
    lacks: Sequence[str] = ()

    @property
    def builds(self) -> bool:
        """Whether there will be an engine."""
        return not self.facts and not self.lacks

    def meets(self, found: Verdict, gate: str | None) -> bool:
        """Whether a verdict is what was expected."""
        if self.lacks and gate is not None and gate in found.says:
            return True
        return any(matches(fact, found) for fact in self.facts)

    def __str__(self) -> str:
        reasons = [*(fact.name for fact in self.facts), *self.lacks]
        return f"refused for {', '.join(reasons)}" if reasons else "an engine"


def expected(subject: Subject, case: Case, gpu: str | None) -> Expected:
    """What declarations say that TensorRT says of a legal call."""
    facts = refusals(subject.operator, ENGINE, case.bound, gpu).values() if case.bound else ()
    return Expected([*facts], lacking(case.graph, subject.rtx, gpu) if gpu else [])


def wrong_for_gpu(subject: Subject, cases: Sequence[Case], gpu: str | None) -> Iterator[str]:
    """What is wrong with the engines of legal calls for one GPU, or for all of them."""
    awaited = {case: expected(subject, case, gpu) for case in cases}
    for case, problems in unbuilt([c for c, e in awaited.items() if e.builds], gpu).items():
        yield f"{_named(case, gpu)}: {'; '.join(problems)}"
    for case, each in awaited.items():
        if not each.builds:
            yield from _unmet(subject, case, gpu, each)


def _unmet(subject: Subject, case: Case, gpu: str | None, wanted: Expected) -> Iterator[str]:
    found = verdict(case.graph, gpu, verified=True)
    if not wanted.meets(found, subject.rtx.gate):
        yield f"{_named(case, gpu)}: {found}, want {wanted}"


def _named(case: Case, gpu: str | None) -> str:
    return " ".join(filter(None, [case.types, case.label, gpu]))
