"""Operations, values and graphs: what generated code is written against."""

from tripybuild.trace.check import Check
from tripybuild.trace.graph import Graph
from tripybuild.trace.indexing import Index
from tripybuild.trace.operation import Declaration, Law, TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.regions import Wanted
from tripybuild.trace.values import Size, TensorType, Value

__all__ = [
    "Check",
    "Declaration",
    "Graph",
    "Index",
    "Law",
    "Region",
    "Size",
    "TensorType",
    "TraceOp",
    "Value",
    "Wanted",
]
