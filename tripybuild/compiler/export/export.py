"""`export_spec` and `export_executable`: each entry of a model as one file of ONNX.

Files appear whole, all of them or none. What is not said by ONNX is in the metadata: the ranges of
dynamic sizes and the numbers that states begin as.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tripybuild.artifact.graph_json import decode_value, encode_value
from tripybuild.compiler.executable import read_executable
from tripybuild.compiler.export.outputs import (
    SUFFIX,
    check_data_file,
    check_inputs_stay,
    check_model_file,
    data_path,
    model_paths,
)
from tripybuild.compiler.export.weight_places import (
    WeightPlaces,
    check_embedded,
    check_file_size,
    find_places,
    read_bytes,
    write_data,
)
from tripybuild.compiler.lowering.lower_onnx import lacking_tensors, lower_onnx
from tripybuild.compiler.session import (
    Config,
    check_entries,
    check_prepared,
    merge_weights,
    prune_weights,
    sizes_to_compile,
)
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.errors.limits import first_problems
from tripybuild.model.config import ConfigChoice
from tripybuild.model.graph_builder import build
from tripybuild.model.libraries import Homes, no_libraries
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.onnx.model import DEFAULT_OPSET, OPSETS, Buffer, ExternalData, OnnxModel
from tripybuild.onnx.protobuf import encode_parts
from tripybuild.process.atomic_write import atomic_write
from tripybuild.process.gc_pause import pause_gc
from tripybuild.schema.model.entry_points import find_entry
from tripybuild.targets.compiled_model import CompiledEntry, CompiledModel
from tripybuild.targets.executable_file import GRAPH, entry_member
from tripybuild.targets.table import is_mlir
from tripybuild.types.size_range import SizeRange
from tripybuild.weights.checkpoint import check_weights
from tripybuild.weights.prepared import needed_recipes
from tripybuild.weights.source import WeightSource

NO_OPTIONS: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What to write.

    Args:
        output: The file; of several entries each is in one with its name before the suffix.
        opset: The version of ONNX's operators.
        entry: The only entry to write.
        embed: Whether the weights are inside.
    """

    output: Path
    opset: int = DEFAULT_OPSET
    entry: str | None = None
    embed: bool = False


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What was written.

    Args:
        models: The files by the names of their entries.
        data: The file beside them that holds weights, if one was needed.
        weights: The files of weights that the models name where they are.
        warnings: What the user should know.
    """

    models: Mapping[str, Path]
    data: Path | None
    weights: tuple[Path, ...]
    warnings: tuple[Diagnostic, ...] = ()


@pause_gc()
def export_spec(
    path: Path,
    request: ExportRequest,
    *,
    sizes: Mapping[str, object] | None = None,
    homes: Homes = no_libraries,
    weights: Path | None = None,
    config: Config = None,
) -> ExportResult:
    """Export a model's spec; the arguments are those of `session.compile_spec`.

    Raises:
        DiagnosticError: With all that is wrong with the model, its weights or the request.
    """
    _check_request(request)
    if is_mlir(path) or path.suffix == SUFFIX:
        kind = "module of MLIR" if is_mlir(path) else "model of ONNX"
        message = f"`{path}` is a {kind}, which is not exported"
        hint = "export a spec, an executable or a Python function"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=hint))
    built = build(path, sizes, homes=homes, config=ConfigChoice(config, weights))
    built = _chosen(built, request.entry)
    return export_graphs(built, check_weights(built, weights), request)


@pause_gc()
def export_graphs(built: ModelGraph, read: WeightSource, request: ExportRequest) -> ExportResult:
    """Export graphs, whatever they were recorded from.

    Raises:
        DiagnosticError: A law does not hold for these sizes, the opset has no form of an operation,
            or a file cannot be written.
    """
    _check_request(request)
    built = merge_weights(prune_weights(_chosen(built, request.entry)), read)
    check_entries(built, sizes_to_compile(built, ()))
    warnings = check_prepared(needed_recipes(built.prepared, built.declared_weights))
    warnings += _left_out(built)
    return _export(replace(built, warnings=(*built.warnings, *warnings)), read, request)


@pause_gc()
def export_executable(
    path: Path, request: ExportRequest, options: Mapping[str, object] = NO_OPTIONS
) -> ExportResult:
    """Export what an executable was compiled from; none of its native code is loaded.

    Args:
        path: The executable.
        request: What to write.
        options: Options of specs by what the caller calls them; none of them may be there.

    Raises:
        DiagnosticError: It is no executable, holds no graphs, or an entry cannot be exported.
    """
    for name in (name for name, value in options.items() if value):
        message = f"`{path}` is an executable, and takes no `{name}`"
        hint = "export the spec that it was compiled from"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
    _check_request(request)
    model = read_executable(path)
    if not holds_graphs(model):
        message = f"`{path}` is for the target `{model.target}`, and holds no graph"
        hint = "export the spec that it was compiled from"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=hint))
    built = _chosen(model_of_executable(model, path), request.entry)
    read = ExecutableWeights(model)
    return _export(merge_weights(built, read), read, request)


def _left_out(built: ModelGraph) -> list[Diagnostic]:
    """A warning of a mesh, which is not written."""
    for entry in built.entries.values():
        if (mesh := entry.graph.mesh) is not None:
            message = f"the file says nothing of the mesh of {mesh.devices} devices ({mesh})"
            span = built.document.span(("mesh",), key=True)
            return [Diagnostic("mesh-left-out", message, span)]
    return []


def _check_request(request: ExportRequest) -> None:
    """Refuse an opset that is not exported to, and an output without a name.

    Raises:
        DiagnosticError: The opset is too old, or newer than the table of operators.
    """
    if request.opset not in OPSETS:
        message = f"the opset {request.opset} is not between {OPSETS[0]} and {OPSETS[-1]}"
        hint = f"leave out `--opset` for {DEFAULT_OPSET}, which most runtimes take"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
    if not request.output.name:  # as `.` and `/` are
        check_model_file(request.output)


def _chosen(built: ModelGraph, entry: str | None) -> ModelGraph:
    """The model with the entry of this name alone; None is all of them."""
    if entry is None:
        return built
    return replace(built, entries={entry: find_entry(built.entries, entry, built.name)})


def _export(built: ModelGraph, read: WeightSource, request: ExportRequest) -> ExportResult:
    paths = dict(model_paths(built.entries, request.output))
    beside = data_path(request.output)
    inputs = list(_inputs(built, read))
    check_inputs_stay(paths.values(), inputs)
    for path in paths.values():
        check_model_file(path)
    folder = Path(built.document.path).parent
    _check_dtypes(built, request.opset)
    models = {
        name: _describe(lower_onnx(entry.graph, request.opset, folder), built, entry)
        for name, entry in built.entries.items()
    }
    read_of_all = {each for model in models.values() for each in model.weights()}
    weights = {name: v for name, v in built.declared_weights.items() if name in read_of_all}
    output = request.output
    places = WeightPlaces({}, (), weights)
    if request.embed:
        check_embedded(weights)
    else:
        places = find_places(weights, read, output.parent)
    contents = read_bytes(places.others, read, built.prepared)
    # What is opened last takes its place first: no model is there without its weights.
    with ExitStack() as files:
        streams = {n: files.enter_context(atomic_write(path)) for n, path in paths.items()}
        data: dict[str, Buffer | ExternalData] = dict(places.external)
        if request.embed:
            data |= contents
        elif places.others:
            check_inputs_stay([beside], inputs)
            check_data_file(beside, paths.values())
            stream = files.enter_context(atomic_write(beside))
            data |= write_data(stream, beside.name, places.others, contents)
        for name, model in models.items():
            parts = encode_parts(model.with_data(data))
            check_file_size(sum(map(len, parts)))
            streams[name].writelines(parts)
        read.verify()
    written = beside if places.others and not request.embed else None
    return ExportResult(paths, written, places.files, built.warnings)


def _inputs(built: ModelGraph, read: WeightSource) -> Iterator[Path]:
    """The files that a model is read from."""
    yield from map(Path, (built.document.path, *(each.path for each in built.used)))
    if built.config is not None and built.config.path:
        yield Path(built.config.path)
    yield from read.paths


def _check_dtypes(built: ModelGraph, opset: int) -> None:
    """Refuse inputs and weights of dtypes that the opset lacks, at the lines that declare them.

    Raises:
        DiagnosticError: Each line once.
    """
    found: dict[Span, Diagnostic] = {}
    for entry, each in built.entries.items():
        home = ("entries", entry) if entry else ()
        for name, problem in lacking_tensors(each.graph, opset).items():
            origin = built.origins.get(name)
            span = problem.span or built.document.span((*home, "inputs", name))
            span = span if origin is None else origin.span()
            found.setdefault(span, replace(problem, span=span))
    if found:
        raise DiagnosticError(*first_problems(found.values()))


def _describe(model: OnnxModel, built: ModelGraph, entry: EntryGraph) -> OnnxModel:
    """The model with what its spec says of it beside what it does."""
    metadata: dict[str, Any] = {}
    if entry.ranges:
        metadata["ranges"] = {name: each.to_json() for name, each in entry.ranges.items()}
    if entry.states:
        metadata["state"] = {name: encode_value(entry.first.get(name)) for name in entry.states}
    return replace(
        model,
        graph=replace(model.graph, doc=entry.doc),
        doc=built.doc,
        metadata={f"tripybuild.{key}": json.dumps(each) for key, each in metadata.items()},
    )


def holds_graphs(model: CompiledModel) -> bool:
    """Whether the graphs of an executable are in its file, or engines alone."""
    return all(entry_member(GRAPH, name) in model.members for name in model.entries)


def model_of_executable(model: CompiledModel, path: Path) -> ModelGraph:
    """What was compiled, as it is stored.

    Raises:
        DiagnosticError: A graph cannot be read, or its operators are not here.
    """
    return ModelGraph(
        model.manifest["model"],
        {name: _entry_graph(entry) for name, entry in model.entries.items()},
        str(model.manifest.get("doc") or ""),
        _ExecutableOrigin(str(path)),
    )


def _entry_graph(entry: CompiledEntry) -> EntryGraph:
    said = entry.manifest
    return EntryGraph(
        entry.graph,
        tuple(said["state"]),
        {name: SizeRange.from_json(each) for name, each in said["ranges"].items()},
        str(said.get("doc") or ""),
        {name: decode_value(number, {}) for name, number in said["first"].items()},
    )


@dataclass(frozen=True, slots=True)
class _ExecutableOrigin:
    """The file, in the place of the spec that it was compiled from."""

    path: str
    text: str = ""

    def span(self, *_: object, **__: object) -> Span:
        return Span(self.path, 1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class ExecutableWeights:
    """The weights of an executable."""

    model: CompiledModel
    place: str = ""
    noun: str = "weight"

    @property
    def span(self) -> Span:
        """Where the user says which weights they are: nowhere but in the file itself."""
        return Span("", 1, 1, 1, 1)

    def __call__(self, wanted: Iterable[str]) -> dict[str, Any]:
        """The arrays of some weights."""
        return {name: self.model.weights[name] for name in wanted}

    @property
    def paths(self) -> tuple[Path, ...]:
        """None beside the executable."""
        return ()

    def compute(self, wanted: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """None: all of them are there."""
        del wanted
        return iter(())

    def file_entries(self, wanted: Iterable[str]) -> Mapping[Path, Any]:
        """None of them lies in a file of weights."""
        del wanted
        return {}

    def same_data(self, wanted: Iterable[str]) -> dict[str, str]:
        """The weights that are in the file under the name of another one."""
        wanted, tied = list(wanted), self.model.manifest.get("tied", {})
        first: dict[str, str] = {}
        found = ((name, first.setdefault(tied.get(name, name), name)) for name in wanted)
        return {name: before for name, before in found if name != before}

    def verify(self) -> None:
        """Members were compared with their digests when they were read."""
