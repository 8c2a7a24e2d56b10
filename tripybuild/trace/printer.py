"""Graph printer.

The readable form names values after inputs, weights and outputs. The canonical form numbers them
and leaves out names and places: two graphs that compute the same way print the same, so it is a
cache key.
"""

from collections.abc import Iterable, Iterator, Set as AbstractSet
from dataclasses import dataclass
from itertools import chain, count

from tripybuild.trace.constants import Data
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import Value
from tripybuild.types.naming import CAPTURED


@dataclass(frozen=True, slots=True)
class _Style:
    """Print style: data as digests or not, locations or not."""

    exact: bool = False
    locations: bool = False


def text(graph: Graph, *, locations: bool = False) -> str:
    """The readable form: `out = tile(inp : tensor<2xf32>, reps=(2,)) : tensor<4xf32>`."""
    names, style = _readable(graph), _Style(locations=locations)
    takes = (*graph.inputs.values(), *graph.weights.values())
    arguments = [f"    {names[value]} : {value.type}," for value in takes]
    head = f"def {graph.name}("
    lines = [head, *arguments, "):"] if arguments else [f"{head}):"]
    lines += [_indent(_operation(operation, names, style)) for operation in graph.operations]
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
    _number(_results(graph.operations), names)
    arguments = [
        f"{names[v]} : {v.type}" for v in (*graph.inputs.values(), *graph.weights.values())
    ]
    style = _Style(exact=True)
    operations = [_operation(operation, names, style) for operation in graph.operations]
    results = [names[value] for value in graph.outputs.values()]
    return "\n".join([f"({', '.join(arguments)})", *operations, f"return {', '.join(results)}", ""])


def _readable(graph: Graph) -> dict[Value, str]:
    names = {value: name for name, value in (*graph.inputs.items(), *graph.weights.items())}
    taken = set(names.values())
    for name, value in graph.outputs.items():
        if name not in taken:  # an output can be called as an input is
            names.setdefault(value, value.name or name)
    taken |= set(names.values())
    for output in (output for each in graph.operations for output in each.outputs):
        if output.name is not None and output not in names:
            names[output] = _unique_name(output.name, taken)
            taken.add(names[output])
    _number(_results(graph.operations), names)
    return names


def _unique_name(name: str, taken: AbstractSet[str]) -> str:
    """A name that a program gave to a tensor, which it may have given to another one, too."""
    name = name if name.isprintable() and " " not in name else repr(name)
    others = (f"{name}_{number}" for number in count(1))
    return next(each for each in chain([name], others) if each not in taken)


def _number(values: Iterable[Value], names: dict[Value, str]) -> None:
    """Number the values that have no name, from zero, with numbers that nothing else has."""
    taken = set(names.values())
    fresh = (name for name in map("%{}".format, count()) if name not in taken)
    for value in values:
        if value not in names:
            names[value] = next(fresh)


def _results(operations: Iterable[TraceOp]) -> Iterator[Value]:
    return (output for operation in operations for output in operation.outputs)


def _operation(operation: TraceOp, names: dict[Value, str], style: _Style) -> str:
    results = ", ".join(names[output] for output in operation.outputs)
    arguments = ", ".join(_arguments(operation, names, style))
    given = ", ".join(str(output.type) for output in operation.outputs)
    place = _place(operation) if style.locations else ""
    return f"{results} = {operation.operator}({arguments}) : {given}{place}"


def _place(operation: TraceOp) -> str:
    span = operation.location.span()
    return f"  # {operation.location.label} {span.path}:{span.line}:{span.column}"


def _arguments(operation: TraceOp, names: dict[Value, str], style: _Style) -> Iterator[str]:
    for name, argument in operation.arguments().items():
        if isinstance(argument, Value):
            yield f"{names[argument]} : {argument.type}"
        elif isinstance(argument, tuple) and argument and isinstance(argument[0], Value):
            several = f"[{', '.join(f'{names[v]} : {v.type}' for v in argument)}]"
            yield f"{name}={several}" if name == CAPTURED else several
        elif isinstance(argument, Region):
            yield f"{name}={_region(argument, names, style)}"
        elif isinstance(argument, Data):
            exact = style.exact and argument.number is None
            yield argument.digest if exact else repr(argument)
        elif argument is not None and (name != CAPTURED or argument):
            yield f"{name}={_attribute(argument)}"


def _region(region: Region, outer: dict[Value, str], style: _Style) -> str:
    """A graph inside of an operation. It reads nothing of what is around it, and counts on."""
    names = dict(outer)
    _number((*region.parameters, *_results(region.operations)), names)
    takes = ", ".join(f"{names[value]} : {value.type}" for value in region.parameters)
    lines = [_indent(_operation(operation, names, style)) for operation in region.operations]
    gives = ", ".join(names[value] for value in region.results)
    return "\n".join([f"{{({takes}):", *lines, f"    return {gives}", "}"])


def _indent(line: str) -> str:
    return "    " + line.replace("\n", "\n    ")


def _attribute(argument: object) -> str:
    if isinstance(argument, tuple):
        inner = ", ".join(map(_attribute, argument))
        return f"({inner},)" if len(argument) == 1 else f"({inner})"
    return repr(argument) if isinstance(argument, str) else str(argument)
