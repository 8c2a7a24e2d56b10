"""Engines for one GPU: builds where its dtypes suffice, rejections as expected elsewhere.

A dtype counts where an operation reads or gives a tensor of it, and where the engine gives one. An
input that nothing reads counts for nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tripybuild.schema.operator.dtype_combinations import engine_tuples
from tripybuild.schema.operator.operator import Fact
from tripybuild.schema.target_files import CommonFactsEntry
from tripybuild.testing.batch import build_problems
from tripybuild.testing.cases import Case, sample_case
from tripybuild.testing.check_counts import count_check
from tripybuild.testing.engines.build_outcome import BUILDS, BuildOutcome, build_outcome
from tripybuild.testing.engines.conformance import Subject, matches
from tripybuild.testing.target_facts import ENGINE, refusals, stock_refusals
from tripybuild.trace.graph import Graph
from tripybuild.trace.region import walk_operations
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import BY_NAME


@dataclass(frozen=True)
class ExpectedOutcome:
    """What TensorRT will say of a legal call: facts of which it is a case, dtypes that lack."""

    facts: Sequence[Fact] = ()
    lacks: Sequence[str] = ()

    @property
    def builds(self) -> bool:
        """Whether there will be an engine."""
        return not self.facts and not self.lacks

    def meets(self, found: BuildOutcome, gate: str | None) -> bool:
        """Whether a verdict is what was expected."""
        if self.lacks and gate is not None and gate in found.says:
            return True
        return any(matches(fact, found) for fact in self.facts)

    def __str__(self) -> str:
        reasons = [*(fact.name for fact in self.facts), *self.lacks]
        return f"refused for {', '.join(reasons)}" if reasons else "an engine"


@dataclass(frozen=True)
class BuildResult:
    """What TensorRT says of a legal call, and what is wrong with that."""

    case: Case
    found: BuildOutcome
    problems: Sequence[str] = ()


def expected_result(subject: Subject, case: Case, gpu: str | None) -> ExpectedOutcome:
    """What declarations say that TensorRT says of a legal call."""
    facts = refusals(subject.operator, ENGINE, case.bound, gpu).values() if case.bound else ()
    return ExpectedOutcome([*facts], missing_dtypes(case.graph, subject.rtx, gpu) if gpu else [])


def gated_samples(subject: Subject) -> list[Case]:
    """The samples with dtypes that not every GPU has."""
    operator = subject.operator
    samples = [sample_case(operator, subject.function, types) for types in engine_tuples(operator)]
    return [case for case in samples if case.is_legal and gated_dtypes(case.graph, subject.rtx)]


def gpu_problems(subject: Subject, cases: Sequence[Case], gpu: str | None) -> Iterator[str]:
    """What is wrong with the engines of legal calls for one GPU, or for all of them."""
    for answer in build_results(subject, cases, gpu):
        count_check()
        named = " ".join(filter(None, [answer.case.types, answer.case.label, gpu]))
        yield from (f"{named}: {problem}" for problem in answer.problems)


def build_results(
    subject: Subject, cases: Sequence[Case], gpu: str | None
) -> Iterator[BuildResult]:
    """What TensorRT says of legal calls for one GPU, or for all of them.

    Those that are expected to build are built together.
    """
    awaited = {case: expected_result(subject, case, gpu) for case in cases}
    faults = build_problems([case for case, each in awaited.items() if each.builds], gpu)
    for case, wanted in awaited.items():
        if case in faults:
            found = build_outcome(case.graph, gpu, verified=True)
            yield BuildResult(
                case, found, [] if _is_dtype_refusal(subject, case, found) else faults[case]
            )
        elif wanted.builds:
            yield BuildResult(case, BuildOutcome(BUILDS))
        else:
            found = build_outcome(case.graph, gpu, verified=True)
            met = wanted.meets(found, subject.rtx.gate) or _is_dtype_refusal(subject, case, found)
            yield BuildResult(case, found, [] if met else [f"{found}, want {wanted}"])


def _is_dtype_refusal(subject: Subject, case: Case, found: BuildOutcome) -> bool:
    """Whether a call near the sample is refused for what is true of its dtypes everywhere.

    TensorRT holds two values of int4 in a byte, say, and so the volumes of some tensors are odd.
    """
    if case.label == "sample" or case.bound is None or found.builds:
        return False
    types = {name: BY_NAME[str(value.dtype)] for name, value in case.graph.inputs.items()}
    types |= {name: BY_NAME[str(value.dtype)] for name, value in case.graph.outputs.items()}
    known = stock_refusals(subject.common, types, stated=True)
    return any(level == found.level and any(s in found.says for s in says) for level, says in known)


def gated_dtypes(graph: Graph, known: CommonFactsEntry) -> list[str]:
    """The dtypes of a graph that not every GPU has."""
    types = {str(value.dtype) for value in _active_values(graph)}
    return [name for name in known.needs if name in types]


def missing_dtypes(graph: Graph, known: CommonFactsEntry, gpu: str) -> list[str]:
    """The dtypes of a graph for which a GPU is too old."""
    return [name for name in gated_dtypes(graph, known) if is_older(known, gpu, known.needs[name])]


def is_older(known: CommonFactsEntry, gpu: str, other: str) -> bool:
    """Whether a GPU came before another one."""
    return known.gpus.index(gpu) < known.gpus.index(other)


def _active_values(graph: Graph) -> Iterator[Value]:
    yield from graph.outputs.values()
    for operation in walk_operations(graph.operations):
        yield from operation.reads()
        yield from operation.outputs
