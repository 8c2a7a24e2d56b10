"""What OpenVINO gives for calls, on the path of `cpu:openvino`.

Each call is lowered and checked alone: what the target refuses is known without OpenVINO. The
others share a program, whose cost is that of some calls; where one of them is at fault, halves are
tried. Programs are in the process for engines, which OpenVINO may end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.reference.numerics.arrays import Array
from tripybuild.symbolic.dims import Dim
from tripybuild.targets.cpu.openvino import OPSET, check_tensors, ports, readable_model
from tripybuild.targets.openvino.model import ReadableModel
from tripybuild.targets.openvino.program import Program
from tripybuild.targets.openvino.refusals import CODE
from tripybuild.targets.openvino.tensors import OpenvinoPort
from tripybuild.testing.batch import Runnable, bisect, merge_graphs
from tripybuild.testing.check_counts import error_line
from tripybuild.testing.engines.onnx_answers import (
    COMPUTES,
    CRASHES,
    LOWERING,
    REFUSED,
    UNSAID,
    OnnxAnswer,
    is_unavailable,
)
from tripybuild.testing.engines.onnx_sessions import (
    RuntimeCrashError,
    RuntimeRefusalError,
    run_apart,
)
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import Value
from tripybuild.types.size_range import SizeRange

MOST = 128  # calls of one program
NAME = "OpenVINO"  # in the place of the levels of ONNX Runtime
ONE_THREAD = {"threads": 1}
Shapes = Sequence[Sequence[int] | None]


@dataclass(frozen=True)
class ProgramRequest:
    """A model, and its calls: the inputs of each, and the shapes of its results."""

    model: ReadableModel
    inputs: Sequence[OpenvinoPort]
    outputs: Sequence[OpenvinoPort]
    calls: Sequence[tuple[Sequence[Array], Shapes]]


def run_program(request: ProgramRequest) -> list[list[Array]]:
    """What a model gives for each call; it may end the process.

    Raises:
        RuntimeRefusalError: OpenVINO does not compile it, or fails in a call.
    """
    try:
        program = Program(request.model, request.inputs, request.outputs, ONE_THREAD)
        return [program(*each) for each in request.calls]
    except DiagnosticError as error:
        raise RuntimeRefusalError(error_line(error)) from error


def openvino_answers(cases: Sequence[Runnable]) -> list[OnnxAnswer]:
    """What OpenVINO gives for each call, or why it gives nothing."""
    refused = {at: found for at, case in enumerate(cases) if (found := _refusal(case.graph))}
    asked = [case for at, case in enumerate(cases) if at not in refused]
    given = iter(bisect(asked, MOST, _together, lambda found: found.level != COMPUTES))
    return [refused.get(at) or next(given) for at in range(len(cases))]


def openvino_answer(
    graph: Graph, calls: Sequence[Runnable], ranges: Mapping[str, SizeRange]
) -> OnnxAnswer:
    """What one program of a graph with symbols gives for calls with numbers.

    Args:
        graph: The graph.
        calls: What it is called with; sizes of zero are not OpenVINO's to compute.
        ranges: Those of the symbols.
    """
    try:
        check_tensors(graph)
        model = readable_model(graph, ranges, {})
    except DiagnosticError as error:
        return _without_model(error)
    given = [([*each.data.values()], _shapes(each.graph)) for each in calls]
    request = ProgramRequest(model, ports(graph.inputs), ports(graph.outputs), given)
    return _answer(request)


def is_asked(graph: Graph) -> bool:
    """Whether the target gives a call to OpenVINO, which takes no empty tensors."""
    try:
        check_tensors(graph)
    except DiagnosticError:
        return False
    return True


def _refusal(graph: Graph) -> OnnxAnswer | None:
    """Why there is no model of a call, if there is none."""
    try:
        check_tensors(graph)
        readable_model(graph, {}, {})
    except DiagnosticError as error:
        return _without_model(error)
    return None


def _without_model(error: DiagnosticError) -> OnnxAnswer:
    level = UNSAID if is_unavailable(error) else LOWERING
    if all(each.code == CODE for each in error.diagnostics):
        level = REFUSED
    return OnnxAnswer(OPSET, level, error_line(error))


def _together(cases: Sequence[Runnable]) -> list[OnnxAnswer]:
    """What cases give that share a program; a fault of one is told of all."""
    graph = merge_graphs([case.graph for case in cases])
    arrays = [array for case in cases for array in case.data.values()]
    given = [(arrays, _shapes(graph))]
    model = readable_model(graph, {}, {})
    answer = _answer(ProgramRequest(model, ports(graph.inputs), ports(graph.outputs), given))
    if answer.level != COMPUTES:
        return [answer] * len(cases)
    results = iter(answer.results[NAME][0])
    each = [[next(results) for _ in case.graph.outputs] for case in cases]
    return [OnnxAnswer(OPSET, COMPUTES, results={NAME: [found]}) for found in each]


def _answer(request: ProgramRequest) -> OnnxAnswer:
    try:
        results = run_apart(run_program, request)
    except RuntimeRefusalError as error:
        return OnnxAnswer(OPSET, REFUSED, str(error))
    except RuntimeCrashError as error:
        return OnnxAnswer(OPSET, CRASHES, str(error))
    return OnnxAnswer(OPSET, COMPUTES, results={NAME: results})


def _shapes(graph: Graph) -> list[tuple[int, ...] | None]:
    return [_shape(value) for value in graph.outputs.values()]


def _shape(value: Value) -> tuple[int, ...] | None:
    """The shape of a result; None where elements tell it."""
    sizes = tuple(each for each in value.shape if not isinstance(each, Dim))
    return sizes if len(sizes) == len(value.shape) else None
