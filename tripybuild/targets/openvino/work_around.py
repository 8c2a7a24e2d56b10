"""Other nodes in the place of those that OpenVINO 2026.4 computes wrongly.

- A state of a loop that becomes another state passes through a node: OpenVINO gives both states the
  same memory, and both become one.
- The greatest of elements that are all `-inf` would be the least finite number. Of halves it is
  that, too, and twice that is `-inf` again; the least is the same with the other sign.
- A `Scan` whose body reads values from outside, which OpenVINO counts as states, is a `Loop`.
- A value to pad that is computed becomes zero: zeros are padded, and chosen against after that.
- Normal random numbers are made of uniform ones here: OpenVINO makes them of two that are equal. A
  random number without a shape is never drawn at all: it is what was in memory, so each has one.
- The maximum and the minimum of NaN and a number are the number, NaN is greater than all, and its
  truth is false. `Relu` stays as it is, of which NaN is zero: without it, a convolution and what
  follows are several kernels, and ResNet-50 takes a quarter longer.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from tripybuild.onnx.constants import number_bytes
from tripybuild.onnx.model import (
    GraphDef,
    OnnxAttribute,
    OnnxModel,
    OnnxNode,
    TensorData,
    ValueInfo,
)
from tripybuild.onnx.table import CODES
from tripybuild.types.dtypes import bfloat16, boolean, dtype, float16, float32, int64

LOOPS = frozenset({"Loop", "Scan"})
# Floats of which OpenVINO computes extremes; others are carried by them.
FLOATS = frozenset({float32, float16, bfloat16})


def work_around(model: OnnxModel, dtypes: Mapping[str, dtype | None]) -> OnnxModel:
    """The model with other nodes in the place of those that OpenVINO computes wrongly.

    Args:
        model: The model.
        dtypes: Those of all values by name.
    """
    return replace(
        model, graph=_Rewriting(dtypes, dict(_constants(model.graph))).graph(model.graph)
    )


@dataclass(slots=True)
class _Rewriting:
    """The rewriting of one model, and how many names it made."""

    dtypes: Mapping[str, dtype | None]
    constants: Mapping[str, TensorData]
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
        rewrite = REWRITINGS.get(node.operator)
        steps = None if rewrite is None else rewrite(_Steps(self, node))
        yield from [node] if steps is None else steps

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


@dataclass(slots=True)
class _Steps:
    """The nodes that stand for one node, under construction."""

    rewriting: _Rewriting
    node: OnnxNode
    made: list[OnnxNode] = field(default_factory=list)

    @property
    def kind(self) -> dtype | None:
        """The dtype of the first input."""
        return self.rewriting.dtypes.get(self.node.inputs[0]) if self.node.inputs else None

    def number(self, number: float, kind: dtype, shape: tuple[int, ...] = ()) -> str:
        """A constant."""
        name = self.rewriting.name(self.node.outputs[0])
        self.made.append(_constant(name, number, kind, shape))
        return name

    def call(self, operator: str, *inputs: str, **attributes: OnnxAttribute) -> str:
        """The result of an operator."""
        name = self.rewriting.name(self.node.outputs[0])
        self.made.append(
            OnnxNode(
                operator, inputs, (name,), attributes, name, doc=self.node.doc, span=self.node.span
            )
        )
        return name

    def cast(self, value: str, kind: dtype) -> str:
        """A value in another dtype."""
        return self.call("Cast", value, to=OnnxAttribute("int", CODES[kind.onnx]))

    def give(self, operator: str, *inputs: str) -> list[OnnxNode]:
        """The nodes, of which a last one gives the result of the node."""
        node = self.node
        last = replace(node, operator=operator, inputs=inputs, attributes={})
        return [*self.made, last]


def _extreme_of_elements(steps: _Steps) -> list[OnnxNode] | None:
    """Of halves, doubled; NaN where one of the elements is NaN."""
    node, kind = steps.node, steps.kind
    if kind not in FLOATS:
        return None
    source, *axes = node.inputs
    halves = steps.call("Mul", source, steps.number(0.5, kind))
    reduced = steps.call(node.operator, halves, *axes, **node.attributes)
    doubled = steps.call("Mul", reduced, steps.number(2.0, kind))
    flags = steps.cast(steps.call("IsNaN", source), kind)
    found = steps.call("ReduceMax", flags, *axes, **node.attributes)
    none = steps.call("Equal", found, steps.number(0.0, kind))
    return steps.give("Where", none, doubled, steps.number(math.nan, kind))


def _extreme(steps: _Steps) -> list[OnnxNode] | None:
    """Of two, the second one where it is NaN, or beyond the first one."""
    node, kind = steps.node, steps.kind
    if kind not in FLOATS or len(node.inputs) < PAIR:
        return None
    first, *others = node.inputs
    for at, second in enumerate(others, 1):
        pair = (first, second) if node.operator == "Max" else (second, first)
        chosen = steps.call("Less", *pair)
        if _may_be_nan(steps.rewriting.constants.get(second)):
            chosen = steps.call("Or", chosen, steps.call("IsNaN", second))
        if at == len(others):
            return steps.give("Where", chosen, second, first)
        first = steps.call("Where", chosen, second, first)
    return None


def _clip(steps: _Steps) -> list[OnnxNode] | None:
    """What is neither less than one bound nor beyond the other one; NaN is neither."""
    if steps.kind not in FLOATS:
        return None
    value, least, most = (*steps.node.inputs, "", "")[:3]
    if least:
        value = steps.call("Where", steps.call("Less", value, least), least, value)
    if most:
        value = steps.call("Where", steps.call("Less", most, value), most, value)
    return steps.give("Identity", value)


def _greater(steps: _Steps) -> list[OnnxNode] | None:
    """Whether the other one is less."""
    if steps.kind not in FLOATS:
        return None
    less = {"Greater": "Less", "GreaterOrEqual": "LessOrEqual"}[steps.node.operator]
    return steps.give(less, *reversed(steps.node.inputs))


def _truth(steps: _Steps) -> list[OnnxNode] | None:
    """What is not zero."""
    if steps.kind not in FLOATS or steps.node.attributes["to"].value != CODES[boolean.onnx]:
        return None
    zero = steps.call("Equal", steps.node.inputs[0], steps.number(0.0, steps.kind))
    return steps.give("Not", zero)


def _padding(steps: _Steps) -> list[OnnxNode] | None:
    """Zeros, and the value in the place of each."""
    node = steps.node
    if len(node.inputs) < 3 or not node.inputs[2] or node.inputs[2] in steps.rewriting.constants:
        return None
    source, pads, value, *axes = node.inputs
    padded = steps.call("Pad", source, pads, "", *axes, **node.attributes)
    inside = TensorData("", float32, (1,), number_bytes([1.0], float32))
    ones = steps.call(
        "ConstantOfShape", steps.call("Shape", source), value=OnnxAttribute("tensor", inside)
    )
    mask = steps.cast(steps.call("Pad", ones, pads, "", *axes, **node.attributes), boolean)
    return steps.give("Where", mask, padded, value)


def _uniform_numbers(steps: _Steps) -> list[OnnxNode] | None:
    """Numbers for one dimension more, of which there is one place."""
    given = steps.node.attributes
    (drawn,) = _draw(steps, 1)
    low, high = _float(given.get("low"), 0.0), _float(given.get("high"), 1.0)
    scaled = steps.call("Mul", drawn, steps.number(high - low, float32))
    return steps.give("Add", scaled, steps.number(low, float32))


def _normal_numbers(steps: _Steps) -> list[OnnxNode] | None:
    """The transformation of Box and Muller, of two uniform numbers for each."""
    given = steps.node.attributes
    first, second = _draw(steps, 2)
    number = partial(steps.number, kind=float32)
    logarithm = steps.call("Log", steps.call("Sub", number(1.0), first))
    radius = steps.call("Sqrt", steps.call("Mul", logarithm, number(-2.0)))
    turned = steps.call("Cos", steps.call("Mul", second, number(2 * math.pi)))
    mean, scale = _float(given.get("mean"), 0.0), _float(given.get("scale"), 1.0)
    scaled = steps.call("Mul", steps.call("Mul", radius, turned), number(scale))
    return steps.give("Add", scaled, number(mean))


def _float(attribute: OnnxAttribute | None, default: float) -> float:
    return attribute.value if attribute and isinstance(attribute.value, float) else default


def _draw(steps: _Steps, count: int) -> list[str]:
    """So many uniform numbers below one for each element of the input.

    No two nodes draw from the same number on, since OpenVINO would make one of them.
    """
    shape = steps.call("Shape", steps.node.inputs[0])
    axis = OnnxAttribute("int", 0)
    whole = steps.call("Concat", steps.number(count, int64, (1,)), shape, axis=axis)
    like = steps.call("Expand", steps.number(0.0, float32), whole)
    low = OnnxAttribute("float", steps.rewriting.count * LEAST)
    drawn = steps.call("RandomUniformLike", like, low=low)
    return [steps.call("Gather", drawn, steps.number(at, int64)) for at in range(count)]


PAIR = 2
LEAST = 1e-30  # lost where it is added to a random number
REWRITINGS: Mapping[str, Callable[[_Steps], list[OnnxNode] | None]] = MappingProxyType(
    {
        "Cast": _truth,
        "Clip": _clip,
        "Greater": _greater,
        "GreaterOrEqual": _greater,
        "Max": _extreme,
        "Min": _extreme,
        "Pad": _padding,
        "RandomNormalLike": _normal_numbers,
        "RandomUniformLike": _uniform_numbers,
        "ReduceMax": _extreme_of_elements,
        "ReduceMin": _extreme_of_elements,
    }
)


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


def _constants(graph: GraphDef) -> Iterator[tuple[str, TensorData]]:
    """The constants by name, weights included, whose data may be elsewhere."""
    yield from ((each.name, each) for each in graph.initializers)
    for node in graph.nodes:
        for body in node.bodies.values():
            yield from _constants(body)
        value = node.attributes.get("value")
        if node.operator == "Constant" and value and isinstance(value.value, TensorData):
            yield node.outputs[0], value.value


def _may_be_nan(tensor: TensorData | None) -> bool:
    """Whether an element may be NaN; of what is no number of the model, one may."""
    if tensor is None or tensor.shape or not isinstance(tensor.data, bytes):
        return True
    number = np.frombuffer(tensor.data, tensor.dtype.numpy)[0]
    return bool(number != number)  # noqa: PLR0124 - true of NaN alone
