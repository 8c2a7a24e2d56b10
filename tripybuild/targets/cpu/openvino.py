"""The engine `cpu:openvino`: one program of OpenVINO for all sizes of an entry.

Where sizes are the same in all calls, OpenVINO fuses more and decides more ahead. Those that were
asked for when the model was compiled therefore have a program of their own. Which sizes these are
stands in the file, so that a call has the same numbers each time.

The file holds the graph and the weights, and no native code: the graph is lowered to ONNX, checked
and compiled where it is loaded. Sizes are checked before native code sees them; a call with an
empty tensor, which OpenVINO cannot take, is computed by the references.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter

from tripybuild.compiler.lowering.footprint import check_results
from tripybuild.compiler.lowering.lower_onnx import lower_onnx
from tripybuild.compiler.lowering.specialize import (
    GraphSizes,
    check_laws,
    sizes_name,
    specialize_graph,
)
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.logger import logger
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.onnx.text import model_text
from tripybuild.process.per_process import process_lock
from tripybuild.reference.execute import reference_run
from tripybuild.symbolic.dims import evaluate
from tripybuild.targets.compiled_model import CompiledEntry, CompiledModel
from tripybuild.targets.cpu.compile_clock import CompileClock
from tripybuild.targets.executable_file import GRAPH, entry_member
from tripybuild.targets.graph_model import graph_model
from tripybuild.targets.openvino.bounds import SIZES, ValueBounds
from tripybuild.targets.openvino.library import library, version
from tripybuild.targets.openvino.model import ReadableModel
from tripybuild.targets.openvino.program import Program
from tripybuild.targets.openvino.refusals import CODE, HINT, REASONS
from tripybuild.targets.openvino.tensors import Array, OpenvinoPort
from tripybuild.targets.protocol import (
    CompileRequest,
    EngineTimes,
    KernelTime,
    Loader,
    Run,
    Shapes,
    Target,
)
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import walk_operations
from tripybuild.trace.values import Value
from tripybuild.types.size_range import SizeRange

# The newest one of which the lowerings use an operator that OpenVINO fuses.
OPSET = 23
WARM = 3  # calls before those that are measured
# The programs of an entry by their sizes; that for all sizes has no name.
Programs = dict[str, Program]
# What was compiled last, by the member that its graph is in: the same process loads it next.
_ready: dict[int, tuple[object, Programs]] = {}


class Openvino(Target):
    """OpenVINO on the processor."""

    distribution = "openvino"

    def compile(self, request: CompileRequest) -> CompiledModel:
        """Compile each entry once, which finds what OpenVINO refuses, and keep the graph."""
        for entry in request.entries:
            check_tensors(entry.graph)
        request.manifest["versions"][self.distribution] = version()
        made = graph_model(request)
        _ready.clear()
        clock = CompileClock(request.timeout)
        for asked in request.entries:
            entry = made.entries[asked.name]
            request.tell(f"compile {entry.name}".rstrip())
            programs = {"": self._program(entry, asked.graph, request.folder, clock)}
            for sizes in fixed_sizes(entry):
                name = sizes_name(sizes)
                request.tell(f"compile {entry.name} {name}".strip())
                graph = specialize_graph(asked.graph, sizes)
                if not _has_empty_tensors(graph):
                    programs[name] = self._program(entry, graph, request.folder, clock)
            member = made.members[_graph_member(entry)]
            _ready[id(member)] = member, programs
        return made

    def prepare(self, entry: CompiledEntry) -> None:
        """Import OpenVINO, and check the graph."""
        library()
        check_tensors(entry.bare_graph)

    def load(self, entry: CompiledEntry) -> Loader:
        """A program for all sizes, or for these; what is empty is computed by the references."""
        member = entry.model.members[_graph_member(entry)]
        held, programs = _ready.pop(id(member), (None, {}))
        if held is not member:
            programs = {}
            check_tensors(entry.graph)
        sizes_of = GraphSizes(entry.graph)
        fixed = {sizes_name(each) for each in fixed_sizes(entry)}

        def load_sizes(sizes: Mapping[str, int]) -> Run:
            numbers = sizes_of.evaluate(sizes)
            check_results(entry.graph, sizes, numbers)
            if _are_empty([numbers[each] for each in sizes_of.of_tensors]):
                return reference_run(specialize_graph(entry.graph, sizes), entry.model.weights)
            name = sizes_name(sizes)
            name = name if name in fixed else ""
            if name not in programs:
                with process_lock("openvino compile"):  # other threads wait for the first
                    if name not in programs:
                        graph = specialize_graph(entry.graph, sizes) if name else entry.graph
                        programs[name] = self._program(entry, graph)
            program = programs[name]
            shapes = [_shape(each, sizes) for each in entry.graph.outputs.values()]
            return lambda arrays: program(arrays, shapes)

        return load_sizes

    def emit(self, built: ModelGraph, entry: EntryGraph, shapes: Shapes) -> str:
        """The operations of ONNX, for which the laws may wait."""
        check_laws(built, entry.graph, shapes[1:])
        return model_text(lower_onnx(entry.graph, OPSET, runtime=self.distribution))

    def measure_kernels(
        self, entry: CompiledEntry, graph: Graph, arrays: Sequence[Array], rounds: int
    ) -> EngineTimes:
        """OpenVINO's counters: means of all calls, of which the first ones are left out.

        They are of whole microseconds, so that it is right to some of these.
        """
        program = self._program(entry, graph, measures=True)
        shapes: list[None] = [None] * len(graph.outputs)
        for _ in range(WARM):
            program(arrays, shapes)
        before = program.kernel_seconds()
        seconds = []
        for _ in range(rounds):
            began = perf_counter()
            program(arrays, shapes)
            seconds.append(perf_counter() - began)
        kernels = []
        for (name, kind, mean), (_, _, first) in zip(program.kernel_seconds(), before, strict=True):
            own = (mean * (WARM + rounds) - first * WARM) / rounds
            kernels += [KernelTime(name, kind, own, is_first=True)] if own > 0 else []
        return EngineTimes([kernels], seconds)

    def _program(
        self,
        entry: CompiledEntry,
        graph: Graph,
        folder: Path | None = None,
        clock: CompileClock | None = None,
        *,
        measures: bool = False,
    ) -> Program:
        """Lower, check and compile the graph of an entry, for all sizes or for some.

        Raises:
            DiagnosticError: OpenVINO is not installed, refuses an operation, or takes longer than
                the clock has.
        """
        ranges = {name: entry.signature.ranges[name] for name in graph.symbols}
        with logger.log_time(f"lower {graph.name} to ONNX"):
            weights = {name: entry.model.weights[name] for name in graph.weights}
            readable = readable_model(graph, ranges, weights, folder)
        with logger.log_time("compile by OpenVINO"):
            given, gives = ports(graph.inputs), ports(graph.outputs)
            make = partial(Program, readable, given, gives, self.options, measures=measures)
            return make() if clock is None else clock.run(self.name, make)


def fixed_sizes(entry: CompiledEntry) -> list[Mapping[str, int]]:
    """The sizes that have a program of their own: where some were asked for, these and each `opt`.

    Each keeps weights in the order of its kernels, so that there is none unless one was asked for.
    """
    return list(entry.manifest["shapes"]) if entry.model.manifest.get("asked") else []


def readable_model(
    graph: Graph,
    ranges: Mapping[str, SizeRange],
    weights: Mapping[str, Array],
    folder: Path | None = None,
) -> ReadableModel:
    """What OpenVINO reads of a graph, for all sizes in the ranges.

    Raises:
        DiagnosticError: OpenVINO would compute something else than an operation.
    """
    bounds = {name: _bounds(each) for name, each in ranges.items()}
    return ReadableModel(
        lower_onnx(graph, OPSET, folder, runtime=Openvino.distribution), weights, bounds
    )


def ports(values: Mapping[str, Value]) -> list[OpenvinoPort]:
    """The inputs or the outputs of a program."""
    return [OpenvinoPort(name, value.dtype) for name, value in values.items()]


def _bounds(sizes: SizeRange) -> ValueBounds:
    most = SIZES.high if sizes.max is None else sizes.max
    return ValueBounds(sizes.min, most).clamp(SIZES)


def _graph_member(entry: CompiledEntry) -> str:
    return entry_member(GRAPH, entry.name)


def _shape(value: Value, sizes: Mapping[str, int]) -> tuple[int, ...] | None:
    """The shape of a result; None where elements tell it."""
    try:
        return tuple(evaluate(each, sizes) for each in value.shape)
    except KeyError:
        return None


def _values(graph: Graph) -> Iterator[tuple[Value, TraceOp | None]]:
    """The values of a graph, each with the operation that gives it."""
    for value in (*graph.inputs.values(), *graph.weights.values()):
        yield value, None
    for operation in walk_operations(graph.operations):
        for value in operation.outputs:
            yield value, operation


def _is_empty(value: Value) -> bool:
    """Whether a size is zero, whatever those of a call are."""
    return any(isinstance(size, int) and size == 0 for size in value.shape)


def _has_empty_tensors(graph: Graph) -> bool:
    return any(_is_empty(value) for value, _ in _values(graph))


def check_tensors(graph: Graph) -> None:
    """Refuse tensors that are empty whatever the sizes of a call are.

    Raises:
        DiagnosticError: With each operation that gives one.
    """
    found = []
    for value, operation in _values(graph):
        if _is_empty(value):
            shape = ", ".join(map(str, value.shape))
            what = (
                "an input" if operation is None else f"the result of `{operation.declaration.name}`"
            )
            message = f"{REASONS['empty']}: {what} has shape [{shape}]"
            span = None if operation is None else operation.location.span()
            found.append(Diagnostic(CODE, message, span, hint=HINT))
    if found:
        raise DiagnosticError(*dict.fromkeys(found))


def _are_empty(sizes: Sequence[int]) -> bool:
    """Whether one of the sizes of tensors is zero.

    Raises:
        DiagnosticError: One is larger than OpenVINO counts exactly.
    """
    if max(sizes, default=0) > SIZES.high:
        message = f"OpenVINO counts sizes exactly up to {SIZES.high}, but one is {max(sizes)}"
        raise DiagnosticError(Diagnostic(CODE, message, hint=HINT))
    return 0 in sizes
