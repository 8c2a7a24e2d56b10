"""Lowering to ONNX: a graph with its symbols to a model that has all sizes.

It stands for itself, since processes that load models for engines of ONNX import no other dialect.
"""

from pathlib import Path
from typing import Any

from tripybuild.compiler.lowering.driver import (
    LoweringDialect,
    argument_values,
    arguments_of,
    lower_all,
)
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.onnx import dialect as onnx
from tripybuild.onnx.builder import current
from tripybuild.onnx.completion import complete_model
from tripybuild.onnx.model import OnnxModel
from tripybuild.onnx.table import first_opset_of
from tripybuild.process.gc_pause import pause_gc
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import TensorType


def _declare(given: Any, type: TensorType) -> str | None:
    """Give a value of ONNX its declared shape, where it has the declared dtype."""
    if not isinstance(given, onnx.Value) or given.dtype is not type.dtype:
        return f"it gave {given!r}, declared as {type}"
    current().declare(given, tuple(type.shape))
    return None


def _declined(operation: TraceOp, declined: Exception) -> Diagnostic:
    """What ONNX cannot say in the opset, or not before sizes are known."""
    since = declined.since if isinstance(declined, onnx.Unavailable) else None
    return Diagnostic(
        "onnx-unavailable",
        f"`{operation.operator}` has no form in ONNX: {declined}",
        operation.location.span(),
        notes=(f"declared in {operation.declaration.source}",),
        hint=None if since is None else f"opset {since} has it",
    )


ONNX = LoweringDialect(
    "onnx",
    onnx.full,
    onnx.constant,
    judge=_declare,
    declines=(onnx.Unavailable, UndecidedSize),
    diagnose=_declined,
    empty=onnx.empty,
)


@pause_gc()
def lower_onnx(
    graph: Graph,
    opset: int,
    folder: Path | None = None,
    *,
    types: bool = False,
    runtime: str | None = None,
) -> OnnxModel:
    """Build a model of ONNX, which keeps the graph's symbols: it has all sizes.

    Args:
        graph: The graph; sizes may be symbols.
        opset: The version of ONNX's operators.
        folder: The folder of the user's files; the places of nodes are relative to it.
        types: Whether the model has the declared types of the values between.
        runtime: The engine that alone runs the model, by the name of its distribution.

    Returns:
        The model. Initializers that are weights have their names, and no data.

    Raises:
        DiagnosticError: Where the opset has no form of an operation.
    """
    if lacking := lacking_tensors(graph, opset):
        raise DiagnosticError(*lacking.values())
    module = onnx.OnnxGraph(*arguments_of(graph), opset, folder, runtime)
    values = argument_values(module, graph)
    with module:
        module.finish(lower_all(module, graph, ONNX, values))
    return complete_model(module, graph.name, types=types)


def lacking_tensors(graph: Graph, opset: int) -> dict[str, Diagnostic]:
    """The inputs, weights and outputs of dtypes that the opset has no tensors of, by name."""
    found: dict[str, Diagnostic] = {}
    for name, value in (*graph.inputs.items(), *graph.weights.items(), *graph.outputs.items()):
        since = first_opset_of(value.dtype)
        if since > opset:
            kind = value.dtype
            message = f"`{name}` is {kind}, and ONNX has no tensors of {kind} in opset {opset}"
            span = None if value.producer is None else value.producer.location.span()
            hint = f"opset {since} has them"
            found[name] = Diagnostic("onnx-unavailable", message, span, hint=hint)
    return found
