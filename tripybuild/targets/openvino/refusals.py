"""Refusals: what OpenVINO computes otherwise than ONNX says, by the names of declared facts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tripybuild.errors.diagnostics import Diagnostic, Span
from tripybuild.onnx.model import GraphDef, OnnxNode
from tripybuild.targets.openvino.integer_kernels import kernel_of

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "int64-is-int32": "OpenVINO computes int64 in 32 bits",
        "int32-is-float32": "OpenVINO computes this of integers in float32, exact up to 2**24",
        "saturates": "OpenVINO computes this of 8 bits with saturation",
        "rounds": "OpenVINO rounds this of 8 bits to the nearest integer",
        "float64-is-float32": "OpenVINO computes float64 in float32",
        "no-kernel": "OpenVINO has no kernel for these floats",
        "computed-padding": "OpenVINO pads zeros where the value to pad is computed",
        "no-turns": "a loop without a turn would keep what an earlier call collected",
        "empty": "OpenVINO reads memory beyond a tensor that is empty",
    }
)
"""Why a model is refused, by the name of the fact that operators and `targets.yaml` declare."""

HINT = "the engine `cpu:onnxruntime` or `cpu:xla` computes it"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A node that OpenVINO is not given.

    Args:
        fact: One of `REASONS`.
        node: The node.
        detail: What was found.
    """

    fact: str
    node: OnnxNode
    detail: str

    def diagnostic(self) -> Diagnostic:
        """The refusal at the place of the operation."""
        message = f"{REASONS[self.fact]}: {self.detail}"
        name = f" `{self.node.name}`" if self.node.name else ""
        notes = (f"the node{name} is `{self.node.operator}` of ONNX",)
        return Diagnostic(CODE, message, place_span(self.node.doc), notes=notes, hint=HINT)


CODE = "openvino-refused"


def place_span(place: str) -> Span | None:
    """The span of `FILE:LINE`, as nodes have their places."""
    path, _, line = place.rpartition(":")
    if not path or not line.isdecimal():
        return None
    return Span(path, int(line), 1, int(line), 2)


def nodes_of(graph: GraphDef) -> Iterator[OnnxNode]:
    """The nodes of a graph and of those inside."""
    for node in graph.nodes:
        yield node
        for each in node.attributes.values():
            if isinstance(each.value, GraphDef):
                yield from nodes_of(each.value)


def empty_tensors(graph: GraphDef) -> Iterator[Refusal]:
    """Refusals of nodes that read or give a tensor that is known to be empty."""
    empty = {each.name for each in graph.initializers if 0 in each.shape}
    declared = (*graph.inputs, *graph.values, *graph.outputs)
    empty |= {each.name for each in declared if each.shape is not None and 0 in each.shape}
    for node in graph.nodes:
        data = kernel_of(node.operator).data  # a shape without sizes is not read as elements
        taken = (
            node.inputs if data is None else [node.inputs[i] for i in data if i < len(node.inputs)]
        )
        for name in (*taken, *node.outputs):
            if name in empty:
                yield Refusal("empty", node, f"`{name}`")
                break
