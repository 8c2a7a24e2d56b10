"""The engine `cpu:onnxruntime`: one session of ONNX Runtime for all sizes of an entry.

The file holds the graph and the weights, and nothing that ONNX Runtime reads: the graph is lowered
where it is loaded, so that a file from elsewhere can do no more than compute.
"""

import contextlib
import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from weakref import WeakKeyDictionary, ref

from tripybuild.artifact.members import Content
from tripybuild.cache.keys import CacheKey, key as cache_key
from tripybuild.compiler.lowering.footprint import check_results
from tripybuild.compiler.lowering.lower_onnx import lower_onnx
from tripybuild.compiler.lowering.specialize import GraphSizes, check_laws
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.logger import logger
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.onnx.model import GraphDef, OnnxAttribute, OnnxModel, OnnxNode
from tripybuild.onnx.protobuf import encode_model
from tripybuild.onnx.text import model_text
from tripybuild.process import memory
from tripybuild.process.hashing import processor_identity
from tripybuild.targets.compiled_model import WEIGHTS, CompiledEntry, CompiledModel
from tripybuild.targets.cpu.compile_clock import CompileClock
from tripybuild.targets.cpu.optimized_models import OptimizedModels
from tripybuild.targets.executable_file import GRAPH, entry_member
from tripybuild.targets.graph_model import graph_model
from tripybuild.targets.onnx_runtime.arrays import Array, KeptTensor
from tripybuild.targets.onnx_runtime.library import (
    binding,
    error_node,
    error_words,
    errors,
    is_out_of_memory,
    runtime,
    version,
)
from tripybuild.targets.onnx_runtime.optimized_file import OptimizedFile
from tripybuild.targets.onnx_runtime.session import (
    PROFILE_NOTE,
    RuntimeSession,
    SessionSource,
    load_session,
    measured_calls,
    no_data,
    settings,
)
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
from tripybuild.types.dtypes import dtype

# Of `Attention`, which the next one has, ONNX Runtime's kernel takes no masks that are broadcast.
OPSET = 22
# A session, and the sizes of the graph that it was made from.
Loaded = tuple[RuntimeSession, GraphSizes]
# What was compiled, by the member of its graph, while that is there: the same process loads it.
_ready: dict[int, tuple[ref[memoryview], Loaded]] = {}
# What was lowered while the weights were read.
_lowered: WeakKeyDictionary[CompiledEntry, OnnxModel] = WeakKeyDictionary()

Start = Callable[[Callable[[], Any]], Any]  # calls native code that may take long


def _at_once(work: Callable[[], Any]) -> Any:
    """In this thread, however long it takes."""
    return work()


