"""Verdicts: what an engine of ONNX gives for a call, beside the reference and what is declared.

Invariant: where a call has no model, the engine refuses it, or computes something else, a fact
below `targets:` says so in the words that are said, and each fact has a call that shows it. What is
true of all operators for some dtypes is in `targets.yaml`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.reference.compare import difference, distributions_differ, tolerance
from tripybuild.reference.execute import execute
from tripybuild.reference.numerics.arrays import Array
from tripybuild.schema.operator.dtype_combinations import Tuple
from tripybuild.schema.operator.operator import NEVER, Fact, Operator
from tripybuild.schema.operator.target_exceptions import expected_words
from tripybuild.schema.target_files import CommonFactsEntry
from tripybuild.testing.cases import Case, bound_of
from tripybuild.testing.check_counts import error_line
from tripybuild.testing.engines.conformance import Subject
from tripybuild.testing.engines.onnx_answers import COMPUTES, FAULTS, OnnxAnswer
from tripybuild.testing.examples import ExampleCase
from tripybuild.testing.sample import bind
from tripybuild.testing.target_facts import (
    fact_applies,
    matches_refusal,
    refuses_call,
    special_facts,
    stock_entries,
    stock_refusals,
    target_facts,
)
from tripybuild.types.dtypes import from_numpy

REFERENCE = ("reference",)
Calls = Sequence[tuple[Case, Tuple]]
Answers = Callable[[Case], OnnxAnswer]
Reference = Callable[[Case], list[Array]]


@dataclass(frozen=True)
class OnnxVerdict:
    """What became of a call at one opset, and what is wrong with that.

    It is `silent` where other numbers than those of the reference are declared.
    """

    case: Case
    answer: OnnxAnswer
    silent: bool
    problems: Sequence[str]

    @property
    def label(self) -> str:
        """The call and the opset."""
        return f"{self.case.label}, opset {self.answer.opset}"


@dataclass(frozen=True)
class EngineVerdicts:
    """An engine that runs models of ONNX, judged by what is declared of it for one operator.

    Args:
        subject: The operator, and what is known of targets.
        targets: The names below `targets:` that speak of the engine.
        reference: What the reference gives for a call.
    """

    subject: Subject
    targets: Sequence[str]
    reference: Reference

    @property
    def operator(self) -> Operator:
        """The operator."""
        return self.subject.operator

    @cached_property
    def facts(self) -> list[Fact]:
        """What the operator says of the engine, but of special values."""
        known = target_facts(self.operator, self.targets, "refuses", silent=True)
        return [each for each in known if not each.is_of_special_values]

    @cached_property
    def unbound_facts(self) -> list[Fact]:
        """The facts that neither types nor sizes say: their words alone are compared."""
        return [each for each in self.facts if each.when.text == NEVER and not each.silent]

    def is_computed(self, types: Tuple) -> bool:
        """Whether nothing is declared to refuse the sample of these dtypes."""
        common = (self.subject.onnx.get(each, CommonFactsEntry()) for each in self.targets)
        declared = (stock_refusals(each, types, stated=True) for each in common)
        bound = bind(self.operator, types)
        return not any(map(list, declared)) and not refuses_call(
            self.operator, (*self.targets, *REFERENCE), bound
        )

    def verdict(self, case: Case, types: Tuple, answer: OnnxAnswer) -> OnnxVerdict:
        """An answer beside what is declared of the call, and beside the reference."""
        facts = self._facts_of(case, silent=False)
        if answer.level == COMPUTES and all(array.size == 0 for array in _results(answer)):
            facts = []  # a model of no elements is one of constants
        problems = list(self.answer_problems(answer, types, facts))
        silent = self._facts_of(case, silent=True)
        if answer.level == COMPUTES and not silent:
            try:
                wanted = [self.reference(case)]
                problems += wrong_numbers(self.operator, types, answer, wanted)
            except DiagnosticError as error:
                problems.append(f"the reference failed: {error_line(error)}")
        return OnnxVerdict(case, answer, bool(silent), problems)

    def example_faults(self, made: ExampleCase, answer: OnnxAnswer) -> list[str]:
        """An example is no bound sample: of its refusals only the words are compared."""
        wanted = list(execute(made.graph, made.data).values())
        computed = [value for each in made.graph.operations for value in each.outputs]
        values = [*made.graph.inputs.values(), *computed]
        types = {f"value{i}": value.dtype for i, value in enumerate(values)}
        if answer.level == COMPUTES:
            if special_facts(self.operator, self.targets) and _has_special_values(made.data):
                return []
            return list(wrong_numbers(self.operator, types, answer, [wanted]))
        if matches_refusal(self.operator, self.targets, answer.says):
            return []
        return list(self.answer_problems(answer, types, []))

    def fact_of(self, case: Case, types: Tuple, answer: OnnxAnswer) -> str | None:
        """The name of the fact by which a call is refused, or computed otherwise, if any is."""
        known = self._facts_of(case, silent=answer.level == COMPUTES)
        if answer.level == COMPUTES:
            return known[0].name if known else None
        own = [each.name for each in (*known, *self.unbound_facts) if says(each.says, answer)]
        return next(iter([*own, *self._stock(answer, types)]), None)

    def _facts_of(self, case: Case, *, silent: bool) -> list[Fact]:
        bound = bound_of(case)
        return [each for each in self.facts if each.silent is silent and fact_applies(each, bound)]

    def answer_problems(
        self, answer: OnnxAnswer, types: Tuple, facts: Sequence[Fact] = ()
    ) -> Iterator[str]:
        """An answer that is not the declared one."""
        if answer.level in FAULTS:
            yield str(answer)
        elif answer.level == COMPUTES:
            if facts:
                yield f"nothing refuses it; `targets:` has {', '.join(f.name for f in facts)}"
        elif not (
            any(says(fact.says, answer) for fact in (*facts, *self.unbound_facts))
            or any(True for _ in self._stock(answer, types))
        ):
            yield f"{answer}, which is not a declared refusal"

    def _stock(self, answer: OnnxAnswer, types: Tuple) -> Iterator[str]:
        """The refusals that are declared for all operators and these dtypes, and that it is."""
        for target in self.targets:
            common = self.subject.onnx.get(target)
            known = stock_entries(common, types) if common is not None else {}
            for name, entry in known.items():
                if entry.level == answer.level and says(expected_words(entry), answer):
                    yield name

    def fact_problems(self, fact: Fact, calls: Calls, answers: Answers) -> Iterator[str]:
        """What is wrong with a fact: no call is such a case, or none is refused in its words.

        Args:
            fact: The fact.
            calls: The calls that it is about.
            answers: What the engine gives for a call.
        """
        if not calls:
            yield f"{fact.name}: no legal call is such a case"
        elif fact.silent and not any(self._differs(*each, answers) for each in calls):
            yield f"{fact.name}: every such call computes what the reference computes"
        elif not fact.silent:
            yield from word_problems(fact, (answers(case) for case, _ in calls))

    def _differs(self, case: Case, types: Tuple, answers: Answers) -> bool:
        answer = answers(case)
        wanted = [self.reference(case)]
        return answer.level == COMPUTES and any(
            True for _ in wrong_numbers(self.operator, types, answer, wanted)
        )


def wrong_numbers(
    operator: Operator, types: Tuple, answer: OnnxAnswer, wanted: Sequence[Sequence[Array]]
) -> Iterator[str]:
    """Where what an engine gives is not what the reference gives, for each call of a model."""
    for level, runs in answer.results.items():
        for results, references in zip(runs, wanted, strict=True):
            for got, want in zip(results, references, strict=True):
                found = result_difference(operator, types, got, want)
                if found is not None:
                    yield f"{level}: {found}"


def _has_special_values(data: Mapping[str, Array]) -> bool:
    """Whether there is NaN or an infinity among the inputs."""
    floats = (each for each in data.values() if each.dtype.kind == "f")
    return not all(np.isfinite(each).all() for each in floats)


def _results(answer: OnnxAnswer) -> list[Array]:
    """The arrays of all calls."""
    return [a for runs in answer.results.values() for results in runs for a in results]


def result_difference(operator: Operator, types: Tuple, got: Array, want: Array) -> str | None:
    """What is wrong with a result beside that of the reference, if anything is."""
    if operator.random:
        return distributions_differ(got, want)
    within = tolerance(operator, (*types.values(), from_numpy(want.dtype)))
    return difference(got, want, within)


def word_problems(fact: Fact, answers: Iterable[OnnxAnswer]) -> Iterator[str]:
    """What is wrong with a fact if none of these answers is a refusal in its words."""
    if not any(says(fact.says, answer) for answer in answers):
        yield f"{fact.name}: nothing is refused in these words"


def says(words: Sequence[str], answer: OnnxAnswer) -> bool:
    """Whether an answer is a refusal in one of some words; without any, it is one in all."""
    if answer.level == COMPUTES:
        return False
    return not words or any(each in answer.says for each in words)
