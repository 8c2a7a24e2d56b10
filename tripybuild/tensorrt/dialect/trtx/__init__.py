"""The `trtx` dialect: layers of newer TensorRT releases that NVIDIA's dialect lacks.

Invariant: text, constraints and inference are in the manner of NVIDIA's dialect; the words are
ours, and verifiers hold what TensorRT itself refuses.
"""

from xdsl.ir import Dialect

from tripybuild.tensorrt.dialect.base import operations_of
from tripybuild.tensorrt.dialect.trtx.attention import AttentionOp as AttentionOp
from tripybuild.tensorrt.dialect.trtx.attributes import ATTRIBUTES as ATTRIBUTES
from tripybuild.tensorrt.dialect.trtx.collectives import (
    AllGatherOp as AllGatherOp,
    AllReduceOp as AllReduceOp,
    AllToAllOp as AllToAllOp,
    CollectiveBroadcastOp as CollectiveBroadcastOp,
    CollectiveGatherOp as CollectiveGatherOp,
    CollectiveReduceOp as CollectiveReduceOp,
    CollectiveScatterOp as CollectiveScatterOp,
    ReduceScatterOp as ReduceScatterOp,
)
from tripybuild.tensorrt.dialect.trtx.images import (
    GridSampleOp as GridSampleOp,
    LRNOp as LRNOp,
    NMSOp as NMSOp,
    ScaleOp as ScaleOp,
)
from tripybuild.tensorrt.dialect.trtx.moe import MoEOp as MoEOp
from tripybuild.tensorrt.dialect.trtx.quantization import (
    ConstantF4Op as ConstantF4Op,
    QuantizeToF4Op as QuantizeToF4Op,
)
from tripybuild.tensorrt.dialect.trtx.rotary_and_cache import (
    KVCacheUpdateOp as KVCacheUpdateOp,
    RotaryEmbeddingOp as RotaryEmbeddingOp,
)
from tripybuild.tensorrt.dialect.trtx.sequences import (
    CumulativeOp as CumulativeOp,
    ReverseSequenceOp as ReverseSequenceOp,
)

OPERATIONS = operations_of("trtx", globals().values())

Trtx = Dialect("trtx", [*OPERATIONS], [*ATTRIBUTES])
