"""Executable: a model callable with arrays, compiled in memory or loaded from a file.

A call is checked against the signature once for each combination of shapes; then it is a look-up
and a run.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tripybuild.artifact import container
from tripybuild.artifact.call_signature import Array, CallSignature
from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.manifest_schema import GRAPH, check_content, manifest_error
from tripybuild.artifact.members import Content, read_content
from tripybuild.compiler.engine_run import Prepare, gpu_array, prepare_engine
from tripybuild.compiler.footprint import check_footprint
from tripybuild.compiler.model_manifest import read_graph, tensor_entries
from tripybuild.compiler.specialize import compile_module, lower_graph, sizes_name, specialize_graph
from tripybuild.errors.budget import Budget
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.limits import within_budget
from tripybuild.model.size_limits import check_graph_bytes
from tripybuild.process import memory
from tripybuild.schema.target_names import ENGINES, REFERENCE
from tripybuild.targets.xla import pjrt
from tripybuild.trace.graph import Graph
from tripybuild.version import VERSION
from tripybuild.weights import safetensors

Run = Callable[[list[Any]], list[Array]]
# Sizes whose programs are in memory, which take megabytes each. Those that were there longest are
# read again from the cache when they are asked for.
MOST_LOADED = 128


class Executable:
    """A compiled model. Call it with arrays by the names of its inputs."""

    def __init__(
        self,
        manifest: Mapping[str, Any],
        members: Mapping[str, Content],
        measured: Mapping[str, MemberRecord] | None = None,
    ) -> None:
        self.manifest = MappingProxyType(dict(manifest))
        self.signature = CallSignature(manifest)
        self.warnings: list[Diagnostic] = []
        self._members = dict(members)
        self._measured = dict(measured or {})
        self._outputs = tuple(entry["name"] for entry in manifest["outputs"])
        self._prepared: dict[object, Run] = {}
        self._by_sizes: dict[str, Run] = {}
        if self.manifest["target"] in ENGINES:
            self.signature.exchange = gpu_array

    def __repr__(self) -> str:
        takes = ", ".join(f"{name}: {each}" for name, each in self.signature.inputs.items())
        gives = ", ".join(f"{name}: {_type_text(each)}" for name, each in self.outputs.items())
        what = f"{self.manifest['model']} for {self.manifest['target']}"
        return f"<Executable {what}: ({takes}) -> ({gives})>"

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The inputs by name, each with dtype and shape."""
        return {entry["name"]: entry for entry in self.manifest["inputs"]}

    @property
    def outputs(self) -> Mapping[str, Any]:
        """The outputs by name, each with dtype and shape."""
        return {entry["name"]: entry for entry in self.manifest["outputs"]}

    @property
    def members(self) -> dict[str, Content]:
        """The contents of its file by name."""
        return dict(self._members)

    def save(self, path: Path | str) -> None:
        """Write the executable to a file, whole or not at all."""
        container.write(Path(path), self.manifest, self._members, self._measured)

    def __call__(self, /, **arrays: Any) -> dict[str, Array]:
        """Run the model.

        Args:
            arrays: Each input by name: a NumPy array, or anything with DLPack.

        Returns:
            The outputs by name; they own their memory.

        Raises:
            DiagnosticError: Where an input is missing, unknown, or of another dtype or shape than
                declared, or where a law does not hold for its sizes.
        """
        try:
            given = [arrays[name] for name in self.signature.inputs]
            key: object = tuple([(a.shape, a.dtype, a.__class__) for a in given])
            run = self._prepared[key] if len(arrays) == len(given) else None
        except (KeyError, AttributeError, TypeError):
            run = None
        if run is None:
            given = self.signature.arrays(arrays)
            key = tuple([(a.shape, a.dtype, a.__class__) for a in given])
            run = self._prepared.get(key) or self._prepare(key, given)
        try:
            results = run(given)
        except MemoryError as error:
            message = f"`{self.manifest['model']}` needs more memory than available"
            named = zip(self.signature.inputs, given, strict=True)
            taken = ", ".join(f"{name}: {each.dtype}{list(each.shape)}" for name, each in named)
            raise memory.memory_error(message, [f"it got {taken}"], error) from error
        return dict(zip(self._outputs, results, strict=True))

    def _prepare(self, key: object, given: list[Array]) -> Run:
        sizes = self.signature.bind(given)
        name = sizes_name(sizes)
        run = self._by_sizes.get(name)
        if run is None:
            if len(self._by_sizes) >= MOST_LOADED:
                self._evict(self._by_sizes.pop(next(iter(self._by_sizes)), None))
            run = self._by_sizes[name] = self._run_for(self.manifest["target"], sizes)
        self._prepared[key] = run
        return run

    def _evict(self, run: Run | None) -> None:
        """Forget by which calls a program was run."""
        self._prepared = {key: each for key, each in self._prepared.items() if each is not run}

    def _run_for(self, target: str, sizes: Mapping[str, int]) -> Run:
        if target == REFERENCE:
            return self._reference(sizes)
        if target not in ENGINES:
            return self._cpu(sizes)
        shapes = [shape for _, shape in self.signature.types(sizes)]
        return self._engine(list(self.signature.inputs), shapes)

    @cached_property
    def _engine(self) -> Prepare:
        """Engine on this machine's GPU, loaded lazily."""
        return prepare_engine(self.manifest, self._read)

    def _cpu(self, sizes: Mapping[str, int]) -> Run:
        """The specialization for these sizes: the file's own where it fits this machine."""
        name = sizes_name(sizes)
        stored = next((s for s in self.manifest["specialisations"] if s["name"] == name), None)
        payload: bytes | memoryview | None = None
        if stored is not None and stored["identity"] == pjrt.identity():
            payload = self._read(stored["payload"])
        if payload is None:
            if stored is None and self.manifest["versions"]["tripybuild"] != VERSION:
                raise DiagnosticError(_other_version(name, self.manifest["versions"]["tripybuild"]))
            if stored is None:
                made = lower_graph(self.graph, sizes)
                module, said = made.bare, made.warnings
            else:
                module, said = bytes(self._read(stored["stablehlo"])), ()
            payload, warnings = compile_module(module, foreign=stored is not None)
            self.warnings += (*said, *warnings)
        loaded = self._load_program(payload, sizes)
        return lambda arrays: loaded(*arrays)

    def _load_program(
        self, payload: bytes | memoryview, sizes: Mapping[str, int]
    ) -> pjrt.LoadedProgram:
        """The program, once it is known to take and to give what the manifest says."""
        try:
            placed = [self.weights[name] for name in self.manifest["arguments"]]
            loaded = pjrt.load(payload, placed)
        except (KeyError, TypeError, ValueError) as error:
            raise manifest_error("its program does not take its weights") from error
        taken = [(each.dtype, each.shape) for each in loaded.parameters]
        if taken != self.signature.types(sizes) or len(loaded.results) != len(self._outputs):
            raise manifest_error("its program is that of another model")
        return loaded

    def _reference(self, sizes: Mapping[str, int]) -> Run:
        from tripybuild.reference.execute import reference_run  # noqa: PLC0415 - NumPy

        graph = specialize_graph(self.graph, sizes)
        check_graph_bytes(graph)
        check_footprint(graph, dense=True)
        return reference_run(graph, self.weights)

    @cached_property
    def graph(self) -> Graph:
        """The graph with its symbols."""
        graph = read_graph(self._read(GRAPH), self._constants, self.signature.symbols)
        said = tensor_entries(graph.inputs), tensor_entries(graph.outputs), set(graph.weights)
        if said != (self.manifest["inputs"], self.manifest["outputs"], set(self.weights)):
            raise manifest_error("its graph is that of another model")
        return graph

    @cached_property
    def _constants(self) -> dict[str, Array]:
        if "constants.safetensors" not in self._members:
            return {}
        return safetensors.decode(self._read("constants.safetensors"), "constants.safetensors")

    @cached_property
    def weights(self) -> dict[str, Array]:
        """The weights by path."""
        if "weights.safetensors" not in self._members:
            return {}
        return safetensors.decode(self._read("weights.safetensors"), "weights.safetensors")

    def _read(self, name: str) -> memoryview:
        return read_content(self._members[name])

    def member(self, name: str) -> memoryview:
        """The content of a member, such as `trace.json`."""
        return self._read(name)


def _type_text(entry: Mapping[str, Any]) -> str:
    return f"{entry['dtype']}[{', '.join(map(str, entry['shape'])) or '()'}]"


def _other_version(sizes: str, made_by: str) -> Diagnostic:
    return Diagnostic(
        "executable-version",
        f"the executable has no specialization for {sizes}, and was made by tripybuild {made_by}",
        notes=(f"this is tripybuild {VERSION}, whose operators may lower differently",),
        hint=f"compile the model again, with `--shapes {sizes}`",
    )


def read_executable(path: Path) -> Executable:
    """Read an executable. Members are checked against their digests before they are used."""
    with container.open(path) as file:
        members = {name: file.read(name) for name in file.manifest.members}
        content = file.manifest.content
    with within_budget(budget=Budget()):
        check_content(content, members)
        try:
            return Executable(content, members)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise manifest_error(str(error)) from error
