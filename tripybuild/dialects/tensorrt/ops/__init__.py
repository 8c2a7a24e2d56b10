"""NVIDIA's `tensorrt` dialect as xDSL operations: text, constraints, verifiers, inferred types."""

from xdsl.ir import Dialect

from tripybuild.dialects.tensorrt.ops.arithmetic import ActivationOp, ElementWiseOp
from tripybuild.dialects.tensorrt.ops.attributes import ATTRIBUTES, ShapeProfileAttr
from tripybuild.dialects.tensorrt.ops.base import Problem, TensorrtOperation

OPERATIONS = (ActivationOp, ElementWiseOp)

Tensorrt = Dialect("tensorrt", [*OPERATIONS], [*ATTRIBUTES])

__all__ = [
    "ATTRIBUTES",
    "OPERATIONS",
    "ActivationOp",
    "ElementWiseOp",
    "Problem",
    "ShapeProfileAttr",
    "Tensorrt",
    "TensorrtOperation",
]
