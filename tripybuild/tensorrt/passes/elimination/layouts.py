"""Layout ops: transposes and reshapes built by passes that move them.

Invariant: no op is built that would change nothing; a layout that cannot be written (a reshape has
one unknown size at most) is not guessed at.
"""

from collections.abc import Collection, Sequence

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i32
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    CollapseRankOp,
    ConcatenationOp,
    ExpandRankOp,
    GatherOp,
    ReshapeOp,
    ShapeOp,
    SliceOp,
    TransposeOp,
)
from tripybuild.tensorrt.dialect.base import tensor_type
from tripybuild.tensorrt.passes.elimination.permutations import Permutation, is_identity, permute
from tripybuild.tensorrt.passes.rewriting.driver import PatternRewriter

Sizes = tuple[int | None, ...]


def sizes_of(value: SSAValue) -> Sizes:
    """A value's sizes; None is one that is not known."""
    assert isinstance(value.type, TensorType)
    return tuple(None if size == DYNAMIC_INDEX else size for size in value.type.get_shape())


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


def make_transpose(
    value: SSAValue, permutation: Permutation, rewriter: PatternRewriter
) -> SSAValue:
    """A value with its dimensions in another order."""
    if is_identity(permutation):
        return value
    type = type_with_shape(value, permute(permutation, sizes_of(value)))
    return rewriter.create(
        TransposeOp, value, permutation=permutation, result_types=[type]
    ).results[0]


def make_reshape(value: SSAValue, shape: Sizes, rewriter: PatternRewriter) -> SSAValue:
    """A value in another shape, of which at most one size is not known.

    `canonicalize` would make `expand_rank` and `collapse_rank` of it where only units come or go,
    so these are made at once.
    """
    before = sizes_of(value)
    if before == shape:
        return value
    make: type[Operation] = ReshapeOp
    if _is_collapse(before, shape):
        make = CollapseRankOp
    elif _is_collapse(shape, before):
        make = ExpandRankOp
    return rewriter.create(make, value, result_types=[type_with_shape(value, shape)]).results[0]


def make_plain_reshape(value: SSAValue, shape: Sizes, rewriter: PatternRewriter) -> SSAValue:
    """A value in another shape by `reshape`, even where only units come or go."""
    if sizes_of(value) == shape:
        return value
    return rewriter.create(ReshapeOp, value, result_types=[type_with_shape(value, shape)]).results[
        0
    ]


def clone_with(op: Operation, operands: Sequence[SSAValue], result: Attribute) -> Operation:
    """An op as it is, of other operands and with another type of its result."""
    new = type(op).create(
        operands=operands,
        result_types=[result],
        properties=op.properties.copy(),
        attributes=op.attributes.copy(),
    )
    new.location = op.location
    return new


def _is_collapse(source: Sizes, result: Sizes) -> bool:
    gone = collapsed_dims(source, result)
    return len(gone) == len(source) - len(result) and all(source[index] == 1 for index in gone)


def with_units(
    value: SSAValue, positions: Sequence[int], rank: int, rewriter: PatternRewriter
) -> SSAValue:
    """A value of a higher rank: its dimensions are at `positions`, all others are 1.

    With two unknown sizes the new shape is computed, since `reshape` infers only one.
    """
    before = sizes_of(value)
    at = dict(zip(positions, range(len(before)), strict=True))
    shape = tuple(before[at[index]] if index in at else 1 for index in range(rank))
    if num_dynamic_dims(before) <= 1 or shape == before:
        return make_reshape(value, shape, rewriter)
    source = rewriter.create(ShapeOp, value).results[0]
    parts = [
        _size_at(source, at[index], rewriter) if size is None else _number(size, rewriter)
        for index, size in enumerate(shape)
    ]
    new = rewriter.create(ConcatenationOp, parts, axis=0).results[0]
    return rewriter.create(
        ReshapeOp, value, new, result_types=[type_with_shape(value, shape)]
    ).results[0]


def _number(size: int, rewriter: PatternRewriter) -> SSAValue:
    return rewriter.constant(np.array([size], np.int32), TensorType(i32, [1]))


def _size_at(shape: SSAValue, index: int, rewriter: PatternRewriter) -> SSAValue:
    return rewriter.create(
        SliceOp, shape, static_start=(index,), static_size=(1,), static_stride=(1,)
    ).results[0]


def drop_units(
    value: SSAValue, gone: Collection[int], rewriter: PatternRewriter
) -> SSAValue | None:
    """A value without dimensions that have size 1; None if that cannot be written."""
    before = sizes_of(value)
    shape = tuple(size for index, size in enumerate(before) if index not in gone)
    if any(before[index] is None for index in gone) and num_dynamic_dims(shape) > 1:
        return None
    return make_reshape(value, shape, rewriter)


def drop_entries(shape: SSAValue, gone: Collection[int], rewriter: PatternRewriter) -> SSAValue:
    """A shape (a tensor of sizes) without some of its entries."""
    (rank,) = sizes_of(shape)
    assert rank is not None
    kept = [index for index in range(rank) if index not in gone]
    indices = rewriter.constant(np.array(kept, np.int32), TensorType(i32, [len(kept)]))
    return rewriter.create(GatherOp, shape, indices, axis=0).results[0]
