"""Loops as OpenVINO computes them: a state that becomes another state passes through a node.

Where the body of a loop gives a parameter for a state of another one, OpenVINO 2026.4 gives both
states the same memory, and both become one. A node between them keeps them apart.
"""

from dataclasses import replace

from tripybuild.onnx.model import Attribute, GraphDef, Model, Node, ValueInfo

LOOPS = frozenset({"Loop", "Scan"})
SEPARATE = "Identity"


def separate_states(model: Model) -> Model:
    """The model with a node for each parameter of a loop's body that the body gives back."""
    functions = tuple(
        replace(each, nodes=tuple(map(_separate_node, each.nodes))) for each in model.functions
    )
    return replace(model, graph=_separate_nodes(model.graph), functions=functions)


def _separate_nodes(graph: GraphDef) -> GraphDef:
    nodes = tuple(map(_separate_node, graph.nodes))
    changed = any(new is not old for new, old in zip(nodes, graph.nodes, strict=True))
    return replace(graph, nodes=nodes) if changed else graph


def _separate_node(node: Node) -> Node:
    bodies = {
        name: each.value
        for name, each in node.attributes.items()
        if isinstance(each.value, GraphDef)
    }
    if not bodies:
        return node
    made = {name: _separate_nodes(body) for name, body in bodies.items()}
    if node.operator in LOOPS:
        made = {name: _separate_results(body) for name, body in made.items()}
    given = {name: Attribute("graph", body) for name, body in made.items()}
    return replace(node, attributes={**node.attributes, **given})


def _separate_results(body: GraphDef) -> GraphDef:
    """A body in which no parameter is a result as it is."""
    parameters = {each.name for each in body.inputs}
    taken = parameters | {name for node in body.nodes for name in node.outputs}
    nodes: list[Node] = []
    outputs: list[ValueInfo] = []
    for each in body.outputs:
        if each.name not in parameters:
            outputs.append(each)
            continue
        name = f"{each.name}/state"
        while name in taken:
            name += "_"
        taken.add(name)
        nodes.append(Node(SEPARATE, (each.name,), (name,), name=name))
        outputs.append(replace(each, name=name))
    return replace(body, nodes=(*body.nodes, *nodes), outputs=tuple(outputs)) if nodes else body
