"""Refusals: what OpenVINO computes otherwise than ONNX says, by the names of declared facts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.onnx.model import GraphDef, OnnxNode
from tripybuild.process import memory
from tripybuild.targets.openvino.integer_kernels import kernel_of

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "int64-is-int32": "OpenVINO computes int64 in 32 bits",
        "int32-is-float32": "OpenVINO computes this of integers in float32, exact up to 2**24",
        "saturates": "OpenVINO computes this of 8 bits with saturation",
        "rounds": "OpenVINO rounds this of 8 bits to the nearest integer",
        "float64-is-float32": "OpenVINO computes float64 in float32",
        "no-kernel": "OpenVINO has no kernel for these floats",
        "no-turns": "a loop without a turn would keep what an earlier call collected",
        "dynamic-lengths": "OpenVINO ignores the lengths of sequences where sizes are dynamic",
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
        return Diagnostic(CODE, message, self.node.span, notes=notes, hint=HINT)


CODE = "openvino-refused"
RECURRENT = frozenset({"GRU", "LSTM", "RNN"})
_LENGTHS = 4  # the input of such a node that has the lengths of sequences


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


def ignored_lengths(graph: GraphDef) -> Iterator[Refusal]:
    """Refusals of recurrent nodes that read the lengths of sequences of unknown sizes.

    OpenVINO expands such a node into a loop only where all of its sizes are known; its kernel for
    other sizes reads every step.
    """
    declared = (*graph.inputs, *graph.values, *graph.outputs)
    shapes = {each.name: each.shape for each in declared}
    shapes |= {each.name: each.shape for each in graph.initializers}
    for node in graph.nodes:
        lengths = node.inputs[_LENGTHS] if len(node.inputs) > _LENGTHS else ""
        if node.operator in RECURRENT and lengths:
            shape = shapes.get(node.inputs[0])
            if shape is None or not all(isinstance(size, int) for size in shape):
                yield Refusal("dynamic-lengths", node, f"`{lengths}`")


# How OpenVINO names nodes of ONNX, and those that it made of them.
NAMED = re.compile(
    r"<Node\(\w*\): (?P<node>[^>]+)>|[Oo]peration name: (?P<operation>\S+)"
    r"|friendly_name '(?P<friendly>[^']+)'|node (?:with name )?[`'\"](?P<name>[^`'\"<]+)[`'\"]"
)
UNKNOWN = re.compile(r"No conversion rule found for operations: (?P<names>.+)")
# Lines that say where in OpenVINO's sources something failed, and headings.
NOISE = re.compile(r"^(Exception from|Check '.*' failed at|FrontEnd API failed|Summary:|\s*$)")
MOST_LINES = 6


def compile_failure(error: RuntimeError, graph: GraphDef) -> Diagnostic:
    """The refusal of a model, with OpenVINO's own words."""
    if memory.is_out_of_memory(error):
        return memory.memory_diagnostic("OpenVINO needs more memory than available")
    text = str(error)
    said = [line.strip() for line in text.splitlines() if not NOISE.match(line)]
    node = next(_named(text, graph), None)
    message = "OpenVINO has no kernel for the model, or does not compile it"
    if node is not None:
        message = f"OpenVINO does not compile `{node.operator}` of ONNX"
    span = None if node is None else node.span
    return Diagnostic(CODE, message, span, notes=tuple(said[:MOST_LINES]), hint=HINT)


def _named(text: str, graph: GraphDef) -> Iterator[OnnxNode]:
    """The nodes that a message names, in its order."""
    nodes = list(graph.walk())
    known = {name: node for node in nodes for name in (*node.outputs, node.name) if name}
    for match in NAMED.finditer(text):
        name = next(each for each in match.groups() if each is not None)
        if name in known:
            yield known[name]
    unknown = UNKNOWN.search(text)
    if unknown is not None:
        operators = {each.strip().rpartition("-")[0] for each in unknown["names"].split(",")}
        yield from (each for each in nodes if each.operator in operators)
