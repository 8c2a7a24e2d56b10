"""The target `cpu`, which chooses one of its engines for each model.

The engine is chosen by what the model computes, never by what was faster or by what else is
installed, so that a model gives the same numbers wherever it is compiled. All entries have one. The
manifest names the engine, which then loads and runs the file, and says why it is this one.
"""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from importlib.metadata import version
from math import inf, prod
from pathlib import Path

from tripybuild.errors.diagnostics import DiagnosticError, Span, one_line, portable_path
from tripybuild.process.package_catalog import package_of
from tripybuild.symbolic.dims import evaluate
from tripybuild.targets.compiled_model import CompiledModel
from tripybuild.targets.cpu.xla import Xla
from tripybuild.targets.protocol import CompileRequest, EntryRequest, Facts, Target, Trial
from tripybuild.targets.table import find_target
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import walk_operations
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import bfloat16

FIRST, OTHER = "cpu:onnxruntime", "cpu:xla"
# What ONNX Runtime refuses, or what ONNX cannot say: the other engine is asked.
REFUSED = frozenset({"onnxruntime-refused", "onnx-unavailable"})
# Dtypes for which ONNX Runtime moves data, and computes hardly anything.
UNCOMPUTED = frozenset({bfloat16})
# A turn of a loop costs ONNX Runtime 4 µs more than XLA, in which it computes so many elements.
SMALL = 4096
WHOLE = "ONNX Runtime computes all of it"


class Cpu(Xla):
    """The processor; files that name no engine are XLA's."""

    takes_buckets = False  # the engine that it chooses may have one program for all sizes

    def compile(self, request: CompileRequest) -> CompiledModel:
        """Compile for the engine that the rule gives; what that refuses, the other one compiles."""
        because = _reason_against(request)
        if because is None:
            try:
                return compile_by(self, request, FIRST, WHOLE)
            except DiagnosticError as error:
                because = _refusal(error, request)
                if because is None:
                    raise
        return compile_by(self, request, OTHER, because)

    def works(self, trial: Trial) -> Facts:
        """The versions of the engines that the rule chooses among."""
        trial.run()
        names = [find_target(each).distribution for each in (FIRST, OTHER)]
        return {name: version(name) for name in names}


def compile_by(target: Target, request: CompileRequest, engine: str, because: str) -> CompiledModel:
    """What an engine makes of a request; its manifest names it, and the target that chose.

    Args:
        target: What was asked for.
        request: The request, which stays as it is.
        engine: The name of the engine.
        because: Why it was chosen.
    """
    chosen = find_target(engine)
    chosen.check_mesh(request.built)
    manifest = deepcopy(request.manifest)
    choice = {"chosen_by": target.name, "because": one_line(because)}
    manifest |= {"target": engine, "engine": choice}
    return chosen.compile(replace(request, manifest=manifest))


def _reason_against(request: CompileRequest) -> str | None:
    """Why the first engine is not tried; None where it is."""
    for entry in request.entries:
        if entry.graph.mesh is not None:
            return f"the model has a mesh of {entry.graph.mesh.devices} devices"
        for operation in walk_operations(entry.graph.operations):
            if package := package_of(type(operation).__module__):
                found = f"{_place(operation, request.folder)} is an operator of `{package.name}`"
                return f"{found}, which loading for ONNX Runtime would need"
            for output in operation.outputs if operation.reads() else ():
                if output.dtype in UNCOMPUTED:
                    found = f"{_place(operation, request.folder)} gives {output.dtype}"
                    return f"{found}, for which ONNX Runtime has few kernels"
    first = next(filter(None, map(_first_holder, request.entries)), None)
    if first is None or not all(map(_is_small, request.entries)):
        return None
    shown = _place(first, request.folder)
    return f"{shown} is a loop or a branch, and no turn computes with {SMALL} elements"


def _place(operation: TraceOp, folder: Path) -> str:
    return f"`{operation.operator}` ({_line(operation.location.span(), folder)})"


def _line(span: Span, folder: Path) -> str:
    return f"{portable_path(span.path, folder)}:{span.line}"


def _first_holder(entry: EntryRequest) -> TraceOp | None:
    """The first loop or branch."""
    return next((each for each in entry.graph.operations if each.region_fields()), None)


def _is_small(entry: EntryRequest) -> bool:
    """Whether weights, and what loops and branches compute, are small for the `opt` sizes."""
    values = [*entry.graph.weights.values(), *_values_inside(entry)]
    return all(_elements(value, entry.shapes[0]) < SMALL for value in values)


def _values_inside(entry: EntryRequest) -> Iterator[Value]:
    """The values of loops and branches."""
    for operation in entry.graph.operations:
        for body in operation.bodies():
            yield from body.parameters
            for each in walk_operations(body.operations):
                yield from each.outputs


def _elements(value: Value, sizes: Mapping[str, int]) -> float:
    """How many elements a value has; unknown ones are many."""
    try:
        return prod(evaluate(size, sizes) for size in value.shape)
    except KeyError:
        return inf


def _refusal(error: DiagnosticError, request: CompileRequest) -> str | None:
    """What an engine says that it does not compute; None where something else is wrong."""
    if not all(each.code in REFUSED for each in error.diagnostics):
        return None
    first = error.diagnostics[0]
    if first.span is None:
        return first.message
    line = _line(first.span, request.folder)
    kinds = ", ".join(sorted(_dtypes(request, line)))
    return f"{first.message} ({line}{f': {kinds}' if kinds else ''})"


def _dtypes(request: CompileRequest, line: str) -> set[str]:
    """The dtypes with which the operations of a line compute."""
    return {
        str(value.dtype)
        for entry in request.entries
        for each in walk_operations(entry.graph.operations)
        if each.reads() and _line(each.location.span(), request.folder) == line
        for value in (*each.reads(), *each.outputs)
    }