class OnnxRuntime(Target):
    """ONNX Runtime on the processor."""

    distribution = "onnxruntime"

    def compile(self, request: CompileRequest) -> CompiledModel:
        """Load each entry once, which finds what ONNX Runtime refuses, and keep the graph."""
        request.manifest["versions"][self.distribution] = version()
        for each in request.entries:
            sizes_of = GraphSizes(each.graph)
            for sizes in each.shapes:
                check_results(each.graph, sizes, sizes_of.evaluate(sizes))
        lowered: dict[str, OnnxModel] = {}

        def lower(_: dict[str, Any]) -> list[Diagnostic]:
            """Lower while the weights are read; places are the user's."""
            binding()
            for asked in request.entries:
                lowered[asked.name] = self._lower(asked.graph, request.folder)
            return []

        made = graph_model(request, lower)
        clock = CompileClock(request.timeout)
        for asked in request.entries:
            entry = made.entries[asked.name]
            request.tell(f"compile {entry.name}".rstrip())
            start = partial(clock.run, self.name)
            session = self._session(entry, asked.graph, lowered[asked.name], start)
            loaded = session, GraphSizes(asked.graph)
            _keep_ready(made.members[entry_member(GRAPH, entry.name)], loaded)
        return made

    def prepare(self, entry: CompiledEntry) -> None:
        """Import ONNX Runtime, and lower the graph."""
        binding()
        _lowered[entry] = self._lower(entry.bare_graph)

    def load(self, entry: CompiledEntry) -> Loader:
        """One session for all sizes."""
        loaded = _take_ready(entry.model.members[entry_member(GRAPH, entry.name)])
        if loaded is None:
            lowered = _lowered.pop(entry, None) or self._lower(entry.graph)
            loaded = self._session(entry, entry.graph, lowered), GraphSizes(entry.graph)
        session, sizes_of = loaded

        def load_sizes(sizes: Mapping[str, int]) -> Run:
            check_results(sizes_of.graph, sizes, sizes_of.evaluate(sizes))
            return session

        return load_sizes

    def keep_state(self, array: Array, type: dtype) -> KeptTensor:
        """A value over the array, so that the first call writes there, too."""
        return KeptTensor.over(array, type)

    def run_keeping(self, run: Run, arrays: list[Any], kept: frozenset[int]) -> list[Any]:
        """Leave results in ONNX Runtime's memory: a later call takes them, and may overwrite."""
        assert isinstance(run, RuntimeSession)
        return run.run_keeping(arrays, kept)

    def emit(self, built: ModelGraph, entry: EntryGraph, shapes: Shapes) -> str:
        """The operations of ONNX, for which the laws may wait."""
        check_laws(built, entry.graph, shapes[1:])
        return model_text(lower_onnx(entry.graph, OPSET, runtime=self.distribution))

    def measure_kernels(
        self, entry: CompiledEntry, graph: Graph, arrays: Sequence[Any], rounds: int
    ) -> EngineTimes:
        """The times that ONNX Runtime writes of each node that is left of the model."""
        with TemporaryDirectory() as folder:
            source = self._source(entry, graph, self._lower(graph))[1]
            session = RuntimeSession(replace(source, profile=Path(folder) / "profile"))
            for _ in range(rounds + 1):  # the first one is not read
                session(arrays)
            calls = measured_calls(Path(session.native.end_profiling()), rounds)
        # A kernel has the name of its last node, unless an activation was fused with what is first.
        kernels = [
            [KernelTime(*kernel, is_first=kernel[0].startswith("fused ")) for kernel in each]
            for _, each in calls
        ]
        return EngineTimes(kernels, [seconds for seconds, _ in calls], PROFILE_NOTE)

    def _lower(self, graph: Graph, folder: Path | None = None) -> OnnxModel:
        """The model of a graph.

        By declared types ONNX Runtime knows which values are of one size: results take the place of
        operands, and sums of images stay in the layout of convolutions.
        """
        with logger.log_time(f"lower {graph.name} to ONNX"):
            return lower_onnx(graph, OPSET, folder, types=True, runtime=self.distribution)

    def _session(
        self, entry: CompiledEntry, graph: Graph, model: OnnxModel, start: Start = _at_once
    ) -> RuntimeSession:
        """Load the model of an entry's graph; each native session begins by `start`.

        Raises:
            DiagnosticError: ONNX Runtime is not installed, or refuses an operation.
        """
        with logger.log_time("load into ONNX Runtime"):
            held, source = self._source(entry, graph, model)
            try:
                return _cached_session(source, entry.model, start)
            except errors() as error:
                raise DiagnosticError(_refusal(error, held, source, start)) from error

    def _source(
        self, entry: CompiledEntry, graph: Graph, model: OnnxModel
    ) -> tuple[OnnxModel, SessionSource]:
        """A model with the places of its weights, and what its session is made from."""
        weights = {name: entry.model.weights[name] for name in graph.weights}
        held = model.with_data({name: no_data(each.nbytes) for name, each in weights.items()})
        threads = self.options.get("threads")
        count = None if threads is None else int(threads)
        return held, _session_source(held, weights, count, _numbers_of_updates(graph))


