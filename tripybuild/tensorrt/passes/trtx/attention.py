"""Attention as matrix products: `softmax(query @ key^T + mask) @ value` for each head.

Where several query heads share one of keys and values, a dimension for those that share is put in,
so that nothing is repeated in memory.
"""

from collections.abc import Iterator
from typing import Any

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect import SoftMaxOp
from tripybuild.tensorrt.dialect.base import element
from tripybuild.tensorrt.dialect.trtx import AttentionOp
from tripybuild.tensorrt.dialect.trtx.attributes import PADDED
from tripybuild.tensorrt.passes.elimination.layouts import sizes_of
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.trtx.op_builder import Extent, OpBuilder

HEADS, QUERIES, KEYS = 1, 2, 3  # of the scores
RANK = 4


def _attention(op: AttentionOp, rewriter: PatternRewriter) -> bool:
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
    rewriter.replace(op, make.reshape(found, query) if shared > 1 else found)
    return True


def _heads_per_group(op: AttentionOp) -> int:
    """How many query heads share a head of keys and values."""
    queries, keys = sizes_of(op.query)[HEADS], sizes_of(op.key)[HEADS]
    return 1 if queries is None or not keys else queries // keys


def _product(
    make: OpBuilder, first: SSAValue, second: SSAValue, shared: int, *, transposed: bool = False
) -> SSAValue:
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
    queries, keys = sizes_of(op.query)[HEADS], sizes_of(op.key)[HEADS]
    if queries is None or keys is None:
        return "the number of query heads per key-value head is unknown"
    return None


PATTERNS = (Pattern("attention-as-products", AttentionOp, _attention, "there is no layer for it"),)
REFUSALS = {AttentionOp.name: _attention_obstacle}
