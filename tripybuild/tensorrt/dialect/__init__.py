"""NVIDIA's `tensorrt` dialect in xDSL: assembly, constraints, verifiers, type inference."""

from xdsl.ir import Dialect

from tripybuild.tensorrt.dialect.attributes import (
    ATTRIBUTES as ATTRIBUTES,
    ShapeProfileAttr as ShapeProfileAttr,
)
from tripybuild.tensorrt.dialect.base import (
    Component as Component,
    OpProblem as OpProblem,
    TensorrtOperation as TensorrtOperation,
    operations_of,
)
from tripybuild.tensorrt.dialect.ops.arithmetic import (
    ActivationOp as ActivationOp,
    CastOp as CastOp,
    ElementWiseOp as ElementWiseOp,
    IdentityOp as IdentityOp,
    ParametricReLUOp as ParametricReLUOp,
    SelectOp as SelectOp,
    UnaryOp as UnaryOp,
)
from tripybuild.tensorrt.dialect.ops.control import (
    AssertionOp as AssertionOp,
    ConditionOp as ConditionOp,
    ForOp as ForOp,
    IfOp as IfOp,
    WhileOp as WhileOp,
    YieldOp as YieldOp,
)
from tripybuild.tensorrt.dialect.ops.convolutions import (
    ConvolutionOp as ConvolutionOp,
    DeconvolutionOp as DeconvolutionOp,
)
from tripybuild.tensorrt.dialect.ops.indexing import (
    GatherElementsOp as GatherElementsOp,
    GatherNdOp as GatherNdOp,
    GatherOp as GatherOp,
    NonZeroOp as NonZeroOp,
    OneHotOp as OneHotOp,
    ScatterElementsOp as ScatterElementsOp,
    ScatterOp as ScatterOp,
)
from tripybuild.tensorrt.dialect.ops.linear import (
    EinsumOp as EinsumOp,
    MatrixMultiplyOp as MatrixMultiplyOp,
)
from tripybuild.tensorrt.dialect.ops.module_ops import (
    CallAllocOp as CallAllocOp,
    CallOp as CallOp,
    TensorRTModuleOp as TensorRTModuleOp,
)
from tripybuild.tensorrt.dialect.ops.plugin import OpaquePluginOp as OpaquePluginOp
from tripybuild.tensorrt.dialect.ops.quantization import (
    DequantizeOp as DequantizeOp,
    DynamicQuantizeOp as DynamicQuantizeOp,
    QuantizeOp as QuantizeOp,
)
from tripybuild.tensorrt.dialect.ops.reductions import (
    ArgMaxOp as ArgMaxOp,
    ArgMinOp as ArgMinOp,
    RaggedSoftMaxOp as RaggedSoftMaxOp,
    ReduceOp as ReduceOp,
    SoftMaxOp as SoftMaxOp,
    TopKOp as TopKOp,
)
from tripybuild.tensorrt.dialect.ops.resizing import (
    ResizeCubicOp as ResizeCubicOp,
    ResizeLinearOp as ResizeLinearOp,
    ResizeNearestOp as ResizeNearestOp,
)
from tripybuild.tensorrt.dialect.ops.shapes import (
    BroadcastOp as BroadcastOp,
    CollapseRankOp as CollapseRankOp,
    ExpandRankOp as ExpandRankOp,
    ReshapeOp as ReshapeOp,
    ShapeOp as ShapeOp,
    ShuffleOp as ShuffleOp,
    TransposeOp as TransposeOp,
)
from tripybuild.tensorrt.dialect.ops.slicing import (
    ConcatenationOp as ConcatenationOp,
    PaddingOp as PaddingOp,
    SliceOp as SliceOp,
)
from tripybuild.tensorrt.dialect.ops.sources import (
    ConstantOp as ConstantOp,
    LinspaceOp as LinspaceOp,
    RandomNormalOp as RandomNormalOp,
    RandomUniformOp as RandomUniformOp,
)
from tripybuild.tensorrt.dialect.ops.windows import (
    NormalizationOp as NormalizationOp,
    PoolingOp as PoolingOp,
)
from tripybuild.tensorrt.dialect.trtx import (
    AllGatherOp as AllGatherOp,
    AllReduceOp as AllReduceOp,
    AllToAllOp as AllToAllOp,
    AttentionOp as AttentionOp,
    CollectiveBroadcastOp as CollectiveBroadcastOp,
    CollectiveGatherOp as CollectiveGatherOp,
    CollectiveReduceOp as CollectiveReduceOp,
    CollectiveScatterOp as CollectiveScatterOp,
    ConstantF4Op as ConstantF4Op,
    CumulativeOp as CumulativeOp,
    GridSampleOp as GridSampleOp,
    KVCacheUpdateOp as KVCacheUpdateOp,
    LRNOp as LRNOp,
    MoEOp as MoEOp,
    NMSOp as NMSOp,
    QuantizeToF4Op as QuantizeToF4Op,
    ReduceScatterOp as ReduceScatterOp,
    ReverseSequenceOp as ReverseSequenceOp,
    RotaryEmbeddingOp as RotaryEmbeddingOp,
    ScaleOp as ScaleOp,
    Trtx as Trtx,
)

OPERATIONS = operations_of("tensorrt", globals().values())

Tensorrt = Dialect("tensorrt", [*OPERATIONS], [*ATTRIBUTES])
