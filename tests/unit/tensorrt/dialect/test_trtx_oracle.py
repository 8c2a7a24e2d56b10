"""What the trtx dialect refuses, and the types that it infers, beside TensorRT-RTX itself.

TensorRT tells types and many mistakes without a GPU and without building; what it finds only when
it builds is built. Where ours is stricter, a case says so (`OURS`).
"""

import re

import numpy as np
import pytest
from tensorrt_operations import values

from tripybuild.tensorrt import dialect
from tripybuild.tensorrt.shape_rules import ShapeError

trt = pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")

KINDS = {
    "f16": "HALF",
    "bf16": "BF16",
    "f32": "FLOAT",
    "i32": "INT32",
    "i64": "INT64",
    "i8": "INT8",
    "i1": "BOOL",
}
NAMES = {f"DataType.{name}": kind for kind, name in KINDS.items()}


class Log(trt.ILogger):
    """Errors, without those of a machine that has no GPU."""

    def __init__(self):
        super().__init__()
        self.errors = []

    def log(self, severity, message):
        """Keep an error."""
        if severity <= trt.ILogger.ERROR and "cudaError 35" not in message:
            self.errors.append(message)


LOG = Log()
BUILDER = trt.Builder(LOG)


def parsed(kind):
    """The sizes and the element of `tensor<2x?xf32>`."""
    *sizes, element = re.fullmatch(r"tensor<(.*)>", kind)[1].split("x")
    return [-1 if size == "?" else int(size) for size in sizes], element


def tensor(network, kind):
    """An input of a type."""
    shape, element = parsed(kind)
    dtype = getattr(trt.DataType, KINDS[element])
    return network.add_input(f"i{network.num_inputs}", dtype, shape)


def attention(network, query, key, value, mask=None, *rest, **given):
    """TensorRT's attention, in the newer form."""
    causal = getattr(trt.CausalMaskKind, given.get("causal", "kNONE")[1:])
    layer = network.add_attention_v2(
        query, key, value, trt.AttentionNormalizationOp.SOFTMAX, causal
    )
    if layer is None:
        return None
    layer.decomposable = True
    forms = trt.AttentionIOForm
    layer.query_form = getattr(forms, given.get("query_form", "kPADDED_BHND")[1:])
    layer.key_value_form = getattr(forms, given.get("key_value_form", "kPADDED_BHND")[1:])
    for name, each in zip(("query_lengths", "key_value_lengths"), rest, strict=False):
        if each is not None:
            setattr(layer, name, each)
    if mask is not None:
        layer.mask = mask
    return layer


def rotary(network, given, cosine, sine, position=None, **options):
    """TensorRT's rotary embedding."""
    layer = network.add_rotary_embedding(given, cosine, sine, False, options.get("dimensions", 0))
    if layer is not None and position is not None:
        layer.set_input(3, position)
    return layer


def cumulative(network, given, axis, **_):
    """TensorRT's sums take the axis as a constant."""
    number = network.add_constant((), np.array(axis, np.int32)).get_output(0)
    return network.add_cumulative(given, number, trt.CumulativeOperation.SUM, False, False)


def grid_sample(network, given, grid, mode="kFILL"):
    """TensorRT's samples."""
    layer = network.add_grid_sample(given, grid)
    if layer is not None:
        layer.sample_mode = getattr(trt.SampleMode, mode[1:])
    return layer


def reverse_sequence(network, given, lengths, batch_axis=1, sequence_axis=0):
    """TensorRT's reversal."""
    layer = network.add_reverse_sequence(given, lengths)
    if layer is not None:
        layer.batch_axis, layer.sequence_axis = batch_axis, sequence_axis
    return layer


def scale(network, given, shift, mode, axis=1):
    """TensorRT's scale takes weights, of which the type tells how many there are."""
    sizes = tuple(shift.shape)
    network.remove_tensor(shift)
    weights, none = trt.Weights(np.ones(sizes, np.float32)), trt.Weights(trt.float32)
    return network.add_scale_nd(given, getattr(trt.ScaleMode, mode[1:]), weights, none, none, axis)


