"""Foreign programs to call programs: each node is said with calls of ours, or is reported."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
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
from tripybuild.importer.translation.report import failure_report
from tripybuild.model.libraries import OperatorLibrary, builtin_library
from tripybuild.process.gc_pause import pause_gc
from tripybuild.schema.load import Registry
from tripybuild.trace.values import Value
from tripybuild.types.shapes import fresh_symbols


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
    with fresh_symbols(), pause_gc():
        return _Translation(program, registry, libraries or [builtin_library()]).run()


class _Translation:
    def __init__(
        self, program: ForeignProgram, registry: Registry, libraries: Sequence[OperatorLibrary]
    ) -> None:
        self.program = program
        self.recorder = Recorder(Declarations(registry, libraries))
        self.nodes = NodeTranslation(program, registry, self.recorder)

    def run(self) -> CallProgram:
        """The calls that the outputs need, with the weights that these read."""
        program, graph = self.program, self.program.graph
        inputs = [self._input(each) for each in graph.inputs]
        for path, weight in program.weights.items():
            self._weight(path, weight)
        every = [*graph.outputs, *program.updates.items()]
        calls = self.nodes.run(graph, [*program.updates.values()])
        if self.nodes.failures:
            raise failure_report(program, self.nodes.failures)
        found = [(name, self.nodes.result(foreign)) for name, foreign in every]
        outputs, updates = found[: len(graph.outputs)], found[len(graph.outputs) :]
        calls = needed_calls(calls, [value for _, value in found])
        return CallProgram(
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

    def _read_weights(
        self,
        calls: Sequence[Call],
        outputs: Iterable[tuple[str, CallValue]],
        updates: Mapping[str, object],
    ) -> Iterator[tuple[str, CallValue]]:
        """The weights that calls and outputs read, and those that change, by path."""
        read = {*read_values(calls), *(value for _, value in outputs)}
        for path, weight in self.program.weights.items():
            if weight.type is not None:
                value = self.nodes.value(weight)
                if value in read or path in updates:
                    yield path, value
