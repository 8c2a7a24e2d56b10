"""ONNX checks of one operator: its lowering, run in ONNX Runtime, beside the reference."""

from collections.abc import Iterator, Sequence

from tripybuild.schema.operator.dtype_combinations import Tuple, legal_tuples
from tripybuild.schema.operator.operator import Fact
from tripybuild.testing.batch import Runnable
from tripybuild.testing.cases import Case
from tripybuild.testing.check_counts import (
    count_check,
    refuse,
    require_distributions,
    skip_empty,
    suite_check,
)
from tripybuild.testing.engines.onnx_answers import (
    COMPUTES,
    NEWEST,
    OPSET,
    UNSAID,
    OnnxAnswer,
    ask,
    ask_newer,
)
from tripybuild.testing.engines.onnx_verdicts import (
    EngineVerdicts,
    OnnxVerdict,
    word_problems,
    wrong_numbers,
)
from tripybuild.testing.engines.operator_facts import OperatorFacts
from tripybuild.testing.engines.support_table import NO, ONNX, YES, key
from tripybuild.testing.symbolic import SymbolicSample, symbolic_samples
from tripybuild.testing.target_facts import ONNX_RUNTIME

DISTRIBUTIONS = ("onnx", "onnxruntime")
AFTER = f"after {OPSET}"


class OnnxChecks(OperatorFacts):
    """ONNX checks of one operator."""

    @suite_check
    def check_onnxruntime(self, types: str) -> None:
        """ONNX Runtime computes the calls near a sample, or refuses them as declared."""
        require_distributions(*DISTRIBUTIONS)
        calls = [each for each in self.reference_calls if each[0].types == types]
        if not calls:
            skip_empty("the reference computes none of these calls")
        refuse(self.onnx_problems(calls))

    def onnx_problems(self, calls: Sequence[tuple[Case, Tuple]]) -> Iterator[str]:
        """What is wrong with calls of the same dtypes, of which the first is the sample."""
        verdicts = [each for call in calls for each in self.onnx_verdicts(*call)]
        yield from self._row_problems(calls[0][1], verdicts[0])
        for verdict in verdicts:
            count_check()
            yield from (f"{verdict.label}: {problem}" for problem in verdict.problems)

    def _row_problems(self, types: Tuple, sample: OnnxVerdict) -> Iterator[str]:
        """Where a sample is not what the support table has, as far as two opsets tell."""
        row = self.support_rows.get(key(self.operator, types))
        if row is not None and not sample.problems:
            opset, computes = row[ONNX]
            wanted = (opset if opset in (NO, str(OPSET)) else AFTER, computes)
            if (found := cells(sample)) != wanted:
                yield f"found {found}, but the support table has {row[ONNX]}"

    @suite_check
    def check_onnxruntime_examples(self) -> None:
        """ONNX Runtime computes the examples, or refuses them in words that are declared."""
        require_distributions(*DISTRIBUTIONS)
        problems: list[str] = []
        for label, made in self.example_cases.items():
            count_check()
            found = self.onnx_judge.example_faults(made, answer(made))
            problems += [f"{label}: {problem}" for problem in found]
        refuse(problems)

    @suite_check
    def check_onnxruntime_facts(self) -> None:
        """Each fact about ONNX and ONNX Runtime has a call that shows it."""
        require_distributions(*DISTRIBUTIONS)
        for fact in self.onnx_judge.facts:
            count_check()
            refuse(self._fact_problems(fact))

    @suite_check
    def check_onnxruntime_symbols(self) -> None:
        """One model serves all sizes that are symbols, and computes what the reference computes."""
        require_distributions(*DISTRIBUTIONS)
        function = self.function(self.operator.name)
        types = next(filter(self.onnx_judge.is_computed, legal_tuples(self.operator)), None)
        if types is None:
            skip_empty("ONNX Runtime is declared to refuse the sample")
        samples = list(symbolic_samples(self.operator, function, types))
        if not samples:
            skip_empty("the sample has no size that can be a symbol")
        refuse(problem for each in samples for problem in self._symbol_problems(each, types))

    def _symbol_problems(self, sample: SymbolicSample, types: Tuple) -> Iterator[str]:
        count_check()
        answer = ask_newer(sample.graph, [list(call.data.values()) for call in sample.calls])
        if answer.level != COMPUTES:
            yield f"symbols for {sample.label}: {answer}"
            return
        wanted = [self.reference_results(call) for call in sample.calls]
        for problem in wrong_numbers(self.operator, types, answer, wanted):
            yield f"symbols for {sample.label}, opset {answer.opset}, {problem}"

    @property
    def onnx_judge(self) -> EngineVerdicts:
        """What is declared of ONNX and ONNX Runtime."""
        return EngineVerdicts(self.subject, ONNX_RUNTIME, self.reference_results)

    def onnx_verdicts(self, case: Case, types: Tuple) -> Iterator[OnnxVerdict]:
        """What became of a call at the opset that says it; of samples, at the newest too."""
        inputs = [list(case.data.values())]
        found = ask_newer(case.graph, inputs)
        yield self.onnx_judge.verdict(case, types, found)
        if case.label == "sample" and found.opset == OPSET:
            yield self.onnx_judge.verdict(case, types, ask(case.graph, inputs, NEWEST))

    def _fact_problems(self, fact: Fact) -> Iterator[str]:
        """What is wrong with a fact about ONNX or ONNX Runtime."""
        if fact in self.onnx_judge.unbound_facts:
            verdicts = (each for call in self.near_calls for each in self.onnx_verdicts(*call))
            yield from word_problems(fact, [each.answer for each in verdicts])
            return
        calls = list(self.fact_calls(fact))
        yield from self.onnx_judge.fact_problems(fact, calls, answer)


def answer(case: Runnable) -> OnnxAnswer:
    """What ONNX Runtime gives for a call at the opset that says it."""
    return ask_newer(case.graph, [list(case.data.values())])


def cells(verdict: OnnxVerdict) -> tuple[str, str]:
    """What the support table would have of a call, but for which later opset has a model."""
    if verdict.answer.level == UNSAID:
        return NO, NO
    computes = verdict.answer.level == COMPUTES and not verdict.silent
    return str(OPSET) if verdict.answer.opset == OPSET else AFTER, YES if computes else NO
