"""Trace IR: operations, values and graphs, the API of generated code."""

from tripybuild.trace.graph import Graph
from tripybuild.trace.operation import Declaration, Law, TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import Size, TensorType, Value

__all__ = [
    "Declaration",
    "Graph",
    "Law",
    "Region",
    "Size",
    "TensorType",
    "TraceOp",
    "Value",
]
