"""Public API of compilation: compile, emit and load, for the CLI and `import tripybuild`."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from tripybuild.artifact.draft import Draft
from tripybuild.cache.records import entry_origin
from tripybuild.compiler.entry_facts import spec_facts
from tripybuild.compiler.executable import Executable
from tripybuild.compiler.lowering.footprint import check_footprint, check_together
from tripybuild.compiler.lowering.specialize import check_laws
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.logger import logger
from tripybuild.model.config import ConfigChoice
from tripybuild.model.graph_builder import build
from tripybuild.model.libraries import Homes, no_libraries
from tripybuild.model.model_graph import EntryGraph, ModelGraph, Origin
from tripybuild.model.size_limits import check_graph_bytes
from tripybuild.process.gc_pause import pause_gc
from tripybuild.process.phases import END, begin_phase
from tripybuild.targets.model_manifest import Buckets, add_buckets, check_range, manifest_of_model
from tripybuild.targets.protocol import CompileRequest, Shapes, Target
from tripybuild.targets.table import DEFAULT, check_name, find_target, forms, is_mlir, parse_target
from tripybuild.trace import printer
from tripybuild.trace.graph import Graph
from tripybuild.weights.checkpoint import check_weights
from tripybuild.weights.names import join_names
from tripybuild.weights.prepared import needed_recipes
from tripybuild.weights.source import WeightSource
from tripybuild.worker import compiler_process
from tripybuild.worker.failures import check_timeout

DONE = "done"  # the phase that is none
Progress = Callable[[str, float], None]
Config = Path | Mapping[str, Any] | None


def _tell_phase(phase: str, seconds: float) -> None:
    del seconds
    begin_phase(END if phase == DONE else phase)


@pause_gc()
def compile_spec(
    path: Path,
    *,
    target: str = DEFAULT,
    sizes: Mapping[str, object] | None = None,
    shapes: Shapes = (),
    progress: Progress | None = None,
    timeout: float | None = None,
    function: str | None = None,
    homes: Homes = no_libraries,
    weights: Path | None = None,
    config: Config = None,
    buckets: Buckets | None = None,
    draft: Draft | None = None,
    known: tuple[ModelGraph, WeightSource] | None = None,
) -> Executable:
    """Compile a model.

    Args:
        path: The model's file; `.mlir` is a module of the tensorrt dialect.
        target: One of `targets.table.TARGETS`; `tensorrt-rtx:sm86,sm89` names GPUs to build for,
            `cpu:onnxruntime,threads=2` sets an option.
        sizes: Sizes and dtypes to put in the place of the file's own.
        shapes: Dynamic sizes to compile ahead of time beside the `opt` of each range; for TensorRT,
            to make optimization profiles of.
        progress: Told the name of each phase and the seconds since the start; by default, what
            listens to `process.phases`.
        timeout: Seconds that the compiler may take.
        function: The only function of a module to build.
        homes: Says where the operators and modules of other registries are.
        weights: A safetensors file, an index of shards or a folder with either, in the place of the
            files that the model names; it may be anywhere.
        config: A file of JSON or its values, in the place of the configuration that the model has;
            by default that in the folder of the weights.
        buckets: Sizes that programs are for, by the names of dynamic sizes, or `powers` of two:
            those between are padded to the next. Only XLA has a program for each size without.
        draft: The beginning of the file in which the executable will be.
        known: What `read_spec` gave for the same file and options.

    Raises:
        DiagnosticError: With all that is wrong with the model, its weights or the request.
    """
    chosen = parse_target(target)
    # What the environment says is refused also where nothing is compiled.
    compiler_process.default_timeout()
    timeout = None if timeout is None else check_timeout(timeout, "`timeout`")
    chosen.start()
    began = perf_counter()
    tell = progress or _tell_phase
    if is_mlir(path):
        own: dict[str, Any] = {"sizes": sizes, "shapes": shapes, "buckets": buckets}
        _refuse_spec_options(path, **own, weights=weights, config=config)
        return Executable.of(chosen.compile_module(path, timeout, tell, function))
    if function is not None:
        message = f"`{path}` is a spec, and has no function `{function}`"
        hint = "`--function` is for modules"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
    built, read = known or read_spec(
        path,
        sizes=sizes,
        homes=homes,
        weights=weights,
        config=config,
        tell=lambda at: tell(at, perf_counter() - began),
    )
    asked_for = sizes_to_compile(built, shapes)
    options = {"--set": sizes, "--shapes": shapes, "--buckets": buckets}
    with entry_origin(spec_facts(built, path, options)):
        return compile_graph(
            built,
            read,
            chosen,
            asked_for,
            provenance_of(built, path),
            lambda at: tell(at, perf_counter() - began),
            timeout,
            buckets=buckets,
            asked=bool(shapes),
            draft=draft,
        )


@pause_gc()
def read_spec(
    path: Path,
    *,
    sizes: Mapping[str, object] | None = None,
    homes: Homes = no_libraries,
    weights: Path | None = None,
    config: Config = None,
    tell: Callable[[str], None] = begin_phase,
) -> tuple[ModelGraph, WeightSource]:
    """A model's graphs and its weights, which can be compiled for several targets.

    The arguments are those of `compile_spec`.

    Raises:
        DiagnosticError: With all that is wrong with the model or its weights.
    """
    tell("read the model")
    built = build(path, sizes, homes=homes, config=ConfigChoice(config, weights))
    tell("check the weights")
    return built, check_weights(built, weights)


@pause_gc()
def compile_graph(
    built: ModelGraph,
    read: WeightSource,
    target: Target,
    shapes: Mapping[str, Shapes],
    provenance: Mapping[str, Any],
    tell: Callable[[str], None] = lambda phase: _tell_phase(phase, 0.0),
    timeout: float | None = None,
    options: Mapping[str, Any] | None = None,
    buckets: Buckets | None = None,
    asked: bool = False,
    draft: Draft | None = None,
) -> Executable:
    """Compile graphs, whatever they were recorded from.

    Args:
        built: The graphs and what they do not say.
        read: Where their weights are.
        target: What runs them.
        shapes: The sizes to compile each entry for; the first are each `opt`.
        provenance: Where it comes from, for the executable's manifest.
        tell: Told the name of each phase.
        timeout: Seconds that the compiler may take.
        options: How the compiler builds, for targets that take options.
        buckets: As for `compile_spec`.
        asked: Whether the user asked for sizes, which may be each `opt` alone.
        draft: As for `compile_spec`.

    Raises:
        DiagnosticError: A law does not hold for these sizes, or the compiler refuses the graph.
    """
    target.check_mesh(built)
    built = merge_weights(prune_weights(built), read)
    check_entries(built, shapes)
    manifest = manifest_of_model(built, target.name, shapes)
    if target.options:
        manifest["options"] = dict(target.options)
    if asked:
        manifest["asked"] = True
    if buckets:
        add_buckets(manifest, built, target, buckets)
    manifest["provenance"] = provenance
    recipes = needed_recipes(built.prepared, built.declared_weights)
    if recipes:
        manifest["prepared"] = {n: join_names(each.weights) for n, each in recipes.items()}
    warnings = check_prepared(recipes)
    request = CompileRequest(built, read, manifest, tell, timeout, options, draft)
    made = Executable.of(target.compile(request))
    made.warnings += [*built.warnings, *warnings]
    tell(DONE)
    return made


def check_entries(built: ModelGraph, shapes: Mapping[str, Shapes]) -> None:
    """Refuse graphs that no memory can hold, or whose laws do not hold for their sizes."""
    found: list[Diagnostic] = []
    for name, entry in built.entries.items():
        logger.trace(partial(printer.text, entry.graph))
        try:
            check_graph_bytes(entry.graph)
            check_laws(built, entry.graph, shapes[name])
        except DiagnosticError as error:
            found += error.diagnostics
    if found:
        raise DiagnosticError(*dict.fromkeys(found))


def check_prepared(recipes: Mapping[str, Graph]) -> list[Diagnostic]:
    """Refuse to compute what no memory can hold; what it may not hold is warned of."""
    found: list[Diagnostic] = []
    for recipe in recipes.values():
        check_graph_bytes(recipe)
        found += check_footprint(recipe, dense=True)
    check_together(recipes)
    return found


def emit(
    path: Path,
    kind: str,
    *,
    entry: str | None = None,
    sizes: Mapping[str, object] | None = None,
    shapes: Shapes = (),
    homes: Homes = no_libraries,
    config: Config = None,
) -> str:
    """The text of a model's entry in one of `targets.table.forms`.

    Args:
        path: The model's file.
        kind: The form.
        entry: The entry's name, where there are several.
        sizes: Sizes and dtypes to put in the place of the file's own.
        shapes: Dynamic sizes; a form for fixed sizes is that of the last ones.
        homes: Says where the operators and modules of other registries are.
        config: Values in the place of the model's own `config:`, or a file of them.

    Raises:
        DiagnosticError: With what is wrong with the model or the request.
    """
    chosen = _target_of_form(kind)
    if is_mlir(path):
        _refuse_spec_options(path, sizes=sizes, shapes=shapes, config=config, entry=entry)
        return chosen.emit_module(path)
    built = build(path, sizes, homes=homes, config=ConfigChoice(config))
    return emit_graph(built, kind, shapes, entry)


def emit_graph(built: ModelGraph, kind: str, shapes: Shapes = (), entry: str | None = None) -> str:
    """The text of an entry, whatever it was recorded from, in one of these forms."""
    wanted = sizes_to_compile(built, shapes)
    built = prune_weights(built)
    chosen = built.entry(entry)
    check_graph_bytes(chosen.graph)
    (name,) = (name for name, each in built.entries.items() if each is chosen)
    _target_of_form(kind).check_mesh(built)
    return _target_of_form(kind).emit(built, chosen, wanted[name])


def _target_of_form(kind: str) -> Target:
    found = forms()
    check_name(kind, tuple(found), "unknown-target", "form to emit")
    return find_target(found[kind])


def prune_weights(built: ModelGraph) -> ModelGraph:
    """The model whose graphs have only the weights that their outputs need."""
    entries = {}
    for name, entry in built.entries.items():
        used = {path: entry.graph.weights[path] for path in entry.graph.used_weights()}
        entries[name] = replace(entry, graph=replace(entry.graph, weights=used))
    return replace(built, entries=entries)


def merge_weights(built: ModelGraph, read: WeightSource) -> ModelGraph:
    """The model whose graphs read those that have the same data as one weight."""
    weights = built.declared_weights
    same = read.same_data(weights)
    return replace(
        built,
        entries={
            name: replace(entry, graph=entry.graph.merge_weights(same, weights))
            for name, entry in built.entries.items()
        },
    )


def sizes_to_compile(built: ModelGraph, shapes: Shapes) -> dict[str, list[dict[str, int]]]:
    """Sizes to compile each entry for: the `opt` of each range, then those of the requested ones.

    Raises:
        DiagnosticError: No entry has a requested size, or it is out of its range.
    """
    for asked in shapes:
        for name, size in asked.items():
            check_range(built, name, size)
    return {name: _sizes_of_entry(entry, shapes) for name, entry in built.entries.items()}


def _sizes_of_entry(entry: EntryGraph, shapes: Shapes) -> list[dict[str, int]]:
    opt = {name: each.opt for name, each in entry.ranges.items()}
    result = [opt]
    for asked in shapes:
        sizes = opt | {name: size for name, size in asked.items() if name in opt}
        if sizes not in result:
            result.append(sizes)
    return result


def _refuse_spec_options(
    path: Path,
    *,
    sizes: object,
    shapes: object,
    weights: object = None,
    config: object = None,
    entry: object = None,
    buckets: object = None,
) -> None:
    """A module says its sizes, ranges and weights itself.

    Raises:
        DiagnosticError: Others are asked for.
    """
    found = []
    if sizes:
        message = f"`{path}` is a module, and has no sizes that can be set"
        hint = "`--set` is for specs; write the sizes into the module's types"
        found.append(Diagnostic("unknown-size", message, hint=hint))
    if shapes:
        message = f"`{path}` is a module, and declares the sizes that it is compiled for"
        hint = "`--shapes` is for specs; give arguments a `tensorrt.shape_profile`"
        found.append(Diagnostic("unknown-size", message, hint=hint))
    if buckets:
        message = f"`{path}` is a module, and has one program"
        found.append(Diagnostic("unknown-size", message, hint="`--buckets` is for specs"))
    if weights:
        message = f"`{path}` is a module, and has its weights itself"
        hint = "`--weights` is for specs"
        found.append(Diagnostic("wrong-value", message, hint=hint))
    if config is not None:
        message = f"`{path}` is a module, and reads no configuration"
        hint = "`--config` is for specs"
        found.append(Diagnostic("wrong-value", message, hint=hint))
    if entry is not None:
        message, hint = f"`{path}` is a module, and has no entries", "`--entry` is for specs"
        found.append(Diagnostic("unknown-entry", message, hint=hint))
    if found:
        raise DiagnosticError(*found)


def provenance_of(built: ModelGraph, path: Path) -> dict[str, Any]:
    """The files that a model was built from, by their names and digests."""
    folder = Path(built.document.path).parent
    used = [
        {"path": Path(each.path).relative_to(folder).as_posix(), "sha256": _digest(each)}
        for each in built.used
    ]
    found = {"specification": path.name, "sha256": _digest(built.document), "used": used}
    return found | ({"config": asdict(built.config)} if built.config else {})


def _digest(document: Origin) -> str:
    return sha256(document.text.encode()).hexdigest()
