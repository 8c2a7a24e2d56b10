"""Reductions of the ONNX dialect: the same for all runtimes, for each dtype.

Invariant: NaN is found where one is there, sums and products of integers wrap around, sums of many
floats keep their digits in ONNX Runtime, and what is empty gives what the declaration says.
"""

from collections.abc import Sequence
from math import prod

from tripybuild.onnx.dialect.calls import call, convert
from tripybuild.onnx.dialect.compositions import full, holds, runs_in, tensor, where
from tripybuild.onnx.dialect.control import if_, while_
from tripybuild.onnx.value import OnnxValue, Size
from tripybuild.symbolic.dims import Dim
from tripybuild.types import dtypes

EXTREMES = frozenset({"ReduceMax", "ReduceMin"})
SUMS = frozenset({"ReduceSum", "ReduceMean"})
# ONNX Runtime adds one number after the other: with more than these, float32 loses four digits.
MANY = 2**16
HALF = 2**32


def reduce(value: OnnxValue, dims: Sequence[int], kind: str, keepdim: bool = False) -> OnnxValue:
    """Combine all elements along the dimensions.

    `kind` is an operator of ONNX, such as `ReduceSum`; of booleans, `ReduceMin` says whether all
    are true, and `ReduceMax` whether any is. With `keepdim` the dimensions stay, of size 1.
    """
    if kind == "ReduceMean":
        return _mean(value, dims, keepdim)
    if value.dtype.kind == "float" and kind in EXTREMES:
        found = combine(kind, value, dims, keepdim)
        # Some runtimes pass over NaN.
        is_nan: OnnxValue = call("IsNaN", value)
        return where(reduce(is_nan, dims, "ReduceMax", keepdim), float("nan"), found)
    if value.dtype is dtypes.int64 and kind == "ReduceSum":
        return _exact_sum(value, dims, keepdim)
    if value.dtype.kind == "integer" and kind == "ReduceProd":
        return _exact_product(value, dims, keepdim)
    wide = value.dtype
    if wide is dtypes.boolean:  # ONNX Runtime has neither the largest nor the smallest of none
        wide = dtypes.uint8
    elif wide is dtypes.int32 and kind == "ReduceSum":  # which would be kept in range
        wide = dtypes.int64
    return convert(combine(kind, convert(value, wide), dims, keepdim), value.dtype)


def combine(name: str, value: OnnxValue, dims: Sequence[int], keepdim: bool) -> OnnxValue:
    """The result of an operator of ONNX; that of many floats is a sum in float64."""

    def narrow(each: OnnxValue = value) -> OnnxValue:
        found: OnnxValue = call(name, each, list(dims), keepdims=keepdim)
        return found

    def wide() -> OnnxValue:
        return convert(narrow(convert(value, dtypes.float64)), value.dtype)

    if name not in SUMS or value.dtype.kind != "float" or not runs_in("onnxruntime"):
        return narrow()
    count = prod([(value.shape or ())[each] for each in dims])
    if holds(count <= MANY):
        return narrow()
    if holds(count > MANY):
        return wide()
    are_many = _call("Greater", tensor(count, dtypes.int64), MANY)
    return if_(are_many, wide, narrow)[0]


def _exact_sum(value: OnnxValue, dims: Sequence[int], keepdim: bool) -> OnnxValue:
    """A sum of int64 from those of both halves: ONNX Runtime adds integers as float64."""
    low = value % HALF
    high = (value - low) / HALF
    lower, upper = (combine("ReduceSum", each, dims, keepdim) for each in (low, high))
    return upper * HALF + lower


def _exact_product(value: OnnxValue, dims: Sequence[int], keepdim: bool) -> OnnxValue:
    """A product of integers from those of halves: ONNX Runtime keeps products in range, rounded."""
    sizes = value.shape or ()
    for axis in dims:
        if isinstance(sizes[axis], Dim):
            value = _fold_all(value, axis, sizes)
        else:
            value = _fold(value, axis, int(sizes[axis]), sizes)
        sizes = (*sizes[:axis], 1, *sizes[axis + 1 :])
    found: OnnxValue = value if keepdim else call("Squeeze", value, list(dims))
    return found


def _fold(value: OnnxValue, axis: int, size: int, sizes: Sequence[Size]) -> OnnxValue:
    """The product along a dimension whose size is a number."""
    if size == 0:
        return full(1, value.dtype, [*sizes[:axis], 1, *sizes[axis + 1 :]])
    while size > 1:
        half = size // 2
        both = _part(value, axis, [0], [half]) * _part(value, axis, [half], [2 * half])
        rest = [_part(value, axis, [2 * half], [size])] if size % 2 else []
        value = call("Concat", both, *rest, axis=axis) if rest else both
        size -= half
    return value


def _fold_all(value: OnnxValue, axis: int, sizes: Sequence[Size]) -> OnnxValue:
    """The product along a dimension whose size the run knows; a 1 more, and it is not empty."""
    one = full(1, value.dtype, [*sizes[:axis], 1, *sizes[axis + 1 :]])

    def size(rest: OnnxValue) -> OnnxValue:
        return _call("Gather", _call("Shape", rest), [axis])

    def halve(rest: OnnxValue) -> OnnxValue:
        half = size(rest) / 2
        both = _part(rest, axis, [0], half) * _part(rest, axis, half, half * 2)
        last = _part(rest, axis, half * 2, size(rest))
        found: OnnxValue = call("Concat", both, last, axis=axis)
        return found

    first: OnnxValue = call("Concat", value, one, axis=axis)
    (found,) = while_([first], lambda rest: _call("Squeeze", size(rest) > 1, [0]), halve)
    return found


def _part(value: OnnxValue, axis: int, start: object, end: object) -> OnnxValue:
    return _call("Slice", value, start, end, [axis])


def _mean(value: OnnxValue, dims: Sequence[int], keepdim: bool) -> OnnxValue:
    count = prod([(value.shape or ())[each] for each in dims])
    if value.dtype.kind == "integer" or holds(count > 0):
        return combine("ReduceMean", value, dims, keepdim)
    # ONNX does not define the mean of nothing.
    return combine("ReduceSum", value, dims, keepdim) / tensor(count, value.dtype)


def has_finite_sum(value: OnnxValue) -> OnnxValue:
    """Whether the sum of all elements is finite: then all of them are."""
    total: OnnxValue = call("ReduceSum", value, keepdims=False)
    return _call("Less", _call("Abs", total), float("inf"))


def _call(name: str, *operands: object) -> OnnxValue:
    found: OnnxValue = call(name, *operands)
    return found
