"""Model Explorer: a drawing in the JSON of its graphs, and numbers in that of its node data.

The formats are those of its documentation: "Develop Adapter Extension" and "Node data". Namespaces
are parts, so that each part is a layer that opens.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from tripybuild.process.memory import format_bytes
from tripybuild.process.quantities import format_count
from tripybuild.workbench.drawing.drawing import Drawing, DrawnNode, type_text
from tripybuild.workbench.drawing.overlays import NodeValues
from tripybuild.workbench.drawing.picture_text import heat_color

# Colors of what is no operation: the background and the border.
STYLES = {
    "input": ("#dbeafe", "#3b82f6"),
    "output": ("#dcfce7", "#22c55e"),
    "state": ("#fef9c3", "#ca8a04"),
    "weight": ("#f1f5f9", "#94a3b8"),
    "constant": ("#fafafa", "#d4d4d8"),
}
DTYPE_COLORS = ("#bfdbfe", "#bbf7d0", "#fecaca", "#fde68a", "#ddd6fe", "#fbcfe8", "#a5f3fc")
GRADIENT = [{"stop": heat, "bgColor": heat_color(heat)} for heat in (0, 1)]


def collection(drawings: Iterable[Drawing]) -> dict[str, Any]:
    """The graphs of a model as one collection, which Model Explorer opens as a file."""
    graphs = [_graph(each) for each in drawings]
    label = graphs[0]["id"].partition(".")[0] if graphs else ""
    return {"label": label, "graphs": graphs, "graphSorting": "name_asc"}


def node_data(columns: Mapping[str, Iterable[NodeValues]]) -> list[dict[str, Any]]:
    """Numbers of graphs, by the labels of these: one document for each column.

    Args:
        columns: The numbers beside the nodes of each graph.
    """
    found: dict[str, dict[str, Any]] = {}
    for graph, several in columns.items():
        for each in several:
            results = {name: {"value": value} for name, value in each.values.items() if value}
            if results:
                data = {"name": each.name, "results": results, "gradient": GRADIENT}
                found.setdefault(each.name, {})[graph] = data
    return list(found.values())


def dtype_data(drawing: Drawing) -> dict[str, Any]:
    """The dtype of each operation's result, a color for each of them."""
    kinds = {each.id: str(each.outputs[0].dtype) for each in drawing.operations}
    names = list(dict.fromkeys(kinds.values()))
    colors = {name: DTYPE_COLORS[at % len(DTYPE_COLORS)] for at, name in enumerate(names)}
    results = {name: {"value": kind, "bgColor": colors[kind]} for name, kind in kinds.items()}
    return {drawing.label: {"name": "dtype", "results": results}}


def _graph(drawing: Drawing) -> dict[str, Any]:
    nodes = [_node(each) for each in drawing.nodes.values()]
    for name, each in drawing.outputs.items():
        edge = {
            "sourceNodeId": each.source,
            "sourceNodeOutputId": str(each.output),
            "targetNodeInputId": "0",
        }
        nodes.append(
            {
                "id": f"output:{name}",
                "label": name,
                "namespace": "",
                "incomingEdges": [edge],
                "attrs": [{"key": "kind", "value": "output"}],
                "style": _style("output"),
            }
        )
    sizes = {name: str(size) for name, size in drawing.sizes.items()}
    return {"id": drawing.label, "nodes": nodes, "groupNodeAttributes": _groups(drawing, sizes)}


def _node(node: DrawnNode) -> dict[str, Any]:
    """A node: its operands are edges, its types are what the edges are labeled with."""
    edges = [
        {
            "sourceNodeId": each.source,
            "sourceNodeOutputId": str(each.output),
            "targetNodeInputId": str(index),
        }
        for index, each in enumerate(node.operands)
    ]
    inputs = [
        {"id": str(index), "attrs": [{"key": "__tensor_tag", "value": each.argument}]}
        for index, each in enumerate(node.operands)
    ]
    outputs = [
        {
            "id": str(index),
            "attrs": [
                {"key": "tensor_shape", "value": type_text(type)},
                {"key": "dtype", "value": str(type.dtype)},
            ],
        }
        for index, type in enumerate(node.outputs)
    ]
    found = {
        "id": node.id,
        "label": node.label,
        "namespace": "/".join(node.part),
        "incomingEdges": edges,
        "inputsMetadata": inputs,
        "outputsMetadata": outputs,
        "attrs": [{"key": name, "value": text} for name, text in _facts(node)],
    }
    return {**found, "style": _style(node.kind)} if node.kind in STYLES else found


def _style(kind: str) -> dict[str, str]:
    fill, border = STYLES[kind]
    return {"backgroundColor": fill, "borderColor": border}


def _facts(node: DrawnNode) -> Iterable[tuple[str, str]]:
    """What is shown of a node beside its types."""
    yield "kind", node.kind
    if node.step:
        yield "step", node.step
    if node.place:
        yield "line", node.place
    yield from node.attributes.items()
    if node.flops:
        yield "FLOPs", format_count(node.flops, "GTP")
    if node.bytes and node.kind == "operation":
        yield "moved", format_bytes(node.bytes)


def _groups(drawing: Drawing, sizes: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """What is shown of a part: its operations and their costs."""
    tallies: dict[str, list[int]] = {}
    for node in drawing.operations:
        for end in range(len(node.part) + 1):
            tally = tallies.setdefault("/".join(node.part[:end]), [0, 0, 0])
            for at, number in enumerate((1, node.flops, node.bytes)):
                tally[at] += number
    found = {
        path: {
            "operations": str(count),
            "FLOPs": format_count(flops, "GTP"),
            "moved": format_bytes(moved),
        }
        for path, (count, flops, moved) in tallies.items()
    }
    found[""] = {**found.get("", {}), **{f"size {name}": text for name, text in sizes.items()}}
    return found