def moe(network, hidden, experts, scores, gate, up, down):
    """TensorRT's experts."""
    layer = network.add_moe(hidden, experts, scores)
    if layer is not None:
        layer.set_gated_weights(gate, up, down, trt.MoEActType.SILU)
    return layer


def collective(name):
    """A collective of TensorRT."""

    def add(network, given, kind="kNONE", root=-1, ranks=2, groups=()):
        layer = network.add_dist_collective(
            given,
            getattr(trt.CollectiveOperation, name),
            getattr(trt.ReduceOperation, kind[1:]),
            root,
            np.array(groups, np.int64),
        )
        if layer is not None:
            layer.num_ranks = ranks
        return layer

    return add


LAYERS = {
    dialect.AttentionOp: attention,
    dialect.RotaryEmbeddingOp: rotary,
    dialect.KVCacheUpdateOp: lambda network, *given: network.add_kv_cache_update(
        *given, trt.KVCacheMode.LINEAR
    ),
    dialect.CumulativeOp: cumulative,
    dialect.GridSampleOp: grid_sample,
    dialect.ReverseSequenceOp: reverse_sequence,
    dialect.LRNOp: lambda network, given, **g: network.add_lrn(
        given, g["window"], g["alpha"], g["beta"], g["k"]
    ),
    dialect.ScaleOp: scale,
    dialect.NMSOp: lambda network, *given: network.add_nms(*given),
    dialect.MoEOp: moe,
    dialect.AllReduceOp: collective("ALL_REDUCE"),
    dialect.AllGatherOp: collective("ALL_GATHER"),
    dialect.ReduceScatterOp: collective("REDUCE_SCATTER"),
    dialect.AllToAllOp: collective("ALL_TO_ALL"),
    dialect.CollectiveBroadcastOp: collective("BROADCAST"),
    dialect.CollectiveReduceOp: collective("REDUCE"),
    dialect.CollectiveGatherOp: collective("GATHER"),
    dialect.CollectiveScatterOp: collective("SCATTER"),
}
# Layers that TensorRT-RTX infers and cannot build; nor has it a kernel for packed attention.
NOT_BUILT = frozenset({dialect.NMSOp, dialect.MoEOp})


def theirs(kind, types, attributes):
    """The types that TensorRT gives, or None where it refuses."""
    LOG.errors.clear()
    network = BUILDER.create_network(0)
    given = [None if each is None else tensor(network, each) for each in types]
    try:
        layer = LAYERS[kind](network, *given, **attributes)
        if layer is None or LOG.errors:
            return None
        results = [layer.get_output(index) for index in range(layer.num_outputs)]
        found = [described(each) for each in results]
    except RuntimeError:
        return None
    dynamic = any("?" in each for each in types if each is not None)
    if kind in NOT_BUILT or dynamic or "query_form" in attributes:
        return found
    for result in results:
        network.mark_output(result)
    built = BUILDER.build_serialized_network(network, BUILDER.create_builder_config())
    return None if built is None else found


def described(result):
    """A tensor's type in the dialect's words."""
    sizes = ["?" if size < 0 else str(size) for size in result.shape]
    return f"tensor<{'x'.join([*sizes, NAMES[str(result.dtype)]])}>"


def ours(kind, types, attributes):
    """The types that we infer, or None where we refuse."""
    given = iter(values(*[each for each in types if each is not None]))
    operands = [None if each is None else next(given) for each in types]
    try:
        made = kind.make(*operands, **attributes)
    except ShapeError:
        return None
    wrong = list(made.problems())
    return None if wrong else [str(result.type) for result in made.results]


