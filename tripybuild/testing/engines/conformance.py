"""Conformance with TensorRT: legal calls build, illegal calls are rejected.

Invariant: where TensorRT accepts more or less, a fact below `targets:` says so, and each fact has a
case that shows it. A refusal is one that the operator or `targets.yaml` expects, by its words and
by how far the network came; an engine that was expected to be refused is a fault, as is the
contrary.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import product

from tripybuild.errors.diagnostics import DiagnosticError, concise
from tripybuild.language.names import free_names
from tripybuild.schema.operator.dtype_combinations import (
    Tuple,
    engine_tuples,
    format_tuple,
    illegal_tuples,
    is_host_only,
    is_legal_without,
    mismatched_tuples,
    refusal_codes,
    slots,
)
from tripybuild.schema.operator.operator import NEVER, Fact, Operator
from tripybuild.schema.target_files import CommonFactsEntry
from tripybuild.testing.cases import Function
from tripybuild.testing.check_counts import count_check
from tripybuild.testing.disabled_checks import Off, any_law, is_dtype_law, without_checks
from tripybuild.testing.engines.build_outcome import (
    BUILDS,
    BuildOutcome,
    build_outcome,
    build_outcomes,
)
from tripybuild.testing.sample import BoundSample, bind
from tripybuild.testing.symbolic import omitted_inputs, record_sample
from tripybuild.testing.target_facts import (
    ENGINE,
    ONNX_RUNTIME,
    OPENVINO,
    concerns,
    default_build,
    fact_applies,
    may_build,
    stock_refusals,
    target_facts,
)
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import UnknownLocation, at

# How far a network of a tuple comes, as far as it is known.
Written = Callable[[Tuple], str | None]

TARGET = "tensorrt"


@dataclass(frozen=True)
class Subject:
    """An operator, how it is called, and what is known of TensorRT, the GPUs of `rtx`, and ONNX."""

    operator: Operator
    function: Function
    common: CommonFactsEntry
    rtx: CommonFactsEntry = field(default_factory=CommonFactsEntry)
    onnx: Mapping[str, CommonFactsEntry] = field(default_factory=dict)

    @classmethod
    def of(
        cls, operator: Operator, function: Function, known: Mapping[str, CommonFactsEntry]
    ) -> "Subject":
        """The subject of which all is known that a registry says of targets."""
        common, rtx = (known.get(target, CommonFactsEntry()) for target in ENGINE)
        onnx = {each: known[each] for each in (*ONNX_RUNTIME, *OPENVINO) if each in known}
        return cls(operator, function, common, rtx, onnx)

    def graph(self, types: Tuple, off: Off = is_dtype_law) -> tuple[Graph, BoundSample]:
        """The sample of a tuple, whether or not it is legal."""
        bound = bind(self.operator, types)
        absent = omitted_inputs(self.operator, self.function)
        with at(UnknownLocation(self.operator.name)), without_checks(off):
            return record_sample(self.function, bound, absent), bound

    def judge_sample(
        self,
        types: Tuple,
        gpu: str | None = None,
        off: Off = is_dtype_law,
        *,
        verified: bool = False,
    ) -> tuple[BuildOutcome, BoundSample]:
        """What TensorRT says of the sample of a tuple."""
        try:
            graph, bound = self.graph(types, off)
        except DiagnosticError as error:
            return BuildOutcome("builder", concise(error.diagnostics[0])), bind(
                self.operator, types
            )
        with without_checks(off):  # lowerings may decompose, and so record more
            return build_outcome(graph, gpu, verified=verified), bound


def wrong_refusals(
    subject: Subject, written: Written = lambda _: None, tuples: Iterable[Tuple] | None = None
) -> Iterator[str]:
    """Unexpected rejections of illegal tuples, and the case of each.

    Args:
        subject: The operator.
        written: What is written down about a tuple, if anything is.
        tuples: The illegal tuples that are asked; without, all.
    """
    refused = (*illegal_tuples(subject.operator), *mismatched_tuples(subject.operator))
    asked = [types for types, _ in refused] if tuples is None else list(tuples)
    for types, found in zip(asked, _judge_samples(subject, written, asked), strict=True):
        count_check()
        said = written(types)
        problems = list(wrong_refusal(subject, types, found, by_default=said is not None))
        if said not in {None, found.level}:
            problems.append(f"{found}, but the support table has `{said}`")
        yield from (f"{_tuple_text(subject, types)}: {problem}" for problem in problems)


def _judge_samples(
    subject: Subject, written: Written, tuples: Sequence[Tuple]
) -> Iterator[BuildOutcome]:
    """What TensorRT says of samples. Those that are written down to build are built together."""
    graphs: dict[int, Graph] = {}
    for index, types in enumerate(tuples):
        if written(types) == BUILDS:
            with suppress(DiagnosticError):
                graphs[index] = subject.graph(types)[0]
    with without_checks():  # lowerings may decompose, and so record more
        built = dict(zip(graphs, build_outcomes([*graphs.values()]), strict=True))
    for index, types in enumerate(tuples):
        yield built[index] if index in built else subject.judge_sample(types)[0]


def _tuple_text(subject: Subject, types: Tuple) -> str:
    """A tuple with the tensor, if any, that has another dtype than its variable."""
    own = {slot.name: types[slot.name] for slot in slots(subject.operator)}
    others = [f"`{name}` in {type}" for name, type in types.items() if name not in own]
    return ", ".join([format_tuple(own), *others])


def wrong_refusal(
    subject: Subject, types: Tuple, found: BuildOutcome, *, by_default: bool = True
) -> Iterator[str]:
    """Unexpected part of an illegal tuple's outcome.

    Args:
        subject: The operator.
        types: The tuple.
        found: What TensorRT says of it.
        by_default: Whether dtypes alone may be the reason for an engine, since the support table
            has the verdict. Otherwise only declarations tell which engines are expected.
    """
    refuses = _facts(subject.operator, "refuses", bind(subject.operator, types))
    builds = build_facts(subject, types)
    if builds and not found.builds:
        yield f"`{builds[0].name}` is declared to build, but it is {found}"
    elif not found.builds:
        yield from unexpected_refusal(subject, types, refuses, found)
    elif build_reason(subject, types, by_default=by_default) is None:
        yield "TensorRT builds it, and no `builds:` declares it"


def build_facts(subject: Subject, types: Tuple) -> list[Fact]:
    """The facts for which an illegal tuple builds; where others refuse it, there are none."""
    if is_host_only(types):
        return []
    bound = bind(subject.operator, types)
    refuses = _facts(subject.operator, "refuses", bound)
    return [] if refuses else _applicable_builds(subject.operator, types, bound)


def build_reason(subject: Subject, types: Tuple, *, by_default: bool = True) -> str | None:
    """Why TensorRT builds what a declaration refuses, if anything says so."""
    facts = build_facts(subject, types)
    if facts:
        return facts[0].name
    why = may_build(subject.common, types)
    if why is None and by_default and _alone(subject, types):
        return default_build(subject.common)
    return why


def _alone(subject: Subject, types: Tuple) -> bool:
    """Whether nothing but its dtypes is against a tuple.

    That is neither a tensor that has not the dtype of its variable, nor a fact that is a refusal.
    """
    refuses = _facts(subject.operator, "refuses", bind(subject.operator, types))
    return bool(refusal_codes(subject.operator, types)) and not refuses


def _applicable_builds(operator: Operator, types: Tuple, bound: BoundSample) -> list[Fact]:
    """The facts of which a tuple is a case: nothing but the dtypes that they name is illegal."""
    found = _facts(operator, "builds", bound)
    names = frozenset(name for fact in found for name in free_names(fact.when.program))
    return found if is_legal_without(operator, types, names) else []


def unexpected_refusal(
    subject: Subject, types: Tuple, known: Sequence[Fact], found: BuildOutcome
) -> Iterator[str]:
    """A refusal for which neither facts of the operator nor the target are known."""
    if any(matches(fact, found) for fact in known):
        return
    for level, says in stock_refusals(subject.common, types):
        if level == found.level and any(each in found.says for each in says):
            return
    yield f"{found}, which is not a known rejection"


def matches(fact: Fact, found: BuildOutcome) -> bool:
    """Whether a refusal is the one that a fact tells of."""
    return not found.builds and any(each in found.says for each in fact.says)


def wrong_facts(subject: Subject) -> Iterator[str]:
    """The facts of an operator that no case shows, or that a case contradicts."""
    for fact in target_facts(subject.operator, ENGINE, "refuses", silent=True):
        if fact in example_refusals(subject.operator):
            continue
        count_check()
        yield from _prefix(fact.name, _wrong_refusal(_with_sample(subject, fact), fact))
    for fact in target_facts(subject.operator, ENGINE, "builds"):
        count_check()
        yield from _prefix(fact.name, _wrong_build(_with_sample(subject, fact), fact))


def example_refusals(operator: Operator) -> list[Fact]:
    """The refusals of which no sample is a case; an example has to be one."""
    return [fact for fact in target_facts(operator, ENGINE, "refuses") if fact.when.text == NEVER]


def _with_sample(subject: Subject, fact: Fact) -> Subject:
    """The operator with the sample that shows a fact."""
    sample = {**subject.operator.sample, **fact.sample}
    return replace(subject, operator=replace(subject.operator, sample=sample))


def _wrong_refusal(subject: Subject, fact: Fact) -> Iterator[str]:
    cases = [
        t for t in engine_tuples(subject.operator) if fact_applies(fact, bind(subject.operator, t))
    ]
    if not cases:
        yield "no legal call of the sample is such a case"
    shown = False
    for types, gpu in product(cases, fact.gpus or (None,)):
        found, bound = subject.judge_sample(types, gpu, verified=True)
        shown = shown or found.builds or matches(fact, found)
        if fact.silent and not found.builds:
            yield f"{format_tuple(types)} is {found}, and is declared to build"
        elif found.builds and not fact.silent:
            yield f"TensorRT builds {format_tuple(types)}"
        elif not found.builds:
            known = _facts(subject.operator, "refuses", bound, gpu)
            yield from unexpected_refusal(subject, types, known, found)
    if cases and not shown:
        yield "nothing is refused in these words"


def _wrong_build(subject: Subject, fact: Fact) -> Iterator[str]:
    tuples = [
        t for t, _ in (*illegal_tuples(subject.operator), *mismatched_tuples(subject.operator))
    ]
    off = is_dtype_law
    if fact.sample:  # a law about sizes refuses the case, and not its dtypes
        tuples, off = engine_tuples(subject.operator), any_law
    cases = [
        t
        for t in tuples
        if fact in _applicable_builds(subject.operator, t, bind(subject.operator, t))
    ]
    if not cases:
        yield "no call of the sample that is refused is such a case"
    for types in cases if fact.sample else ():
        found, _ = subject.judge_sample(types, off=off)
        if not found.builds:
            yield f"{format_tuple(types)} is {found}"


def _facts(operator: Operator, kind: str, bound: BoundSample, gpu: str | None = None) -> list[Fact]:
    known = target_facts(operator, ENGINE, kind)
    return [fact for fact in known if concerns(fact, gpu) and fact_applies(fact, bound)]


def _prefix(name: str, problems: Iterator[str]) -> Iterator[str]:
    yield from (f"{name}: {problem}" for problem in problems)
