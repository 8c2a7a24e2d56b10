"""`tensorrt-transpose-elimination`: transposes move to smaller tensors, cancel, or fold.

First down (`op(transpose(x))` is `transpose(op(x))`), so that those of models with channels last
meet; then up what is left. A transpose costs the number of elements that it writes; one of a
constant costs nothing, since it is folded; one of unknown size costs more than any other. Values
never change, only where transposes are; the tables' order is mlir-tensorrt's.

Invariant: a constant is worth a transpose only if that is folded then. mlir-tensorrt counts
constants with many uses, too, whose transposes stay, and may then go back and forth without end.
"""

import math
from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    ModuleOp,
)
from xdsl.ir import Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    ActivationOp,
    ConstantOp,
    ElementWiseOp,
    ExpandRankOp,
    IdentityOp,
    ReshapeOp,
    TransposeOp,
    UnaryOp,
)
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.passes.canonicalize import FOLDERS, reshapes
from tripybuild.tensorrt.passes.elimination.layouts import (
    Permutation,
    inverse,
    make_transpose,
    permutation_of,
    permute,
    type_with_shape,
)
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter, greedy
from tripybuild.tensorrt.passes.rewriting.values import (
    constant_of,
    defining_op,
    has_elided_data,
    retype,
    splat,
)

LARGEST_FOLDED = 1 << 17  # elements; half a megabyte of f32


def _cost(value: SSAValue) -> float:
    """What a transpose of a value costs: its elements."""
    known = sizes(value)
    return math.inf if None in known else math.prod(size for size in known if size is not None)


def _folds(value: SSAValue) -> bool:
    """Whether a transpose of a value is folded: weights are not copied, and resources not read."""
    weights = constant_of(value)
    if not isinstance(weights, DenseIntOrFPElementsAttr) and not has_elided_data(weights):
        return False
    return (value.has_one_use() and _cost(value) <= LARGEST_FOLDED) or splat(value) is not None


def _below(
    op: Operation, permutation: Permutation, operands: Sequence[SSAValue], rewriter: PatternRewriter
) -> None:
    """Let an op run before a transpose: its operands are those before it."""
    result = op.results[0]
    type = type_with_shape(result, permute(inverse(permutation), sizes(result)))
    new = rewriter.clone(op, operands, type)
    rewriter.replace(op, make_transpose(new, permutation, rewriter))


def transpose_below(op: ActivationOp | IdentityOp | UnaryOp, rewriter: PatternRewriter) -> bool:
    """`activation(transpose(x))` is `transpose(activation(x))`, and so for `identity`."""
    transpose = defining_op(op.input, TransposeOp)
    if transpose is None:
        return False
    _below(op, permutation_of(transpose), [transpose.input], rewriter)
    return True


def _dearest(op: ElementWiseOp) -> int | None:
    """Which operand's transpose goes down: the one that costs more, the first if both do."""
    first, second = (defining_op(value, TransposeOp) for value in op.operands)
    if first is None or second is None:
        return None if first is second else int(first is None)
    return int(_cost(op.input1) < _cost(op.input2))


def _down_past_element_wise(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`element_wise(transpose(x), y)` is `transpose(element_wise(x, transpose(y)))`.

    Only where the new transpose is smaller, or meets a transpose or a constant: this ends.
    """
    index = _dearest(op)
    if index is None:
        return False
    transpose, other = defining_op(op.operands[index], TransposeOp), op.operands[1 - index]
    assert transpose is not None
    if not (
        _cost(other) < _cost(transpose.result)
        or defining_op(other, TransposeOp) is not None
        or _folds(other)
    ):
        return False
    permutation = permutation_of(transpose)
    operands = [make_transpose(other, inverse(permutation), rewriter)]
    operands.insert(index, transpose.input)
    _below(op, permutation, operands, rewriter)
    return True


def _up_past_unary(op: TransposeOp, rewriter: PatternRewriter) -> bool:
    """`transpose(unary(x))` is `unary(transpose(x))`, and so for `activation` and `identity`."""
    unary = op.input.owner
    if not isinstance(unary, ActivationOp | IdentityOp | UnaryOp):
        return False
    moved = make_transpose(unary.input, permutation_of(op), rewriter)
    return rewriter.replace(op, rewriter.clone(unary, [moved], op.result.type))


def _gain(op: ElementWiseOp, index: int) -> float:
    """What is won by transposing the operands instead of the result: at `index`, they meet it."""
    producer, other = op.operands[index].owner, op.operands[1 - index]
    if not isinstance(producer, ReshapeOp | TransposeOp | ConstantOp):
        return -math.inf
    reshaped = (
        isinstance(producer, ReshapeOp) and defining_op(producer.input, ConstantOp) is not None
    )
    free = reshaped or isinstance(producer, ConstantOp)
    spent = 0.0 if free else _cost(op.result)
    added = 0.0 if defining_op(other, ConstantOp) is not None else _cost(other)
    before = _cost(op.result)
    return before - spent - added if math.isfinite(before + added) else -math.inf


def _up_past_element_wise(op: TransposeOp, rewriter: PatternRewriter) -> bool:
    """`transpose(element_wise(x, y))` is `element_wise(transpose(x), transpose(y))`.

    Where that costs less; one of them is a reshape, a transpose or a constant then.
    """
    element_wise = defining_op(op.input, ElementWiseOp)
    if element_wise is None or max(_gain(element_wise, 0), _gain(element_wise, 1)) <= 0:
        return False
    permutation = permutation_of(op)
    left, right = element_wise.operands
    if _gain(element_wise, 0) > 0:  # mlir-tensorrt writes down first what it wins nothing by
        right = make_transpose(right, permutation, rewriter)
        left = make_transpose(left, permutation, rewriter)
    else:
        left = make_transpose(left, permutation, rewriter)
        right = make_transpose(right, permutation, rewriter)
    return rewriter.replace(op, rewriter.clone(element_wise, [left, right], op.result.type))


def _fold_constant(op: TransposeOp, rewriter: PatternRewriter) -> bool:
    """A transpose of a constant is a constant."""
    if not _folds(op.input):
        return False
    weights, type = constant_of(op.input), op.result.type
    if isinstance(weights, DenseIntOrFPElementsAttr) and splat(op.input) is None:
        array = np.transpose(elements.to_numpy(weights), permutation_of(op))
        return rewriter.replace(op, rewriter.constant(array, type))
    folded = retype(weights, type)
    assert folded is not None
    return rewriter.replace(op, rewriter.constant(folded, type))


PUSH_DOWN = (
    Pattern("element-wise-first", ElementWiseOp, _down_past_element_wise, "transposes meet"),
    Pattern("fold", TransposeOp, _fold_constant, "weights are transposed once"),
    Pattern("identity-first", IdentityOp, transpose_below, "transposes meet"),
    Pattern("activation-first", ActivationOp, transpose_below, "transposes meet"),
)
PUSH_UP = (
    Pattern("fold", TransposeOp, _fold_constant, "weights are transposed once"),
    Pattern("transpose-first", TransposeOp, _up_past_unary, "transposes meet"),
    Pattern("operands-first", TransposeOp, _up_past_element_wise, "less is transposed"),
)
EXPANDED = Pattern("rank of rank", ExpandRankOp, reshapes.rank_of_rank, "one layer")
CLEANUP = (*reshapes.TRANSPOSES, EXPANDED)


def run(module: ModuleOp) -> bool:
    """Run the pass on a module, in place; whether it changed anything."""
    down = greedy(module, (*PUSH_DOWN, *CLEANUP), FOLDERS)
    return greedy(module, (*PUSH_UP, *CLEANUP), FOLDERS) or down