Q, K, KC = "tensor<2x8x4x16xf16>", "tensor<2x2x6x16xf16>", "tensor<2x2x64x16xf16>"
COS, TABLE, W = "tensor<2x4x8xf16>", "tensor<100x8xf16>", "tensor<2xi32>"
IMAGE, GRID = "tensor<2x3x8x9xf16>", "tensor<2x4x5x2xf16>"
PACKED, ENDS, FORM = "tensor<20x8x16xf16>", "tensor<3xi32>", {"query_form": "kPACKED_NHD"}
BOTH = {**FORM, "key_value_form": "kPACKED_NHD"}
LRN = {"window": 5, "alpha": 1e-4, "beta": 0.75, "k": 1.0}
TOKENS = ["tensor<2x5x32xf16>", "tensor<2x5x2xi32>", "tensor<2x5x2xf16>"]
GATE, DOWN = "tensor<8x32x64xf16>", "tensor<8x64x32xf16>"
BOXES, SCORES, ONE = "tensor<2x100x4xf32>", "tensor<2x100x5xf32>", "tensor<i32>"
SUM = {"kind": "kSUM"}


def like(kind, **changed):
    """A type with other sizes or another element."""
    sizes, element = parsed(kind)
    for place, size in changed.get("at", {}).items():
        sizes[place] = size
    return f"tensor<{'x'.join([*map(str, sizes), changed.get('of', element)])}>"


