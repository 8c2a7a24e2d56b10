"""Foreign programs to call programs: each node is said with calls of ours, or is reported."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tripybuild.artifact.call_signature import law_violations
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.limits import within_budget
from tripybuild.frontend import Tensor
from tripybuild.importer.call_program import (
    Call,
    CallGraph,
    CallProgram,
    CallValue,
    needed_calls,
    read_values,
)
from tripybuild.importer.foreign_program import ForeignProgram, ForeignValue, ForeignWeight
from tripybuild.importer.translation.declarations import Declarations
from tripybuild.importer.translation.nodes import NodeTranslation
from tripybuild.importer.translation.recorder import Recorder
from tripybuild.importer.translation.report import UnreadProgramError, failure_report
from tripybuild.model.libraries import OperatorLibrary, builtin_library
from tripybuild.process.gc_pause import pause_gc
from tripybuild.schema.load import Registry
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import DeferredLaw
from tripybuild.trace.values import Value
from tripybuild.types.shapes import fresh_symbols
from tripybuild.types.size_range import SizeRange

MOST_DOUBLED = 10  # times that a usual size is doubled until laws hold


def translate(
    program: ForeignProgram,
    registry: Registry,
    libraries: Sequence[OperatorLibrary] | None = None,
) -> CallProgram:
    """Say a program of another system with calls of our operators.

    Args:
        program: The program.
        registry: The operators, with what they and others are in the other system.
        libraries: Where their public functions are; by default what tripybuild brings along.

    Raises:
        DiagnosticError: With all that cannot be said.
    """
    return record(program, registry, libraries).calls


@dataclass(frozen=True, slots=True)
class RecordedProgram:
    """A program as calls, and as the graph that recording them made.

    A list of tensors that is an output is several: `NAME_0`, `NAME_1` and so on in `lists`.
    """

    calls: CallProgram
    graph: Graph
    lists: Mapping[str, Sequence[str]]


def record(
    program: ForeignProgram,
    registry: Registry,
    libraries: Sequence[OperatorLibrary] | None = None,
) -> RecordedProgram:
    """Say a program as `translate` does, and give its graph, too.

    Raises:
        DiagnosticError: With all that cannot be said.
    """
    try:
        with within_budget(), fresh_symbols(), pause_gc():
            return _Translation(program, registry, libraries or [builtin_library()]).run()
    except UnreadProgramError as error:
        simpler = program.without(error.operators)
        if simpler is None:
            raise
        try:
            return record(simpler, registry, libraries)
        except UnreadProgramError as left:
            # What the model calls, and not what that is made of.
            raise left if left.operators <= error.operators else error from None


class _Translation:
    def __init__(
        self, program: ForeignProgram, registry: Registry, libraries: Sequence[OperatorLibrary]
    ) -> None:
        self.program = program
        self.recorder = Recorder(Declarations(registry, libraries))
        self.weights = dict(program.weights)
        self.nodes = NodeTranslation(program, registry, self.recorder, self._add_weight)

    def run(self) -> RecordedProgram:
        """The calls that the outputs need, with the weights that these read."""
        program, graph = self.program, self.program.graph
        inputs = [self._input(each) for each in graph.inputs]
        for path, weight in program.weights.items():
            self._weight(path, weight)
        every = [*graph.outputs, *program.updates.items()]
        calls = self.nodes.run(graph, [*program.updates.values()])
        if self.nodes.failures:
            raise failure_report(program, self.nodes.failures)
        results = [(name, self.nodes.result(foreign)) for name, foreign in every]
        lists = {
            name: [f"{name}_{index}" for index in range(len(value))]
            for name, value in results
            if isinstance(value, list)
        }
        found = [*_flat(results[: len(graph.outputs)], lists)]
        outputs, updates = list(found), results[len(graph.outputs) :]
        found += updates
        calls = needed_calls(calls, [value for _, value in found])
        said = CallProgram(
            program.name,
            program.system,
            CallGraph(inputs, calls, outputs),
            dict(self._read_weights(calls, found, program.updates)),
            program.ranges,
            dict(updates),
            program.tied,
            program.config,
            program.examples,
            list(program.notes),
        )
        recorded = self._graph(said)
        said.ranges = program.ranges = lawful_ranges(program.ranges, recorded.deferred_laws)
        return RecordedProgram(said, recorded, lists)

    def _graph(self, said: CallProgram) -> Graph:
        """What was recorded, from inputs and weights to outputs."""

        def value(each: CallValue) -> Value:
            return self.recorder.tensor(each).value

        return Graph(
            said.name,
            {each.name: value(each) for each in said.graph.inputs},
            {path: value(each) for path, each in said.weights.items()},
            {name: value(each) for name, each in said.graph.outputs},
        )

    def _input(self, foreign: ForeignValue) -> CallValue:
        if foreign.type is None:
            message = f"the input `{foreign.name}` is {foreign.unsupported}, which no dtype is"
            raise DiagnosticError(Diagnostic("import-unsupported", message))
        value = Value(foreign.type, name=foreign.name)
        made = self.recorder.add(Tensor.of(value), CallValue(foreign.type, foreign.name))
        self.nodes.bind(foreign, made)
        return made

    def _weight(self, path: str, weight: ForeignWeight) -> None:
        if weight.type is None:
            return  # what reads it is reported
        value = Value(weight.type, name=path, weight=True)
        made = CallValue(weight.type, weight.name, weight=weight)
        self.recorder.add(Tensor.of(value), made)
        self.recorder.known.learn_weight(made, weight)
        self.nodes.bind(weight, made)

    def _add_weight(self, weight: ForeignWeight) -> None:
        """A constant of a body, which has no path of its own."""
        path, count = weight.name, 1
        while path in self.weights:
            count += 1
            path = f"{weight.name}_{count}"
        self.weights[path] = weight
        self._weight(path, weight)

    def _read_weights(
        self,
        calls: Sequence[Call],
        outputs: Iterable[tuple[str, CallValue]],
        updates: Mapping[str, object],
    ) -> Iterator[tuple[str, CallValue]]:
        """The weights that calls and outputs read, and those that change, by path."""
        read = {*read_values(calls), *(value for _, value in outputs)}
        for path, weight in self.weights.items():
            if weight.type is not None:
                value = self.nodes.value(weight)
                if value in read or path in updates:
                    yield path, value


def lawful_ranges(
    ranges: Mapping[str, SizeRange], laws: Sequence[DeferredLaw]
) -> Mapping[str, SizeRange]:
    """Ranges whose usual sizes are some for which the laws hold, if those at hand are none.

    Sizes grow by powers of two: all of them first, since some may have to be equal; then each is
    the smallest one that will do.
    """
    usual = {name: each.opt for name, each in ranges.items()}

    def hold(sizes: Mapping[str, int]) -> bool:
        fits = all(ranges[name].contains(size) for name, size in sizes.items())
        return fits and not law_violations(laws, sizes)

    if law_violations(laws, usual):
        grown = ({n: size << by for n, size in usual.items()} for by in range(1, MOST_DOUBLED + 1))
        found = next(filter(hold, grown), usual)
        for name in usual if found is not usual else ():
            smaller = ({**found, name: usual[name] << by} for by in range(MOST_DOUBLED))
            found = next((each for each in smaller if hold(each) or each == found), found)
        usual = found
    return {name: replace(each, opt=usual[name]) for name, each in ranges.items()}


def _flat(
    results: Iterable[tuple[str, Any]], lists: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, CallValue]]:
    for name, value in results:
        if name in lists:
            yield from zip(lists[name], value, strict=True)
        else:
            yield name, value
