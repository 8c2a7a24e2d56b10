"""Decomposition of cumulative sums and of sequence reversal."""

from xdsl.dialects.builtin import i32

from tripybuild.tensorrt.dialect import GatherElementsOp
from tripybuild.tensorrt.dialect.base import element
from tripybuild.tensorrt.dialect.trtx import CumulativeOp, ReverseSequenceOp
from tripybuild.tensorrt.passes.elimination.layouts import sizes_of
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.trtx.op_builder import OpBuilder


def _known_length(op: CumulativeOp, rewriter: PatternRewriter) -> bool:
    """Add what is 1, 2, 4, ... places before: as many steps as the length has binary digits.

    A product with a triangle of ones would make an infinity anywhere a NaN everywhere.
    """
    axis = op.value("axis") % len(sizes_of(op.input))
    length = sizes_of(op.input)[axis]
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
    rewriter.replace(op, make.cast(found, element(op.input)))
    return True


def _unknown_length(op: CumulativeOp, rewriter: PatternRewriter) -> bool:
    """Choose what each sum is of from all elements, beside each other."""
    axis = op.value("axis") % len(sizes_of(op.input))
    if sizes_of(op.input)[axis] is not None:
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
    rewriter.replace(op, make.reduce_sum(parts, axis + 1))
    return True


def _reverse(op: ReverseSequenceOp, rewriter: PatternRewriter) -> bool:
    """Gather each element from where it comes."""
    make = OpBuilder(rewriter)
    rank, axis = len(sizes_of(op.input)), op.value("sequence_axis")
    extents = make.extents(op.input)
    lengths = make.expand_vector(make.cast(op.lengths, i32), rank, op.value("batch_axis"))
    places = make.iota(extents[axis], rank, axis)
    turned = make.binary("kSUB", lengths, make.iota(extents[axis], rank, axis, 1))
    sources = make.select(make.binary("kLESS", places, lengths), turned, places)
    whole = make.broadcast(sources, extents)
    rewriter.replace(op, make.make(GatherElementsOp, op.input, whole, axis=axis))
    return True


PATTERNS = (
    Pattern("cumulative-in-steps", CumulativeOp, _known_length, "there is no layer for it"),
    Pattern("cumulative-by-choice", CumulativeOp, _unknown_length, "there is no layer for it"),
    Pattern("reverse-by-gathering", ReverseSequenceOp, _reverse, "there is no layer for it"),
)
REFUSALS = {CumulativeOp.name: lambda _: None, ReverseSequenceOp.name: lambda _: None}
