"""NVIDIA's `tensorrt` dialect as xDSL operations: text, constraints, verifiers, inferred types."""

from xdsl.ir import Dialect

from tripybuild.dialects.tensorrt.ops.arithmetic import (
    ActivationOp,
    CastOp,
    ElementWiseOp,
    IdentityOp,
    ParametricReLUOp,
    SelectOp,
    UnaryOp,
)
from tripybuild.dialects.tensorrt.ops.attributes import ATTRIBUTES, ShapeProfileAttr
from tripybuild.dialects.tensorrt.ops.base import Component, Problem, TensorrtOperation
from tripybuild.dialects.tensorrt.ops.linear import (
    ConvolutionOp,
    DeconvolutionOp,
    EinsumOp,
    MatrixMultiplyOp,
)
from tripybuild.dialects.tensorrt.ops.quantization import (
    DequantizeOp,
    DynamicQuantizeOp,
    QuantizeOp,
)
from tripybuild.dialects.tensorrt.ops.reductions import (
    ArgMaxOp,
    ArgMinOp,
    RaggedSoftMaxOp,
    ReduceOp,
    SoftMaxOp,
    TopKOp,
)
from tripybuild.dialects.tensorrt.ops.sources import (
    ConstantOp,
    LinspaceOp,
    RandomNormalOp,
    RandomUniformOp,
)
from tripybuild.dialects.tensorrt.ops.windows import NormalizationOp, PoolingOp

OPERATIONS: tuple[type[TensorrtOperation], ...] = (
    ActivationOp,
    ArgMaxOp,
    ArgMinOp,
    CastOp,
    ConstantOp,
    ConvolutionOp,
    DeconvolutionOp,
    DequantizeOp,
    DynamicQuantizeOp,
    EinsumOp,
    ElementWiseOp,
    IdentityOp,
    LinspaceOp,
    MatrixMultiplyOp,
    NormalizationOp,
    ParametricReLUOp,
    PoolingOp,
    QuantizeOp,
    RaggedSoftMaxOp,
    RandomNormalOp,
    RandomUniformOp,
    ReduceOp,
    SelectOp,
    SoftMaxOp,
    TopKOp,
    UnaryOp,
)

Tensorrt = Dialect("tensorrt", [*OPERATIONS], [*ATTRIBUTES])

__all__ = [
    "ATTRIBUTES",
    "OPERATIONS",
    "ActivationOp",
    "ArgMaxOp",
    "ArgMinOp",
    "CastOp",
    "Component",
    "ConstantOp",
    "ConvolutionOp",
    "DeconvolutionOp",
    "DequantizeOp",
    "DynamicQuantizeOp",
    "EinsumOp",
    "ElementWiseOp",
    "IdentityOp",
    "LinspaceOp",
    "MatrixMultiplyOp",
    "NormalizationOp",
    "ParametricReLUOp",
    "PoolingOp",
    "Problem",
    "QuantizeOp",
    "RaggedSoftMaxOp",
    "RandomNormalOp",
    "RandomUniformOp",
    "ReduceOp",
    "SelectOp",
    "ShapeProfileAttr",
    "SoftMaxOp",
    "Tensorrt",
    "TensorrtOperation",
    "TopKOp",
    "UnaryOp",
]
