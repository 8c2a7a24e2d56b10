"""OpenVINO checks of one operator: the target `cpu:openvino`, beside the reference.

What the target refuses, since OpenVINO would compute something else, is declared once for all
operators in `targets.yaml`, under the names by which the target knows it.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property

from tripybuild.schema.operator.dtype_combinations import Tuple, format_tuple, legal_tuples
from tripybuild.testing.batch import Runnable
from tripybuild.testing.cases import Case
from tripybuild.testing.check_counts import (
    count_check,
    refuse,
    require_distributions,
    skip_empty,
    suite_check,
)
from tripybuild.testing.engines.onnx_answers import COMPUTES, OnnxAnswer
from tripybuild.testing.engines.onnx_verdicts import (
    EngineVerdicts,
    OnnxVerdict,
    word_problems,
    wrong_numbers,
)
from tripybuild.testing.engines.openvino_answers import (
    is_asked,
    openvino_answer,
    openvino_answers,
)
from tripybuild.testing.engines.operator_facts import OperatorFacts
from tripybuild.testing.engines.support_table import OPENVINO_CELL, YES, key
from tripybuild.testing.pairwise import is_full
from tripybuild.testing.symbolic import SymbolicSample, symbolic_samples
from tripybuild.testing.target_facts import OPENVINO

DISTRIBUTION = "openvino"


class OpenvinoChecks(OperatorFacts):
    """OpenVINO checks of one operator."""

    @suite_check
    def check_openvino(self) -> None:
        """OpenVINO computes the calls near each sample and the examples, or refuses them."""
        require_distributions(DISTRIBUTION)
        if not self.reference_calls:
            skip_empty("the reference computes none of these calls")
        refuse([*self._call_problems(), *self._example_problems_of_openvino()])

    def _call_problems(self) -> Iterator[str]:
        asked: set[str] = set()
        for verdict, types in self.openvino_verdicts:
            count_check()
            label = f"{format_tuple(types)}, {verdict.case.label}"
            yield from (f"{label}: {problem}" for problem in verdict.problems)
            if verdict.case.types not in asked and not verdict.problems:
                yield from self._cell_problems(verdict, types)
            asked.add(verdict.case.types)

    def _cell_problems(self, sample: OnnxVerdict, types: Tuple) -> Iterator[str]:
        """Where a sample is not what the support table has."""
        row = self.support_rows.get(key(self.operator, types))
        found = self.openvino_cell(sample.case, types, sample.answer)
        if row is not None and row[OPENVINO_CELL] != found:
            label = format_tuple(types)
            yield f"{label}: found {found}, but the support table has {row[OPENVINO_CELL]}"

    def _example_problems_of_openvino(self) -> Iterator[str]:
        for label, made in self.example_cases.items():
            count_check()
            found = self._openvino_judge.example_faults(made, self.openvino_results[made])
            yield from (f"{label}: {problem}" for problem in found)

    @suite_check
    def check_openvino_facts(self) -> None:
        """Each fact about OpenVINO has a call that shows it."""
        require_distributions(DISTRIBUTION)
        for fact in self._openvino_judge.facts:
            count_check()
            if fact in self._openvino_judge.unbound_facts:
                refuse(word_problems(fact, self.openvino_results.values()))
                continue
            calls = list(self.fact_calls(fact))
            refuse(self._openvino_judge.fact_problems(fact, calls, self._answer_of))

    @suite_check
    def check_openvino_symbols(self) -> None:
        """One program serves all sizes that are symbols."""
        require_distributions(DISTRIBUTION)
        types = next(filter(self._openvino_judge.is_computed, legal_tuples(self.operator)), None)
        if types is None:
            skip_empty("OpenVINO is declared to refuse the sample")
        function = self.function(self.operator.name)
        samples = list(symbolic_samples(self.operator, function, types, DISTRIBUTION))
        if not samples:
            skip_empty("the sample has no size that can be a symbol")
        # The last one has the most symbols.
        chosen = samples if self.exhaustive or is_full() else samples[-1:]
        refuse(problem for each in chosen for problem in self._openvino_symbols(each, types))

    def _openvino_symbols(self, sample: SymbolicSample, types: Tuple) -> Iterator[str]:
        count_check()
        calls = [each for each in sample.calls if is_asked(each.graph)]
        answer = openvino_answer(sample.graph, calls, sample.ranges)
        if answer.level != COMPUTES:
            found = self._openvino_judge.answer_problems(answer, types)
        else:
            wanted = [self.reference_results(call) for call in calls]
            found = wrong_numbers(self.operator, types, answer, wanted)
        yield from (f"symbols for {sample.label}: {problem}" for problem in found)

    @property
    def _openvino_judge(self) -> EngineVerdicts:
        """What is declared of OpenVINO."""
        return EngineVerdicts(self.subject, OPENVINO, self.reference_results)

    @cached_property
    def openvino_verdicts(self) -> list[tuple[OnnxVerdict, Tuple]]:
        """What became of the calls near the samples."""
        judge, answers = self._openvino_judge, self.openvino_results
        return [(judge.verdict(c, t, answers[c]), t) for c, t in self.reference_calls]

    def openvino_cell(self, case: Case, types: Tuple, answer: OnnxAnswer) -> str:
        """What the support table has of a call: that it is computed, or why it is not."""
        return self._openvino_judge.fact_of(case, types, answer) or YES

    @cached_property
    def openvino_results(self) -> Mapping[Runnable, OnnxAnswer]:
        """What is asked together: the calls near the samples, and the examples."""
        cases: list[Runnable] = [case for case, _ in self.reference_calls]
        cases += self.example_cases.values()
        cases += [] if self.special_call is None else [self.special_call[0]]
        return dict(zip(cases, openvino_answers(cases), strict=True))

    def _answer_of(self, case: Case) -> OnnxAnswer:
        known = self.openvino_results.get(case)
        return openvino_answers([case])[0] if known is None else known
