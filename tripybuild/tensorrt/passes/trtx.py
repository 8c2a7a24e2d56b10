"""`trtx-to-tensorrt`: layers that NVIDIA's dialect lacks, decomposed into its operations.

For compilers that know that dialect only. Invariant: nothing is changed where something is refused,
and all that is refused is said, with its place. The pass is ours: mlir-tensorrt has none of this
name.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import IntegerType, ModuleOp, f32, i1, i32
from xdsl.ir import Operation, SSAValue

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.dialect import (
    AllGatherOp,
    AllReduceOp,
    AllToAllOp,
    AttentionOp,
    CollectiveBroadcastOp,
    CollectiveGatherOp,
    CollectiveReduceOp,
    CollectiveScatterOp,
    ConcatenationOp,
    CumulativeOp,
    GatherElementsOp,
    GatherOp,
    KVCacheUpdateOp,
    LRNOp,
    ReduceScatterOp,
    ReverseSequenceOp,
    RotaryEmbeddingOp,
    ScaleOp,
    ScatterElementsOp,
    SoftMaxOp,
)
from tripybuild.tensorrt.dialect.base import element, sizes
from tripybuild.tensorrt.layers.transformers import PADDED
from tripybuild.tensorrt.mlir import locations
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter, greedy
from tripybuild.tensorrt.passes.rewriting.op_builder import Extent, OpBuilder

HEADS, QUERIES, KEYS = 1, 2, 3  # of the scores
RANK = 4


def _attention(op: AttentionOp, rewriter: PatternRewriter) -> bool:
    """`softmax(query @ key^T + mask) @ value` for each head."""
    make = OpBuilder(rewriter)
    query, keys = make.extents(op.query), make.extents(op.key)
    shared = _heads_per_group(op)
    scores = _product(make, op.query, op.key, shared, transposed=True)
    if shared > 1:
        scores = make.reshape(scores, [*query[:3], keys[2]])
    for visible in _visible(op, make, query[2], keys[2]):
        scores = make.select(visible, scores, make.number(float("-inf"), scores))
    if op.mask is not None and element(op.mask) != i1:
        scores = make.binary("kSUM", scores, op.mask)
    if op.value("normalization") == "kSOFTMAX":
        scores = make.make(SoftMaxOp, scores, axis=KEYS)
    found = _product(make, scores, op.values, shared)
    return rewriter.replace(op, make.reshape(found, query) if shared > 1 else found)


def _heads_per_group(op: AttentionOp) -> int:
    """How many query heads share a head of keys and values."""
    queries, keys = sizes(op.query)[HEADS], sizes(op.key)[HEADS]
    return 1 if queries is None or not keys else queries // keys


def _product(
    make: OpBuilder, first: SSAValue, second: SSAValue, shared: int, *, transposed: bool = False
) -> SSAValue:
    """A product of each head: those that share keys and values get a dimension, and no copies."""
    if shared > 1:
        batch, heads, *rest = make.extents(second)
        rows = make.extents(first)[2:]
        second = make.reshape(second, [batch, heads, 1, *rest])
        first = make.reshape(first, [batch, heads, shared, *rows])
    return make.product(first, second, transposed=transposed)


def _visible(op: AttentionOp, make: OpBuilder, queries: Extent, keys: Extent) -> Iterator[SSAValue]:
    """Which keys each query sees."""
    if op.mask is not None and element(op.mask) == i1:
        yield op.mask
    causal = op.value("causal")
    places = None
    if causal != "kNONE" or op.key_value_lengths is not None:
        places = make.iota(keys, RANK, KEYS)
    if places is not None and causal != "kNONE":
        ends = make.iota(queries, RANK, QUERIES, 1)
        if causal == "kLOWER_RIGHT":
            more = make.binary("kSUB", make.vector([keys]), make.vector([queries]))
            ends = make.binary("kSUM", ends, make.expand_vector(more, RANK, KEYS))
        yield make.binary("kLESS", places, ends)
    if places is not None and op.key_value_lengths is not None:
        yield make.binary("kLESS", places, make.expand_vector(op.key_value_lengths, RANK, 0))


def _attention_obstacle(op: Any) -> str | None:
    if op.value("query_form") != PADDED or op.value("key_value_form") != PADDED:
        return "its sequences lie packed, one after the other"
    if op.query_lengths is not None:
        return "only keys and values may have lengths"
    if op.quantized_type is not None:
        return "its internal quantization cannot be expressed by separate operations"
    queries, keys = sizes(op.query)[HEADS], sizes(op.key)[HEADS]
    if queries is None or keys is None:
        return "the number of query heads per key-value head is unknown"
    return None


SEQUENCE, HEAD = 2, 3


def _rotary(op: RotaryEmbeddingOp, rewriter: PatternRewriter) -> bool:
    make = OpBuilder(rewriter)
    head = sizes(op.input)[HEAD] or 0
    rotated = op.value("dimensions") or head
    pairs, interleaved = rotated // 2, op.value("interleaved")
    step, second = (2, 1) if interleaved else (1, pairs)
    x = make.part(op.input, HEAD, 0, pairs, step)
    y = make.part(op.input, HEAD, second, pairs, step)
    cosine, sine = (_angles(op, each, make) for each in (op.cosine, op.sine))
    turned = [
        make.binary("kSUB", make.binary("kPROD", x, cosine), make.binary("kPROD", y, sine)),
        make.binary("kSUM", make.binary("kPROD", x, sine), make.binary("kPROD", y, cosine)),
    ]
    whole = (
        _interleave(turned, make) if interleaved else make.make(ConcatenationOp, turned, axis=HEAD)
    )
    if rotated < head:
        rest = make.part(op.input, HEAD, rotated, head - rotated)
        whole = make.make(ConcatenationOp, [whole, rest], axis=HEAD)
    return rewriter.replace(op, whole)


def _angles(op: RotaryEmbeddingOp, table: SSAValue, make: OpBuilder) -> SSAValue:
    """What a table has for each place, beside the input's heads."""
    if op.position is not None:
        table = make.make(GatherOp, table, op.position, axis=0)
    batch, length, pairs = make.extents(table)
    return make.reshape(table, [batch, 1, length, pairs])


