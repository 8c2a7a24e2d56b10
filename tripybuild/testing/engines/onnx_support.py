"""ONNX cells of the support table: which opset has a model, and which engines compute it.

A tuple of dtypes has the cells of its sample; what is wrong is looked for in all calls near it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tripybuild.schema.operator.dtype_combinations import Tuple, format_tuple, legal_tuples
from tripybuild.testing.cases import Case, sample_case
from tripybuild.testing.engines.onnx_answers import COMPUTES, ask, lowest_opset
from tripybuild.testing.engines.openvino_answers import openvino_answers
from tripybuild.testing.engines.support_table import (
    ENGINES,
    NO,
    YES,
    Key,
    Outcome,
    is_silent,
    key,
    reasons,
)
from tripybuild.testing.sample import bind
from tripybuild.testing.suite import Suite

Cells = tuple[str, str, str]
EMPTY: Mapping[Key, str] = MappingProxyType({})


@dataclass
class OnnxSupport:
    """The cells of each tuple that is legal, why they are so, and what is wrong with any."""

    cells: dict[Key, Cells] = field(default_factory=dict)
    reasons: dict[Key, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def onnx_support(suite: Suite) -> OnnxSupport:
    """Ask ONNX, ONNX Runtime and OpenVINO for every legal tuple of an operator.

    Args:
        suite: The checks of the operator, of all its tuples.
    """
    found = OnnxSupport()
    operator = suite.operator
    with suite.location_context():
        function = suite.function(operator.name)
        samples = [(sample_case(operator, function, each), each) for each in legal_tuples(operator)]
        answers = openvino_answers([case for case, _ in samples])
        for (case, types), answer in zip(samples, answers, strict=True):
            name = key(operator, types)
            openvino = suite.openvino_cell(case, types, answer)
            found.cells[name] = (*_cells(suite, case, types), openvino)
            found.reasons[name] = reasons(suite.subject, types)
        for case, types in suite.reference_calls:
            for verdict in suite.onnx_verdicts(case, types):
                label = f"{format_tuple(types)}, {verdict.label}"
                found.problems += [f"{label}: {problem}" for problem in verdict.problems]
        for verdict, types in suite.openvino_verdicts:
            label = f"{format_tuple(types)}, {verdict.case.label}, OpenVINO"
            found.problems += [f"{label}: {problem}" for problem in verdict.problems]
    return found


def _cells(suite: Suite, case: Case, types: Tuple) -> tuple[str, str]:
    opset = lowest_opset(case.graph)
    if opset is None:
        return NO, NO
    answer = ask(case.graph, [list(case.data.values())], opset)
    computes = answer.level == COMPUTES and not is_silent(
        suite.operator, bind(suite.operator, types)
    )
    return str(opset), YES if computes else NO


def with_onnx(
    part: Mapping[Key, Outcome], cells: Mapping[Key, Outcome], why: Mapping[Key, str] = EMPTY
) -> dict[Key, Outcome]:
    """The outcomes of tuples with other cells for ONNX, and other reasons, where there are some."""
    found = {}
    for name, outcome in part.items():
        changed = list(outcome)
        changed[ENGINES] = cells.get(name, outcome[ENGINES])
        changed[-1] = why.get(name, outcome[-1])
        found[name] = tuple(changed)
    return found