def _cached_session(source: SessionSource, model: CompiledModel, start: Start) -> RuntimeSession:
    """A session; where it takes long to optimize the model, of what was made of it before.

    Raises:
        Exception: One of `library.errors()`: the model is refused.
    """

    def make(source: SessionSource, output: Path | None = None) -> RuntimeSession:
        made: RuntimeSession = start(lambda: RuntimeSession(source, output))
        return made

    sizes = {name: each.nbytes for name, (_, each) in source.weights.items()}
    copied = sum(size for name, size in sizes.items() if name not in source.shared)
    if copied < max(WORTH, sum(sizes.values()) / 2):
        return make(source)
    cache, key = OptimizedModels(), _session_key(source, model)
    file = cache.find(key)
    model.warnings += cache.warnings
    if file:
        with contextlib.suppress(*errors(), ValueError):
            return make(replace(source, optimized=OptimizedFile(file)))
        cache.quarantine(cache.entry_path(key))
    with cache.place(key) as place:
        return make(source, place)


def _session_key(source: SessionSource, model: CompiledModel) -> CacheKey:
    """The digest of all on which it depends what ONNX Runtime makes of a model."""
    return cache_key(
        {
            "what": "optimized model",
            "engine": f"onnxruntime {runtime().__version__} {binding().get_build_info()}",
            "processor": processor_identity(),
            "configuration": settings(),
            "model": source.model,
            "weights": model.record(WEIGHTS).digest,
            "tied": json.dumps(model.manifest.get("tied", {})),
        }
    )


def _keep_ready(member: Content, loaded: Loaded) -> None:
    """Let the next load of a graph take what was loaded, unless the graph is gone before."""
    if isinstance(member, memoryview):
        key = id(member)
        _ready[key] = ref(member, lambda _: _ready.pop(key, None)), loaded


def _take_ready(member: Content) -> Loaded | None:
    """What was kept for a member."""
    held, loaded = _ready.pop(id(member), (None, None))
    return loaded if held is not None and held() is member else None


CODE = "onnxruntime-refused"
HINT = "the engine `cpu:xla` computes it"
# Operators whose weights no optimization of ONNX Runtime reads: they are not copied for it. Kernels
# of products make their own form of them, once; that is then the only copy.
IN_PLACE = frozenset({"Gather", "Gemm", "MatMul"})
SMALL = 1 << 12  # bytes of a weight that is not worth to be shared
# Bytes of weights that are copied, from which on it is worth to keep what is made of them.
WORTH = 1 << 23
# Operators that leave most of their first input as it is: given its memory for the result, kernels
# write the rest and copy nothing.
UPDATES = frozenset({"ScatterElements", "ScatterND", "TensorScatter"})


def _session_source(
    model: OnnxModel,
    weights: Mapping[str, Array],
    threads: int | None,
    updates: Mapping[int, int],
) -> SessionSource:
    """What a session of a model is made from.

    Args:
        model: The model; its weights are not in it.
        weights: Their arrays by name.
        threads: How many threads compute.
        updates: The numbers of inputs by those of outputs that take their place.
    """
    graph = model.graph
    types = {each.name: each.dtype for each in graph.initializers}
    read = {name: (types[name], each) for name, each in weights.items() if name in types}
    return SessionSource(
        graph.name,
        encode_model(replace(model, graph=_without_places(graph))),
        {each.name: each.dtype for each in graph.inputs},
        {each.name: each.dtype for each in graph.outputs},
        read,
        _weights_in_place(graph, read),
        _updates_in_place(graph, updates),
        threads,
    )


def _without_places(graph: GraphDef) -> GraphDef:
    """The graph, wherever the file is from which it comes: places are ours to say."""

    def bare(each: OnnxAttribute) -> OnnxAttribute:
        inside = each.value
        return (
            replace(each, value=_without_places(inside)) if isinstance(inside, GraphDef) else each
        )

    nodes = [
        replace(node, doc="", attributes={name: bare(a) for name, a in node.attributes.items()})
        for node in graph.nodes
    ]
    return replace(graph, nodes=tuple(nodes), doc="")


