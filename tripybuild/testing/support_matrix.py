"""The whole truth about an operator: each tuple of dtypes, each shape near the sample, each target.

Law: every cell is what a compiler said, and what no declaration expects is a problem. Calls that
are expected to build are built together, those that a declaration refuses where they built for any
GPU; each refusal is asked for alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tripybuild.schema.operator.dtype_combinations import Tuple, legal
from tripybuild.testing.cases import Case, variations
from tripybuild.testing.engines.build_outcome import Verdict, verdict, verdicts
from tripybuild.testing.engines.conformance import Subject, builds_why, unexpected, wrong_refusal
from tripybuild.testing.engines.gpu_dtypes import lacking
from tripybuild.testing.engines.gpu_support import answers
from tripybuild.testing.engines.support import (
    GATE,
    NO,
    UNSAID,
    YES,
    Key,
    Outcome,
    cell,
    for_gpu,
    gpus,
    key,
    of_illegal,
    reasons,
    refused_tuples,
)
from tripybuild.testing.engines.validation_off import of_dtypes, unchecked
from tripybuild.testing.sample import bind
from tripybuild.testing.target_facts import CPU, refused
from tripybuild.trace.graph import Graph


@dataclass(frozen=True)
class Proof:
    """The outcome of each tuple, and what is wrong with any."""

    part: Mapping[Key, Outcome]
    problems: Sequence[str]


def proof(subject: Subject) -> Proof:
    """Ask TensorRT for every tuple of an operator and for every GPU.

    The first cell of a legal tuple says whether `cpu` is declared to refuse it; that it computes
    what the reference computes is for the suite of the operator to say.
    """
    part, problems = _legal(subject)
    found = [(types, subject.judged(types)[0]) for types in refused_tuples(subject.operator)]
    for types, said in found:
        outcome, wrong = _illegal(subject, types, said)
        part[key(subject.operator, types)] = outcome
        problems += wrong
    # A network that no layer or no type is found for has met no GPU yet.
    met = [
        (types, subject.graph(types)[0], level)
        for types, said in found
        if (level := cell(said, subject.rtx)) in (YES, "build")
    ]
    for gpu in subject.rtx.gpus:
        problems += _wrong_for_gpu(subject, met, gpu)
    return Proof(part, problems)


def _legal(subject: Subject) -> tuple[dict[Key, Outcome], list[str]]:
    operator = subject.operator
    near = {key(operator, types): _near(subject, types) for types in legal(operator)}
    everything = [case for cases in near.values() for case in cases]
    cells: dict[Key, list[str]] = {each: [] for each in near}
    problems: list[str] = []
    for gpu in gpus(subject.rtx):
        found = {answer.case: answer for answer in answers(subject, everything, gpu)}
        for name, cases in near.items():
            cells[name].append(cell(found[cases[0]].found, subject.rtx))
        named = ((a, f"{a.case.types} {a.case.label} {gpu or ''}") for a in found.values())
        problems += [f"{name}: {each}" for answer, name in named for each in answer.problems]
    part = {}
    for types in legal(operator):
        name = key(operator, types)
        cpu = NO if refused(operator, CPU, bind(operator, types)) else YES
        part[name] = (cpu, *cells[name], reasons(subject, types))
    return part, problems


def _near(subject: Subject, types: Tuple) -> list[Case]:
    """The sample, and the legal calls near it."""
    sample, *others = variations(subject.operator, subject.function, types, every=True)
    return [sample, *(case for case in others if case.allowed)]


def _illegal(subject: Subject, types: Tuple, found: Verdict) -> tuple[Outcome, list[str]]:
    problems = wrong_refusal(subject, types, found)
    why = builds_why(subject, types) if found.builds else None
    outcome = of_illegal(subject, cell(found, subject.rtx), why or UNSAID)
    return outcome, [f"{_listed(types)}: {each}" for each in problems]


def _wrong_for_gpu(
    subject: Subject, met: Sequence[tuple[Tuple, Graph, str]], gpu: str
) -> Iterator[str]:
    """What is wrong with illegal tuples for a GPU: it may have no kernel that others have."""
    asked = [
        (types, graph, for_gpu(level, lacks=bool(lacking(graph, subject.rtx, gpu))))
        for types, graph, level in met
    ]
    together = [graph for _, graph, wanted in asked if wanted == {YES}]
    with unchecked(of_dtypes):  # lowerings may decompose, and so record more
        built = dict(zip(together, verdicts(together, gpu), strict=True))
        said = [built[graph] if graph in built else verdict(graph, gpu) for _, graph, _ in asked]
    for (types, _, wanted), found in zip(asked, said, strict=True):
        if cell(found, subject.rtx) in wanted:
            continue
        if found.builds or wanted == {GATE}:
            problems = [f"{found}, want {' or '.join(sorted(wanted))}"]
        else:
            problems = list(unexpected(subject, types, [], found))
        yield from (f"{_listed(types)}: {gpu}: {each}" for each in problems)


def _listed(types: Tuple) -> str:
    return ", ".join(map(str, types.values()))
