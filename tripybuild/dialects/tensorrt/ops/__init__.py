"""NVIDIA's `tensorrt` dialect as xDSL operations: text, constraints, verifiers, inferred types."""

from xdsl.ir import Dialect

from tripybuild.dialects.tensorrt.ops.arithmetic import ActivationOp, ElementWiseOp
from tripybuild.dialects.tensorrt.ops.attributes import ATTRIBUTES, ShapeProfileAttr
from tripybuild.dialects.tensorrt.ops.base import Problem, TensorrtOperation
from tripybuild.dialects.tensorrt.ops.control import (
    AssertionOp,
    ConditionOp,
    ForOp,
    IfOp,
    WhileOp,
    YieldOp,
)
from tripybuild.dialects.tensorrt.ops.indexing import (
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    NonZeroOp,
    OneHotOp,
    ScatterElementsOp,
    ScatterOp,
)
from tripybuild.dialects.tensorrt.ops.organisation import CallAllocOp, CallOp, TensorRTModuleOp
from tripybuild.dialects.tensorrt.ops.pieces import ConcatenationOp, PaddingOp, SliceOp
from tripybuild.dialects.tensorrt.ops.plugin import OpaquePluginOp
from tripybuild.dialects.tensorrt.ops.resizing import ResizeCubicOp, ResizeLinearOp, ResizeNearestOp
from tripybuild.dialects.tensorrt.ops.shapes import (
    BroadcastOp,
    CollapseRankOp,
    ExpandRankOp,
    ReshapeOp,
    ShapeOp,
    ShuffleOp,
    TransposeOp,
)

OPERATIONS = (
    ActivationOp,
    ElementWiseOp,
    AssertionOp,
    ConditionOp,
    ForOp,
    IfOp,
    WhileOp,
    YieldOp,
    GatherElementsOp,
    GatherNdOp,
    GatherOp,
    NonZeroOp,
    OneHotOp,
    ScatterElementsOp,
    ScatterOp,
    CallAllocOp,
    CallOp,
    TensorRTModuleOp,
    ConcatenationOp,
    PaddingOp,
    SliceOp,
    OpaquePluginOp,
    ResizeCubicOp,
    ResizeLinearOp,
    ResizeNearestOp,
    BroadcastOp,
    CollapseRankOp,
    ExpandRankOp,
    ReshapeOp,
    ShapeOp,
    ShuffleOp,
    TransposeOp,
)

Tensorrt = Dialect("tensorrt", [*OPERATIONS], [*ATTRIBUTES])

__all__ = [
    "ATTRIBUTES",
    "OPERATIONS",
    "ActivationOp",
    "AssertionOp",
    "BroadcastOp",
    "CallAllocOp",
    "CallOp",
    "CollapseRankOp",
    "ConcatenationOp",
    "ConditionOp",
    "ElementWiseOp",
    "ExpandRankOp",
    "ForOp",
    "GatherElementsOp",
    "GatherNdOp",
    "GatherOp",
    "IfOp",
    "NonZeroOp",
    "OneHotOp",
    "OpaquePluginOp",
    "PaddingOp",
    "Problem",
    "ReshapeOp",
    "ResizeCubicOp",
    "ResizeLinearOp",
    "ResizeNearestOp",
    "ScatterElementsOp",
    "ScatterOp",
    "ShapeOp",
    "ShapeProfileAttr",
    "ShuffleOp",
    "SliceOp",
    "TensorRTModuleOp",
    "Tensorrt",
    "TensorrtOperation",
    "TransposeOp",
    "WhileOp",
    "YieldOp",
]
