"""A model of ONNX as text, in the syntax of ONNX's own printer, without the elements of weights."""

from collections.abc import Iterator, Sequence

from tripybuild.onnx.model import (
    GraphDef,
    OnnxAttribute,
    OnnxModel,
    OnnxNode,
    TensorData,
    ValueInfo,
    ir_version,
)
from tripybuild.types.dtypes import dtype

INDENT = "  "


def model_text(model: OnnxModel) -> str:
    """The text of a model."""
    domains = {"": model.opset, **model.domains}
    opsets = ", ".join(f'"{name}" : {version}' for name, version in domains.items())
    head = f"<ir_version: {ir_version(model.opset)}, opset_import: [{opsets}]>"
    return "\n".join([head, *_graph(model.graph)])


def _graph(graph: GraphDef) -> Iterator[str]:
    inputs, outputs = (", ".join(map(_value, each)) for each in (graph.inputs, graph.outputs))
    yield f"{graph.name or 'graph'} ({inputs}) => ({outputs})"
    if graph.initializers:
        *most, last = (INDENT + _tensor(each) for each in graph.initializers)
        yield from ("<", *(f"{line}," for line in most), last, ">")
    yield from _block(graph.nodes)


def _block(nodes: Sequence[OnnxNode]) -> Iterator[str]:
    yield "{"
    for node in nodes:
        yield from (INDENT + line for line in _node(node))
    yield "}"


def _node(node: OnnxNode) -> Iterator[str]:
    """The lines of a node; those of the graphs in it stand below."""
    plain = (each for each in node.attributes.items() if each[0] not in node.bodies)
    words = ", ".join(f"{name} = {_attribute(each)}" for name, each in plain)
    name = f"{node.domain}.{node.operator}" if node.domain else node.operator
    attributes = f" <{words}>" if words else ""
    yield f"{', '.join(node.outputs)} = {name}{attributes} ({', '.join(node.inputs)})"
    for key, body in node.bodies.items():
        first, *rest = _graph(body)
        yield f"{INDENT}{key} = {first}"
        yield from (INDENT + line for line in rest)


def _attribute(attribute: OnnxAttribute) -> str:
    value = attribute.value
    if isinstance(value, TensorData):
        return _tensor(value)
    if isinstance(value, bytes):
        value = value.decode(errors="replace")
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, Sequence):
        return f"[{', '.join(str(each) for each in value)}]"
    return str(value)


def _value(value: ValueInfo) -> str:
    return f"{_type(value.dtype, value.shape)} {value.name}"


def _tensor(tensor: TensorData) -> str:
    return f"{_type(tensor.dtype, tensor.shape)} {tensor.name}".rstrip()


def _type(kind: dtype, shape: Sequence[int | str | None] | None) -> str:
    """A type such as `float[B, 3]`."""
    if shape is None:
        return f"{kind.onnx}[]"
    return f"{kind.onnx}[{', '.join('?' if each is None else str(each) for each in shape)}]"
