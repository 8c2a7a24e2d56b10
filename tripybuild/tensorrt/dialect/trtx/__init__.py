"""The `trtx` dialect: layers of newer TensorRT releases that NVIDIA's dialect lacks.

Invariant: text, constraints and inference are in the manner of NVIDIA's dialect; the words are
ours, and verifiers hold what TensorRT itself refuses.
"""

from xdsl.ir import Dialect

from tripybuild.tensorrt.dialect.trtx.attention import AttentionOp
from tripybuild.tensorrt.dialect.trtx.attributes import ATTRIBUTES
from tripybuild.tensorrt.dialect.trtx.collectives import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectiveGatherOp,
    CollectiveReduceOp,
    CollectiveScatterOp,
    ReduceScatterOp,
)
from tripybuild.tensorrt.dialect.trtx.images import GridSampleOp, LRNOp, NMSOp, ScaleOp
from tripybuild.tensorrt.dialect.trtx.moe import MoEOp
from tripybuild.tensorrt.dialect.trtx.quantization import ConstantF4Op, QuantizeToF4Op
from tripybuild.tensorrt.dialect.trtx.rotary_and_cache import KVCacheUpdateOp, RotaryEmbeddingOp
from tripybuild.tensorrt.dialect.trtx.sequences import CumulativeOp, ReverseSequenceOp

OPERATIONS = (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    AttentionOp,
    CollectiveBroadcastOp,
    CollectiveGatherOp,
    CollectiveReduceOp,
    CollectiveScatterOp,
    ConstantF4Op,
    CumulativeOp,
    GridSampleOp,
    KVCacheUpdateOp,
    LRNOp,
    MoEOp,
    NMSOp,
    QuantizeToF4Op,
    ReduceScatterOp,
    ReverseSequenceOp,
    RotaryEmbeddingOp,
    ScaleOp,
)

Trtx = Dialect("trtx", [*OPERATIONS], [*ATTRIBUTES])

__all__ = [
    "ATTRIBUTES",
    "OPERATIONS",
    "AllGatherOp",
    "AllReduceOp",
    "AllToAllOp",
    "AttentionOp",
    "CollectiveBroadcastOp",
    "CollectiveGatherOp",
    "CollectiveReduceOp",
    "CollectiveScatterOp",
    "ConstantF4Op",
    "CumulativeOp",
    "GridSampleOp",
    "KVCacheUpdateOp",
    "LRNOp",
    "MoEOp",
    "NMSOp",
    "QuantizeToF4Op",
    "ReduceScatterOp",
    "ReverseSequenceOp",
    "RotaryEmbeddingOp",
    "ScaleOp",
    "Trtx",
]
