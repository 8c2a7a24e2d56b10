"""CPU models: the graph, its weights, and programs compiled ahead of time by XLA."""

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.members import measure
from tripybuild.compiler.executable import Executable
from tripybuild.compiler.model_manifest import graph_text
from tripybuild.compiler.specialize import compile_module, lower_graph, sizes_name
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.targets.xla import pjrt
from tripybuild.trace.graph import Graph
from tripybuild.types.nonfinite import Nonfinite, nonfinite
from tripybuild.weights import safetensors as weights_file
from tripybuild.weights.checkpoint import WeightSource
from tripybuild.weights.warnings import nonfinite_warnings

WEIGHTS = "weights.safetensors"
Shapes = Sequence[Mapping[str, int]]


def graph_executable(
    graph: Graph,
    folder: Path,
    shapes: Shapes,
    read: WeightSource,
    manifest: dict[str, Any],
    timeout: float | None,
    tell: Callable[[str], None],
) -> Executable:
    """The executable of a graph, compiled ahead for some sizes.

    Args:
        graph: The graph, with symbols for its dynamic sizes.
        folder: The folder of the user's files; places are relative to it.
        shapes: The sizes to compile ahead for; none for the target `reference`.
        read: Where its weights are.
        manifest: What the executable says of itself.
        timeout: Seconds that the compiler may take.
        tell: Told the name of each phase.

    Raises:
        DiagnosticError: The compiler refuses the graph, or a weight cannot be read.
    """
    members: dict[str, Any] = {}
    warnings: list[Diagnostic] = []
    measured: dict[str, MemberRecord] = {}
    members["trace.json"], constants = graph_text(graph, folder)
    if constants:
        members["constants.safetensors"] = bytes(weights_file.encode(constants))
    # The weights are read, encoded and hashed while the compiler's process is at work.
    with ThreadPoolExecutor(1) as worker:
        stored = worker.submit(_weights_member, graph, read)
        for each in shapes:
            tell(f"compile {sizes_name(each)}")
            entry, said = _add_specialization(graph, folder, each, members, timeout)
            manifest["specialisations"].append(entry)
            warnings += said
        if graph.weights:
            members[WEIGHTS], measured[WEIGHTS], suspects = stored.result()
            warnings += nonfinite_warnings(suspects, graph.weights, read)
    made = Executable(json.loads(json.dumps(manifest)), members, measured)
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


def _add_specialization(
    graph: Graph,
    folder: Path,
    sizes: Mapping[str, int],
    members: dict[str, Any],
    timeout: float | None,
) -> tuple[dict[str, Any], tuple[Diagnostic, ...]]:
    """What the manifest says of a compiled module, and what was wrong with the cache."""
    name = sizes_name(sizes)
    module = lower_graph(graph, sizes, folder)
    payload, warnings = compile_module(module.bare, timeout, module.located)
    warnings = (*module.warnings, *warnings)
    members[f"stablehlo/{name}.mlirbc"] = module.located
    members[f"cpu/{name}.bin"] = payload
    entry = {
        "name": name,
        "sizes": dict(sizes),
        "stablehlo": f"stablehlo/{name}.mlirbc",
        "payload": f"cpu/{name}.bin",
        "identity": pjrt.identity(),
    }
    return entry, warnings