def _weights_in_place(graph: GraphDef, weights: Mapping[str, Any]) -> frozenset[str]:
    """The weights that are read in place wherever they are read."""
    readers = _readers(graph)
    large = (name for name, (_, each) in weights.items() if each.nbytes >= SMALL)
    return frozenset(n for n in large if readers.get(n) and set(readers[n]) <= IN_PLACE)


def _readers(graph: GraphDef) -> dict[str, list[str]]:
    """The operators that read each value, as often as they do."""
    readers: dict[str, list[str]] = {}
    for node in graph.walk():
        for name in node.inputs:
            readers.setdefault(name, []).append(node.operator)
    return readers


def _numbers_of_updates(graph: Graph) -> dict[int, int]:
    """The numbers of states by those of the outputs that are their next."""
    inputs, outputs = list(graph.inputs), list(graph.outputs)
    return {outputs.index(new): inputs.index(old) for old, new in graph.updates.items()}


def _updates_in_place(graph: GraphDef, updates: Mapping[int, int]) -> dict[int, int]:
    """The updates of which a node that updates memory is the only one that reads the state.

    Such a node reads nothing of what it overwrites, and all that reads its result comes later.
    """
    readers = _readers(graph)
    makers = {name: node for node in graph.nodes for name in node.outputs}
    found: dict[int, int] = {}
    for new, old in updates.items():
        name, maker = graph.inputs[old].name, makers.get(graph.outputs[new].name)
        # `Shape` reads no elements.
        read = [each for each in readers.get(name, ()) if each != "Shape"]
        writes = maker is not None and maker.operator in UPDATES and maker.inputs[0] == name
        if writes and len(read) == 1:
            found[new] = old
    return found


def _refusal(error: Exception, model: OnnxModel, source: SessionSource, start: Start) -> Diagnostic:
    """What ONNX Runtime does not load, at the place of its operation."""
    if is_out_of_memory(error):
        return memory.memory_diagnostic("ONNX Runtime needs more memory than available")
    name = error_node(error)
    node = next((each for each in model.graph.walk() if name and each.name == name), None)
    node = node or _search_node(model, source, start)
    if node is None:
        message = f"ONNX Runtime does not load the model: {error_words(error)}"
        return Diagnostic(CODE, message, hint=HINT)
    message = f"ONNX Runtime does not compute `{node.operator}` of ONNX with these dtypes"
    return Diagnostic(CODE, message, node.span, notes=(error_words(error),), hint=HINT)


def _search_node(model: OnnxModel, source: SessionSource, start: Start) -> OnnxNode | None:
    """The first node with which a model, that ends there, is refused.

    What ONNX Runtime makes of a node has no name, or one of its own.
    """
    nodes = model.graph.nodes

    def is_refused(last: int) -> bool:
        try:
            start(lambda: load_session(_beginning(model, source, nodes[: last + 1])))
        except errors() as error:
            return not is_out_of_memory(error)
        return False

    found = bisect_left(range(len(nodes)), True, key=is_refused)
    return nodes[found] if found < len(nodes) else None


def _beginning(
    model: OnnxModel, source: SessionSource, nodes: tuple[OnnxNode, ...]
) -> SessionSource:
    """The first nodes of a model; what they make, and do not read, are its outputs."""
    graph = replace(model.graph, nodes=nodes, outputs=(), values=())
    walked = list(graph.walk())
    read = {name for node in walked for name in node.inputs}
    read |= {e.name for node in walked for body in node.bodies.values() for e in body.outputs}
    made = (name for node in nodes for name in node.outputs)
    ends = tuple(name for name in made if name and name not in read)
    held = tuple(each for each in graph.initializers if each.name in read)
    part = replace(model, graph=replace(graph, initializers=held, inferred=ends))
    weights = {name: each for name, each in source.weights.items() if name in read}
    shared = source.shared & read
    return replace(source, model=encode_model(part), weights=weights, shared=shared)