def _interleave(parts: list[SSAValue], make: OpBuilder) -> SSAValue:
    """The first of each, the second of each, and so on, along the last dimension."""
    extents = make.extents(parts[0])
    beside = [make.reshape(each, [*extents, 1]) for each in parts]
    joined = make.make(ConcatenationOp, beside, axis=len(extents))
    pairs = extents[-1]
    assert isinstance(pairs, int)
    return make.reshape(joined, [*extents[:-1], 2 * pairs])


def _rotary_obstacle(op: Any) -> str | None:
    return "its head size is unknown" if sizes(op.input)[HEAD] is None else None


def _cache(op: KVCacheUpdateOp, rewriter: PatternRewriter) -> bool:
    """Scatter the new rows to where they belong."""
    make = OpBuilder(rewriter)
    extents = make.extents(op.update)
    first = make.expand_vector(op.position, len(extents), 0)
    rows = make.binary("kSUM", first, make.iota(extents[SEQUENCE], len(extents), SEQUENCE))
    places = make.broadcast(rows, extents)
    return rewriter.replace(
        op, make.make(ScatterElementsOp, op.cache, places, op.update, axis=SEQUENCE)
    )


def _cache_obstacle(op: Any) -> str | None:
    if op.update_lengths is not None or op.value("update_form") != PADDED:
        return "only updates of one length can be scattered"
    return None


