"""`check_spec`: everything that can be said of a model before any compiler runs.

Sizes are those of each corner of the ranges and each `opt`. Of the files of weights, only the
headers are read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from tripybuild.artifact.call_signature import law_violations
from tripybuild.compiler.check.costs import CostTable
from tripybuild.compiler.check.devices import Roofline
from tripybuild.compiler.executable import is_executable
from tripybuild.compiler.lowering.specialize import sizes_name
from tripybuild.compiler.session import Config, prune_weights
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.limits import first_problems
from tripybuild.model.config import ConfigChoice
from tripybuild.model.graph_builder import build
from tripybuild.model.libraries import Homes, no_libraries
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.model.size_limits import check_tensor_bytes
from tripybuild.process.gc_pause import pause_gc
from tripybuild.symbolic.dims import Dim, Size
from tripybuild.targets.model_manifest import check_range
from tripybuild.targets.table import is_mlir
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import walk_operations
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.size_range import SizeRange
from tripybuild.weights.checkpoint import check_weights
from tripybuild.weights.prepared import needed_recipes
from tripybuild.weights.source import WeightSource

MOST_CORNERS = 16  # of more ranges, those where all are small or large, or one is
ABSENT = "weights-not-found"


@dataclass(frozen=True, slots=True)
class Corner:
    """The shapes of an entry's outputs for some sizes; what depends on data stays a name."""

    sizes: Mapping[str, int]
    outputs: Mapping[str, Sequence[int | str]]


