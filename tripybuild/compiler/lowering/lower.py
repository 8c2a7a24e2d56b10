"""Lowering: a graph to an engine's dialect: StableHLO, or layers of TensorRT."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tripybuild import stablehlo
from tripybuild.compiler.lowering.driver import (
    LoweringDialect,
    argument_values,
    arguments_of,
    lower_all,
    same_type,
)
from tripybuild.compiler.lowering.lower_sharded import fill_sharded
from tripybuild.compiler.lowering.segments import Segment, cut_graph
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.model.size_limits import check_tensor_bytes
from tripybuild.process.gc_pause import pause_gc
from tripybuild.stablehlo.functions import OutlinedFunction, outline_function
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import same
from tripybuild.tensorrt import layers
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import TensorType, Value

Module = stablehlo.HloModule | layers.Network
Place = Callable[[str], Span | None]  # where an argument is declared

_PADDED = "bucket-changes-result"
_PADDED_HINT = (
    "compile one program for each size, without `--buckets`; or take "
    "`--target cpu:onnxruntime`, whose programs serve all sizes"
)


def _same_sizes(given: Any, type: TensorType) -> str | None:
    """What is wrong with a value whose type, for all sizes, is not the declared one."""
    fits = given.dtype is type.dtype and same(given.shape, tuple(type.shape))
    return None if fits else f"it gave {given!r}, declared as {type}"


def _padding_refusal(operation: TraceOp, declined: Exception) -> Diagnostic:
    """What a program for a bucket of sizes would compute otherwise than one for each."""
    takes = ", ".join(str(value.type) for value in operation.reads())
    what = f"`{operation.operator}` of {takes}" if takes else f"`{operation.operator}`"
    says = isinstance(declined, UndecidedSize | stablehlo.UnboundedOperation)
    reason = declined if says else "its lowering computes with numbers for sizes"
    own = isinstance(operation, Constant)  # which no file declares
    return Diagnostic(
        _PADDED,
        f"{what} cannot be padded to a bucket: {reason}",
        operation.location.span(),
        notes=() if own else (f"declared in {operation.declaration.source}",),
        hint=_PADDED_HINT,
    )


def _check_bounds(
    arguments: Mapping[str, Value], sizes: stablehlo.BoundedSizes, place: Place
) -> None:
    """Refuse arguments whose memory has no bound: no operation has them."""
    for name, value in arguments.items():
        try:
            for size in value.shape:
                sizes.largest(size)
        except stablehlo.UnboundedOperation as error:
            message = f"`{name}`, {value.type}, cannot be padded to a bucket: {error}"
            found = Diagnostic(_PADDED, message, place(name), hint=_PADDED_HINT)
            raise DiagnosticError(found) from error


STABLEHLO = LoweringDialect(
    "stablehlo", stablehlo.constant, stablehlo.constant, judge=same_type, bounded=True
)
BOUNDED = LoweringDialect(
    "stablehlo",
    stablehlo.constant,
    stablehlo.constant,
    judge=_same_sizes,
    declines=(
        UndecidedSize,
        stablehlo.UnboundedOperation,
        *(TypeError, ValueError, ZeroDivisionError),
    ),
    diagnose=_padding_refusal,
)
TENSORRT = LoweringDialect("tensorrt", layers.full, layers.constant)


@pause_gc()
def lower_stablehlo(
    graph: Graph,
    folder: Path | None = None,
    *,
    outline: bool = False,
    bounds: Mapping[str, int] | None = None,
    place: Place = lambda _: None,
) -> stablehlo.HloModule:
    """Build a StableHLO module: weights are its first arguments, inputs follow.

    Args:
        graph: The graph, substituted: every size is a number, or has bounds.
        folder: The folder of the user's files; the module's places are relative to it.
        outline: Whether blocks that repeat become functions, which `@main` calls.
        bounds: The largest sizes of symbols. The module is for these, and its last arguments say
            what the symbols are; below them, results are as for those.
        place: Where arguments are declared.

    Raises:
        DiagnosticError: Where an operation has no way to StableHLO, or none for bounded sizes.
    """
    arguments = {**graph.weights, **graph.inputs}
    for name, value in arguments.items():
        check_tensor_bytes(value, f"`{name}`")
    sizes = stablehlo.BoundedSizes(bounds) if bounds else None
    if sizes is not None:
        _check_bounds(arguments, sizes, place)
    module = stablehlo.HloModule(*arguments_of(graph), folder, sizes)
    dialect = STABLEHLO if sizes is None else BOUNDED
    # Over a mesh there is one program: what is between two has no sharding that both know.
    segments = cut_graph(graph) if outline and graph.mesh is None else ()
    if graph.mesh is not None:
        fill_sharded(module, graph, graph.mesh, dialect)
    elif len(segments) > 1:
        _fill_calls(module, graph, segments, dialect)
    else:
        _fill(module, graph, dialect)
    return module


def lower_tensorrt(graph: Graph) -> layers.Network:
    """Record the layers of a TensorRT network; sizes may be symbols."""
    network = layers.Network(*arguments_of(graph))
    _fill(network, graph, TENSORRT)
    return network


def _fill(module: Module, graph: Graph, dialect: LoweringDialect) -> None:
    values = argument_values(module, graph)
    with module:
        results = lower_all(module, graph, dialect, values)
        if isinstance(module, stablehlo.HloModule):
            module.finish(results, donated_inputs(graph))
        else:
            module.finish(results)


def _fill_calls(
    module: stablehlo.HloModule,
    graph: Graph,
    segments: Sequence[Segment],
    dialect: LoweringDialect,
) -> None:
    """Lower each segment to a function, once for those that are equal, and call those in order."""
    values = argument_values(module, graph)
    functions: dict[object, OutlinedFunction] = {}
    donated = _donated_arguments(graph, segments)
    with module:
        for segment in segments:
            if segment.key not in functions:
                takes = [(value.dtype, value.shape) for value in segment.takes]
                name, fill = (
                    f"segment{len(functions)}",
                    partial(_fill_segment, module, segment, dialect),
                )
                functions[segment.key] = outline_function(name, takes, fill, donated[segment.key])
            found = functions[segment.key]([values[value] for value in segment.takes])
            values.update(zip(segment.gives, found, strict=True))
        module.finish({name: values[value] for name, value in graph.outputs.items()})


def _fill_segment(
    module: stablehlo.HloModule,
    segment: Segment,
    dialect: LoweringDialect,
    arguments: Sequence[Any],
) -> list[Any]:
    values = dict(zip(segment.takes, arguments, strict=True))
    return list(lower_all(module, segment.graph(), dialect, values).values())


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
