"""Layout ops: transposes and reshapes built by passes that move them.

Invariant: no op is built that would change nothing; a layout that cannot be written (a reshape has
one unknown size at most) is not guessed at.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import TypeVar

import numpy as np
from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Attribute, SSAValue

from tripybuild.tensorrt.dialect import (
    CollapseRankOp,
    ExpandRankOp,
    GatherOp,
    ReshapeOp,
    TransposeOp,
)
from tripybuild.tensorrt.dialect.base import sizes, tensor_type
from tripybuild.tensorrt.passes.rewriting.driver import PatternRewriter
from tripybuild.tensorrt.passes.rewriting.op_builder import OpBuilder

Permutation = tuple[int, ...]
Item = TypeVar("Item")


def identity(rank: int) -> Permutation:
    """The permutation that changes nothing."""
    return tuple(range(rank))


def matrix_transposition(rank: int) -> Permutation:
    """The permutation that transposes matrices."""
    return (*identity(rank - 2), rank - 1, rank - 2)


def is_identity(permutation: Sequence[int]) -> bool:
    """Whether a permutation changes nothing."""
    return all(index == source for index, source in enumerate(permutation))


def permute(permutation: Iterable[int], items: Sequence[Item]) -> tuple[Item, ...]:
    """What belongs to a tensor's dimensions (its sizes, say), after the transpose."""
    return tuple(items[source] for source in permutation)


def argsort(keys: Sequence[int]) -> Permutation:
    """The permutation that brings keys into rising order."""
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


def inverse(permutation: Sequence[int]) -> Permutation:
    """The permutation that undoes another."""
    return argsort(permutation)


def compose(first: Sequence[int], then: Iterable[int]) -> Permutation:
    """One permutation for two transposes, one after the other."""
    return permute(then, first)


Sizes = tuple[int | None, ...]


def permutation_of(op: TransposeOp) -> Permutation:
    """Which dimension of its input each dimension of a transpose is."""
    return tuple(result.position for result in op.value("permutation").results)


def type_with_shape(value: SSAValue, shape: Sequence[int | None]) -> TensorType[Attribute]:
    """The type of a value's elements in another shape."""
    assert isinstance(value.type, TensorType)
    return tensor_type(tuple(shape), value.type.element_type)


def num_dynamic_dims(shape: Sequence[int | None]) -> int:
    """How many sizes are not known."""
    return sum(size is None for size in shape)


def collapsed_dims(source: Sizes, result: Sizes) -> tuple[int, ...]:
    """The dimensions of size 1 that a `collapse_rank` leaves out."""
    gone: list[int] = []
    kept = 0
    for index, size in enumerate(source):
        if kept < len(result) and size == result[kept]:
            kept += 1
        else:
            gone.append(index)
    return tuple(gone)


def drops_units(source: Sizes, result: Sizes) -> bool:
    """Whether a shape is another one without some of its 1s (a scalar may come of `?`, too)."""
    if len(source) <= len(result):
        return False
    if not result:
        return all(size in {1, None} for size in source)
    place = 0
    for size in source:
        if place < len(result) and size == result[place]:
            place += 1
        elif size != 1:
            return False
    return place == len(result)


def rank_op(source: Sizes, result: Sizes) -> type[CollapseRankOp | ExpandRankOp] | None:
    """The op that makes one shape of another by 1s."""
    if drops_units(source, result):
        return CollapseRankOp
    return ExpandRankOp if drops_units(result, source) else None


def make_transpose(
    value: SSAValue, permutation: Permutation, rewriter: PatternRewriter
) -> SSAValue:
    """A value with its dimensions in another order."""
    if is_identity(permutation):
        return value
    type = type_with_shape(value, permute(permutation, sizes(value)))
    return rewriter.value(TransposeOp, value, permutation=permutation, result_types=[type])


def make_reshape(value: SSAValue, shape: Sizes, rewriter: PatternRewriter) -> SSAValue:
    """A value in another shape, of which at most one size is not known.

    `canonicalize` would make `expand_rank` and `collapse_rank` of it where only units come or go,
    so these are made at once.
    """
    before = sizes(value)
    if before == shape:
        return value
    make = rank_op(before, shape) or ReshapeOp
    return rewriter.value(make, value, result_types=[type_with_shape(value, shape)])


def make_plain_reshape(value: SSAValue, shape: Sizes, rewriter: PatternRewriter) -> SSAValue:
    """A value in another shape by `reshape`, even where only units come or go."""
    if sizes(value) == shape:
        return value
    return rewriter.value(ReshapeOp, value, result_types=[type_with_shape(value, shape)])


def with_units(
    value: SSAValue, positions: Sequence[int], rank: int, rewriter: PatternRewriter
) -> SSAValue:
    """A value of a higher rank: its dimensions are at `positions`, all others are 1.

    With two unknown sizes the new shape is computed, since `reshape` infers only one.
    """
    before = sizes(value)
    at = dict(zip(positions, range(len(before)), strict=True))
    shape = tuple(before[at[index]] if index in at else 1 for index in range(rank))
    if num_dynamic_dims(before) <= 1 or shape == before:
        return make_reshape(value, shape, rewriter)
    make = OpBuilder(rewriter)
    extents = make.extents(value)
    return make.reshape(value, [extents[at[n]] if n in at else 1 for n in range(rank)])


def drop_units(
    value: SSAValue, gone: Collection[int], rewriter: PatternRewriter
) -> SSAValue | None:
    """A value without dimensions that have size 1; None if that cannot be written."""
    before = sizes(value)
    shape = tuple(size for index, size in enumerate(before) if index not in gone)
    if any(before[index] is None for index in gone) and num_dynamic_dims(shape) > 1:
        return None
    return make_reshape(value, shape, rewriter)


def drop_entries(shape: SSAValue, gone: Collection[int], rewriter: PatternRewriter) -> SSAValue:
    """A shape (a tensor of sizes) without some of its entries."""
    (rank,) = sizes(shape)
    assert rank is not None
    kept = [index for index in range(rank) if index not in gone]
    indices = rewriter.constant(np.array(kept, np.int32), TensorType(i32, [len(kept)]))
    return rewriter.value(GatherOp, shape, indices, axis=0)
