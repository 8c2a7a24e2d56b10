"""Model source: the drawings of a specification, of an executable, or of recorded graphs."""

from collections.abc import Mapping
from pathlib import Path

from tripybuild.compiler.executable import read_executable
from tripybuild.compiler.session import Config, prune_weights
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.model.config import ConfigChoice
from tripybuild.model.graph_builder import build
from tripybuild.model.libraries import Homes, no_libraries
from tripybuild.model.model_graph import ModelGraph
from tripybuild.process.gc_pause import pause_gc
from tripybuild.targets.drawn_inputs import call_sizes
from tripybuild.targets.model_manifest import check_range
from tripybuild.targets.table import is_mlir
from tripybuild.trace.graph import Graph
from tripybuild.workbench.drawing.drawing import Drawing, DrawnNode, DrawnOutput, draw_graph


@pause_gc()
def spec_drawings(
    path: Path,
    *,
    sizes: Mapping[str, object] | None = None,
    at: Mapping[str, int] | None = None,
    homes: Homes = no_libraries,
    weights: Path | None = None,
    config: Config = None,
) -> dict[str, Drawing]:
    """The drawings of a model's file by its entries; files of weights are not read.

    Args:
        path: The file.
        sizes: Sizes and dtypes to put in the place of the file's own.
        at: Dynamic sizes that costs are for, in the place of the `opt` of their ranges.
        homes: Says where the operators and modules of other registries are.
        weights: The folder that a `config.json` may be in.
        config: Values in the place of the model's own `config:`, or a file of them.

    Raises:
        DiagnosticError: With all that is wrong with the model.
    """
    if is_mlir(path):
        message, hint = f"`{path}` is a module of MLIR", "`tripybuild opt` prints those"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=hint))
    return built_drawings(build(path, sizes, homes=homes, config=ConfigChoice(config, weights)), at)


def built_drawings(built: ModelGraph, at: Mapping[str, int] | None = None) -> dict[str, Drawing]:
    """The drawings of graphs, whatever they were recorded from.

    Raises:
        DiagnosticError: A size is not in its range, or there is none of its name.
    """
    for name, size in (at or {}).items():
        check_range(built, name, size)
    found = {}
    for name, entry in prune_weights(built).entries.items():
        sizes = {symbol: each.opt for symbol, each in entry.ranges.items()}
        sizes |= {symbol: size for symbol, size in (at or {}).items() if symbol in sizes}
        found[name] = draw_graph(built.name, name, entry.graph, entry.states, sizes)
    return found


def executable_drawings(path: Path, at: Mapping[str, int] | None = None) -> dict[str, Drawing]:
    """The drawings of an executable's graphs, as they were when it was compiled.

    Raises:
        DiagnosticError: It is damaged, it holds no graph, or has no such size.
    """
    model = read_executable(path)
    found = {}
    for name, entry in model.entries.items():
        known = {
            symbol: size for symbol, size in (at or {}).items() if symbol in entry.signature.ranges
        }
        sizes = call_sizes(entry.signature, at if len(model.entries) == 1 else known)
        found[name] = draw_graph(
            model.manifest["model"], name, _stored_graph(path, entry), entry.states, sizes
        )
    return found


def _stored_graph(path: Path, entry: object) -> Graph:
    """The graph of an entry; engines of modules of MLIR have none."""
    try:
        graph: Graph = entry.bare_graph  # type: ignore[attr-defined]
    except KeyError as error:
        message = f"`{path}` holds an engine, and no graph"
        hint = "draw the spec that it was compiled from"
        raise DiagnosticError(Diagnostic("target-unfit", message, hint=hint)) from error
    return graph


def part_drawing(drawing: Drawing, path: str) -> Drawing:
    """A part of a drawing: what it reads from outside are inputs, and what is read are outputs.

    Args:
        drawing: The whole.
        path: The names from the outermost part on, with dots between them.

    Raises:
        DiagnosticError: There is no such part.
    """
    wanted = tuple(path.split("."))
    inside = {
        name: node for name, node in drawing.nodes.items() if node.part[: len(wanted)] == wanted
    }
    if not any(node.kind == "operation" for node in inside.values()):
        raise DiagnosticError(_unknown_part(drawing, path))
    nodes: dict[str, DrawnNode] = {}
    outputs: dict[str, DrawnOutput] = {}
    for node in inside.values():
        for each in node.operands:
            source = drawing.nodes[each.source]
            if source.id not in inside and source.id not in nodes:
                nodes[source.id] = source if _is_leaf(source) else _outside(source)
        nodes[node.id] = node
    for name, node in drawing.nodes.items():
        for each in node.operands if name not in inside else ():
            if each.source in inside and inside[each.source].kind == "operation":
                source = inside[each.source]
                found = DrawnOutput(each.source, each.output, source.outputs[each.output])
                outputs.setdefault(source.path, found)
    outputs |= {name: each for name, each in drawing.outputs.items() if each.source in inside}
    return Drawing(f"{drawing.name}.{path}", drawing.entry, nodes, outputs, drawing.sizes)


def _is_leaf(node: DrawnNode) -> bool:
    return node.kind in {"input", "state", "weight", "constant"}


def _outside(node: DrawnNode) -> DrawnNode:
    """What an operation outside of a part is for it."""
    return DrawnNode(node.id, "input", node.path or node.label, (), "", node.outputs)


def _unknown_part(drawing: Drawing, path: str) -> Diagnostic:
    parts = dict.fromkeys(
        ".".join(node.part[:end])
        for node in drawing.operations
        for end in range(1, len(node.part) + 1)
    )
    near = suggest(path, parts)
    outer = ", ".join(f"`{each}`" for each in parts if "." not in each)
    hint = f"did you mean `{near}`?" if near else f"the outermost parts are {outer}"
    message = f"`{drawing.label}` has no part `{path}`"
    return Diagnostic("unknown-operator", message, hint=hint)
