"""Decomposition of rotary position embeddings and key-value caches."""

from typing import Any

from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect import ConcatenationOp, GatherOp, ScatterElementsOp
from tripybuild.tensorrt.dialect.trtx import KVCacheUpdateOp, RotaryEmbeddingOp
from tripybuild.tensorrt.dialect.trtx.attributes import PADDED
from tripybuild.tensorrt.passes.elimination.layouts import sizes_of
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.trtx.op_builder import OpBuilder

SEQUENCE, HEAD = 2, 3


def _rotary(op: RotaryEmbeddingOp, rewriter: PatternRewriter) -> bool:
    make = OpBuilder(rewriter)
    head = sizes_of(op.input)[HEAD] or 0
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
    rewriter.replace(op, whole)
    return True


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
    return "its head size is unknown" if sizes_of(op.input)[HEAD] is None else None


def _cache(op: KVCacheUpdateOp, rewriter: PatternRewriter) -> bool:
    """Scatter the new rows to where they belong."""
    make = OpBuilder(rewriter)
    extents = make.extents(op.update)
    first = make.expand_vector(op.position, len(extents), 0)
    rows = make.binary("kSUM", first, make.iota(extents[SEQUENCE], len(extents), SEQUENCE))
    places = make.broadcast(rows, extents)
    rewriter.replace(op, make.make(ScatterElementsOp, op.cache, places, op.update, axis=SEQUENCE))
    return True


def _cache_obstacle(op: Any) -> str | None:
    if op.update_lengths is not None or op.value("update_form") != PADDED:
        return "only updates of one length can be scattered"
    return None


PATTERNS = (
    Pattern("rotary-as-arithmetic", RotaryEmbeddingOp, _rotary, "there is no layer for it"),
    Pattern("cache-as-scatter", KVCacheUpdateOp, _cache, "there is no layer for it"),
)
REFUSALS = {RotaryEmbeddingOp.name: _rotary_obstacle, KVCacheUpdateOp.name: _cache_obstacle}
