"""Op builder for rewrites with dynamic sizes: a size is an int or a vector of one element.

What is known stays static: only unknown sizes are computed when the engine runs.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from xdsl.dialects.builtin import BFloat16Type, TensorType, f32, i32
from xdsl.ir import Attribute, SSAValue

from tripybuild.tensorrt.dialect import (
    BroadcastOp,
    CastOp,
    ConcatenationOp,
    ElementWiseOp,
    LinspaceOp,
    MatrixMultiplyOp,
    ReduceOp,
    ReshapeOp,
    SelectOp,
    ShapeOp,
    SliceOp,
)
from tripybuild.tensorrt.dialect.base import element, sizes, tensor_type
from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.passes.rewriting.driver import PatternRewriter

Extent = int | SSAValue


class OpBuilder:
    """Makes the ops of one rewrite."""

    def __init__(self, rewriter: PatternRewriter) -> None:
        self._rewriter = rewriter

    def make(self, kind: type[Any], *operands: Any, **attributes: Any) -> SSAValue:
        """Make an op of one result."""
        return self._rewriter.value(kind, *operands, **attributes)

    def extents(self, value: SSAValue) -> list[Extent]:
        """The sizes of a value."""
        known = sizes(value)
        if None not in known:
            return [size for size in known if size is not None]
        shape = self.make(ShapeOp, value)
        return [self.entry(shape, n) if size is None else size for n, size in enumerate(known)]

    def entry(self, shape: SSAValue, axis: int) -> SSAValue:
        """One size of a tensor of shape."""
        return self.make(SliceOp, shape, static_start=(axis,), static_size=(1,), static_stride=(1,))

    def vector(self, extents: Sequence[Extent]) -> SSAValue:
        """Sizes as a tensor of shape."""
        parts = [
            self._rewriter.constant(np.array([each], np.int32), TensorType(i32, [1]))
            if isinstance(each, int)
            else each
            for each in extents
        ]
        return parts[0] if len(parts) == 1 else self.make(ConcatenationOp, parts, axis=0)

    def reshape(self, value: SSAValue, extents: Sequence[Extent]) -> SSAValue:
        """The same elements in other sizes."""
        known = static(extents)
        if known == sizes(value) and None not in known:
            return value
        type = tensor_type(known, element(value))
        shape = self.vector(extents) if None in known else None
        return self.make(ReshapeOp, value, shape, result_types=[type])

    def broadcast(self, value: SSAValue, extents: Sequence[Extent]) -> SSAValue:
        """A value repeated along its sizes of one."""
        known = static(extents)
        shape = self.vector(extents) if None in known else None
        type = tensor_type(known, element(value))
        places = range(len(known))
        return self.make(BroadcastOp, value, shape, broadcast_dims=places, result_types=[type])

    def expand_vector(self, value: SSAValue, rank: int, axis: int) -> SSAValue:
        """A vector along an axis of so many dimensions."""
        shape = [sizes(value)[0] if each == axis else 1 for each in range(rank)]
        if rank == 1:
            return value
        return self.make(ReshapeOp, value, result_types=[tensor_type(shape, element(value))])

    def part(
        self,
        value: SSAValue,
        axis: int,
        start: int,
        count: Extent,
        step: int = 1,
        *,
        fill: bool = False,
    ) -> SSAValue:
        """A piece along an axis; with `fill` it may begin before the value, with zeros."""
        extents = [count if n == axis else size for n, size in enumerate(self.extents(value))]
        known = static(extents)
        rank = len(known)
        zero = self.number(0, value, rank=0) if fill else None
        return self.make(
            SliceOp,
            value,
            zero,
            None,
            self.vector(extents) if None in known else None,
            static_start=[start if n == axis else 0 for n in range(rank)],
            static_size=None if None in known else known,
            static_stride=[step if n == axis else 1 for n in range(rank)],
            **({"mode": "kFILL"} if fill else {}),
            result_types=[tensor_type(known, element(value))],
        )

    def shift(self, value: SSAValue, axis: int, by: int) -> SSAValue:
        """A value moved along an axis, with zeros where nothing comes from."""
        return self.part(value, axis, -by, self.extents(value)[axis], fill=True)

    def number(self, number: float, like: SSAValue, *, rank: int | None = None) -> SSAValue:
        """A number of the elements of a value, of its rank."""
        kind = element(like)
        shape = [1] * (len(sizes(like)) if rank is None else rank)
        array = np.full(shape, number).astype(elements.dtype_of(kind))
        return self._rewriter.constant(array, TensorType(kind, shape))

    def iota(self, extent: Extent, rank: int, axis: int, start: int = 0) -> SSAValue:
        """The numbers from a start on along an axis, as i32."""
        if isinstance(extent, int):
            array = np.arange(start, start + extent, dtype=np.int32)
            shape = [extent if each == axis else 1 for each in range(rank)]
            return self._rewriter.constant(array.reshape(shape), TensorType(i32, shape))
        type = tensor_type((None,), i32)
        numbers = self.make(
            LinspaceOp,
            extent,
            static_start=float(start),
            static_step=1.0,
            result_types=[type],
        )
        return self.expand_vector(numbers, rank, axis)

    def cast(self, value: SSAValue, kind: Attribute) -> SSAValue:
        """A value with other elements."""
        if element(value) == kind:
            return value
        return self.make(CastOp, value, result_types=[tensor_type(sizes(value), kind)])

    def wide(self, value: SSAValue) -> SSAValue:
        """A value whose slices can be filled, which those of bf16 cannot."""
        return self.cast(value, f32) if isinstance(element(value), BFloat16Type) else value

    def binary(self, name: str, first: SSAValue, *others: SSAValue) -> SSAValue:
        """An element-wise operation of two values or more."""
        return reduce(
            lambda a, b: self.make(ElementWiseOp, a, b, elementwise_operation=name), others, first
        )

    def select(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        """One value or the other."""
        return self.make(SelectOp, condition, yes, no)

    def reduce_sum(self, value: SSAValue, axis: int) -> SSAValue:
        """The sums along an axis, which goes."""
        return self.make(ReduceOp, value, reduce_axes=(axis,), reduce_operation="kSUM")

    def product(self, first: SSAValue, second: SSAValue, *, transposed: bool = False) -> SSAValue:
        """The matrix product, with the second matrix as it is or transposed."""
        second_as = "kTRANSPOSE" if transposed else "kNONE"
        return self.make(MatrixMultiplyOp, first, second, op0="kNONE", op1=second_as)


def static(extents: Sequence[Extent]) -> tuple[int | None, ...]:
    """Sizes as a type has them."""
    return tuple(each if isinstance(each, int) else None for each in extents)
