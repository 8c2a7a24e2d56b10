"""Support rows: outcomes per dtype tuple and target, and those that declarations allow.

An outcome is a row of the support table: whether `cpu` agrees with the reference, what TensorRT
says with no GPU named and for each GPU, and the facts that tell why.
"""

from collections.abc import Iterable, Iterator, Mapping

from tripybuild.schema.operator.dtype_combinations import (
    Tuple,
    illegal_tuples,
    legal_tuples,
    mismatched_tuples,
    slots,
)
from tripybuild.schema.operator.operator import Fact, Operator
from tripybuild.schema.target_files import CommonFactsEntry
from tripybuild.testing.cases import Case, sample_case
from tripybuild.testing.engines.build_outcome import BUILDS, BuildOutcome
from tripybuild.testing.engines.conformance import Subject, build_facts, build_reason
from tripybuild.testing.engines.gpu_engines import missing_dtypes
from tripybuild.testing.sample import bind
from tripybuild.testing.target_facts import (
    CPU,
    ENGINE,
    concerns,
    fact_applies,
    refusals,
    refuses_call,
    stock_refusals,
    target_facts,
)

Key = tuple[str, ...]  # a dtype for each slot, or `OTHER` and the input with a dtype of its own
Outcome = tuple[str, ...]  # the cells of a row
Part = Mapping[Key, Outcome]  # what is true of one operator
Choice = tuple[frozenset[str], ...]  # what each cell of a row may be

OTHER = "other"
YES, NO, ILLEGAL, GATE, UNSAID = "yes", "no", "-", "gate", ""
LEVELS = ("builder", "shape", "build")


def key(operator: Operator, types: Tuple) -> Key:
    """A tuple as the table knows it."""
    names = [slot.name for slot in slots(operator)]
    own = [name for name in types if name not in names]
    return (OTHER, own[0]) if own else tuple(str(types[name]) for name in names)


def refused_tuples(operator: Operator) -> Iterator[Tuple]:
    """All tuples that a declaration refuses."""
    yield from (types for types, _ in (*illegal_tuples(operator), *mismatched_tuples(operator)))


def format_cell(found: BuildOutcome, rtx: CommonFactsEntry) -> str:
    """A verdict as the table says it."""
    if found.level == BUILDS:
        return YES
    return GATE if rtx.gate is not None and rtx.gate in found.says else found.level


def for_gpu(level: str, *, lacks: bool) -> frozenset[str]:
    """Outcome for one GPU, derived from the outcome for any.

    Its dtypes are looked at when the engine is built, after some of what else may be wrong then.
    """
    later = {YES: {GATE}, "build": {GATE, "build"}}
    return frozenset(later.get(level, {level}) if lacks else {level})


def allowed_outcomes(subject: Subject) -> dict[Key, list[Choice]]:
    """The outcomes of each tuple that its declaration allows."""
    operator = subject.operator
    found = {}
    for types in legal_tuples(operator):
        found[key(operator, types)] = list(_of_legal(subject, types))
    for types in refused_tuples(operator):
        found[key(operator, types)] = list(_of_illegal(subject, types))
    return found


def fits(outcome: Outcome, choices: Iterable[Choice]) -> bool:
    """Whether an outcome is among those that are allowed."""
    return any(
        len(outcome) == len(choice)
        and all(cell in each for cell, each in zip(outcome, choice, strict=True))
        for choice in choices
    )


def _of_legal(subject: Subject, types: Tuple) -> Iterator[Choice]:
    bound = bind(subject.operator, types)
    case = sample_case(subject.operator, subject.function, types)
    cpu = frozenset({NO if refuses_call(subject.operator, CPU, bound) else YES})
    facts = {gpu: refusals(subject.operator, ENGINE, bound, gpu) for gpu in gpus(subject.rtx)}
    why = frozenset({reasons(subject, types)})
    known = {**subject.common.refuses, **subject.rtx.refuses}
    named = [known[name].level for each in facts.values() for name in each if name in known]
    # What is legal meets the dialect's verifier first, as models do.
    for level in dict.fromkeys([*named, "builder"]) if named else LEVELS:
        cells = [
            _gpu_outcomes(subject, case, gpu, level if each else YES) for gpu, each in facts.items()
        ]
        yield (cpu, *cells, why)


def _gpu_outcomes(subject: Subject, case: Case, gpu: str | None, level: str) -> frozenset[str]:
    return for_gpu(level, lacks=bool(gpu and missing_dtypes(case.graph, subject.rtx, gpu)))


def gpus(rtx: CommonFactsEntry) -> list[str | None]:
    """GPUs to build for: any, then each."""
    return [None, *rtx.gpus]


def reasons(subject: Subject, types: Tuple) -> str:
    """The names of the facts of which a legal tuple is a case."""
    bound = bind(subject.operator, types)
    facts: list[Fact] = target_facts(subject.operator, (*CPU, *ENGINE), "refuses")
    return ", ".join(dict.fromkeys(fact.name for fact in facts if fact_applies(fact, bound)))


def _of_illegal(subject: Subject, types: Tuple) -> Iterator[Choice]:
    for outcome in _outcomes(subject, types):
        yield tuple(frozenset({each}) for each in outcome)


def _outcomes(subject: Subject, types: Tuple) -> Iterator[Outcome]:
    bound = bind(subject.operator, types)
    known = target_facts(subject.operator, ENGINE, "refuses")
    if any(concerns(fact, None) and fact_applies(fact, bound) for fact in known):
        yield from (illegal_row(subject, level) for level in LEVELS)
        return
    why = build_reason(subject, types)
    if why is not None:
        yield illegal_row(subject, YES, why)
    if not build_facts(subject, types):
        stock = stock_refusals(subject.common, types)
        yield from (
            illegal_row(subject, level) for level in dict.fromkeys(level for level, _ in stock)
        )


def illegal_row(subject: Subject, level: str, why: str = UNSAID) -> Outcome:
    """The row of an illegal tuple, which says nothing of single GPUs."""
    return (ILLEGAL, level, *[UNSAID for _ in subject.rtx.gpus], why)
