"""A model of ONNX and its weights as a session; what ONNX Runtime refuses, at its line.

Weights are named in the model as data of another file, which is never read: a session takes their
arrays in its place.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.onnx.model import Buffer, ExternalData, GraphDef, OnnxModel, OnnxNode
from tripybuild.onnx.protobuf import encode_model
from tripybuild.process import memory
from tripybuild.targets.onnx_runtime.arrays import Array
from tripybuild.targets.onnx_runtime.library import (
    error_node,
    error_words,
    errors,
    is_out_of_memory,
)
from tripybuild.targets.onnx_runtime.session import RuntimeSession, SessionSource

CODE = "onnxruntime-refused"
HINT = "the engine `cpu:xla` computes it"
WEIGHTS = "weights.safetensors"  # the name of the file that is not read
# Operators that read a weight in place; kernels of others make their own form of it at the load.
IN_PLACE = frozenset({"Gather"})


def session_of_model(
    model: OnnxModel, weights: Mapping[str, Array], threads: int | None = None
) -> RuntimeSession:
    """A session of a model.

    Args:
        model: The model; its weights have no data.
        weights: Their arrays by name.
        threads: How many threads compute.

    Raises:
        DiagnosticError: ONNX Runtime is not installed, or refuses the model.
    """
    graph = model.graph
    types = {each.name: each.dtype for each in graph.initializers}
    read = {name: (types[name], each) for name, each in weights.items() if name in types}
    data: dict[str, Buffer | ExternalData] = {
        name: ExternalData(WEIGHTS, 0, each.nbytes) for name, (_, each) in read.items()
    }
    source = SessionSource(
        graph.name,
        encode_model(model.with_data(data)),
        {each.name: each.dtype for each in graph.inputs},
        {each.name: each.dtype for each in graph.outputs},
        read,
        _in_place(graph, read),
        threads,
    )
    try:
        return RuntimeSession(source)
    except errors() as error:
        raise DiagnosticError(_refusal(error, graph)) from error


def _in_place(graph: GraphDef, weights: Mapping[str, Any]) -> frozenset[str]:
    """The weights that are read in place wherever they are read."""
    readers: dict[str, set[str]] = {}
    for node in _nodes(graph):
        for name in node.inputs:
            readers.setdefault(name, set()).add(node.operator)
    return frozenset(n for n in weights if readers.get(n) and readers[n] <= IN_PLACE)


def _refusal(error: Exception, graph: GraphDef) -> Diagnostic:
    """What ONNX Runtime does not load, at the place of its operation."""
    if is_out_of_memory(error):
        return memory.memory_diagnostic("ONNX Runtime needs more memory than available")
    name = error_node(error)
    node = next((each for each in _nodes(graph) if name and each.name == name), None)
    if node is None:
        return Diagnostic(CODE, f"ONNX Runtime does not load the model: {error_words(error)}")
    message = f"ONNX Runtime does not compute `{node.operator}` of ONNX with these dtypes"
    return Diagnostic(CODE, message, _span(node.doc), notes=(error_words(error),), hint=HINT)


def _span(place: str) -> Span | None:
    """The span of `FILE:LINE`, as nodes have their places."""
    path, _, line = place.rpartition(":")
    if not path or not line.isdecimal():
        return None
    return Span(path, int(line), 1, int(line), 2)


def _nodes(graph: GraphDef) -> Iterator[OnnxNode]:
    """The nodes of a graph and of those inside."""
    for node in graph.nodes:
        yield node
        for each in node.attributes.values():
            if isinstance(each.value, GraphDef):
                yield from _nodes(each.value)
