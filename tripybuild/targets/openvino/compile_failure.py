"""What OpenVINO says of a model that it cannot compile, at the operation that it names."""

import re
from collections.abc import Iterator

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.onnx.model import GraphDef, OnnxNode
from tripybuild.process import memory
from tripybuild.targets.openvino.refusals import CODE, HINT, nodes_of, place_span

# How OpenVINO names nodes of ONNX, and those that it made of them.
NAMED = re.compile(
    r"<OnnxNode\(\w*\): (?P<node>[^>]+)>|[Oo]peration name: (?P<operation>\S+)"
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
    span = None if node is None else place_span(node.doc)
    return Diagnostic(CODE, message, span, notes=tuple(said[:MOST_LINES]), hint=HINT)


def _named(text: str, graph: GraphDef) -> Iterator[OnnxNode]:
    """The nodes that a message names, in its order."""
    nodes = list(nodes_of(graph))
    known = {name: node for node in nodes for name in (*node.outputs, node.name) if name}
    for match in NAMED.finditer(text):
        name = next(each for each in match.groups() if each is not None)
        if name in known:
            yield known[name]
    unknown = UNKNOWN.search(text)
    if unknown is not None:
        operators = {each.strip().rpartition("-")[0] for each in unknown["names"].split(",")}
        yield from (each for each in nodes if each.operator in operators)
