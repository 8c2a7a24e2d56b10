"""Support matrix: each dtype tuple and nearby shape of an operator on each target.

Invariant: every cell is what a compiler said, and what no declaration expects is a problem. Calls
that are expected to build are built together, those that a declaration refuses where they built for
any GPU; each refusal is asked for alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tripybuild.schema.operator.dtype_combinations import Tuple, engine_tuples, legal_tuples
from tripybuild.testing.cases import Case, variations
from tripybuild.testing.disabled_checks import is_dtype_law, without_checks
from tripybuild.testing.engines.build_outcome import BuildOutcome, build_outcome, build_outcomes
from tripybuild.testing.engines.conformance import (
    Subject,
    build_reason,
    unexpected_refusal,
    wrong_refusal,
)
from tripybuild.testing.engines.gpu_engines import build_results, missing_dtypes
from tripybuild.testing.engines.support_table import (
    BUILDER,
    GATE,
    NO,
    UNSAID,
    YES,
    Key,
    Outcome,
    for_gpu,
    format_cell,
    gpus,
    illegal_row,
    key,
    reasons,
    refused_tuples,
)
from tripybuild.testing.sample import bind
from tripybuild.testing.target_facts import CPU, refuses_call
from tripybuild.trace.graph import Graph


@dataclass(frozen=True)
class SupportMatrix:
    """The outcome of each tuple, and what is wrong with any."""

    part: Mapping[Key, Outcome]
    problems: Sequence[str]


def support_matrix(subject: Subject) -> SupportMatrix:
    """Ask TensorRT for every tuple of an operator and for every GPU.

    The first cell of a legal tuple says whether `cpu` is declared to refuse it; that it computes
    what the reference computes is for the suite of the operator to say. The cells of ONNX and of
    OpenVINO are `engines.onnx_support`'s.
    """
    part, problems = _legal(subject)
    found = [(types, subject.judge_sample(types)[0]) for types in refused_tuples(subject.operator)]
    for types, said in found:
        outcome, wrong = _illegal(subject, types, said)
        part[key(subject.operator, types)] = outcome
        problems += wrong
    # A network that no layer or no type is found for has met no GPU yet.
    met = [
        (types, subject.graph(types)[0], level)
        for types, said in found
        if (level := format_cell(said, subject.rtx)) in (YES, "build")
    ]
    for gpu in subject.rtx.gpus:
        problems += _illegal_gpu_problems(subject, met, gpu)
    return SupportMatrix(part, problems)


def _legal(subject: Subject) -> tuple[dict[Key, Outcome], list[str]]:
    operator = subject.operator
    near = {
        key(operator, types): _neighbor_cases(subject, types) for types in engine_tuples(operator)
    }
    everything = [case for cases in near.values() for case in cases]
    cells: dict[Key, list[str]] = {each: [] for each in near}
    problems: list[str] = []
    for gpu in gpus(subject.rtx):
        found = {answer.case: answer for answer in build_results(subject, everything, gpu)}
        for name, cases in near.items():
            cells[name].append(format_cell(found[cases[0]].found, subject.rtx))
        named = ((a, f"{a.case.types} {a.case.label} {gpu or ''}") for a in found.values())
        problems += [f"{name}: {each}" for answer, name in named for each in answer.problems]
    part = {}
    for types in legal_tuples(operator):
        name = key(operator, types)
        cpu = NO if refuses_call(operator, CPU, bind(operator, types)) else YES
        # What only engines of the CPU compute with is refused before TensorRT is asked.
        said = cells.get(name) or [BUILDER] * len(gpus(subject.rtx))
        part[name] = (cpu, UNSAID, UNSAID, UNSAID, *said, reasons(subject, types))
    return part, problems


def _neighbor_cases(subject: Subject, types: Tuple) -> list[Case]:
    """The sample, and the legal calls near it."""
    sample, *others = variations(subject.operator, subject.function, types, every=True)
    return [sample, *(case for case in others if case.is_legal)]


def _illegal(subject: Subject, types: Tuple, found: BuildOutcome) -> tuple[Outcome, list[str]]:
    problems = wrong_refusal(subject, types, found)
    why = build_reason(subject, types) if found.builds else None
    outcome = illegal_row(subject, format_cell(found, subject.rtx), why or UNSAID)
    return outcome, [f"{_dtype_list(types)}: {each}" for each in problems]


def _illegal_gpu_problems(
    subject: Subject, met: Sequence[tuple[Tuple, Graph, str]], gpu: str
) -> Iterator[str]:
    """What is wrong with illegal tuples for a GPU: it may have no kernel that others have."""
    asked = [
        (types, graph, for_gpu(level, lacks=bool(missing_dtypes(graph, subject.rtx, gpu))))
        for types, graph, level in met
    ]
    together = [graph for _, graph, wanted in asked if wanted == {YES}]
    with without_checks(is_dtype_law):  # lowerings may decompose, and so record more
        built = dict(zip(together, build_outcomes(together, gpu), strict=True))
        said = [
            built[graph] if graph in built else build_outcome(graph, gpu) for _, graph, _ in asked
        ]
    for (types, _, wanted), found in zip(asked, said, strict=True):
        if format_cell(found, subject.rtx) in wanted:
            continue
        if found.builds or wanted == {GATE}:
            problems = [f"{found}, want {' or '.join(sorted(wanted))}"]
        else:
            problems = list(unexpected_refusal(subject, types, [], found))
        yield from (f"{_dtype_list(types)}: {gpu}: {each}" for each in problems)


def _dtype_list(types: Tuple) -> str:
    return ", ".join(map(str, types.values()))
