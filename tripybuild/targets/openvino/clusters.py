"""Clusters of elementwise operations, which OpenVINO fuses into one kernel in cubic time.

A hundred take a fifth of a second, and a thousand some minutes. A model with a larger cluster is
compiled without such kernels. What has sizes that change from call to call is not fused so.
"""

from collections.abc import Iterable
from typing import Any

MOST = 64
# OpenVINO's own names of what is fused.
ELEMENTWISE = frozenset(
    {
        *("Abs", "Add", "Ceiling", "Clamp", "Convert", "Divide", "Elu", "Equal", "Erf", "Exp"),
        *("Floor", "Gelu", "Greater", "GreaterEqual", "HSwish", "Less", "LessEqual", "LogicalAnd"),
        *("LogicalNot", "LogicalOr", "LogicalXor", "Maximum", "Minimum", "Mish", "Mod", "Multiply"),
        *("Negative", "NotEqual", "PRelu", "Power", "Relu", "Round", "Select", "Sigmoid", "Sqrt"),
        *("SquaredDifference", "Subtract", "Swish", "Tanh"),
    }
)


def largest_cluster(operations: Iterable[Any]) -> int:
    """How many elementwise operations of static sizes depend on each other at most.

    Args:
        operations: Those of a model in an order of computation.
    """
    leader: dict[str, str] = {}
    size: dict[str, int] = {}

    def find(name: str) -> str:
        while leader[name] != name:
            leader[name] = leader[leader[name]]
            name = leader[name]
        return name

    for each in operations:
        if each.get_type_name() not in ELEMENTWISE or not _is_static(each):
            continue
        name = each.get_name()
        leader[name], size[name] = name, 1
        for source in each.input_values():
            other = source.get_node().get_name()
            if other in leader and find(other) != find(name):
                first, second = find(other), find(name)
                leader[second] = first
                size[first] += size[second]
    return max(size.values(), default=0)


def _is_static(operation: Any) -> bool:
    """Whether each size of its result is a number."""
    found: bool = operation.get_output_partial_shape(0).is_static
    return found
