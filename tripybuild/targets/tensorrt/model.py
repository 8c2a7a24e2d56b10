"""TensorRT models: ranges become optimization profiles, the graph of an entry a dialect module."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripybuild.artifact.manifest_schema import tensor_text
from tripybuild.compiler.lowering.lower import lower_tensorrt
from tripybuild.compiler.lowering.specialize import check_laws
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.errors.logger import logger
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.targets.protocol import CompileRequest, EntryRequest
from tripybuild.targets.tensorrt.build import (
    PACKED,
    EngineMembers,
    EngineSource,
    build_engine,
)
from tripybuild.targets.tensorrt.weights import EngineWeights
from tripybuild.tensorrt.emission import EmissionError, EmittedModule, Profile, emit_module
from tripybuild.tensorrt.mlir import packing, resources, verifier
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.trace.graph import Graph
from tripybuild.trace.region import walk_operations
from tripybuild.types.dtypes import dtype
from tripybuild.types.size_range import SizeRange

if TYPE_CHECKING:
    from tripybuild.targets.tensorrt.target import EngineTarget


# What is run on a model's module before it is translated. Operators are lowered to what TensorRT
# fuses, so nothing has to be recognized again.
PIPELINE = ("tensorrt-expand-ops", "tensorrt-legalize-int8")


def profiles(
    built: ModelGraph, entry: EntryGraph, shapes: Sequence[Mapping[str, int]]
) -> list[Profile]:
    """Optimization profiles: one for the ranges, and one for each requested size.

    Raises:
        DiagnosticError: A range has no `max`, which TensorRT needs to plan its memory.
    """
    open_ended = [name for name, each in entry.ranges.items() if each.max is None]
    if open_ended:
        raise DiagnosticError(*(_missing_max(built, name) for name in open_ended))
    opt = {name: each.opt for name, each in entry.ranges.items()}
    exact = [
        {name: SizeRange.of(size) for name, size in sizes.items()}
        for sizes in shapes
        if sizes != opt
    ]
    return [entry.ranges, *exact]


def engine_module(
    built: ModelGraph, entry: EntryGraph, shapes: Sequence[Mapping[str, int]] = ()
) -> EmittedModule:
    """An entry in the tensorrt dialect.

    Raises:
        DiagnosticError: An operation has no lowering, or a range no end.
    """
    folder = Path(built.document.path).parent
    return dialect_module(entry.graph, profiles(built, entry, shapes), folder)


def dialect_module(
    graph: Graph, ranges: Sequence[Profile] = (), folder: Path | None = None
) -> EmittedModule:
    """A graph in the tensorrt dialect.

    Raises:
        DiagnosticError: An operation has no lowering, or what it needs cannot be said.
    """
    problems = list(_host_only(graph))
    if problems:
        raise DiagnosticError(*problems)
    try:
        return emit_module(lower_tensorrt(graph), graph.name, ranges, folder)
    except EmissionError as error:
        raise DiagnosticError(_emission_diagnostic(error)) from error


def _host_only(graph: Graph) -> Iterator[Diagnostic]:
    """The first operation of each dtype that engines of the CPU alone compute with."""
    told: set[dtype] = set()
    for operation in walk_operations(graph.operations):
        for value in (*operation.reads(), *operation.outputs):
            if value.dtype.host_only and value.dtype not in told:
                told.add(value.dtype)
                yield Diagnostic(
                    "tensorrt-unsupported",
                    f"TensorRT has no data type for `{value.dtype}`, which `{operation.operator}` "
                    + ("gives" if value in operation.outputs else "takes"),
                    operation.location.span(),
                    hint="compile for `cpu`, or let the model take and compute another dtype",
                )


def _emission_diagnostic(error: EmissionError) -> Diagnostic:
    span = None
    if error.place is not None:
        _, path, line, column = error.place
        span = Span(path, line, column, line, column + 1)
    return Diagnostic("tensorrt-unsupported", f"TensorRT has no way to do this: {error}", span)


def module_text(module: EmittedModule, *, locations: bool = True, data: bool = False) -> str:
    """Text of a module; resource data is omitted unless requested."""
    if data:
        resources.of(module.module).add_arrays(module.resources)
    return printer.text(module.module, locations=locations, data=data)


def emit_graph(built: ModelGraph, entry: EntryGraph, shapes: Sequence[Mapping[str, int]]) -> str:
    """The text of an entry's module.

    Raises:
        DiagnosticError: A law does not hold for the sizes, an operation has no lowering, or a range
            no end.
    """
    check_laws(built, entry.graph, shapes)
    return module_text(engine_module(built, entry, shapes), locations=False)


def compile_entry(
    request: CompileRequest,
    entry: EntryRequest,
    target: "EngineTarget",
    weights: EngineWeights,
    members: EngineMembers,
) -> None:
    """Build the engine of an entry, and keep its record and the module that it is of."""
    graph, tell, manifest = entry.graph, request.tell, entry.manifest
    with logger.log_time(f"lower {graph.name} to the tensorrt dialect"):
        module = engine_module(request.built, entry.built, entry.shapes)
    logger.mlir(lambda: module_text(module, locations=False))
    content = packing.pack(module.module)
    source = EngineSource(content, PACKED, weights, module.resources, folder=request.folder)
    # It is made while the compiler's process is at work.
    text = cache(partial(_verified_text, module))
    tell(" ".join(filter(None, ("build the TensorRT engine", entry.name))))
    with logger.log_time(f"build the engine of {graph.name}"):
        engine = build_engine(source, target, PIPELINE, request.options, request.timeout, text)
    check_record(engine.record, manifest)
    members.add(manifest, engine, text().encode())


def _verified_text(module: EmittedModule) -> str:
    """The text of a module in which nothing is wrong; the compiler's process trusts in that."""
    problems = verifier.problems(module.module)
    if problems:
        raise DiagnosticError(*problems)
    return module_text(module)


def check_record(record: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
    """An engine takes and gives what the model declares, in its dtypes; or it is not used.

    Raises:
        DiagnosticError: With each input or output that differs.
    """
    found = []
    for key in ("inputs", "outputs"):
        built = {each["name"]: each for each in record[key]}
        for declared in manifest[key]:
            name = declared["name"]
            got = built.pop(name, None)
            if got is None or got["dtype"] != declared["dtype"] or not _types_agree(got, declared):
                shown = "nothing" if got is None else f"{got['dtype']}{got['shape']}"
                message = f"the engine has {shown} for `{name}`, and not {tensor_text(declared)}"
                found.append(Diagnostic("engine-mismatch", message))
        found += [
            Diagnostic("engine-mismatch", f"the engine has `{name}`, which is not declared")
            for name in built
        ]
    if found:
        raise DiagnosticError(*found)


def _types_agree(got: Mapping[str, Any], declared: Mapping[str, Any]) -> bool:
    """Whether ranks agree, and sizes where both are numbers."""
    pairs = list(zip(got["shape"], declared["shape"], strict=False))
    numbers = [(a, b) for a, b in pairs if isinstance(a, int) and isinstance(b, int)]
    return len(got["shape"]) == len(declared["shape"]) and all(a == b for a, b in numbers)


def _missing_max(built: ModelGraph, name: str) -> Diagnostic:
    message = f"`{name}` has no `max`, and TensorRT needs one for each dynamic size"
    hint = f"write a `max` for `{name}` below `ranges:`"
    return Diagnostic("bad-range", message, built.document.span(("ranges", name)), hint=hint)
