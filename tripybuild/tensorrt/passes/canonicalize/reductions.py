"""Reduction canonicalization: kept dimensions, and sums that are averages."""

from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect import ConstantOp, ElementWiseOp, ExpandRankOp, ReduceOp
from tripybuild.tensorrt.passes.canonicalize.matching import float_splat
from tripybuild.tensorrt.passes.elimination.layouts import sizes_of
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import defining_op, only_user
from tripybuild.tensorrt.shape_rules import compatible


def _axis(op: ReduceOp) -> int | None:
    axes = op.value("reduce_axes")
    return axes[0] if len(axes) == 1 else None


def _keepdim_shape(op: ReduceOp, axis: int) -> tuple[int | None, ...]:
    """The sizes that a reduction has when it keeps the dimension."""
    return tuple(1 if index == axis else size for index, size in enumerate(sizes_of(op.input)))


def keep_dimension(op: ReduceOp, rewriter: PatternRewriter) -> bool:
    """A reduced dimension that `expand_rank` brings back at its old place is kept.

    The 1 must stand where the dimension was, which mlir-tensorrt asks only of the new shape.
    """
    axis = _axis(op)
    expanded = only_user(op.result)
    if axis is None or op.value("keep_dimensions") or not isinstance(expanded, ExpandRankOp):
        return False
    if not compatible(_keepdim_shape(op, axis), sizes_of(expanded.result)):
        return False
    _replace_chain(op, expanded, rewriter, keep=True, operation=op.value("reduce_operation"))
    return True


def average(op: ReduceOp, rewriter: PatternRewriter) -> bool:
    """A sum over as many elements as it is divided by is their average."""
    axis = _axis(op)
    quotient = only_user(op.result)
    if axis is None or op.value("reduce_operation") != "kSUM":
        return False
    if not isinstance(quotient, ElementWiseOp) or quotient.result.type != op.result.type:
        return False
    if quotient.value("elementwise_operation") != "kDIV" or not _divides(quotient.input2):
        return False
    size = sizes_of(op.input)[axis]
    if size is None or float_splat(quotient.input2) != size:
        return False
    keep = bool(op.value("keep_dimensions"))
    _replace_chain(op, quotient, rewriter, keep=keep, operation="kAVG")
    return True


def _divides(value: SSAValue) -> bool:
    return defining_op(value, ConstantOp) is not None


def _replace_chain(
    op: ReduceOp,
    last: ElementWiseOp | ExpandRankOp,
    rewriter: PatternRewriter,
    *,
    keep: bool,
    operation: str,
) -> None:
    """Let one reduction do what a reduction and the op after it did."""
    made = rewriter.create(
        ReduceOp,
        op.input,
        reduce_axes=op.reduce_axes,
        keep_dimensions=keep,
        reduce_operation=operation,
        result_types=[last.result.type],
        location=last.location,
    )
    rewriter.replace(last, made)


PATTERNS = (
    Pattern("kept dimension", ReduceOp, keep_dimension, "no reshape"),
    Pattern("average", ReduceOp, average, "one layer"),
)
