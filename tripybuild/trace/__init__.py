"""Operations, values and graphs: what generated code is written against."""

from tripybuild.trace.check import Check
from tripybuild.trace.graph import Graph
from tripybuild.trace.indexing import Index
from tripybuild.trace.operation import Declaration, Law, TraceOp
from tripybuild.trace.values import Size, TensorType, Value

__all__ = [
    "Check",
    "Declaration",
    "Graph",
    "Index",
    "Law",
    "Size",
    "TensorType",
    "TraceOp",
    "Value",
]
