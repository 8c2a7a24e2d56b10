"""Regions of control flow: a definition sees its arguments alone, so these are all that it reads.

What a branch reads from outside becomes one more operand. What the body of a loop reads is one more
value that goes from turn to turn as it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tripybuild.importer.call_program import Call, CallGraph, CallProgram, CallValue
from tripybuild.importer.spec_writer.texts import captured
from tripybuild.schema.operator.operator import Operator
from tripybuild.types.patterns import LikePattern, RegionPattern


def close_regions(program: CallProgram, operators: Mapping[str, Operator]) -> CallProgram:
    """A program whose regions read nothing but their inputs."""
    calls = [_closed(call, operators) for call in program.graph.calls]
    return replace(program, graph=replace(program.graph, calls=calls))


def _closed(call: Call, operators: Mapping[str, Operator]) -> Call:
    operator = operators[call.operator]
    graphs = {n: v for n, v in call.arguments.items() if isinstance(v, CallGraph)}
    if not graphs:
        return call
    graphs = {
        name: replace(graph, calls=[_closed(each, operators) for each in graph.calls])
        for name, graph in graphs.items()
    }
    found = {id(value): value for graph in graphs.values() for value in captured(graph)}
    if not found:
        return replace_arguments(call, graphs)
    outside = list(found.values())
    patterns = operator.regions()
    name = next(_names(patterns[next(iter(graphs))]))
    given = list(call.arguments.get(name, ()))
    made = {n: _with_inputs(g, patterns[n], name, len(given), outside) for n, g in graphs.items()}
    closed = replace_arguments(call, {name: [*given, *outside], **made})
    if any(_threads(pattern, name) for pattern in patterns.values()):
        extra = [CallValue(each.type, each.name) for each in outside]
        results = [*call.results[: len(given)], *extra, *call.results[len(given) :]]
        for index, value in enumerate(results):
            value.call, value.index = closed, index
        closed.results, closed.is_list = results, len(results) > 1
    return closed


def replace_arguments(call: Call, arguments: Mapping[str, object]) -> Call:
    """The call with other arguments, whose results are of the new one."""
    made = Call(
        call.operator, {**call.arguments, **arguments}, call.results, call.is_list, call.node
    )
    for value in call.results:
        value.call = made
    return made


def _names(pattern: RegionPattern) -> Iterator[str]:
    """The inputs whose values, not rows of them, a region takes."""
    return iter([p.name for p in pattern.parameters if isinstance(p, LikePattern) and not p.each])


def _threads(pattern: RegionPattern, name: str) -> bool:
    """Whether a region gives the next values of an input."""
    return any(isinstance(p, LikePattern) and p.name == name for p in pattern.results)


def _with_inputs(
    graph: CallGraph, pattern: RegionPattern, name: str, count: int, outside: Sequence[CallValue]
) -> CallGraph:
    """A region that takes what it reads from outside, behind the others of an input."""
    own = {id(value): CallValue(value.type, value.name) for value in outside}
    inputs = [*graph.inputs[:count], *own.values(), *graph.inputs[count:]]
    calls = [
        replace_arguments(call, {n: _replaced(v, own) for n, v in call.arguments.items()})
        for call in graph.calls
    ]
    outputs = [(each, own.get(id(value), value)) for each, value in graph.outputs]
    if _threads(pattern, name):
        extra = [(f"{value.name}_same", value) for value in own.values()]
        outputs = [*outputs[:count], *extra, *outputs[count:]]
    return CallGraph(inputs, calls, outputs)


def _replaced(value: object, by: Mapping[int, CallValue]) -> object:
    match value:
        case CallValue():
            return by.get(id(value), value)
        case list() | tuple():
            return [_replaced(each, by) for each in value]
        case slice():
            return slice(*(_replaced(v, by) for v in (value.start, value.stop, value.step)))
        case CallGraph():
            calls = [
                replace_arguments(c, {n: _replaced(v, by) for n, v in c.arguments.items()})
                for c in value.calls
            ]
            outputs = [(n, by.get(id(v), v)) for n, v in value.outputs]
            return CallGraph(value.inputs, calls, outputs)
    return value
