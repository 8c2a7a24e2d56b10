"""The whole truth about an operator: each tuple of dtypes, each shape near the sample, each target.

Law: every cell is what a compiler said, and what no declaration expects is a problem. Calls that
are expected to build are built together; each refusal is asked for alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tripybuild.schema.tuples import Tuple, legal
from tripybuild.suite.cases import Case, variations
from tripybuild.suite.facts import CPU, refused
from tripybuild.suite.gates import lacking
from tripybuild.suite.gpus import answers
from tripybuild.suite.sample import bind
from tripybuild.suite.support import (
    GATE,
    NO,
    UNSAID,
    YES,
    Key,
    Outcome,
    builds_why,
    cell,
    for_gpu,
    gpus,
    key,
    of_illegal,
    reasons,
    refused_tuples,
)
from tripybuild.suite.truth import Subject, unexpected, wrong_refusal


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
    for types in refused_tuples(subject.operator):
        outcome, wrong = _illegal(subject, types)
        part[key(subject.operator, types)] = outcome
        problems += wrong
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


def _illegal(subject: Subject, types: Tuple) -> tuple[Outcome, list[str]]:
    found, _ = subject.judged(types)
    problems = list(wrong_refusal(subject, types, found))
    level = cell(found, subject.rtx)
    why = builds_why(subject, types) if found.builds else None
    # A network that no layer or no type is found for has met no GPU yet.
    for gpu in subject.rtx.gpus if level in (YES, "build") else ():
        problems += _wrong_for_gpu(subject, types, level, gpu)
    words = f"{', '.join(map(str, types.values()))}: "
    return of_illegal(subject, level, why or UNSAID), [words + each for each in problems]


def _wrong_for_gpu(subject: Subject, types: Tuple, level: str, gpu: str) -> Iterator[str]:
    """What is wrong with an illegal tuple for a GPU: it may have no kernel that others have."""
    graph, _ = subject.graph(types)
    wanted = for_gpu(level, lacks=bool(lacking(graph, subject.rtx, gpu)))
    found, _ = subject.judged(types, gpu)
    if cell(found, subject.rtx) in wanted:
        return
    if found.builds or wanted == {GATE}:
        yield f"{gpu}: {found}, want {' or '.join(sorted(wanted))}"
    else:
        yield from (f"{gpu}: {each}" for each in unexpected(subject, types, [], found))
