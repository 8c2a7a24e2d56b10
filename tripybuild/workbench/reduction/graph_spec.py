"""Graphs as specs: a graph that was recorded, or a part of it, as the file of a model.

Each operation is one call of its operator. Numbers stay in the expressions; other constants are
weights, as all arrays are.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tripybuild.artifact.call_signature import Array
from tripybuild.documents.document import parse
from tripybuild.importer.call_program import Call, CallGraph, CallProgram, CallValue
from tripybuild.importer.foreign_program import ForeignWeight
from tripybuild.importer.session import SPEC, store_spec
from tripybuild.importer.spec_writer import write_calls
from tripybuild.schema.load import Registry
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region, copy_operations
from tripybuild.trace.values import Value
from tripybuild.types.naming import CAPTURED
from tripybuild.types.size_range import SizeRange

SYSTEM = "tripybuild"


def store_graph(
    folder: Path,
    graph: Graph,
    ranges: Mapping[str, SizeRange],
    weights: Mapping[str, Array],
    registry: Registry,
) -> Path:
    """Write a graph as a spec with its weights, in the place of what the folder holds.

    Args:
        folder: The folder.
        graph: The graph.
        ranges: Those of its dynamic sizes.
        weights: Its weights by path.
        registry: The declarations of its operators.

    Raises:
        DiagnosticError: The files cannot be written.
        ValueError: Something in it has no form in a spec, as what is computed from sizes.
    """
    program = _CallWriter(graph, weights).program(ranges)
    try:
        written = write_calls(program, registry)
    except (TypeError, KeyError, AssertionError) as error:
        raise ValueError(f"the graph has no form as a spec: {error}") from error
    store_spec(written, folder, force=True)
    return folder / SPEC


def part_outputs(graph: Graph, kept: Sequence[TraceOp]) -> Iterator[Value]:
    """What some operations give that is read by others, or by nothing that is kept."""
    inside = {value for each in kept for value in each.reads()}
    others = {v for each in graph.operations if each not in kept for v in each.reads()}
    final = set(graph.outputs.values())
    for value in (out for each in kept for out in each.outputs):
        if value in others or value in final or value not in inside:
            yield value


def extract_part(
    graph: Graph, kept: Sequence[TraceOp], wanted: Sequence[Value]
) -> tuple[Graph, dict[str, Value]]:
    """Some operations as a graph, and the values that its inputs stand for."""
    made = {out for each in kept for out in each.outputs}
    weights = {value: name for name, value in graph.weights.items()}
    names = {value: name for name, value in graph.inputs.items()}
    read: dict[str, Value] = {}
    values: dict[Value, Value] = {}
    for value in dict.fromkeys(v for each in kept for v in each.reads()):
        if value in made or value in weights or isinstance(value.producer, Constant):
            continue
        name = names.get(value, f"input{len(read)}").replace(".", "_")
        read[name] = value
        values[value] = Value(value.type, name=name)
    for _ in copy_operations(kept, values):
        pass
    inputs = {name: values[value] for name, value in read.items()}
    outputs = {f"output{number or ''}": values[value] for number, value in enumerate(wanted)}
    part = Graph(graph.name, inputs, graph.weights, outputs)
    used = {path: graph.weights[path] for path in part.used_weights()}
    return replace(part, weights=used), read


def written_sizes(path: Path) -> set[int]:
    """The sizes of inputs and weights that a spec writes as numbers."""
    document, _ = parse(path.read_text(encoding="utf-8"), str(path))
    assert document is not None, "it was built"
    data: Any = document.data
    weights = data.get("weights") if isinstance(data.get("weights"), dict) else {}
    types = [*data.get("inputs", {}).values(), *weights.get("tensors", {}).values()]
    found = {
        int(each) for text in types for each in re.findall(r"(?<=[\[ ])\d+(?=[\],])", str(text))
    }
    return {each for each in found if each > 1}


@dataclass
class _CallWriter:
    """Says operations as calls."""

    graph: Graph
    weights: Mapping[str, Array]
    values: dict[Value, CallValue] = field(default_factory=dict)
    stored: dict[str, CallValue] = field(default_factory=dict)

    def program(self, ranges: Mapping[str, SizeRange]) -> CallProgram:
        """The whole graph."""
        inputs = [self._named(value, name) for name, value in self.graph.inputs.items()]
        for number, (name, value) in enumerate(self.graph.weights.items()):
            self.values[value] = self._weight(f"weight{number}", value, self.weights[name])
        operations = [e for e in self.graph.operations if not isinstance(e, Constant)]
        calls = [self._call(each) for each in operations]
        outputs = [(name, self._tensor(value)) for name, value in self.graph.outputs.items()]
        known = {name: each for name, each in ranges.items() if name in self.graph.symbols}
        body = CallGraph(inputs, calls, outputs)
        return CallProgram(self.graph.name, SYSTEM, body, self.stored, known)

    def _named(self, value: Value, name: str) -> CallValue:
        self.values[value] = made = CallValue(value.type, name)
        return made

    def _weight(self, name: str, value: Value, array: Array) -> CallValue:
        held = ForeignWeight(name, value.type, load=lambda: array)
        self.stored[name] = made = CallValue(value.type, name, weight=held)
        return made

    def _call(self, operation: TraceOp) -> Call:
        given = {n: each for n, each in operation.arguments().items() if n != CAPTURED}
        captured = operation.captured
        arguments = {
            name: self._argument(each, captured) for name, each in given.items() if each is not None
        }
        several = len(operation.outputs) > 1
        call = Call(operation.operator, arguments, is_list=several)
        results = [
            CallValue(value.type, f"{operation.operator}{index or ''}", call, index)
            for index, value in enumerate(operation.outputs)
        ]
        call.results = results
        self.values.update(zip(operation.outputs, results, strict=True))
        return call

    def _argument(self, argument: Any, captured: Sequence[Value]) -> Any:
        match argument:
            case Value():
                number = argument.number
                return self._tensor(argument) if number is None else number
            case Region():
                return self._region(argument, captured)
            case tuple():
                return [self._argument(each, captured) for each in argument]
        return argument

    def _tensor(self, value: Value) -> CallValue:
        found = self.values.get(value)
        if found is None and isinstance(value.producer, Constant):
            name = f"constant{len(self.stored)}"
            found = self.values[value] = self._weight(name, value, value.producer.data.array)
        if found is None:
            raise ValueError("an operation reads what none gives")
        return found

    def _region(self, region: Region, captured: Sequence[Value]) -> CallGraph:
        """A graph of control flow, which reads what is around it as it is."""
        own = len(region.parameters) - len(captured)
        inputs = [self._named(each, f"x{n}") for n, each in enumerate(region.parameters[:own])]
        outside = zip(region.parameters[own:], captured, strict=True)
        self.values.update((inner, self._tensor(value)) for inner, value in outside)
        calls = [self._call(e) for e in region.operations if not isinstance(e, Constant)]
        results = [(f"out{n}", self._tensor(each)) for n, each in enumerate(region.results)]
        return CallGraph(inputs, calls, results)
