"""`tensorrt-broadcast-elimination`: broadcasts fold into ops with implicit broadcasting.

A `broadcast` is a copy in memory; `element_wise`, `select` and `matrix_multiply` read a dimension
of size 1 as often as they need to. The table's order is mlir-tensorrt's.

Invariant: a broadcast is taken in only if another operand still brings the size of each dimension
along. A size `?` of an operand is believed to be the result's `?` (TensorRT names no sizes), and
never to be a size that is written as a number. Four cases that mlir-tensorrt gets wrong are right
here: both operands of a product or of a `?` may not lose their last broadcast; `shape` follows the
dimensions that a `collapse_rank` leaves; and so do dimensions that the broadcast itself had added.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect import (
    BroadcastOp,
    CollapseRankOp,
    ElementWiseOp,
    MatrixMultiplyOp,
    ReshapeOp,
    SelectOp,
)
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.passes.canonicalize import FOLDERS, reshapes
from tripybuild.tensorrt.passes.elimination.layouts import (
    Sizes,
    argsort,
    collapsed_dims,
    drop_entries,
    drop_units,
    identity,
    make_transpose,
    num_dynamic_dims,
    with_units,
)
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter, greedy


def _producer(value: SSAValue) -> BroadcastOp | None:
    owner = value.owner
    return owner if isinstance(owner, BroadcastOp) else None


def _in_order(op: BroadcastOp) -> bool:
    """Whether a broadcast neither adds dimensions nor changes their order."""
    return tuple(op.value("broadcast_dims")) == identity(len(sizes(op.result)))


def _broadcast_dims(op: BroadcastOp) -> set[int]:
    """The dimensions that may have another size before the broadcast than after it."""
    pairs = zip(sizes(op.input), sizes(op.result), strict=True)
    return {index for index, (one, other) in enumerate(pairs) if one is None or one != other}


def _determines_size(result: int | None, operands: Sequence[int | None]) -> bool:
    """Whether operands of these sizes give a dimension of the result its size."""
    if result == 1:
        return True
    if result is None:
        return any(size != 1 for size in operands)
    return result in operands


def _still_fits(result: Sizes, values: Sequence[SSAValue], taken: Sequence[BroadcastOp]) -> bool:
    """Whether the result's sizes are the same after some broadcasts are taken in."""
    operands = [sizes(value) for value in values]
    changed = set().union(*map(_broadcast_dims, taken))
    return all(
        _determines_size(size, [operand[dimension] for operand in operands])
        for dimension, size in enumerate(result)
        if dimension in changed
    )


def _absorb(op: ElementWiseOp | SelectOp, rewriter: PatternRewriter) -> bool:
    """`element_wise(broadcast(x), y)` is `element_wise(x, y)`; all operands change, or none."""
    operands = tuple(op.operands)
    producers = [(index, _producer(value)) for index, value in enumerate(operands)]
    taken = {index: each for index, each in producers if each is not None and _in_order(each)}
    if not taken:
        return False
    values = [
        taken[index].input if index in taken else value for index, value in enumerate(operands)
    ]
    if not _still_fits(sizes(op.result), values, tuple(taken.values())):
        return False
    for index, broadcast in taken.items():
        rewriter.set_operand(op, index, broadcast.input)
    return True


def _along_batch_only(op: BroadcastOp, batch: int) -> bool:
    """Whether a broadcast leaves all but the first dimensions, whose sizes are known, alone."""
    return _in_order(op) and max(_broadcast_dims(op), default=-1) < batch


def _absorb_batch(op: MatrixMultiplyOp, rewriter: PatternRewriter) -> bool:
    """`matrix_multiply` broadcasts its batch; one operand after the other loses its broadcast."""
    producers = [_producer(value) for value in op.operands]
    if producers == [None, None]:
        return False
    batch = len(sizes(op.input0)) - (1 if op.value("op0") == "kVECTOR" else 2)
    result = sizes(op.result)[:batch]
    changed = False
    for index, broadcast in enumerate(producers):
        if broadcast is None or not _along_batch_only(broadcast, batch):
            continue
        if _still_fits(result, (broadcast.input, op.operands[1 - index]), (broadcast,)):
            rewriter.set_operand(op, index, broadcast.input)
            changed = True
    return changed


def _simplify(op: BroadcastOp, rewriter: PatternRewriter) -> bool:
    """A broadcast that permutes or adds dimensions does so before it broadcasts.

    With one unknown size and no new dimension, a reshape to the same type stands for that, as
    mlir-tensorrt writes it; `tensorrt-expand-ops` drops it.
    """
    if _in_order(op):
        return False
    dims: tuple[int, ...] = op.value("broadcast_dims")
    rank = len(sizes(op.result))
    value = make_transpose(op.input, argsort(dims), rewriter)
    if num_dynamic_dims(sizes(value)) == 1 and len(dims) == rank:
        value = rewriter.value(ReshapeOp, value, result_types=[value.type])
    else:
        value = with_units(value, sorted(dims), rank, rewriter)
    return rewriter.replace_with(op, BroadcastOp, value, op.shape, broadcast_dims=identity(rank))


def _below_collapse(op: CollapseRankOp, rewriter: PatternRewriter) -> bool:
    """`collapse_rank(broadcast(x))` is `broadcast(collapse_rank(x))`, of two dimensions at least.

    A single dimension, or none, is what mlir-tensorrt does not compare with those before.
    """
    broadcast = _producer(op.input)
    if broadcast is None or len(sizes(op.result)) < 2:
        return False
    gone = collapsed_dims(sizes(op.input), sizes(op.result))
    dims: tuple[int, ...] = broadcast.value("broadcast_dims")
    if not any(to in gone for to in dims):  # it is brought into order first, and adds them so
        return False
    kept = [dimension for dimension in range(len(sizes(op.input))) if dimension not in gone]
    value = drop_units(
        broadcast.input, [index for index, to in enumerate(dims) if to in gone], rewriter
    )
    if value is None:
        return False
    shape = broadcast.shape if num_dynamic_dims(sizes(op.result)) else None
    if shape is not None:
        shape = drop_entries(shape, gone, rewriter)
    return rewriter.replace_with(
        op,
        BroadcastOp,
        value,
        shape,
        broadcast_dims=tuple(kept.index(to) for to in dims if to not in gone),
    )


PATTERNS = (
    Pattern("permute-first", BroadcastOp, _simplify, "only broadcasts in order are taken in"),
    Pattern("element-wise", ElementWiseOp, _absorb, "element_wise broadcasts by itself"),
    Pattern("collapse-first", CollapseRankOp, _below_collapse, "closer to what takes it in"),
    Pattern("select", SelectOp, _absorb, "select broadcasts by itself"),
    Pattern("matrix-multiply", MatrixMultiplyOp, _absorb_batch, "so do batches of products"),
)


def run(module: ModuleOp) -> bool:
    """Run the pass on a module, in place; whether it changed anything."""
    return greedy(module, (*PATTERNS, *reshapes.RESHAPES), FOLDERS)
