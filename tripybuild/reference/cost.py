"""Cost model: arithmetic operations and bytes of memory traffic, as symbolic sizes.

They are counted on an operation's declaration: a multiplication and an addition are two. What a
declaration does not say follows from it: the operations of its decomposition, or one for each
element of the results; the bytes of its inputs and outputs. Bodies of branches and loops count as
nothing, since how often they run is not known.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tripybuild.frontend.decompose import decompose_operation
from tripybuild.language.vocabulary import Vocabulary
from tripybuild.reference.call_names import CallNames
from tripybuild.schema.operator.operator import Operator, Snippet
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Size, Value
from tripybuild.types.dtypes import dtype
from tripybuild.types.shapes import ceildiv, prod
from tripybuild.types.vocabulary import SHAPE

VOCABULARY = SHAPE | Vocabulary(attributes=((dtype, frozenset({"bits"})),))


@dataclass(frozen=True, slots=True)
class Cost:
    """A number of operations and of bytes; where a shape has symbols, expressions over them."""

    flops: Size = 0
    bytes: Size = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.flops + other.flops, self.bytes + other.bytes)


def cost(operation: TraceOp, operators: Mapping[str, Operator]) -> Cost:
    """What an operation costs.

    Args:
        operation: The operation, with or without symbols in its shapes.
        operators: The declarations by name.
    """
    if isinstance(operation, Constant):
        return Cost()
    operator = operators[operation.operator]
    scope = _CostNames(operator, operation)
    flops, moved = operator.cost.get("flops"), operator.cost.get("bytes")
    return Cost(
        scope.size(flops) if flops is not None else _usual_flops(operation, operator, operators),
        scope.size(moved)
        if moved is not None
        else _bytes([*operation.reads(), *operation.outputs]),
    )


def total(graph: Graph, operators: Mapping[str, Operator]) -> Cost:
    """What all operations of a graph cost together."""
    return sum((cost(each, operators) for each in graph.operations), Cost())


def _usual_flops(operation: TraceOp, operator: Operator, operators: Mapping[str, Operator]) -> Size:
    if operator.decompose is not None:
        steps, _ = decompose_operation(operation)
        return sum((cost(step, operators).flops for step in steps), 0)
    return sum((_count(output) for output in operation.outputs), 0)


def _count(value: Value) -> Size:
    count: Size = prod(value.shape)
    return count


def _bytes(values: Iterable[Value]) -> Size:
    """The bytes of tensors, each one once; elements of few bits share a byte."""
    return sum((ceildiv(_count(v) * v.dtype.bits, 8) for v in dict.fromkeys(values)), 0)


class _CostNames(CallNames):
    """The names of an operation of a graph: its operands have types, and no elements."""

    def __init__(self, operator: Operator, operation: TraceOp) -> None:
        given = operation.arguments()
        inputs: dict[str, Any] = {name: given[name] for name in operator.inputs}
        super().__init__(operator, inputs, {name: given[name] for name in operator.attributes})

    def element(self, value: Any) -> dtype:
        found: dtype = value.dtype
        return found

    def size(self, snippet: Snippet) -> Size:
        """The number that a snippet gives."""
        found: Size = self.evaluate(snippet, VOCABULARY)
        return found