@dataclass(frozen=True, slots=True)
class EntryCheck:
    """What is known of an entry.

    Args:
        entry: The graph and its ranges.
        sizes: The sizes that numbers are for.
        corners: The shapes for these, and at the corners of the ranges.
        costs: What its parts cost.
        stored: Its weights that are in files.
    """

    entry: EntryGraph
    sizes: Mapping[str, int]
    corners: Sequence[Corner]
    costs: CostTable
    stored: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What is known of a model.

    Args:
        built: The model.
        entries: What is known of each entry.
        device: What times are of.
        weights: The files that agree with it; None where they were not compared.
        warnings: What the user should know.
    """

    built: ModelGraph
    entries: Mapping[str, EntryCheck]
    device: Roofline
    weights: WeightSource | None
    warnings: tuple[Diagnostic, ...]


@pause_gc()
def check_spec(
    path: Path,
    device: Roofline,
    *,
    sizes: Mapping[str, object] | None = None,
    at: Mapping[str, int] | None = None,
    homes: Homes = no_libraries,
    weights: Path | None = None,
    config: Config = None,
) -> ModelCheck:
    """Check a model's file.

    Args:
        path: The file.
        device: What times are of.
        sizes: Sizes and dtypes to put in the place of the file's own.
        at: Dynamic sizes that numbers are for, in the place of the `opt` of their ranges.
        homes: Says where the operators and modules of other registries are.
        weights: A safetensors file, an index of shards or a folder, in the place of what the model
            names. What the model names need not be there.
        config: Values in the place of the model's own `config:`, or a file of them.

    Raises:
        DiagnosticError: With all that is wrong with the model, its weights, or calls within its
            ranges.
    """
    if is_mlir(path):
        message, hint = f"`{path}` is a module of MLIR", "`tripybuild opt` checks those"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=hint))
    if is_executable(path):
        message = f"`{path}` is an executable, which was checked when it was compiled"
        hint = "`tripybuild inspect` shows what is in it"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=hint))
    built = build(path, sizes, homes=homes, config=ConfigChoice(config, weights))
    return check_built(built, device, at, weights)


def check_built(
    built: ModelGraph,
    device: Roofline,
    at: Mapping[str, int] | None = None,
    weights: Path | None = None,
) -> ModelCheck:
    """Check a model that was built from its file; the arguments are those of `check_spec`.

    Raises:
        DiagnosticError: With all that is wrong with its weights, or calls within its ranges.
    """
    problems: list[Diagnostic] = []
    try:
        return check_graphs(built, device, at, check_weights(built, weights))
    except DiagnosticError as error:
        problems += error.diagnostics
    absent = [each for each in problems if each.code == ABSENT]
    if weights is not None or not absent:
        raise DiagnosticError(*first_problems(problems))
    return check_graphs(replace(built, warnings=(*built.warnings, *absent)), device, at)


def check_graphs(
    built: ModelGraph,
    device: Roofline,
    at: Mapping[str, int] | None = None,
    weights: WeightSource | None = None,
) -> ModelCheck:
    """Check graphs, whatever they were recorded from; the arguments are those of `check_spec`.

    Raises:
        DiagnosticError: With all that is wrong with calls within the ranges.
    """
    for name, size in (at or {}).items():
        check_range(built, name, size)
    built = prune_weights(built)
    entries: dict[str, EntryCheck] = {}
    found: list[Diagnostic] = []
    for name, entry in built.entries.items():
        sizes = {symbol: each.opt for symbol, each in entry.ranges.items()}
        sizes |= {symbol: size for symbol, size in (at or {}).items() if symbol in sizes}
        places = [sizes, *corner_sizes(entry.ranges, sizes)]
        problems = list(_problems(built, entry.graph, places))
        if problems:
            found += problems
            continue
        corners = [_corner(entry.graph, each) for each in places]
        stored = _stored_weights(built, entry.graph)
        table = CostTable(entry.graph, sizes, device, stored, entry.states)
        entries[name] = EntryCheck(entry, sizes, corners, table, stored)
    if found:
        raise DiagnosticError(*first_problems(dict.fromkeys(found)))
    return ModelCheck(built, entries, device, weights, built.warnings)


def corner_sizes(ranges: Mapping[str, SizeRange], sizes: Mapping[str, int]) -> list[dict[str, int]]:
    """The corners of the ranges, but for those that are `sizes`; a range without end has no top."""
    ends = {
        name: list(dict.fromkeys((each.min, each.opt if each.max is None else each.max)))
        for name, each in ranges.items()
    }
    if 2 ** len(ends) <= MOST_CORNERS:
        found = [dict(zip(ends, each, strict=True)) for each in product(*ends.values())]
    else:
        low, high = ({name: each[end] for name, each in ends.items()} for end in (0, -1))
        found = [low, high]
        found += [
            base | {name: each} for base in (low, high) for name in ends for each in ends[name]
        ]
    unique = {tuple(each.items()): each for each in found if each != sizes}
    return list(unique.values())


def _problems(
    built: ModelGraph, graph: Graph, places: Sequence[Mapping[str, int]]
) -> Iterator[Diagnostic]:
    """What is wrong with calls of these sizes: each law and each tensor once."""
    seen: set[object] = set()
    span = built.document.span(("ranges",))
    tensors = _distinct_tensors(graph)
    for sizes in places:
        hint = f"calls with {sizes_name(sizes)} are within the ranges: narrow them"
        for each in law_violations(graph.deferred_laws, sizes):
            if (key := (each.code, each.notes[1:])) not in seen:
                seen.add(key)
                yield replace(each, span=span, hint=each.hint or hint)
        for type, (operation, name) in tensors.items():
            if type not in seen and (problem := _size_problem(type, operation, name, sizes)):
                seen.add(type)
                yield replace(problem, hint=hint)


def _distinct_tensors(graph: Graph) -> dict[TensorType, tuple[TraceOp | None, str]]:
    """The types of all tensors, each with the first operation or input that has it."""
    found: dict[TensorType, tuple[TraceOp | None, str]] = {}
    for name, value in (*graph.weights.items(), *graph.inputs.items()):
        found.setdefault(value.type, (None, f"`{name}`"))
    for operation in walk_operations(graph.operations):
        for output in operation.outputs:
            found.setdefault(output.type, (operation, "this"))
    return found


def _size_problem(
    type: TensorType, operation: TraceOp | None, name: str, sizes: Mapping[str, int]
) -> Diagnostic | None:
    """Say why no engine can hold a tensor of this type for these sizes."""
    location = None if operation is None else operation.location
    try:
        shape = tuple(
            each.substitute(sizes) if isinstance(each, Dim) else each for each in type.shape
        )
        check_tensor_bytes(Value(TensorType(type.dtype, shape)), name, location)
    except ZeroDivisionError:
        message = f"a size of {type} is divided by zero for {sizes_name(sizes)}"
        span = None if location is None else location.span()
        return Diagnostic("size-out-of-range", message, span)
    except DiagnosticError as error:
        return error.diagnostics[0]
    return None


def _corner(graph: Graph, sizes: Mapping[str, int]) -> Corner:
    """The shapes of the outputs for some sizes."""
    shapes = {
        name: [_number(size, sizes) for size in value.shape]
        for name, value in graph.outputs.items()
    }
    return Corner(sizes, shapes)


def _number(size: Size, sizes: Mapping[str, int]) -> int | str:
    """The number that a size is, or its name where data tells it."""
    found = size.substitute(sizes) if isinstance(size, Dim) else size
    return str(found) if isinstance(found, Dim) else found


def _stored_weights(built: ModelGraph, graph: Graph) -> dict[str, Value]:
    """The weights in files that a graph needs, itself or for those that are computed."""
    recipes = needed_recipes(built.prepared, graph.weights)
    found = {n: v for n, v in graph.weights.items() if n not in recipes}
    for recipe in recipes.values():
        found |= {n: v for n, v in recipe.weights.items() if n not in built.prepared}
    return found
