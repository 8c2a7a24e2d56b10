"""Oracle comparison: other systems' results beside the reference and `cpu`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tripybuild.language.evaluate import EvaluationError
from tripybuild.reference.compare import difference, distributions_differ, tolerance
from tripybuild.reference.execute import execute
from tripybuild.reference.numerics.arrays import Array, round_cast
from tripybuild.schema.operator.operator import Alias, Operator
from tripybuild.testing import batch
from tripybuild.testing.cases import Case, Function, of_arguments
from tripybuild.testing.check_counts import count_check
from tripybuild.testing.examples import ExampleCase
from tripybuild.testing.oracles import onnx_runtime, pytorch
from tripybuild.testing.oracles.alias_calls import AliasCall
from tripybuild.testing.oracles.foreign_calls import ForeignCall, System, UnsupportedCall
from tripybuild.types.dtypes import float32, from_numpy
from tripybuild.types.patterns import tensors

UNSAID = "no alias can say one of these calls"


@dataclass(frozen=True)
class Oracle:
    """Executor of a foreign system's operators, and its required distributions."""

    title: str
    run: System
    distributions: tuple[str, ...]


SYSTEMS: Mapping[str, Oracle] = {
    "aten": Oracle("PyTorch", pytorch.run, ("torch",)),
    "onnx": Oracle("ONNX", onnx_runtime.run, ("onnx", "onnxruntime")),
}


@dataclass(frozen=True)
class CaseResults:
    """A call, and what the reference and `cpu` give for it.

    `kind` is the tuple of its dtypes, or `examples`.
    """

    case: Case
    kind: str
    reference: Sequence[Array]
    cpu: batch.Outcome


def collect_results(
    operator: Operator,
    function: Function,
    near: Mapping[Case, batch.Outcome],
    given: Iterable[tuple[ExampleCase, batch.Outcome]],
) -> list[CaseResults]:
    """The calls near the sample and those of the examples, with their results."""
    found = []
    for case, outcome in near.items():
        wanted = execute(case.graph, case.data).values()
        found.append(CaseResults(case, case.types, list(wanted), outcome))
    for made, outcome in given:
        arguments = {n: made.array(v) for n, v in made.arguments.items()}
        if made.operator == operator.name:
            case = of_arguments(operator, function, made.label, arguments)
            wanted = execute(made.graph, made.data).values()
            # Where one place takes several arguments, their types say which it is: no name does.
            found += [CaseResults(case, "examples", list(wanted), outcome)] if case.is_legal else []
    return found


@dataclass
class OracleReport:
    """Result of an oracle: problems, and the number of calls compared.

    `unasked` are the reasons why nothing here could run a call, by the text of the alias.
    """

    problems: list[str] = field(default_factory=list)
    asked: Counter[str] = field(default_factory=Counter)
    unasked: dict[str, UnsupportedCall] = field(default_factory=dict)

    def unrun_aliases(self) -> Iterator[str]:
        """The aliases that say a call and are run for none."""
        for text, reason in self.unasked.items():
            if not self.asked[text]:
                yield f"{text}: nothing here runs it: {reason}"


def oracle_report(operator: Operator, system: str, calls: Sequence[CaseResults]) -> OracleReport:
    """Where a system computes something else than the reference or `cpu`.

    A difference that is declared must be seen.
    """
    found = OracleReport()
    for alias in operator.foreign:
        if alias.system == system:
            seen: dict[str, bool] = {}
            for call in calls:
                _check_call(operator, alias, call, found, seen)
            for name, differs in seen.items():
                if not differs:
                    found.problems.append(f"{alias.text}: does not differ as `{name}` says")
    return found


def _check_call(
    operator: Operator,
    alias: Alias,
    call: CaseResults,
    answers: OracleReport,
    seen: dict[str, bool],
) -> None:
    said = AliasCall.of(operator, call.case)
    try:
        if not said.applies(alias):
            return
        found = _compare(operator, alias, call, said)
        declared = said.differences(alias)
    except EvaluationError as error:
        answers.problems.append(f"{alias.text}: {error}")
        return
    except UnsupportedCall as error:
        answers.unasked[alias.text] = error
        return
    count_check()
    answers.asked[alias.text] += 1
    for name in declared:
        seen[name] = seen.get(name, False) or bool(found)
    if not declared:
        answers.problems += [f"{alias.text}, {call.case.label}: {problem}" for problem in found]


def _compare(operator: Operator, alias: Alias, call: CaseResults, said: AliasCall) -> list[str]:
    """The problems of one call. In few bits a system may lose some; then it computes in more."""
    narrow = any(a.dtype.kind in "fV" and a.dtype.itemsize < 4 for a in call.reference)
    found = list(_compare_once(operator, alias, call, said, wide=False))
    try:
        return (
            list(_compare_once(operator, alias, call, said, wide=True))
            if found and narrow
            else found
        )
    except UnsupportedCall:
        return found


def _compare_once(
    operator: Operator, alias: Alias, call: CaseResults, said: AliasCall, *, wide: bool
) -> Iterator[str]:
    wanted = list(call.reference)
    types = [from_numpy(array.dtype) for array in wanted]
    system = SYSTEMS[alias.system]
    # ONNX has no attributes of float64.
    rounded = alias.system == "onnx" and any(
        isinstance(said.arguments(alias).get(name), float) for name in alias.signature.by_name
    )
    made = ForeignCall(alias.signature, operands(alias, said), alias.result, alias.opset)
    try:
        results = system.run(made, types, wide=wide)
    except RuntimeError as error:
        yield f"{system.title} refuses it: {str(error).splitlines()[0]}"
        return
    if len(results) != len(wanted):
        yield f"{system.title} gives {len(results)} results, the reference {len(wanted)}"
        return
    others: dict[str, Sequence[Array]] = {"the reference": wanted}
    if isinstance(call.cpu, list):
        others["`cpu`"] = call.cpu
    for at, result in enumerate(results):
        for name, ours in others.items():
            found = describe_difference(operator, result, ours[at], call.case, rounded)
            if found is not None:
                yield f"{system.title} and {name}: {found}"


def operands(alias: Alias, said: AliasCall) -> dict[str, Any]:
    """The other's arguments; a number that stands for a tensor of ours has its dtype."""
    arguments = said.arguments(alias)
    inputs = said.operator.inputs
    for parameter, own in alias.plain.items():
        value, input = arguments[parameter], inputs.get(own)
        pattern = next(tensors(input.pattern), None) if input is not None else None
        if pattern is not None and isinstance(value, (bool, int, float)):
            type = said.names.get(pattern.element)
            arguments[parameter] = round_cast(value, type) if type is not None else value
    return arguments


def describe_difference(
    operator: Operator, got: Array, want: Array, case: Case, rounded: bool = False
) -> str | None:
    """The sentence of a difference; integers may be of another width.

    With numbers of the call that were `rounded` to float32, results are no nearer than that.
    """
    kinds = got.dtype.kind + want.dtype.kind
    if kinds == "ii" and np.array_equal(got.astype(want.dtype), got):
        got = got.astype(want.dtype)
    if operator.random:
        return distributions_differ(got, want)
    types = [from_numpy(array.dtype) for array in (*case.data.values(), want)]
    types += [float32] if rounded and want.dtype.kind == "f" else []
    return difference(got, want, tolerance(operator, tuple(types)))
