"""Suite of one operator: the checks that generated tests call.

Each raises an AssertionError that says everything that is wrong. StableHLO's interpreter is the
tie-breaker where XLA and the reference differ.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from tripybuild.compiler.lowering.lower import lower_stablehlo
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend.decompose import decompose_operation
from tripybuild.reference.compare import difference, distributions_differ, tolerance
from tripybuild.reference.execute import execute, run_operation
from tripybuild.reference.numerics.arrays import Array
from tripybuild.schema.files import ToleranceEntry
from tripybuild.schema.foreign import LACKING
from tripybuild.schema.operator.dtype_combinations import (
    Tuple,
    format_tuple as spell_types,
    illegal_tuples,
    is_proved,
    legal_tuples,
    mismatched_tuples,
)
from tripybuild.schema.operator.operator import Operator
from tripybuild.testing import batch, examples, wrong_arguments
from tripybuild.testing.cases import Case, bound_of, sample_case
from tripybuild.testing.check_counts import (
    count_check,
    error_line,
    has_distribution,
    refuse,
    refuse_difference,
    require_distributions,
    skip_empty,
    suite_check,
)
from tripybuild.testing.disabled_checks import check_independence
from tripybuild.testing.engines import onnx_checks, openvino_checks
from tripybuild.testing.engines.onnx_answers import CRASHES, OnnxAnswer
from tripybuild.testing.engines.onnx_verdicts import result_difference
from tripybuild.testing.engines.tensorrt_checks import TensorrtChecks
from tripybuild.testing.oracles import alias_readings, oracles
from tripybuild.testing.sample import bind
from tripybuild.testing.symbolic import disagreements, omitted_inputs, record_sample
from tripybuild.testing.target_facts import (
    CPU,
    ONNX_RUNTIME,
    OPENVINO,
    refusal_mismatches,
    refusals,
    refuses_call,
    special_facts,
)
from tripybuild.trace.graph import Graph
from tripybuild.trace.location import UnknownLocation, at
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import dtype, from_numpy
from tripybuild.worker.stablehlo_interpreter import DTYPES, interpret


class Suite(TensorrtChecks, onnx_checks.OnnxChecks, openvino_checks.OpenvinoChecks):
    """The suite of one operator."""

    # --- numbers ---

    @cached_property
    def _cases(self) -> list[tuple[Case, Tuple]]:
        """The calls near the samples that `cpu` does not refuse."""
        return [
            (case, types)
            for case, types in self.near_calls
            if not refuses_call(self.operator, CPU, bind(self.operator, types))
        ]

    @cached_property
    def _outcomes(self) -> Mapping[batch.Runnable, batch.Outcome]:
        """Everything that runs, examples included, from one compilation."""
        legal = [case for case, _ in self._cases if case.is_legal]
        special = [] if self.special_call is None else [self.special_call[0]]
        runnable: list[batch.Runnable] = [*legal, *special, *self.example_cases.values()]
        return dict(zip(runnable, batch.run(runnable), strict=True))

    @suite_check
    def check_values(self, types: str) -> None:
        """On `cpu`, the sample and the calls near it equal the reference within the tolerance."""
        refuse(self._wrong_values(types))
        refuse(self._wrong_runs(types))

    def _wrong_runs(self, types: str) -> Iterator[str]:
        """What runs on `cpu` though it is refused there; its reference runs all the same."""
        for given in self.tuples:
            found = refusals(self.operator, CPU, bind(self.operator, given))
            if found and spell_types(given) == types:
                case = sample_case(self.operator, self.function(self.operator.name), given)
                (outcome,) = batch.run([case])
                count_check()
                yield from refusal_mismatches(found, [outcome] if isinstance(outcome, str) else [])
                if not refuses_call(self.operator, ("reference",), bind(self.operator, given)):
                    execute(case.graph, case.data)

    def _wrong_values(self, types: str) -> Iterator[str]:
        for case, given in self._cases:
            if case.types != types:
                continue
            if not case.is_legal:
                yield f"{case.label} is refused: {case.refusal}"
                continue
            outcome = self._outcomes[case]
            if isinstance(outcome, str):
                yield f"{case.label}: {outcome}"
                continue
            try:
                wanted = self.reference_results(case)
            except DiagnosticError as error:
                yield f"{case.label}: the reference failed: {error_line(error)}"
                continue
            results = (outcome, wanted)
            count_check()
            yield from _differences(self.operator, case, given.values(), results)

    @suite_check
    def check_composition(self, types: str) -> None:
        """The decomposition and the reference say the same."""
        refuse(self._wrong_composition(types))

    def _wrong_composition(self, types: str) -> Iterator[str]:
        given = next(each for each in legal_tuples(self.operator) if spell_types(each) == types)
        case = sample_case(self.operator, self.function(self.operator.name), given)
        outputs = list(case.graph.outputs.values())
        operation = outputs[0].producer
        assert operation is not None
        values: dict[Value, Any] = {v: case.data[n] for n, v in case.graph.inputs.items()}
        wanted = run_operation(operation, values)
        steps, results = decompose_operation(operation)
        for step in steps:
            values.update(zip(step.outputs, run_operation(step, values), strict=True))
        for got, want in zip(results, wanted, strict=True):
            count_check()
            found = np.asarray(values[got], dtype=np.float64), np.asarray(want, dtype=np.float64)
            problem = difference(*found, tolerance(self.operator, tuple(given.values())))
            yield from filter(None, [problem])

    @suite_check
    def check_special_values(self) -> None:
        """NaN, infinities and -0.0 come through each engine as through the reference."""
        if self.special_call is None:
            skip_empty("the reference computes no such call")
        case, types = self.special_call
        try:
            with np.errstate(all="ignore"):
                wanted = self.reference_results(case)
        except DiagnosticError:
            skip_empty("the reference computes no special values")
        problems: list[str] = []
        for engine, targets, given in self._special_results(case):
            count_check()
            known = special_facts(self.operator, targets)
            if isinstance(given, str):
                problems.append(f"{engine}: {given}")
                continue
            pairs = zip(given, wanted, strict=True)
            differences = (result_difference(self.operator, types, *pair) for pair in pairs)
            found = [each for each in differences if each is not None]
            if known and not found:
                problems.append(f"{engine}: {known[0].name}: nothing differs from the reference")
            elif not known:
                problems += [f"{engine}: {problem}" for problem in found]
        refuse(problems)

    def _special_results(
        self, case: Case
    ) -> Iterator[tuple[str, Sequence[str], list[Array] | str]]:
        """What each engine that is here gives for special values; not of what it refuses."""
        bound = bound_of(case)
        if not refuses_call(self.operator, CPU, bound):
            yield "XLA", CPU, self._outcomes[case]
        answers: list[tuple[str, Sequence[str], OnnxAnswer]] = []
        if all(map(has_distribution, onnx_checks.DISTRIBUTIONS)):
            answers.append(("ONNX Runtime", ONNX_RUNTIME, onnx_checks.answer(case)))
        if has_distribution(openvino_checks.DISTRIBUTION):
            answers.append(("OpenVINO", OPENVINO, self.openvino_results[case]))
        for engine, targets, found in answers:
            for level, (results,) in found.results.items():
                yield f"{engine}, {level}", targets, list(results)
            if found.level == CRASHES:
                yield engine, targets, str(found)

    # --- other systems ---

    @cached_property
    def _oracle_cases(self) -> list[oracles.CaseResults]:
        function = self.function(self.operator.name)
        near = {case: self._outcomes[case] for case, _ in self._cases if case.is_legal}
        given = [(case, self._outcomes[case]) for case in self.example_cases.values()]
        return oracles.collect_results(self.operator, function, near, given)

    @suite_check
    def check_aliases(self) -> None:
        """What an alias gives to the other operator can be read back from it."""
        cases = [each.case for each in self._oracle_cases]
        refuse(alias_readings.inverse_problems(self.operator, cases))

    @suite_check
    def check_torch(self, types: str) -> None:
        """PyTorch computes what the reference and `cpu` compute; `types` may be `examples`."""
        self._check_oracle("aten", types)

    @suite_check
    def check_onnx(self, types: str) -> None:
        """ONNX's operator computes what the reference and `cpu` compute; as for PyTorch."""
        self._check_oracle("onnx", types)

    @suite_check
    def check_readings(self, system: str) -> None:
        """What is read from calls of another system computes what they compute there."""
        require_distributions(*oracles.SYSTEMS[system].distributions)
        cases = [each.case for each in self._oracle_cases]
        refuse(alias_readings.neighbor_problems(self.operator, system, cases))

    def _check_oracle(self, system: str, types: str) -> None:
        require_distributions(*oracles.SYSTEMS[system].distributions)
        calls = [judged for judged in self._oracle_cases if judged.kind == types]
        found = oracles.oracle_report(self.operator, system, calls)
        refuse(found.problems)
        for unasked in found.unasked.values():
            refuse(oracles.oracle_report(self.operator, system, self._oracle_cases).unrun_aliases())
            skip_empty(unasked.reason)
        if not found.asked:
            skip_empty(oracles.UNSAID)

    # --- dtypes that not every target has ---

    @suite_check
    def check_host_dtypes(self) -> None:
        """Dtypes of the CPU's engines alone: each of these, and other systems, give the same."""
        problems: list[str] = []
        for given in self.host_tuples:
            types = spell_types(given)
            if is_proved(self.operator):
                problems += self._wrong_composition(types)
            problems += [*self._wrong_values(types), *self._wrong_runs(types)]
            calls = [each for each in self.reference_calls if each[0].types == types]
            if calls and all(map(has_distribution, onnx_checks.DISTRIBUTIONS)):
                problems += [f"{types}: {problem}" for problem in self.onnx_problems(calls)]
        asked = set(map(spell_types, self.host_tuples))
        for system, oracle in oracles.SYSTEMS.items():
            if all(map(has_distribution, oracle.distributions)):
                kinds = {each for each in asked if LACKING[system].isdisjoint(each.split("-"))}
                cases = [each for each in self._oracle_cases if each.kind in kinds]
                problems += oracles.oracle_report(self.operator, system, cases).problems
        refuse(problems)

    # --- refusals ---

    @suite_check
    def check_illegal_dtypes(self) -> None:
        """Each tuple of dtypes that is not legal is refused with the code of what refuses it."""
        refuse(self._wrong_acceptances())

    def _wrong_acceptances(self) -> Iterator[str]:
        name = self.operator.name
        for types, codes in (*illegal_tuples(self.operator), *mismatched_tuples(self.operator)):
            count_check()
            code = self._refusal(types)
            if code not in {f"{name}/{part}" for part in codes}:
                wanted = " or ".join(sorted(f"{name}/{part}" for part in codes))
                yield f"{spell_types(types)}: {code or 'accepted'}, want {wanted}"

    def _refusal(self, types: Tuple) -> str | None:
        try:
            with at(UnknownLocation()):
                function = self.function(self.operator.name)
                absent = omitted_inputs(self.operator, function)
                record_sample(function, bind(self.operator, types), absent)
        except DiagnosticError as error:
            return error.diagnostics[0].code
        return None

    @suite_check
    def check_wrong_arguments(self) -> None:
        """Each argument refuses what its type refuses, and takes each axis in range."""
        function = self.function(self.operator.name)
        refuse(wrong_arguments.problems(self.operator, function))

    # --- shapes, engines, examples ---

    @suite_check
    def check_symbol(self, size: str) -> None:
        """A symbol gives the shapes that a number gives."""
        function = self.function(self.operator.name)
        refuse(disagreements(self.operator, function, self.place(size)))

    @suite_check
    def check_example(self, call: str) -> None:
        """An example gives what it says, or it fails as it says."""
        for example in self.operator.examples:
            if examples.format_example(example) == call:
                made = self.try_example(example)
                count_check()
                if example.fails is not None:
                    codes = [d.code for d in getattr(made, "diagnostics", [])]
                    found = codes[0] if codes else "nothing"
                    wanted = f"{self.operator.name}/{example.fails}"
                    refuse_difference("the example fails with", found, wanted)
                    continue
                if isinstance(made, DiagnosticError):
                    raise AssertionError(error_line(made))
                case = self.example_cases[made.label]
                found = case, self._outcomes[case]
                refuse(examples.wrong_results(self.operator, example, found))

    @suite_check
    def check_law(self, law: str) -> None:
        """An example, or a tuple of dtypes, breaks the law and no other one."""
        refuse(check_independence(self.operator, law, self.run_example))


