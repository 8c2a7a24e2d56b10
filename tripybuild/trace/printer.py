"""Graphs as text.

The readable form names values after inputs, weights and outputs. The canonical form numbers them
and leaves out names and places: two graphs that compute the same way print the same, so it is a
cache key.
"""

from collections.abc import Iterator

from tripybuild.trace.constants import Data
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Value


def text(graph: Graph, *, locations: bool = False) -> str:
    """The readable form: `out = tile(inp : tensor<2xf32>, reps=(2,)) : tensor<4xf32>`."""
    names = _readable(graph)
    lines = [f"def {graph.name}("]
    lines += [
        f"    {names[v]} : {v.type}," for v in (*graph.inputs.values(), *graph.weights.values())
    ]
    lines.append("):")
    for operation in graph.operations:
        line = f"    {_operation(operation, names)}"
        if locations:
            span = operation.location.span()
            line += f"  # {operation.location.label} {span.path}:{span.line}:{span.column}"
        lines.append(line)
    results = ", ".join(f"{name}={names[value]}" for name, value in graph.outputs.items())
    return "\n".join([*lines, f"    return {results}", ""])


def canonical(graph: Graph) -> str:
    """The form without names and places. Weights keep their paths, which say whose data it is."""
    names: dict[Value, str] = {}
    for index, (name, value) in enumerate(graph.inputs.items()):
        names[value] = f"%arg{index}"
        del name
    for name, value in graph.weights.items():
        names[value] = f"%weight[{name}]"
    _number(graph, names)
    arguments = [
        f"{names[v]} : {v.type}" for v in (*graph.inputs.values(), *graph.weights.values())
    ]
    operations = [_operation(operation, names, exact=True) for operation in graph.operations]
    results = [names[value] for value in graph.outputs.values()]
    return "\n".join([f"({', '.join(arguments)})", *operations, f"return {', '.join(results)}", ""])


def _readable(graph: Graph) -> dict[Value, str]:
    names = {value: name for name, value in (*graph.inputs.items(), *graph.weights.items())}
    taken = set(names.values())
    for name, value in graph.outputs.items():
        if name not in taken:  # an output can be called as an input is
            names.setdefault(value, name)
    _number(graph, names)
    return names


def _number(graph: Graph, names: dict[Value, str]) -> None:
    for operation in graph.operations:
        for output in operation.outputs:
            names.setdefault(output, f"%{len(names)}")


def _operation(operation: TraceOp, names: dict[Value, str], *, exact: bool = False) -> str:
    results = ", ".join(names[output] for output in operation.outputs)
    arguments = ", ".join(_arguments(operation, names, exact))
    given = ", ".join(str(output.type) for output in operation.outputs)
    return f"{results} = {operation.name}({arguments}) : {given}"


def _arguments(operation: TraceOp, names: dict[Value, str], exact: bool) -> Iterator[str]:
    for name, argument in operation.arguments().items():
        if isinstance(argument, Value):
            yield f"{names[argument]} : {argument.type}"
        elif isinstance(argument, tuple) and argument and isinstance(argument[0], Value):
            yield f"[{', '.join(f'{names[v]} : {v.type}' for v in argument)}]"
        elif isinstance(argument, Data):
            yield argument.digest if exact and argument.number is None else repr(argument)
        elif argument is not None:
            yield f"{name}={_attribute(argument)}"


def _attribute(argument: object) -> str:
    if isinstance(argument, tuple):
        inner = ", ".join(map(_attribute, argument))
        return f"({inner},)" if len(argument) == 1 else f"({inner})"
    return repr(argument) if isinstance(argument, str) else str(argument)
