"""Drawing: a graph as nodes with names that stay, the source of each form that it is shown in.

A node is called after its part, its step and its operator, `h.0.attn.out:permute`, so that what was
measured of one executable can be laid over another one of the same model.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tripybuild.reference.cost import Cost, cost
from tripybuild.symbolic.dims import Size, evaluate
from tripybuild.trace.constants import Constant, Data
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.naming import CAPTURED

PartPath = tuple[str, ...]


class DrawnOperand(NamedTuple):
    """What a node reads: an output of another one, by the name of an argument."""

    source: str
    output: int
    argument: str


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A node.

    Args:
        id: What it is called, in all drawings of a model.
        kind: `operation`, `input`, `state`, `weight`, `constant`, or `parameter` of a body.
        label: The operator, the name of an input, or the number that a constant holds.
        part: The names from the outermost part on that it is in.
        step: The step of that part, which may have several operations.
        outputs: The types of what it gives.
        operands: What it reads.
        attributes: Its other arguments, as they are written.
        place: The file and the line that it comes from.
        flops: Its arithmetic operations.
        bytes: The bytes that it reads and writes.
    """

    id: str
    kind: str
    label: str
    part: PartPath
    step: str
    outputs: tuple[TensorType, ...]
    operands: tuple[DrawnOperand, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    place: str = ""
    flops: int = 0
    bytes: int = 0

    @property
    def path(self) -> str:
        """The part and the step."""
        return ".".join([*self.part, *([self.step] if self.step else [])])


class DrawnOutput(NamedTuple):
    """An output of the graph: the node that gives it, and which of its outputs that is."""

    source: str
    output: int
    type: TensorType


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph.

    Args:
        name: The model.
        entry: The entry of it; empty where it has one alone.
        nodes: The nodes by id, each behind what it reads.
        outputs: The outputs by name.
        sizes: The sizes that numbers are for.
    """

    name: str
    entry: str
    nodes: Mapping[str, DrawnNode]
    outputs: Mapping[str, DrawnOutput]
    sizes: Mapping[str, int]

    @property
    def label(self) -> str:
        """The model and the entry."""
        return f"{self.name}.{self.entry}" if self.entry else self.name

    @property
    def operations(self) -> list[DrawnNode]:
        """The nodes that compute."""
        return [each for each in self.nodes.values() if each.kind == "operation"]


class NamedOperation(NamedTuple):
    """An operation of a graph with the id of its node; those of bodies are not among them."""

    id: str
    operation: TraceOp


def type_text(type: TensorType) -> str:
    """A type as specifications write it: `float32[B, 4]`."""
    return f"{type.dtype}[{', '.join(map(str, type.shape)) or '()'}]"


def node_ids(operations: Iterable[TraceOp], entry: str = "") -> list[NamedOperation]:
    """The ids of operations of an entry, in their order."""
    counts: Counter[str] = Counter()
    found = []
    for operation in operations:
        part, step = _place_names(operation, entry)
        base = f"{'.'.join([*part, *([step] if step else [])])}:{operation.operator}"
        counts[base] += 1
        name = base if counts[base] == 1 else f"{base}.{counts[base]}"
        found.append(NamedOperation(name, operation))
    return found


def _place_names(operation: TraceOp, entry: str) -> tuple[PartPath, str]:
    """The part of an operation, and the step of it; the entry is in no name."""
    location = operation.location
    part, label = location.part, location.label
    label = label.removeprefix(f"{entry}.") if entry and not part else label
    names = tuple(part.split(".")) if part else ()
    if label == part or not label or label == "unknown":
        return names, ""
    inside = label.removeprefix(f"{part}.") if part else label
    return names, "" if part.endswith(label) else inside


class _Drafter:
    """Makes the nodes of a graph.

    Args:
        graph: The graph.
        entry: What the model calls it.
        states: Its inputs that stay from call to call.
        sizes: Numbers for its symbols.
    """

    def __init__(
        self, graph: Graph, entry: str, states: Iterable[str], sizes: Mapping[str, int]
    ) -> None:
        self.graph, self.entry, self.sizes = graph, entry, sizes
        self.nodes: dict[str, DrawnNode] = {}
        self.sources: dict[Value, tuple[str, int]] = {}
        held = frozenset(states)
        for name, value in graph.inputs.items():
            self._leaf("state" if name in held else "input", name, value)
        for name, value in graph.weights.items():
            self._leaf("weight", name, value)
        for each in node_ids(graph.operations, entry):
            self._operation(each.id, each.operation)

    def _leaf(self, kind: str, name: str, value: Value) -> None:
        """A node that reads nothing; a weight or a state is in the part that its path names."""
        part, _, label = name.rpartition(".") if kind != "input" else ("", "", name)
        place = tuple(part.split(".")) if part else ()
        node = DrawnNode(f"{kind}:{name}", kind, label, place, "", (value.type,))
        self.nodes[node.id], self.sources[value] = node, (node.id, 0)

    def _operation(self, name: str, operation: TraceOp, inside: PartPath = ()) -> None:
        part, step = _place_names(operation, self.entry)
        part = inside or part
        reads = [*_operands(operation)]
        for region in operation.bodies():
            reads += self._body(name, operation, region, part)
        operands = tuple(DrawnOperand(*self.sources[v], argument) for argument, v in reads)
        counted = Cost() if inside else cost(operation)  # a body counts for what holds it
        span = operation.location.span()
        known = _constant_text(operation.data) if isinstance(operation, Constant) else None
        self.nodes[name] = DrawnNode(
            name,
            "operation" if known is None else "constant",
            operation.operator if known is None else known,
            part,
            step,
            tuple(each.type for each in operation.outputs),
            operands,
            _attributes(operation) if known is None else {},
            f"{span.path}:{span.line}",
            self._number(counted.flops),
            self._number(counted.bytes),
        )
        for index, output in enumerate(operation.outputs):
            self.sources[output] = name, index

    def _body(
        self, name: str, operation: TraceOp, region: Region, part: PartPath
    ) -> list[tuple[str, Value]]:
        """The nodes of a graph inside of an operation; what it gives is read by the operation."""
        own = len(region.parameters) - len(operation.captured)
        inside = (*part, f"{operation.operator} body")
        for index, parameter in enumerate(region.parameters[:own]):
            node = DrawnNode(
                f"{name}/{index}", "parameter", f"{index}", inside, "", (parameter.type,)
            )
            self.nodes[node.id], self.sources[parameter] = node, (node.id, 0)
        for parameter, value in zip(region.parameters[own:], operation.captured, strict=True):
            self.sources[parameter] = self.sources[value]
        for each in node_ids(region.operations, self.entry):
            self._operation(f"{name}/{each.id}", each.operation, inside)
        return [("body", value) for value in region.results]

    def _number(self, size: Size) -> int:
        """The number that a size is; none where data tells it."""
        if isinstance(size, int):
            return size
        return evaluate(size, self.sizes) if size.symbols <= self.sizes.keys() else 0


def draw_graph(
    name: str, entry: str, graph: Graph, states: Iterable[str], sizes: Mapping[str, int]
) -> Drawing:
    """The drawing of a graph.

    Args:
        name: The model.
        entry: The entry; empty where the model has one alone.
        graph: What the entry does.
        states: Its inputs that stay from call to call.
        sizes: Numbers for its symbols, which costs are for.
    """
    drafted = _Drafter(graph, entry, states, sizes)
    outputs = {
        each: DrawnOutput(*drafted.sources[value], value.type)
        for each, value in graph.outputs.items()
    }
    return Drawing(name, entry, drafted.nodes, outputs, sizes)


def _operands(operation: TraceOp) -> Iterable[tuple[str, Value]]:
    """What an operation reads, with the names of the arguments."""
    for name, argument in operation.arguments().items():
        if isinstance(argument, Value):
            yield name, argument
        elif isinstance(argument, tuple) and name != CAPTURED:
            yield from ((name, each) for each in argument if isinstance(each, Value))


def _attributes(operation: TraceOp) -> dict[str, str]:
    """The arguments that are no tensors, as a specification writes them."""
    found = {}
    for name, argument in operation.arguments().items():
        first = argument[0] if isinstance(argument, tuple) and argument else argument
        if first is not None and name != CAPTURED and not isinstance(first, (Value, Region)):
            found[name] = _attribute_text(argument)
    return found


def _attribute_text(argument: Any) -> str:
    if isinstance(argument, Sequence) and not isinstance(argument, str):
        return f"[{', '.join(map(_attribute_text, argument))}]"
    return str(argument)


def _constant_text(data: Data) -> str:
    """The number that fills a constant, or what it is an array of."""
    if data.number is None and not hasattr(data.value, "symbols"):
        return "constant"
    return str(data.value)