def _known_length(op: CumulativeOp, rewriter: PatternRewriter) -> bool:
    """Add what is 1, 2, 4, ... places before: as many steps as the length has binary digits.

    A product with a triangle of ones would make an infinity anywhere a NaN everywhere.
    """
    axis = op.value("axis") % len(sizes(op.input))
    length = sizes(op.input)[axis]
    if length is None:
        return False
    make = OpBuilder(rewriter)
    way = -1 if op.value("reverse") else 1
    found = make.wide(op.input)
    if op.value("exclusive"):
        found = make.shift(found, axis, way)
    step = 1
    while step < length:
        found = make.binary("kSUM", found, make.shift(found, axis, way * step))
        step *= 2
    return rewriter.replace(op, make.cast(found, element(op.input)))


def _unknown_length(op: CumulativeOp, rewriter: PatternRewriter) -> bool:
    """Choose what each sum is of from all elements, beside each other."""
    axis = op.value("axis") % len(sizes(op.input))
    if sizes(op.input)[axis] is not None:
        return False
    make = OpBuilder(rewriter)
    extents = make.extents(op.input)
    rank, length = len(extents) + 1, extents[axis]
    beside = make.reshape(op.input, [*extents[:axis], 1, *extents[axis:]])
    exclusive, reverse = op.value("exclusive"), op.value("reverse")
    start = 0 if exclusive else -1 if reverse else 1
    sums = make.iota(length, rank, axis, start)
    terms = make.iota(length, rank, axis + 1)
    inside = make.binary("kGREATER" if reverse else "kLESS", terms, sums)
    parts = make.select(inside, beside, make.number(0, beside))
    return rewriter.replace(op, make.reduce_sum(parts, axis + 1))


def _reverse(op: ReverseSequenceOp, rewriter: PatternRewriter) -> bool:
    """Gather each element from where it comes."""
    make = OpBuilder(rewriter)
    rank, axis = len(sizes(op.input)), op.value("sequence_axis")
    extents = make.extents(op.input)
    lengths = make.expand_vector(make.cast(op.lengths, i32), rank, op.value("batch_axis"))
    places = make.iota(extents[axis], rank, axis)
    turned = make.binary("kSUB", lengths, make.iota(extents[axis], rank, axis, 1))
    sources = make.select(make.binary("kLESS", places, lengths), turned, places)
    whole = make.broadcast(sources, extents)
    return rewriter.replace(op, make.make(GatherElementsOp, op.input, whole, axis=axis))


CHANNELS = 1


def _scale(op: ScaleOp, rewriter: PatternRewriter) -> bool:
    make = OpBuilder(rewriter)
    found = op.input
    for name, weights in (("kPROD", op.scale), ("kSUM", op.shift), ("kPOW", op.power)):
        if weights is not None:
            shape = [size or 0 for size in _weight_sizes(op)]
            fitting = make.cast(make.reshape(weights, shape), element(op.input))
            found = make.binary(name, found, fitting)
    return rewriter.replace(op, found)


def _weight_sizes(op: ScaleOp) -> list[int | None]:
    """The sizes that weights have beside the input."""
    shape, mode = sizes(op.input), op.value("mode")
    axis = op.value("axis") % len(shape)
    own = {"kUNIFORM": (), "kCHANNEL": (axis,), "kELEMENTWISE": range(axis, len(shape))}[mode]
    return [size if each in own else 1 for each, size in enumerate(shape)]


def _scale_obstacle(op: Any) -> str | None:
    return "its number of weights is unknown" if None in _weight_sizes(op) else None


def _lrn(op: LRNOp, rewriter: PatternRewriter) -> bool:
    """`x / (k + alpha / window * sum of squares) ** beta`, in f32: squares of f16 overflow soon."""
    make = OpBuilder(rewriter)
    given = make.cast(op.input, f32)
    reach = op.value("window") // 2
    squares = make.binary("kPROD", given, given)
    near: list[SSAValue] = [
        make.shift(squares, CHANNELS, by) if by else squares for by in range(-reach, reach + 1)
    ]
    total = make.binary("kSUM", *near)
    share = make.number(op.value("alpha") / op.value("window"), given)
    around = make.binary(
        "kSUM", make.binary("kPROD", total, share), make.number(op.value("k"), given)
    )
    power = make.binary("kPOW", around, make.number(op.value("beta"), given))
    return rewriter.replace(op, make.cast(make.binary("kDIV", given, power), element(op.input)))


