"""Lowering: a graph of fixed sizes to an engine's dialect, one operation at a time.

Each operation lowers from itself. What has no lowering for the engine is decomposed first; nothing
is matched back together afterwards.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from tripybuild import stablehlo
from tripybuild.compiler.lowering.segments import Segment, cut_graph
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.decompose import decompose_operation
from tripybuild.model.size_limits import check_tensor_bytes
from tripybuild.process.gc_pause import pause_gc
from tripybuild.stablehlo.functions import OutlinedFunction, outline_function
from tripybuild.symbolic.dims import Dim
from tripybuild.tensorrt import layers
from tripybuild.trace.constants import Constant
from tripybuild.trace.generated_code import lowering_function
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import Value

Builder = stablehlo.HloModule | layers.Network
Name = TypeVar("Name", str, int)


@dataclass(frozen=True, slots=True)
class LoweringDialect:
    """What graphs are lowered to by the snippets of `lower:`.

    Args:
        name: The key of the snippets in declarations.
        fill: Repeats a number, or a symbolic size, to a shape of a dtype.
        constant: Takes an array.
        fixed_sizes: Whether all sizes are numbers: then what a lowering gives is compared with the
            declaration, and has a bound.
    """

    name: str
    fill: Callable[..., Any]
    constant: Callable[..., Any]
    fixed_sizes: bool


STABLEHLO = LoweringDialect("stablehlo", stablehlo.constant, stablehlo.constant, fixed_sizes=True)
TENSORRT = LoweringDialect("tensorrt", layers.full, layers.constant, fixed_sizes=False)


@pause_gc()
def lower_stablehlo(
    graph: Graph, folder: Path | None = None, *, outline: bool = False
) -> stablehlo.HloModule:
    """Build a StableHLO module: weights are its first arguments, inputs follow.

    Args:
        graph: The graph, substituted: every size is a number.
        folder: The folder of the user's files; the module's places are relative to it.
        outline: Whether blocks that repeat become functions, which `@main` calls.

    Raises:
        DiagnosticError: Where an operation has no way to StableHLO.
    """
    for name, value in (*graph.weights.items(), *graph.inputs.items()):
        check_tensor_bytes(value, f"`{name}`")
    module = stablehlo.HloModule(*_arguments(graph), folder)
    segments = cut_graph(graph) if outline else ()
    if len(segments) > 1:
        _fill_calls(module, graph, segments)
    else:
        _fill(module, graph, STABLEHLO)
    return module


def lower_tensorrt(graph: Graph) -> layers.Network:
    """Record the layers of a TensorRT network; sizes may be symbols."""
    network = layers.Network(*_arguments(graph))
    _fill(network, graph, TENSORRT)
    return network


def _arguments(graph: Graph) -> tuple[dict[str, Any], dict[str, Any]]:
    return (
        {name: (value.dtype, value.shape) for name, value in graph.weights.items()},
        {name: (value.dtype, value.shape) for name, value in graph.inputs.items()},
    )


def _fill(module: Builder, graph: Graph, dialect: LoweringDialect) -> None:
    values = _argument_values(module, graph)
    with module:
        results = _lower_all(module, graph, dialect, values)
        if isinstance(module, stablehlo.HloModule):
            module.finish(results, donated_inputs(graph))
        else:
            module.finish(results)


def _fill_calls(module: stablehlo.HloModule, graph: Graph, segments: Sequence[Segment]) -> None:
    """Lower each segment to a function, once for those that are equal, and call those in order."""
    values = _argument_values(module, graph)
    functions: dict[object, OutlinedFunction] = {}
    donated = _donated_arguments(graph, segments)
    with module:
        for segment in segments:
            if segment.key not in functions:
                takes = [(value.dtype, value.shape) for value in segment.takes]
                name, fill = f"segment{len(functions)}", partial(_fill_segment, module, segment)
                functions[segment.key] = outline_function(name, takes, fill, donated[segment.key])
            found = functions[segment.key]([values[value] for value in segment.takes])
            values.update(zip(segment.gives, found, strict=True))
        module.finish({name: values[value] for name, value in graph.outputs.items()})


def _fill_segment(
    module: stablehlo.HloModule, segment: Segment, arguments: Sequence[Any]
) -> list[Any]:
    values = dict(zip(segment.takes, arguments, strict=True))
    return list(_lower_all(module, segment.graph(), STABLEHLO, values).values())


def donated_inputs(graph: Graph) -> dict[str, str]:
    """The inputs whose memory becomes that of an output; several values in a byte stay theirs."""
    types = {name: graph.inputs[name].dtype for name in graph.updates}
    return {name: graph.updates[name] for name, type in types.items() if type.itemsize >= 1}


def _donated_arguments(
    graph: Graph, segments: Sequence[Segment]
) -> dict[object, Mapping[int, int]]:
    """Arguments of each program whose memory becomes that of a result, whatever calls it."""
    updates = {graph.inputs[old]: graph.outputs[new] for old, new in donated_inputs(graph).items()}
    read = Counter(value for each in segments for value in each.takes)
    outputs = set(graph.outputs.values())
    found: dict[object, Mapping[int, int]] = {}
    for segment in segments:
        gives = {value: at for at, value in enumerate(segment.gives)}
        alone = [
            (gives.pop(updates[value]), at)
            for at, value in enumerate(segment.takes)
            if updates.get(value) in gives and read[value] == 1 and value not in outputs
        ]
        pairs = {at: result for result, at in alone}
        before = found.get(segment.key, pairs)
        found[segment.key] = dict(before.items() & pairs.items())
    return found


def _argument_values(module: Builder, graph: Graph) -> dict[Value, Any]:
    values: dict[Value, Any] = {v: module.weights[name] for name, v in graph.weights.items()}
    return values | {v: module.inputs[name] for name, v in graph.inputs.items()}


def _lower_all(
    module: Builder, graph: Graph, dialect: LoweringDialect, values: dict[Value, Any]
) -> dict[str, Any]:
    """The outputs of a graph, for what its inputs and weights are."""
    operations, outputs = expand_operations(graph.operations, graph.outputs, dialect)
    for operation in operations:
        _lower_at(module, operation, dialect, values)
    return {name: values[value] for name, value in outputs.items()}


def expand_operations(
    operations: Sequence[TraceOp], outputs: Mapping[Name, Value], dialect: LoweringDialect
) -> tuple[list[TraceOp], dict[Name, Value]]:
    """The operations and outputs of a graph, with what has no lowering decomposed."""
    replaced: dict[Value, Value] = {}
    steps = [s for each in operations for s in _expand(each, dialect, replaced)]
    return steps, {name: replaced.get(value, value) for name, value in outputs.items()}


def _expand(
    operation: TraceOp, dialect: LoweringDialect, replaced: dict[Value, Value]
) -> Iterator[TraceOp]:
    if replaced and any(value in replaced for value in operation.reads()):
        operation = _with_operands(operation, replaced)
    if (
        isinstance(operation, Constant)
        or lowering_function(type(operation), dialect.name) is not None
    ):
        yield operation
        return
    steps, outputs = decompose_operation(operation, dialect.name)
    for step in steps:
        yield from _expand(step, dialect, replaced)
    for old, new in zip(operation.outputs, outputs, strict=True):
        replaced[old] = replaced.get(new, new)


def _with_operands(operation: TraceOp, replaced: Mapping[Value, Value]) -> TraceOp:
    """The same operation and outputs, reading what its operands were replaced by."""

    def substitute(argument: Any) -> Any:
        if isinstance(argument, Value):
            return replaced.get(argument, argument)
        if isinstance(argument, tuple):
            return tuple(substitute(item) for item in argument)
        return argument

    copy = operation.rebuild(substitute, lambda kept: kept)
    return copy.with_outputs(operation.outputs, copy.serial)


def _lower_at(
    module: Builder, operation: TraceOp, dialect: LoweringDialect, values: dict[Value, Any]
) -> None:
    """Lower an operation at its place."""
    span = operation.location.span()
    with module.location(operation.location.label, span.path, span.line, span.column):
        _lower(module, operation, dialect, values)


def _body(
    module: Builder,
    operation: TraceOp,
    region: Region,
    dialect: LoweringDialect,
    values: Mapping[Value, Any],
) -> Callable[..., Sequence[Any]]:
    """What builds the inside of a region; it sees what the operation reads from outside."""
    operations, gives = expand_operations(
        region.operations, dict(enumerate(region.results)), dialect
    )
    outside = [values[value] for value in operation.captured]

    def build(*taken: Any) -> Sequence[Any]:
        inner = dict(zip(region.parameters, (*taken, *outside), strict=True))
        for step in operations:
            _lower_at(module, step, dialect, inner)
        return [inner[value] for value in gives.values()]

    return build


def _lower(
    module: Builder, operation: TraceOp, dialect: LoweringDialect, values: dict[Value, Any]
) -> None:
    if isinstance(operation, Constant):
        results: Sequence[Any] = [_constant(operation, dialect)]
    else:
        results = _lower_and_verify(module, operation, dialect, values)
    values.update(zip(operation.outputs, results, strict=True))


def _lower_and_verify(
    module: Builder, operation: TraceOp, dialect: LoweringDialect, values: dict[Value, Any]
) -> Sequence[Any]:
    """What the lowering of an operation gives, which must be what its outputs are."""
    for output in operation.outputs if dialect.fixed_sizes else ():
        check_tensor_bytes(output, "this", operation.location)
    function = lowering_function(type(operation), dialect.name)
    assert function is not None
    operands = [_read(getattr(operation, name), values) for name in operation.tensor_fields()]
    bodies = [_body(module, operation, each, dialect, values) for each in operation.bodies()]
    try:
        result = function(operation, *operands, *bodies)
    except (ValueError, TypeError, IndexError, KeyError, ZeroDivisionError) as error:
        raise DiagnosticError(_failure(operation, dialect, error)) from error
    results = result if isinstance(result, (tuple, list)) else [result]
    for output, given in zip(operation.outputs, results, strict=True):
        shape = getattr(given, "shape", None)
        if dialect.fixed_sizes and (
            shape != tuple(output.shape) or given.dtype is not output.dtype
        ):
            problem = f"it gave {given!r}, declared as {output.type}"
            raise DiagnosticError(_failure(operation, dialect, problem))
    return results


def _constant(operation: Constant, dialect: LoweringDialect) -> Any:
    type, data = operation.outputs[0].type, operation.data
    if isinstance(data.value, Dim | bool | int | float):
        return dialect.fill(data.value, type.dtype, tuple(type.shape))
    return dialect.constant(data.array, type.dtype)


def _read(argument: Any, values: Mapping[Value, Any]) -> Any:
    if isinstance(argument, tuple):
        return [values[value] for value in argument]
    return None if argument is None else values[argument]


def _failure(operation: TraceOp, dialect: LoweringDialect, problem: object) -> Diagnostic:
    return Diagnostic(
        "lowering-failed",
        f"the lowering of `{operation.operator}` to {dialect.name} failed: {problem}",
        operation.location.span(),
        notes=(f"declared in {operation.declaration.source}",),
        hint="this is a fault of the declaration, not of your model",
    )