CASES = [
    (dialect.AttentionOp, [Q, K, K], {}),
    (dialect.AttentionOp, [Q, Q, Q], {"causal": "kLOWER_RIGHT"}),
    (dialect.AttentionOp, ["tensor<?x8x?x16xbf16>"] * 3, {}),
    (dialect.AttentionOp, [like(Q, of="f32"), like(K, of="f32"), like(K, of="f32")], {}),
    (dialect.AttentionOp, [like(Q, of="i32")] * 3, {}),
    (dialect.AttentionOp, [Q, like(K, of="f32"), K], {}),
    (dialect.AttentionOp, [Q, like(K, at={1: 3}), like(K, at={1: 3})], {}),
    (dialect.AttentionOp, [Q, K, like(K, at={2: 7})], {}),
    (dialect.AttentionOp, [Q, K, like(K, at={3: 32})], {}),
    (dialect.AttentionOp, [Q, like(K, at={3: 32}), like(K, at={3: 32})], {}),
    (dialect.AttentionOp, [Q, like(K, at={0: 3}), like(K, at={0: 3})], {}),
    (dialect.AttentionOp, [Q, like(K, at={0: 1}), like(K, at={0: 1})], {}),
    (dialect.AttentionOp, [PACKED] * 3, {}),
    (dialect.AttentionOp, [PACKED, PACKED, PACKED, None, ENDS, ENDS], BOTH),
    (dialect.AttentionOp, [PACKED, PACKED, PACKED], BOTH),
    (dialect.AttentionOp, [PACKED, PACKED, PACKED, None, ENDS], BOTH),
    (dialect.AttentionOp, [Q, PACKED, PACKED, None, None, ENDS], {"key_value_form": "kPACKED_NHD"}),
    (dialect.AttentionOp, [Q, K, K, "tensor<2x8x4x6xi1>"], {}),
    (dialect.AttentionOp, [Q, K, K, "tensor<1x1x4x6xf16>"], {}),
    (dialect.AttentionOp, [Q, K, K, "tensor<2x8x5x6xi1>"], {}),
    (dialect.AttentionOp, [Q, K, K, "tensor<4x6xi1>"], {}),
    (dialect.AttentionOp, [Q, K, K, "tensor<2x8x4x6xi32>"], {}),
    (dialect.AttentionOp, [Q, K, K, "tensor<2x8x4x6xf32>"], {}),
    (dialect.AttentionOp, [Q, K, K, "tensor<2x8x4x6xi1>"], {"causal": "kUPPER_LEFT"}),
    (dialect.AttentionOp, [Q, K, K, None, None, W], {}),
    (dialect.AttentionOp, [Q, K, K, None, None, ENDS], {}),
    (dialect.RotaryEmbeddingOp, [Q, COS, COS], {}),
    (dialect.RotaryEmbeddingOp, [Q, TABLE, TABLE, "tensor<2x4xi64>"], {}),
    (dialect.RotaryEmbeddingOp, [Q, "tensor<2x4x4xf16>", "tensor<2x4x4xf16>"], {"dimensions": 8}),
    (dialect.RotaryEmbeddingOp, [Q, "tensor<2x4x4xf16>", "tensor<2x4x4xf16>"], {"dimensions": 7}),
    (dialect.RotaryEmbeddingOp, [Q, COS, COS], {"dimensions": 32}),
    (dialect.RotaryEmbeddingOp, [Q, TABLE, TABLE], {}),
    (dialect.RotaryEmbeddingOp, [Q, COS, COS, "tensor<2x4xi64>"], {}),
    (dialect.RotaryEmbeddingOp, [Q, like(COS, at={2: 16}), like(COS, at={2: 16})], {}),
    (dialect.RotaryEmbeddingOp, [Q, COS, like(COS, at={1: 5})], {}),
    (dialect.RotaryEmbeddingOp, [Q, like(COS, at={0: 1}), like(COS, at={0: 1})], {}),
    (dialect.RotaryEmbeddingOp, [Q, like(COS, of="f32"), like(COS, of="f32")], {}),
    (dialect.RotaryEmbeddingOp, [Q, TABLE, TABLE, "tensor<2x5xi64>"], {}),
    (dialect.RotaryEmbeddingOp, [Q, TABLE, TABLE, "tensor<2xi64>"], {}),
    (
        dialect.RotaryEmbeddingOp,
        [like(Q, at={3: 15}), like(COS, at={2: 7}), like(COS, at={2: 7})],
        {},
    ),
    (dialect.KVCacheUpdateOp, [KC, K, W], {}),
    (dialect.KVCacheUpdateOp, [KC, "tensor<?x2x?x16xf16>", "tensor<?xi32>"], {}),
    (dialect.KVCacheUpdateOp, [KC, K, "tensor<2xi64>"], {}),
    (dialect.KVCacheUpdateOp, [KC, K, "tensor<3xi32>"], {}),
    (dialect.KVCacheUpdateOp, [KC, K, "tensor<i32>"], {}),
    (dialect.KVCacheUpdateOp, [KC, like(K, at={1: 4}), W], {}),
    (dialect.KVCacheUpdateOp, [KC, like(K, at={0: 3}), ENDS], {}),
    (dialect.KVCacheUpdateOp, [KC, like(K, at={3: 8}), W], {}),
    (dialect.KVCacheUpdateOp, [KC, like(K, at={2: 65}), W], {}),
    (dialect.KVCacheUpdateOp, [KC, like(K, of="f32"), W], {}),
    (dialect.KVCacheUpdateOp, [like(KC, of="i8"), like(K, of="i8"), W], {}),
    *[(dialect.CumulativeOp, [f"tensor<2x3x{kind}>"], {"axis": 1, **SUM}) for kind in KINDS],
    *[(dialect.CumulativeOp, ["tensor<2x3xf16>"], {"axis": axis, **SUM}) for axis in (-2, -3, 2)],
    (dialect.CumulativeOp, ["tensor<f16>"], {"axis": 0, **SUM}),
    (dialect.GridSampleOp, [IMAGE, GRID], {}),
    (dialect.GridSampleOp, ["tensor<2x3x8x9x10xf16>", "tensor<2x4x5x6x3xf16>"], {"mode": "kCLAMP"}),
    (dialect.GridSampleOp, ["tensor<2x3x8xf16>", "tensor<2x4x1xf16>"], {}),
    (dialect.GridSampleOp, [IMAGE, "tensor<2x4x5x6x3xf16>"], {}),
    (dialect.GridSampleOp, [IMAGE, like(GRID, at={3: 3})], {}),
    (dialect.GridSampleOp, [IMAGE, like(GRID, at={0: 1})], {}),
    (dialect.GridSampleOp, [IMAGE, like(GRID, of="f32")], {}),
    (dialect.GridSampleOp, [like(IMAGE, of="i8"), like(GRID, of="i8")], {}),
    *[(dialect.GridSampleOp, [IMAGE, GRID], {"mode": mode}) for mode in ("kWRAP", "kREFLECT")],
    *[(dialect.ReverseSequenceOp, [f"tensor<4x2x3x{kind}>", W], {}) for kind in KINDS],
    (dialect.ReverseSequenceOp, ["tensor<4x2x3xf16>", "tensor<2xi64>"], {}),
    (dialect.ReverseSequenceOp, ["tensor<4x2x3xf16>", ENDS], {}),
    (dialect.ReverseSequenceOp, ["tensor<4xf16>", "tensor<4xi32>"], {"batch_axis": 0}),
    (dialect.ReverseSequenceOp, ["tensor<4x2x3xf16>", W], {"sequence_axis": 1}),
    (dialect.ReverseSequenceOp, ["tensor<4x2x3xf16>", W], {"sequence_axis": -1}),
    (dialect.ReverseSequenceOp, ["tensor<4x2x3xf16>", W], {"batch_axis": 5}),
    (dialect.ReverseSequenceOp, ["tensor<4x2x3xf16>", "tensor<2x1xi32>"], {}),
    *[(dialect.LRNOp, [like(IMAGE, of=kind)], LRN) for kind in ("f16", "f32", "bf16", "i8", "i32")],
    (dialect.LRNOp, ["tensor<3x8x9xf16>"], LRN),
    *[(dialect.LRNOp, [IMAGE], {**LRN, "window": window}) for window in (0, 1, 4, 15, 17)],
    *[(dialect.LRNOp, [IMAGE], {**LRN, "beta": beta}) for beta in (0.0, 0.01, 1e5, 2e5)],
    *[(dialect.LRNOp, [IMAGE], {**LRN, "k": k}) for k in (0.0, 1e-5, 2e10)],
    (dialect.LRNOp, [IMAGE], {**LRN, "alpha": -1e21}),
    *[
        (dialect.ScaleOp, ["tensor<2x3x8x9xf32>", f"tensor<{count}xf32>"], {"mode": mode})
        for mode, count in (
            ("kUNIFORM", 1),
            ("kUNIFORM", 3),
            ("kCHANNEL", 3),
            ("kCHANNEL", 4),
            ("kELEMENTWISE", 216),
            ("kELEMENTWISE", 72),
        )
    ],
    (dialect.ScaleOp, ["tensor<2x3x8x9xf32>", "tensor<9xf32>"], {"mode": "kCHANNEL", "axis": -1}),
    (dialect.ScaleOp, ["tensor<2x3x8x9xf32>", "tensor<9xf32>"], {"mode": "kCHANNEL", "axis": 4}),
    (dialect.ScaleOp, ["tensor<3xf32>", "tensor<1xf32>"], {"mode": "kUNIFORM"}),
    (dialect.NMSOp, [BOXES, SCORES, ONE], {}),
    (dialect.NMSOp, ["tensor<2x100x5x4xf32>", SCORES, "tensor<i64>"], {}),
    (dialect.NMSOp, [like(BOXES, at={2: 3}), SCORES, ONE], {}),
    (dialect.NMSOp, ["tensor<100x4xf32>", SCORES, ONE], {}),
    (dialect.NMSOp, [BOXES, like(SCORES, of="f16"), ONE], {}),
    (dialect.NMSOp, [BOXES, SCORES, "tensor<1xi32>"], {}),
    (dialect.MoEOp, [*TOKENS, GATE, GATE, DOWN], {}),
    (dialect.MoEOp, [TOKENS[0], like(TOKENS[1], of="i64"), TOKENS[2], GATE, GATE, DOWN], {}),
    (dialect.MoEOp, [TOKENS[0], like(TOKENS[1], of="f16"), TOKENS[2], GATE, GATE, DOWN], {}),
    (dialect.MoEOp, ["tensor<5x32xf16>", *TOKENS[1:], GATE, GATE, DOWN], {}),
    (dialect.MoEOp, [TOKENS[0], like(TOKENS[1], at={0: 3}), TOKENS[2], GATE, GATE, DOWN], {}),
    (dialect.MoEOp, [*TOKENS[:2], like(TOKENS[2], at={2: 3}), GATE, GATE, DOWN], {}),
    (dialect.MoEOp, [*TOKENS, GATE, like(GATE, at={2: 65}), DOWN], {}),
    (dialect.MoEOp, [*TOKENS, GATE, GATE, like(DOWN, at={1: 66})], {}),
    (dialect.MoEOp, [*TOKENS, GATE, GATE, like(DOWN, at={0: 9})], {}),
    (dialect.MoEOp, [*TOKENS, "tensor<32x64xf16>", "tensor<32x64xf16>", "tensor<64x32xf16>"], {}),
    *[(dialect.AllReduceOp, [f"tensor<4x32x{kind}>"], SUM) for kind in KINDS],
    (dialect.AllReduceOp, ["tensor<f32>"], {"kind": "kAVG"}),
    *[(dialect.AllGatherOp, [f"tensor<4x32x{kind}>"], {"ranks": 2}) for kind in KINDS],
    (dialect.AllGatherOp, ["tensor<?x32xf16>"], {"ranks": 3}),
    (dialect.AllGatherOp, ["tensor<4x32xf16>"], {"ranks": 1}),
    *[(dialect.ReduceScatterOp, [f"tensor<4x{kind}>"], {"ranks": 2, **SUM}) for kind in KINDS],
    (dialect.ReduceScatterOp, ["tensor<5x3xf16>"], {"ranks": 2, **SUM}),
    (dialect.ReduceScatterOp, ["tensor<4x3xf16>"], {"ranks": 1, **SUM}),
    *[(dialect.AllToAllOp, [f"tensor<4x{kind}>"], {"ranks": 2}) for kind in KINDS],
    *[(dialect.CollectiveBroadcastOp, [f"tensor<4x{kind}>"], {"root": 0}) for kind in KINDS],
    *[(dialect.CollectiveReduceOp, [f"tensor<4x{kind}>"], {"root": 0, **SUM}) for kind in KINDS],
    *[
        (dialect.CollectiveGatherOp, [f"tensor<4x{kind}>"], {"root": 0, "ranks": 2})
        for kind in KINDS
    ],
    *[
        (dialect.CollectiveScatterOp, [f"tensor<4x{kind}>"], {"root": 0, "ranks": 2})
        for kind in KINDS
    ],
    (dialect.CollectiveScatterOp, ["tensor<5xf16>"], {"root": 0, "ranks": 2}),
    (dialect.CollectiveBroadcastOp, ["tensor<4xf16>"], {"root": -1}),
]


def shown(case):
    """A case's name."""
    kind, types, attributes = case
    given = " ".join(str(each) for each in types)
    return f"{kind.name} {given} {attributes}"


@pytest.mark.parametrize("case", CASES, ids=shown)
def test_tensorrt_agrees(case):
    """What is refused, and types of results."""
    assert ours(*case) == theirs(*case)


# TensorRT finds these out when an engine is made, where it can make one: this release cannot.
OURS = [
    (dialect.NMSOp, [like(BOXES, at={1: 99}), SCORES, ONE], {}),
    (dialect.NMSOp, ["tensor<2x100x6x4xf32>", SCORES, ONE], {}),
    (dialect.MoEOp, [*TOKENS, DOWN, DOWN, GATE], {}),
    (dialect.AllReduceOp, ["tensor<4xf32>"], {**SUM, "groups": (1, 1)}),
]


@pytest.mark.parametrize("case", OURS, ids=shown)
def test_ours_are_stricter(case):
    """Where the documentation says what TensorRT does not look at; it may learn to."""
    assert ours(*case) is None
    assert theirs(*case) is not None
