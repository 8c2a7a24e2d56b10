"""Cost model: arithmetic operations and bytes of memory traffic, as symbolic sizes.

They are counted on an operation's declaration: a multiplication and an addition are two. What a
declaration does not say follows from it: the operations of its decomposition, or one for each
element of the results; the bytes of its inputs and outputs. A body counts as often as its operation
is declared to run it; where data decides that, it counts once, which is one turn of a loop. Of
branches, of which one runs, the larger counts.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tripybuild.frontend.decompose import cached_decomposition
from tripybuild.symbolic.dims import maximum
from tripybuild.trace.constants import Constant
from tripybuild.trace.generated_code import cost_function, decomposition_function
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Size, Value
from tripybuild.types.shapes import ceildiv, prod


@dataclass(frozen=True, slots=True)
class Cost:
    """A number of operations and of bytes; where a shape has symbols, expressions over them."""

    flops: Size = 0
    bytes: Size = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.flops + other.flops, self.bytes + other.bytes)


def cost(operation: TraceOp) -> Cost:
    """What an operation costs, with or without symbols in its shapes."""
    if isinstance(operation, Constant):
        return Cost()
    own = Cost(_flops(operation), _bytes(operation))
    if not operation.region_fields():
        return own
    counted = cost_function(type(operation), "turns")
    turns: Size = 1 if counted is None else counted(operation)
    bodies = [sum(map(cost, body.operations), Cost()) for body in operation.bodies()]
    if has_branches(operation):
        largest = (maximum(*(getattr(e, name) for e in bodies)) for name in ("flops", "bytes"))
        return own + Cost(*largest)
    inside = sum(bodies, Cost())
    return own + Cost(turns * inside.flops, turns * inside.bytes)


def has_branches(operation: TraceOp) -> bool:
    """Whether one of its bodies runs, and not all: each gives what the operation gives."""
    given = [each.type for each in operation.outputs]
    results = [[each.type for each in body.results] for body in operation.bodies()]
    return len(results) > 1 and all(each == given for each in results)


def has_unknown_turns(operation: TraceOp) -> bool:
    """Whether data decides how often the bodies of an operation run, so that they count once."""
    return bool(operation.region_fields()) and cost_function(type(operation), "turns") is None


def total(graph: Graph) -> Cost:
    """What all operations of a graph cost together."""
    return sum(map(cost, graph.operations), Cost())


def _flops(operation: TraceOp) -> Size:
    kind = type(operation)
    counted = cost_function(kind, "flops")
    if counted is not None:
        found: Size = counted(operation)
        return found
    if operation.declaration.moves:
        return 0
    if decomposition_function(kind) is not None:
        return sum((cost(step).flops for step in cached_decomposition(operation).steps), 0)
    return sum((_count(output) for output in operation.outputs), 0)


def _bytes(operation: TraceOp) -> Size:
    counted = cost_function(type(operation), "bytes")
    if counted is not None:
        found: Size = counted(operation)
        return found
    return bytes_of([*operation.reads(), *operation.outputs])


def bytes_of(values: Iterable[Value]) -> Size:
    """The bytes of tensors, each one once; elements of few bits share a byte."""
    return sum((ceildiv(_count(v) * v.dtype.bits, 8) for v in dict.fromkeys(values)), 0)


def _count(value: Value) -> Size:
    count: Size = prod(value.shape)
    return count
