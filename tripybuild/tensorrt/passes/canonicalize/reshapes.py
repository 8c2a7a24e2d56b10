"""Reshape and transpose canonicalization: composition, and removal of identities.

`expand_rank` adds dimensions of size 1, `collapse_rank` takes them out: their elements stay in
order, so two of them are one if the shapes differ by 1s only, and none if the shapes are the same.
"""

from collections.abc import Sequence

from xdsl.dialects import tensor
from xdsl.dialects.builtin import (
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    BroadcastOp,
    CollapseRankOp,
    ConstantOp,
    ExpandRankOp,
    ReshapeOp,
    ResizeCubicOp,
    ResizeLinearOp,
    ResizeNearestOp,
    TransposeOp,
)
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.passes.elimination.layouts import (
    compose,
    identity,
    is_identity,
    make_transpose,
    permutation_of,
    permute,
    rank_op,
    type_with_shape,
)
from tripybuild.tensorrt.passes.rewriting.driver import Folded, Folder, Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import (
    constant_of,
    defining_op,
    is_static,
    retype,
)
from tripybuild.tensorrt.shape_rules import MaybeSize

_RankOp = ExpandRankOp | CollapseRankOp
_ResizeOp = ResizeNearestOp | ResizeLinearOp | ResizeCubicOp
_RESIZES: tuple[type[Operation], ...] = (ResizeNearestOp, ResizeLinearOp, ResizeCubicOp)


def rank_of_rank(op: _RankOp, rewriter: PatternRewriter) -> bool:
    """1s that come and go are one op, or none (which is a fold)."""
    before = op.input.owner
    if not isinstance(before, ExpandRankOp | CollapseRankOp):
        return False
    made = rank_op(sizes(before.input), sizes(op.result))
    return made is not None and rewriter.replace_with(op, made, before.input)


def fold_rank_change(op: _RankOp) -> Sequence[SSAValue] | None:
    """The same shape as before, or as before the op before."""
    if op.input.type == op.result.type:
        return (op.input,)
    before = op.input.owner
    if isinstance(before, ExpandRankOp | CollapseRankOp) and before.input.type == op.result.type:
        return (before.input,)
    return None


def reshaped_constant(value: SSAValue, result: Attribute) -> Attribute | None:
    """The attribute of a constant in another shape; the elements of resources are not read."""
    if defining_op(value, ConstantOp) is None or not is_static(result):
        return None
    return retype(constant_of(value), result)


def fold_rank(op: _RankOp) -> Sequence[Folded] | None:
    """Nothing, or a constant."""
    found = reshaped_constant(op.input, op.result.type)
    return (found,) if found is not None else fold_rank_change(op)


def fold_reshape(op: ReshapeOp) -> Sequence[SSAValue] | None:
    """Nothing, if all sizes are known."""
    same = op.input.type == op.result.type and is_static(op.result.type)
    return (op.input,) if same else None


def reshape_of_constant(op: ReshapeOp, rewriter: PatternRewriter) -> bool:
    """A constant in another shape is a constant."""
    found = reshaped_constant(op.input, op.result.type)
    return found is not None and rewriter.replace(op, rewriter.constant(found, op.result.type))


def reshape_of_reshape(op: ReshapeOp, rewriter: PatternRewriter) -> bool:
    """The last of two reshapes says what the shape is."""
    before = defining_op(op.input, ReshapeOp)
    return before is not None and rewriter.replace_with(op, ReshapeOp, before.input, op.shape)


def units(op: ReshapeOp, rewriter: PatternRewriter) -> bool:
    """A reshape that adds 1s, or takes them out, says so."""
    made = rank_op(sizes(op.input), sizes(op.result)) if op.shape is None else None
    return made is not None and rewriter.replace_with(op, made, op.input)


def fold_transpose(op: TransposeOp) -> Sequence[SSAValue] | None:
    """Dimensions that stay in order."""
    same = op.input.type == op.result.type and is_identity(permutation_of(op))
    return (op.input,) if same else None


def transpose_of_transpose(op: TransposeOp, rewriter: PatternRewriter) -> bool:
    """Two transposes are one."""
    before = defining_op(op.input, TransposeOp)
    if before is None:
        return False
    both = compose(permutation_of(before), permutation_of(op))
    if type_with_shape(before.input, permute(both, sizes(before.input))) != op.result.type:
        return False
    return rewriter.replace(op, make_transpose(before.input, both, rewriter))


def fold_broadcast(op: BroadcastOp) -> Sequence[SSAValue] | None:
    """Nothing is stretched, and dimensions stay in order."""
    same = op.input.type == op.result.type and is_static(op.result.type)
    in_order = tuple(op.value("broadcast_dims")) == identity(len(sizes(op.result)))
    return (op.input,) if same and in_order else None


def known_sizes(op: _ResizeOp, rewriter: PatternRewriter) -> bool:
    """A resize reads what was there before a `tensor.cast` forgot its sizes."""
    cast = op.input.owner
    if not isinstance(cast, tensor.CastOp):
        return False
    before, after = cast.source.type, cast.dest.type
    if not isinstance(before, TensorType) or not isinstance(after, TensorType):
        return False
    if before.encoding != after.encoding or not _refines(sizes(before), sizes(after)):
        return False
    rewriter.set_operand(op, 0, cast.source)
    return True


def _refines(known: Sequence[MaybeSize], vague: Sequence[MaybeSize]) -> bool:
    return len(known) == len(vague) and all(
        given is None or given == size for size, given in zip(known, vague, strict=True)
    )


PATTERNS = (
    Pattern("rank of rank", (CollapseRankOp, ExpandRankOp), rank_of_rank, "one layer"),
    Pattern("reshape of constant", ReshapeOp, reshape_of_constant, "weights are reshaped once"),
    Pattern("reshape of reshape", ReshapeOp, reshape_of_reshape, "one layer"),
    Pattern("units", ReshapeOp, units, "other rewrites know these"),
    Pattern("transpose of transpose", TransposeOp, transpose_of_transpose, "one layer"),
    Pattern("known sizes", _RESIZES, known_sizes, "sizes are known when it is built"),
)
RESHAPES = tuple(row for row in PATTERNS if row.root is ReshapeOp)
TRANSPOSES = tuple(row for row in PATTERNS if row.root is TransposeOp)
FOLDERS: dict[type[Operation], Folder] = {
    CollapseRankOp: fold_rank,
    ExpandRankOp: fold_rank,
    ReshapeOp: fold_reshape,
    TransposeOp: fold_transpose,
    BroadcastOp: fold_broadcast,
}
