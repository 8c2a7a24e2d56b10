"""Completion of a graph: what its outputs need, with names, as a model.

Invariant: names are given in the order of nodes that are kept, so equal graphs have equal models.
No name is there twice, in the graph or in a graph inside of a node: those see all names around
them.
"""

from collections.abc import Iterator, Mapping, Sequence

from tripybuild.onnx.builder import OnnxGraph
from tripybuild.onnx.model import (
    GraphDef,
    OnnxAttribute,
    OnnxModel,
    OnnxNode,
    Size as ModelSize,
    TensorData,
    ValueInfo,
)
from tripybuild.onnx.nodes import GraphBody, GraphNode, Scope
from tripybuild.onnx.value import OnnxValue, Shape
from tripybuild.version import VERSION


def complete_model(graph: OnnxGraph, name: str, *, types: bool = False) -> OnnxModel:
    """The model of a graph whose outputs are known.

    Args:
        graph: The graph.
        name: Its name.
        types: Whether the types of values between are there, as far as they are declared.

    Returns:
        A model in which weights have no data yet. Inputs and outputs stand in their order, with
        their own names as far as no weight or input has those.
    """
    return _Completion(graph).model(name, types=types)


class _Completion:
    def __init__(self, graph: OnnxGraph) -> None:
        self.graph = graph
        self.names: dict[OnnxValue, str] = {}
        self.taken: set[str] = set()
        self.counts: dict[str, int] = {}
        self.infos: list[ValueInfo] = []
        self.live, self.read = _live_nodes(graph)

    def model(self, name: str, *, types: bool) -> OnnxModel:
        graph = self.graph
        for key, value in graph.weights.items():
            self._name(value, key)
        for key, value in graph.inputs.items():
            self._name(value, self._fresh(key))
        outputs = {self._fresh(key): value for key, value in graph.outputs.items()}
        constants = [(key, v) for key, v in graph.constants.items() if v in self.read]
        for _, value in constants:
            self._name(value, self._fresh("constant"))
        ends = self._outputs(outputs)
        nodes = [*self._nodes(graph.prologue), *self._nodes(graph.body), *ends]
        weights = [
            TensorData(key, value.dtype, _numbers(value.shape), None)
            for key, value in graph.weights.items()
            if value in self.read
        ]
        held = [TensorData(self.names[v], *key) for key, v in constants]
        made = GraphDef(
            name,
            tuple(nodes),
            tuple(_info(self.names[value], value) for value in graph.inputs.values()),
            tuple(_info(key, value) for key, value in outputs.items()),
            (*weights, *held),
            tuple(self.infos) if types else (),
        )
        return OnnxModel(made, graph.opset, producer="tripybuild", producer_version=VERSION)

    def _outputs(self, outputs: Mapping[str, OnnxValue]) -> list[OnnxNode]:
        """Give outputs their names; one that has another name already is copied."""
        ends = []
        for name, value in outputs.items():
            if value in self.names:
                made = self._fresh(f"{name}/Identity")
                ends.append(OnnxNode("Identity", (self.names[value],), (name,), name=made))
            else:
                self.names[value] = name
        return ends

    def _name(self, value: OnnxValue, name: str) -> None:
        self.names[value] = name
        self.taken.add(name)

    def _fresh(self, base: str) -> str:
        """A name that nothing has: the base, or with a number behind it."""
        count = self.counts.get(base, 0)
        name = base if not count else f"{base}_{count + 1}"
        while name in self.taken:
            count += 1
            name = f"{base}_{count + 1}"
        self.counts[base] = count + 1
        self.taken.add(name)
        return name

    def _nodes(self, scope: Scope) -> Iterator[OnnxNode]:
        for node in scope.nodes:
            if node in self.live:
                yield self._node(node)

    def _node(self, node: GraphNode) -> OnnxNode:
        label, doc, span = node.place
        name = self._fresh(f"{label}/{node.schema.name}" if label else node.schema.name)
        inputs = ["" if each is None else self.names[each] for each in node.inputs]
        attributes = {
            key: OnnxAttribute(node.schema.attributes[key].kind, value)
            for key, value in node.attributes.items()
        }
        for key, body in node.bodies.items():
            attributes[key] = OnnxAttribute("graph", self._body(f"{name}/{key}", body))
        outputs = self._results(node, name)
        return OnnxNode(
            node.schema.name,
            _trimmed(inputs),
            _trimmed(outputs),
            dict(sorted(attributes.items())),
            name=name,
            doc=doc,
            span=span,
        )

    def _results(self, node: GraphNode, name: str) -> list[str]:
        """The names of results; one that nothing reads and that may be left out has none."""
        several = len(node.outputs) > 1
        found = []
        for index, value in enumerate(node.outputs):
            formal = node.schema.output_at(index)
            optional = formal is not None and formal.optional
            if optional and value not in self.read:
                found.append("")
                continue
            if value not in self.names:
                self._name(value, self._fresh(f"{name}:{index}") if several else name)
            found.append(self.names[value])
            if value.shape is not None:
                self.infos.append(_info(self.names[value], value))
        return found

    def _body(self, name: str, body: GraphBody) -> GraphDef:
        for index, value in enumerate(body.takes):
            self._name(value, self._fresh(f"{name}/input{index}"))
        # What a body gives is made in it, and each is there once: all else is copied.
        inside = {value for node in body.scope.nodes for value in node.outputs}
        gives, copies = [], []
        for index, value in enumerate(body.gives):
            given = self._fresh(f"{name}/output{index}")
            gives.append(_info(given, value))
            if value in inside and value not in self.names:
                self._name(value, given)
            else:
                copies.append((value, given))
        nodes = list(self._nodes(body.scope))
        for value, given in copies:
            identity = self._fresh(f"{name}/Identity")
            nodes.append(OnnxNode("Identity", (self.names[value],), (given,), name=identity))
        takes = tuple(_info(self.names[value], value) for value in body.takes)
        return GraphDef(name, tuple(nodes), takes, tuple(gives))


def _live_nodes(graph: OnnxGraph) -> tuple[set[GraphNode], set[OnnxValue]]:
    """The nodes that outputs need, and the values that are read."""
    live: set[GraphNode] = set()
    read: set[OnnxValue] = set()
    stack: list[OnnxValue] = list(graph.outputs.values())
    while stack:
        value = stack.pop()
        if value in read:
            continue
        read.add(value)
        node = value.producer
        if node is not None and node not in live:
            live.add(node)
            stack += (each for each in node.inputs if each is not None)
            stack += (each for body in node.bodies.values() for each in body.gives)
    return live, read


def _info(name: str, value: OnnxValue) -> ValueInfo:
    shape = None if value.shape is None else tuple(map(_size, value.shape))
    return ValueInfo(name, value.dtype, shape)


def _size(size: object) -> ModelSize:
    return size if isinstance(size, int) else str(size)


def _numbers(shape: Shape | None) -> tuple[int, ...]:
    """The sizes of a weight, which are numbers."""
    return tuple([int(size) for size in shape or ()])


def _trimmed(names: Sequence[str]) -> tuple[str, ...]:
    """Names without those at the end that are empty."""
    end = len(names)
    while end and not names[end - 1]:
        end -= 1
    return tuple(names[:end])
