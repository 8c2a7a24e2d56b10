"""Models that keep their graph: the graph, its weights, and what is compiled of it ahead."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.members import measure
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.targets.compiled_model import CONSTANTS, WEIGHTS, CompiledModel
from tripybuild.targets.executable_file import GRAPH
from tripybuild.targets.model_manifest import graph_text
from tripybuild.targets.protocol import CompileRequest
from tripybuild.trace.graph import Graph
from tripybuild.types.nonfinite import Nonfinite, nonfinite
from tripybuild.weights import safetensors as weights_file
from tripybuild.weights.source import WeightSource
from tripybuild.weights.warnings import nonfinite_warnings

# Compiles one thing more, adds it to the members, and returns what is to be warned of.
Ahead = Callable[[dict[str, Any]], list[Diagnostic]]


def graph_model(request: CompileRequest, ahead: Ahead = lambda _: []) -> CompiledModel:
    """The compiled model of a graph.

    Args:
        request: The graph, with symbols for its dynamic sizes.
        ahead: Compiles ahead, and adds to the members that it is given.

    Raises:
        DiagnosticError: The compiler refuses the graph, or a weight cannot be read.
    """
    graph, members = request.graph, dict[str, Any]()
    measured: dict[str, MemberRecord] = {}
    members[GRAPH], constants = graph_text(graph, request.folder)
    if constants:
        members[CONSTANTS] = bytes(weights_file.encode(constants))
    # The weights are read, encoded and hashed while the compiler's process is at work.
    with ThreadPoolExecutor(1) as worker:
        stored = worker.submit(_weights_member, graph, request.weights)
        warnings = ahead(members)
        if graph.weights:
            members[WEIGHTS], measured[WEIGHTS], suspects = stored.result()
            warnings += nonfinite_warnings(suspects, graph.weights, request.weights)
    made = CompiledModel(json.loads(json.dumps(request.manifest)), members, measured)
    made.warnings += dict.fromkeys(warnings)
    return made


def _weights_member(
    graph: Graph, read: WeightSource
) -> tuple[memoryview, MemberRecord, dict[str, Nonfinite]]:
    """The weights that a graph needs, as a file in memory, its digests, and what is suspect."""
    arrays = read(graph.weights)
    content = memoryview(weights_file.encode(arrays)).toreadonly()
    scanned = {name: nonfinite(array) for name, array in arrays.items()}
    return content, measure(content), {name: each for name, each in scanned.items() if each}