def _differences(
    operator: Operator,
    case: Case,
    types: Iterable[dtype],
    results: tuple[Sequence[Array], Sequence[Array]],
) -> Iterator[str]:
    """What is wrong with the results of a call on XLA, beside those of the reference."""
    chosen = tuple(types)
    for got, want in zip(*results, strict=True):
        if operator.random:
            found = distributions_differ(got, want)
            more = ""
        else:
            within = tolerance(operator, (*chosen, from_numpy(want.dtype)))
            found = difference(got, want, within)
            more = (
                explain_difference(case.graph, case.data, results, within)
                if found is not None
                else ""
            )
        if found is not None:
            yield f"{case.label}: {found}{more}"


def can_interpret(graph: Graph) -> bool:
    """Whether the interpreter has the dtypes of a graph's inputs and outputs."""
    values = (*graph.inputs.values(), *graph.outputs.values())
    return all(str(value.dtype) in DTYPES for value in values)


def explain_difference(
    graph: Graph,
    data: Mapping[str, Array],
    results: tuple[Sequence[Array], Sequence[Array]],
    within: ToleranceEntry,
) -> str:
    """Verdict on a difference between XLA and the reference, as the end of a sentence.

    Args:
        graph: The graph.
        data: Its inputs.
        results: What XLA gives, and what the reference gives.
        within: How near results must be to agree.
    """
    if not can_interpret(graph):
        return ""
    found = interpret([(lower_stablehlo(graph).text(), list(data.values()))])[0]
    if isinstance(found, str):
        return f" (the interpreter: {found})"
    xla, reference = (
        all(difference(a, b, within) is None for a, b in zip(found, each, strict=True))
        for each in results
    )
    if reference and not xla:
        return " (the interpreter agrees with the reference: XLA differs)"
    if xla and not reference:
        return " (the interpreter agrees with XLA: the lowering or the reference is wrong)"
    return (
        " (the interpreter agrees with both)" if xla else " (the interpreter agrees with neither)"
    )
