"""A model as OpenVINO reads it: checked, rewritten, and with its weights in memory that is shared.

OpenVINO copies what a file of ONNX holds, and every file beside it. Weights are therefore inputs of
the model that it reads, and become constants over the caller's arrays before it is compiled.

What OpenVINO 2026.4 computes wrongly is rewritten:

- A state of a loop that becomes another state passes through a node: OpenVINO gives both states the
  same memory, and both become one.
- The greatest of elements that are all `-inf` would be the least finite number. Of halves it is
  that, too, and twice that is `-inf` again; the least is the same with the other sign.
- A `Scan` whose body reads values from outside, which OpenVINO counts as states, is a `Loop`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.onnx.constants import number_bytes
from tripybuild.onnx.model import (
    GraphDef,
    OnnxAttribute,
    OnnxModel,
    OnnxNode,
    TensorData,
    ValueInfo,
)
from tripybuild.onnx.protobuf import encode_model
from tripybuild.targets.openvino.bounds import ValueBounds
from tripybuild.targets.openvino.exactness import Exactness
from tripybuild.targets.openvino.library import core, library
from tripybuild.targets.openvino.refusals import compile_failure, empty_tensors
from tripybuild.targets.openvino.tensors import Array, pack, tensor_over
from tripybuild.types.dtypes import bfloat16, boolean, dtype, float16, float32, int64


class ReadableModel:
    """What OpenVINO reads in any process: the file, and the arrays of its weights.

    Args:
        model: The model; initializers without data are weights.
        weights: Their arrays by name.
        ranges: The bounds of the symbols in shapes.

    Raises:
        DiagnosticError: OpenVINO would compute something else; all of that is said at once.
    """

    def __init__(
        self,
        model: OnnxModel,
        weights: Mapping[str, Array] | None = None,
        ranges: Mapping[str, ValueBounds] | None = None,
    ) -> None:
        weights = weights or {}
        exactness = Exactness(model, ranges or {}, weights)
        found = [*empty_tensors(model.graph), *exactness.refusals()]
        if found:
            raise DiagnosticError(*dict.fromkeys(each.diagnostic() for each in found))
        graph = model.graph
        self._model = model
        self._shared = [each for each in graph.initializers if each.data is None]
        # Arrays are held as long as the model, which reads their memory.
        self._arrays = [pack(weights[each.name], each.dtype) for each in self._shared]
        self._content = encode_model(
            work_around(_with_inputs(model, self._shared), exactness.dtypes)
        )

    def read(self) -> Any:
        """The model in OpenVINO's own form, with constants over the arrays.

        Raises:
            DiagnosticError: OpenVINO cannot read it.
        """
        try:
            read = core().read_model(self._content)
        except RuntimeError as error:
            raise self.failure(error) from error
        inputs = {each.get_friendly_name(): each for each in read.get_parameters()}
        for weight, array in zip(self._shared, self._arrays, strict=True):
            tensor = tensor_over(array, weight.dtype, weight.shape)
            constant = library().op.Constant(tensor, shared_memory=True)
            constant.set_friendly_name(weight.name)
            parameter = inputs[weight.name]
            parameter.output(0).replace(constant.output(0))
            read.remove_parameter(parameter)
        return read

    def failure(self, error: RuntimeError) -> DiagnosticError:
        """What OpenVINO said, at the operation that it is about."""
        return DiagnosticError(compile_failure(error, self._model.graph))


def _with_inputs(model: OnnxModel, weights: Sequence[TensorData]) -> OnnxModel:
    """The model with weights as inputs, behind its own."""
    graph = model.graph
    names = {each.name for each in weights}
    own = tuple(each for each in graph.initializers if each.name not in names)
    added = tuple(ValueInfo(each.name, each.dtype, each.shape) for each in weights)
    return replace(model, graph=replace(graph, inputs=(*graph.inputs, *added), initializers=own))


REDUCTIONS = frozenset({"ReduceMax", "ReduceMin"})
LOOPS = frozenset({"Loop", "Scan"})
HALVED = frozenset({float32, float16, bfloat16})


def work_around(model: OnnxModel, dtypes: Mapping[str, dtype | None]) -> OnnxModel:
    """The model with other nodes in the place of those that OpenVINO computes wrongly.

    Args:
        model: The model.
        dtypes: Those of all values by name.
    """
    return replace(model, graph=_Rewriting(dtypes).graph(model.graph))


@dataclass(slots=True)
class _Rewriting:
    """The rewriting of one model, and how many names it made."""

    dtypes: Mapping[str, dtype | None]
    count: int = field(default=0)

    def name(self, base: str) -> str:
        """A name that no lowering gives."""
        self.count += 1
        return f"{base}//{self.count}"

    def graph(self, graph: GraphDef) -> GraphDef:
        """A graph whose nodes are as they were, or those that stand for them."""
        made = tuple(each for node in graph.nodes for each in self.node(node))
        return replace(graph, nodes=made)

    def node(self, node: OnnxNode) -> Iterator[OnnxNode]:
        """What stands for a node."""
        given = {
            name: replace(node.attributes[name], value=self.graph(body))
            for name, body in node.bodies.items()
        }
        if given:
            node = replace(node, attributes={**node.attributes, **given})
        if node.operator in LOOPS:
            body = node.bodies["body"]
            separate = replace(node.attributes["body"], value=self.separate(body))
            node = replace(node, attributes={**node.attributes, "body": separate})
            if node.operator == "Scan" and _captures(body) and not _collects_elsewhere(node):
                yield from self.loop(node)
                return
        if node.operator in REDUCTIONS and self.dtypes.get(node.inputs[0]) in HALVED:
            yield from self.reduction(node)
            return
        yield node

    def separate(self, body: GraphDef) -> GraphDef:
        """A body in which no parameter is a result as it is."""
        parameters = {each.name for each in body.inputs}
        nodes: list[OnnxNode] = []
        outputs: list[ValueInfo] = []
        for each in body.outputs:
            if each.name in parameters:
                name = self.name(each.name)
                nodes.append(OnnxNode("Identity", (each.name,), (name,), name=name))
                outputs.append(replace(each, name=name))
            else:
                outputs.append(each)
        return replace(body, nodes=(*body.nodes, *nodes), outputs=tuple(outputs))

    def reduction(self, node: OnnxNode) -> Iterator[OnnxNode]:
        """A reduction of halves, doubled."""
        source, (result,) = node.inputs[0], node.outputs
        kind = self.dtypes[source]
        assert kind is not None
        half, two, halves, reduced = (self.name(result) for _ in range(4))
        yield _constant(half, 0.5, kind)
        yield _constant(two, 2.0, kind)
        place: Any = {"doc": node.doc, "span": node.span}
        yield OnnxNode("Mul", (source, half), (halves,), name=halves, **place)
        yield replace(node, inputs=(halves, *node.inputs[1:]), outputs=(reduced,))
        yield OnnxNode("Mul", (reduced, two), (result,), name=self.name(result), **place)

    def loop(self, node: OnnxNode) -> Iterator[OnnxNode]:
        """A loop over the indices of what a `Scan` goes through."""
        body = node.bodies["body"]
        scanned = _integers(node, "num_scan_inputs")[0]
        states, through = node.inputs[:-scanned], node.inputs[-scanned:]
        axes = _integers(node, "scan_input_axes") or (0,) * scanned
        turns, flat, axis = self.name("turns"), self.name("turns"), axes[0]
        span = {"start": OnnxAttribute("int", axis), **_end(axis)}
        yield OnnxNode("Shape", (through[0],), (flat,), span, flat)
        yield OnnxNode("Squeeze", (flat,), (turns,), name=turns)
        made = self._loop_body(node, body, through, axes, turns)
        back = _integers(node, "scan_output_directions")
        results = list(node.outputs)
        for at, backward in enumerate(back, len(results) - len(back)):
            results[at] = self.name("collected") if backward and results[at] else results[at]
        attributes = {"body": OnnxAttribute("graph", made)}
        inputs, outputs = (turns, "", *states), tuple(results)
        yield replace(node, operator="Loop", inputs=inputs, outputs=outputs, attributes=attributes)
        for found, result in zip(results, node.outputs, strict=True):
            if found != result:
                yield from self.reverse(found, result)

    def reverse(self, collected: str, result: str) -> Iterator[OnnxNode]:
        """What was collected, from the last turn to the first."""
        numbers = [self.name("end") for _ in range(3)]
        for name, number in zip(numbers, (-1, int(int64.lowest), 0), strict=True):
            yield _constant(name, number, int64, (1,))
        start, end, axis = numbers
        inputs = (collected, start, end, axis, start)
        yield OnnxNode("Slice", inputs, (result,), name=self.name(result))

    def _loop_body(
        self,
        node: OnnxNode,
        body: GraphDef,
        through: Sequence[str],
        axes: Sequence[int],
        turns: str,
    ) -> GraphDef:
        """The body of a `Scan`, which takes its elements by the index of the turn."""
        back = _integers(node, "scan_input_directions") or (0,) * len(through)
        states, elements = body.inputs[: -len(through)], body.inputs[-len(through) :]
        turn, more, still, one, last, reverse = (self.name("turn") for _ in range(6))
        nodes = [OnnxNode("Identity", (more,), (still,), name=still)]
        if any(back):
            nodes.append(_constant(one, 1, int64))
            nodes.append(OnnxNode("Sub", (turns, one), (last,), name=last))
            nodes.append(OnnxNode("Sub", (last, turn), (reverse,), name=reverse))
        for place, element in enumerate(elements):
            index = reverse if back[place] else turn
            attributes = {"axis": OnnxAttribute("int", axes[place])}
            taken = (through[place], index)
            nodes.append(
                OnnxNode("Gather", taken, (element.name,), attributes, self.name("element"))
            )
        inputs = (ValueInfo(turn, int64, ()), ValueInfo(more, boolean, ()), *states)
        outputs = (ValueInfo(still, boolean, ()), *body.outputs)
        return replace(body, nodes=(*nodes, *body.nodes), inputs=inputs, outputs=outputs)


def _constant(name: str, number: float, kind: dtype, shape: tuple[int, ...] = ()) -> OnnxNode:
    """A node that gives a number."""
    held = TensorData("", kind, shape, number_bytes([number], kind))
    return OnnxNode("Constant", (), (name,), {"value": OnnxAttribute("tensor", held)}, name)


def _end(axis: int) -> dict[str, OnnxAttribute]:
    """The end of the sizes from an axis on, of which there is one; the last one has none."""
    return {} if axis == -1 else {"end": OnnxAttribute("int", axis + 1)}


def _integers(node: OnnxNode, name: str) -> tuple[int, ...]:
    found = node.attributes.get(name)
    if found is None:
        return ()
    value = found.value
    if isinstance(value, int):
        return (value,)
    assert isinstance(value, (list, tuple))
    return tuple(map(int, value))


def _collects_elsewhere(node: OnnxNode) -> bool:
    """Whether results are not collected along their first axis."""
    return any(_integers(node, "scan_output_axes"))


def _captures(body: GraphDef) -> bool:
    """Whether a body reads values from outside."""
    return bool(_free(body))


def _free(graph: GraphDef) -> frozenset[str]:
    """The names that a graph reads and does not have."""
    own = {each.name for each in graph.inputs} | {each.name for each in graph.initializers}
    own |= {name for node in graph.nodes for name in node.outputs}
    read = {name for node in graph.nodes for name in node.inputs if name}
    read |= {each.name for each in graph.outputs}
    read |= {name for node in graph.nodes for body in node.bodies.values() for name in _free(body)}
    return frozenset(read - own)