def _lrn_obstacle(op: Any) -> str | None:
    if isinstance(element(op.input), IntegerType):
        return "its integers are quantized floats, with an unknown scale"
    if len(sizes(op.input)) != 4:
        return "only of images `[batch, channels, height, width]` is it known what it means"
    return None


NO_LAYER = "there is no layer for it"
PATTERNS = (
    Pattern("attention-as-products", AttentionOp, _attention, NO_LAYER),
    Pattern("rotary-as-arithmetic", RotaryEmbeddingOp, _rotary, NO_LAYER),
    Pattern("cache-as-scatter", KVCacheUpdateOp, _cache, NO_LAYER),
    Pattern("cumulative-in-steps", CumulativeOp, _known_length, NO_LAYER),
    Pattern("cumulative-by-choice", CumulativeOp, _unknown_length, NO_LAYER),
    Pattern("reverse-by-gathering", ReverseSequenceOp, _reverse, NO_LAYER),
    Pattern("scale-as-arithmetic", ScaleOp, _scale, NO_LAYER),
    Pattern("lrn-as-arithmetic", LRNOp, _lrn, NO_LAYER),
)
# Why an op of a kind cannot be written with others, or None; kinds without an entry never can.
REFUSALS: Mapping[str, Callable[[Any], str | None]] = {
    AttentionOp.name: _attention_obstacle,
    RotaryEmbeddingOp.name: _rotary_obstacle,
    KVCacheUpdateOp.name: _cache_obstacle,
    CumulativeOp.name: lambda _: None,
    ReverseSequenceOp.name: lambda _: None,
    ScaleOp.name: _scale_obstacle,
    LRNOp.name: _lrn_obstacle,
}
COLLECTIVES = (
    AllReduceOp,
    AllGatherOp,
    ReduceScatterOp,
    AllToAllOp,
    CollectiveBroadcastOp,
    CollectiveReduceOp,
    CollectiveGatherOp,
    CollectiveScatterOp,
)
NEVER = {
    "trtx.grid_sample": "it interpolates at places that only the run knows",
    "trtx.nms": "which boxes are left is decided one after the other",
    "trtx.constant": "it has no constants of f4",
    "trtx.quantize": "it has f4 as what is dequantized, and not as what is quantized",
    "trtx.moe": "each token is sent to experts of its own",
    **dict.fromkeys((each.name for each in COLLECTIVES), "several devices do it together"),
}
OTHER = "nothing writes it as operations of that dialect"


def run(module: ModuleOp) -> bool:
    """Rewrite all of them.

    Raises:
        DiagnosticError: With each op that cannot be written in the tensorrt dialect.
    """
    found = [op for op in module.walk() if op.name.startswith("trtx.")]
    if not found:
        return False
    refused = [(op, why) for op in found if (why := _refusal_reason(op)) is not None]
    if refused:
        raise DiagnosticError(*(_refusal(op, why) for op, why in refused))
    return greedy(module, PATTERNS)


def _refusal_reason(op: Operation) -> str | None:
    check = REFUSALS.get(op.name)
    return NEVER.get(op.name, OTHER) if check is None else check(op)


def _refusal(op: Operation, why: str) -> Diagnostic:
    message = f"`{op.name}` cannot be written in NVIDIA's tensorrt dialect: {why}"
    hint = "the target `tensorrt-rtx` has a layer for it"
    return Diagnostic("tensorrt-unsupported", message, locations.span_of(op.location), hint=hint)
