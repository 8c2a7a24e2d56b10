"""ONNX checks of one operator: its lowering, run in ONNX Runtime, beside the reference.

Invariant: where a call has no model, ONNX Runtime refuses it, or computes something else, a fact
below `targets:` says so in the words that are said, and each fact has a call that shows it. What is
true of all operators for some dtypes is in `targets.yaml`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.reference.compare import difference, distributions_differ, tolerance
from tripybuild.reference.execute import execute
from tripybuild.reference.numerics.arrays import Array
from tripybuild.schema.operator.dtype_combinations import Tuple, legal_tuples
from tripybuild.schema.operator.operator import Fact, Operator
from tripybuild.testing.cases import Case, sample_case
from tripybuild.testing.check_counts import (
    count_check,
    error_line,
    refuse,
    require_distributions,
    skip_empty,
    suite_check,
)
from tripybuild.testing.engines.conformance import NEVER
from tripybuild.testing.engines.onnx_answers import (
    COMPUTES,
    FAULTS,
    NEWEST,
    OPSET,
    UNSAID,
    OnnxAnswer,
    ask,
    ask_newer,
)
from tripybuild.testing.engines.operator_facts import OperatorFacts
from tripybuild.testing.engines.support_table import NO, ONNX, YES, key
from tripybuild.testing.examples import ExampleCase
from tripybuild.testing.sample import BoundSample, bind
from tripybuild.testing.symbolic import SymbolicSample, symbolic_samples
from tripybuild.testing.target_facts import (
    ONNX_RUNTIME,
    fact_applies,
    matches_refusal,
    refuses_call,
    stock_refusals,
    target_facts,
)
from tripybuild.types.dtypes import dtype, from_numpy

DISTRIBUTIONS = ("onnx", "onnxruntime")
REFERENCE = ("reference",)
AFTER = f"after {OPSET}"


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

    @property
    def cells(self) -> tuple[str, str]:
        """What the support table would have of it, but for which later opset has a model."""
        if self.answer.level == UNSAID:
            return NO, NO
        computes = self.answer.level == COMPUTES and not self.silent
        return str(OPSET) if self.answer.opset == OPSET else AFTER, YES if computes else NO


class OnnxChecks(OperatorFacts):
    """ONNX checks of one operator."""

    @suite_check
    def check_onnxruntime(self, types: str) -> None:
        """ONNX Runtime computes the calls near a sample, or refuses them as declared."""
        require_distributions(*DISTRIBUTIONS)
        calls = [each for each in self.onnx_calls if each[0].types == types]
        if not calls:
            skip_empty("the reference computes none of these calls")
        verdicts = [each for call in calls for each in self.onnx_verdicts(*call)]
        problems = list(self._row_problems(calls[0][1], verdicts[0]))
        for verdict in verdicts:
            count_check()
            problems += [f"{verdict.label}: {problem}" for problem in verdict.problems]
        refuse(problems)

    def _row_problems(self, types: Tuple, sample: OnnxVerdict) -> Iterator[str]:
        """Where a sample is not what the support table has, as far as two opsets tell."""
        row = self.support_rows.get(key(self.operator, types))
        if row is not None and not sample.problems:
            opset, computes = row[ONNX]
            wanted = (opset if opset in (NO, str(OPSET)) else AFTER, computes)
            if (found := sample.cells) != wanted:
                yield f"found {found}, but the support table has {row[ONNX]}"

    @suite_check
    def check_onnxruntime_examples(self) -> None:
        """ONNX Runtime computes the examples, or refuses them in words that are declared."""
        require_distributions(*DISTRIBUTIONS)
        problems: list[str] = []
        for label, made in self.example_cases.items():
            count_check()
            problems += [f"{label}: {problem}" for problem in self._example_faults(made)]
        refuse(problems)

    @suite_check
    def check_onnxruntime_facts(self) -> None:
        """Each fact about ONNX and ONNX Runtime has a call that shows it."""
        require_distributions(*DISTRIBUTIONS)
        for fact in target_facts(self.operator, ONNX_RUNTIME, "refuses", silent=True):
            count_check()
            refuse(self._fact_problems(fact))

    @suite_check
    def check_onnxruntime_symbols(self) -> None:
        """One model serves all sizes that are symbols, and computes what the reference computes."""
        require_distributions(*DISTRIBUTIONS)
        function = self.function(self.operator.name)
        types = next(filter(self._is_computed, legal_tuples(self.operator)), None)
        if types is None:
            skip_empty("ONNX Runtime is declared to refuse the sample")
        samples = list(symbolic_samples(self.operator, function, types))
        if not samples:
            skip_empty("the sample has no size that can be a symbol")
        refuse(problem for each in samples for problem in self._symbol_problems(each, types))

    def _is_computed(self, types: Tuple) -> bool:
        """Whether nothing is declared to refuse the sample of these dtypes."""
        declared = (stock_refusals(each, types, stated=True) for each in self.subject.onnx.values())
        bound = bind(self.operator, types)
        return not any(map(list, declared)) and not refuses_call(
            self.operator, (*ONNX_RUNTIME, *REFERENCE), bound
        )

    def _symbol_problems(self, sample: SymbolicSample, types: Tuple) -> Iterator[str]:
        count_check()
        answer = ask_newer(sample.graph, [list(call.data.values()) for call in sample.calls])
        if answer.level != COMPUTES:
            yield f"symbols for {sample.label}: {answer}"
            return
        wanted = [self.reference_results(call) for call in sample.calls]
        for problem in wrong_numbers(self.operator, types, answer, wanted):
            yield f"symbols for {sample.label}, opset {answer.opset}, {problem}"

    @cached_property
    def onnx_calls(self) -> list[tuple[Case, Tuple]]:
        """The calls near the samples that the reference computes."""
        return [
            (case, types)
            for case, types in self.near_calls
            if case.is_legal
            and not refuses_call(self.operator, REFERENCE, bind(self.operator, types))
        ]

    def onnx_verdicts(self, case: Case, types: Tuple) -> Iterator[OnnxVerdict]:
        """What became of a call at the opset that says it; of samples, at the newest too."""
        inputs = [list(case.data.values())]
        found = ask_newer(case.graph, inputs)
        yield self._verdict(case, types, found)
        if case.label == "sample" and found.opset == OPSET:
            yield self._verdict(case, types, ask(case.graph, inputs, NEWEST))

    def _verdict(self, case: Case, types: Tuple, answer: OnnxAnswer) -> OnnxVerdict:
        """An answer beside what is declared of the call, and beside the reference."""
        facts = self._facts_of(case, silent=False)
        if answer.level == COMPUTES and all(array.size == 0 for array in _results(answer)):
            facts = []  # a model of no elements is one of constants
        problems = list(self._answer_problems(answer, types, facts))
        silent = self._facts_of(case, silent=True)
        if answer.level == COMPUTES and not silent:
            try:
                wanted = [self.reference_results(case)]
                problems += wrong_numbers(self.operator, types, answer, wanted)
            except DiagnosticError as error:
                problems.append(f"the reference failed: {error_line(error)}")
        return OnnxVerdict(case, answer, bool(silent), problems)

    def _example_faults(self, made: ExampleCase) -> list[str]:
        """An example is no bound sample: of its refusals only the words are compared."""
        answer = ask_newer(made.graph, [list(made.data.values())])
        wanted = list(execute(made.graph, made.data).values())
        values = [value for each in made.graph.operations for value in each.outputs]
        types = {f"value{i}": value.dtype for i, value in enumerate(values)}
        if answer.level == COMPUTES:
            return list(wrong_numbers(self.operator, types, answer, [wanted]))
        if matches_refusal(self.operator, ONNX_RUNTIME, answer.says):
            return []
        return list(self._answer_problems(answer, types, []))

    def _facts_of(self, case: Case, *, silent: bool) -> list[Fact]:
        known = target_facts(self.operator, ONNX_RUNTIME, "refuses", silent=True)
        bound = bound_of(case)
        return [fact for fact in known if fact.silent is silent and fact_applies(fact, bound)]

    def _answer_problems(
        self, answer: OnnxAnswer, types: Tuple, facts: Sequence[Fact]
    ) -> Iterator[str]:
        """An answer that is not the declared one."""
        if answer.level in FAULTS:
            yield str(answer)
        elif answer.level == COMPUTES:
            if facts:
                yield f"nothing refuses it; `targets:` has {', '.join(f.name for f in facts)}"
        elif not (
            any(_says(fact.says, answer) for fact in (*facts, *self._unbound_facts))
            or self._stock(answer, types)
        ):
            yield f"{answer}, which is not a declared refusal"

    @cached_property
    def _unbound_facts(self) -> list[Fact]:
        """The facts that neither types nor sizes say: their words alone are compared."""
        known = target_facts(self.operator, ONNX_RUNTIME, "refuses")
        return [fact for fact in known if fact.when.text == NEVER]

    def _stock(self, answer: OnnxAnswer, types: Tuple) -> bool:
        """Whether a refusal is one that is declared for all operators and these dtypes."""
        return any(
            level == answer.level and _says(says, answer)
            for common in self.subject.onnx.values()
            for level, says in stock_refusals(common, types)
        )

    def _fact_problems(self, fact: Fact) -> Iterator[str]:
        """What is wrong with a fact: no call is such a case, or none is refused in its words."""
        cases = [*self._fact_cases(fact)]
        if fact in self._unbound_facts:
            answers = [v.answer for call in self.near_calls for v in self.onnx_verdicts(*call)]
            if not any(_says(fact.says, answer) for answer in answers):
                yield f"{fact.name}: nothing is refused in these words"
        elif not cases:
            yield f"{fact.name}: no legal call is such a case"
        elif fact.silent and not any(self._differs(*each) for each in cases):
            yield f"{fact.name}: every such call computes what the reference computes"
        elif not fact.silent and not any(
            _says(fact.says, ask_newer(case.graph, [list(case.data.values())])) for case, _ in cases
        ):
            yield f"{fact.name}: nothing is refused in these words"

    def _fact_cases(self, fact: Fact) -> Iterator[tuple[Case, Tuple]]:
        """The calls that a fact is about: those near the sample, or its own sample."""
        if not fact.sample:
            calls = self.onnx_calls if fact.silent else self.near_calls
            legal = (each for each in calls if each[0].is_legal)
            yield from (each for each in legal if fact_applies(fact, bound_of(each[0])))
            return
        other = replace(self.operator, sample={**self.operator.sample, **fact.sample})
        for types in self.tuples:
            if fact_applies(fact, bind(other, types)):
                case = sample_case(other, self.function(other.name), types)
                if case.is_legal:
                    yield case, types

    def _differs(self, case: Case, types: Tuple) -> bool:
        answer = ask_newer(case.graph, [list(case.data.values())])
        wanted = [self.reference_results(case)]
        return answer.level == COMPUTES and any(
            True for _ in wrong_numbers(self.operator, types, answer, wanted)
        )


def bound_of(case: Case) -> BoundSample:
    """The sample that a call near it is, with its names bound."""
    assert case.bound is not None, "calls near a sample are bound samples"
    return case.bound


def wrong_numbers(
    operator: Operator, types: Tuple, answer: OnnxAnswer, wanted: Sequence[Sequence[Array]]
) -> Iterator[str]:
    """Where what ONNX Runtime gives is not what the reference gives, for each call of a model."""
    for level, runs in answer.results.items():
        for results, references in zip(runs, wanted, strict=True):
            for got, want in zip(results, references, strict=True):
                found = _difference(operator, (*types.values(), from_numpy(want.dtype)), got, want)
                if found is not None:
                    yield f"{level}: {found}"


def _results(answer: OnnxAnswer) -> list[Array]:
    """The arrays of all calls."""
    return [a for runs in answer.results.values() for results in runs for a in results]


def _difference(
    operator: Operator, types: tuple[dtype, ...], got: Array, want: Array
) -> str | None:
    if operator.random:
        return distributions_differ(got, want)
    return difference(got, want, tolerance(operator, types))


def _says(words: Sequence[str], answer: OnnxAnswer) -> bool:
    if answer.level == COMPUTES:
        return False
    return not words or any(each in answer.says for each in words)
