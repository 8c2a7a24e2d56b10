"""Layer builds: an operator's layers built by real TensorRT, without a GPU.

Invariant: what is asked of TensorRT is what `compile` asks: the same module, passes and
translation, in the same process apart. Where the library is not installed, the module is verified
and no more.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

from tripybuild.compiler.lowering.lower import lower_tensorrt
from tripybuild.errors.diagnostics import DiagnosticError, concise
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.targets.model_manifest import tensor_entries
from tripybuild.targets.tensorrt.build import PACKED
from tripybuild.targets.tensorrt.model import PIPELINE, check_record, dialect_module, module_text
from tripybuild.tensorrt.emission import EmittedModule, Profile
from tripybuild.tensorrt.mlir import packing, verifier
from tripybuild.tensorrt.passes import pipeline
from tripybuild.tensorrt.translation.type_crosscheck import disagreements
from tripybuild.testing.check_counts import has_distribution, report_absence
from tripybuild.trace.graph import Graph
from tripybuild.worker import compiler_process

TARGET = "tensorrt-rtx"  # builds engines without a GPU


def has_tensorrt() -> bool:
    """Whether TensorRT is available; if not, the check lacks it."""
    found = has_distribution(TARGET)
    if not found:
        report_absence(TARGET)
    return found


def engine_problems(
    graph: Graph, profile: Profile | None = None, gpu: str | None = None
) -> Iterator[str]:
    """What is wrong with the engine of a graph: it is not built, or its types are others.

    Args:
        graph: The graph.
        profile: The sizes of its symbols, if it has any.
        gpu: Which GPU the engine is for, such as `sm89`; without, it is for all.
    """
    try:
        module = dialect_module(graph, [profile] if profile else [])
    except DiagnosticError as error:
        yield from map(format_diagnostic, error.diagnostics)
        return
    except UndecidedSize as error:
        yield str(error)
        return
    found = verifier.problems(module.module)
    yield from map(format_diagnostic, found)
    if found or not has_tensorrt():
        return
    try:
        record = build_record(module, gpu)
        check_record(record, graph_types(graph))
    except DiagnosticError as error:
        yield from map(format_diagnostic, error.diagnostics)
        return
    pipeline.run(module.module, PIPELINE)
    yield from disagreements(module.module, record, graph_types(graph)["outputs"])


def type_mismatches(graph: Graph) -> Iterator[str]:
    """The outputs of which the recorded layers give other types than the declaration infers."""
    network = lower_tensorrt(graph)
    for name, value in graph.outputs.items():
        found = network.outputs[name]
        known = found.shape is not None and None not in found.shape
        if found.dtype is not value.dtype or (known and found.shape != value.shape):
            yield f"recorded {found.dtype}{found.shape}, declared {value.dtype}{value.shape}"


def graph_types(graph: Graph) -> dict[str, Any]:
    """What a graph takes and gives, as manifests say it."""
    return {"inputs": tensor_entries(graph.inputs), "outputs": tensor_entries(graph.outputs)}


def build_record(module: EmittedModule, gpu: str | None = None) -> Any:
    """The record of the engine of a module; the engine itself is of no use here."""
    options: dict[str, Any] = {"pipeline": list(PIPELINE), "plan": os.devnull}
    options["compute_capabilities"] = [gpu] if gpu else []
    content: str | bytes
    if module.resources:  # which a packed module has beside it, and a text within
        content = module_text(module, data=True)
    else:
        content, options["form"] = packing.pack(module.module), PACKED
    return json.loads(compiler_process.session(TARGET).compile(TARGET, content, options))


def format_diagnostic(diagnostic: Any) -> str:
    """A diagnostic with what TensorRT says."""
    return " | ".join([concise(diagnostic), *diagnostic.notes])
