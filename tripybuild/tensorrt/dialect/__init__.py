"""NVIDIA's `tensorrt` dialect in xDSL, and `trtx`: layers of newer releases that it lacks.

Invariant: an operation is the body of a layer (`layers.operation`), or a class here where it has
regions. Text, constraints and inference of `trtx` are in the manner of NVIDIA's dialect; its words
are ours, and its verifiers hold what TensorRT itself refuses.
"""
# ruff: noqa: F403  # the names of operations stand in the modules of layers, and nowhere else

from typing import TYPE_CHECKING

from xdsl.ir import Dialect

from tripybuild.tensorrt.dialect.attributes import (
    ShapeProfileAttr as ShapeProfileAttr,
    attributes_of,
)
from tripybuild.tensorrt.dialect.base import (
    Component as Component,
    OpProblem as OpProblem,
    TensorrtOperation as TensorrtOperation,
    operations_of,
)
from tripybuild.tensorrt.dialect.control import (
    ConditionOp as ConditionOp,
    ForOp as ForOp,
    IfOp as IfOp,
    WhileOp as WhileOp,
    YieldOp as YieldOp,
)
from tripybuild.tensorrt.dialect.definition import define_operations
from tripybuild.tensorrt.dialect.module_ops import (
    CallAllocOp as CallAllocOp,
    CallOp as CallOp,
    TensorRTModuleOp as TensorRTModuleOp,
)
from tripybuild.tensorrt.dialect.plugin import OpaquePluginOp as OpaquePluginOp

if TYPE_CHECKING:
    from tripybuild.tensorrt.layers import *

globals().update(define_operations())
OPERATIONS = operations_of("tensorrt", globals().values())
TRTX_OPERATIONS = operations_of("trtx", globals().values())

Tensorrt = Dialect("tensorrt", [*OPERATIONS], [*attributes_of("tensorrt")])
Trtx = Dialect("trtx", [*TRTX_OPERATIONS], [*attributes_of("trtx")])
