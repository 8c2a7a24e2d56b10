"""Reductions of the ONNX dialect: the same for all runtimes, whatever the dtype and the values.

Invariant: NaN is found where one is there, sums of integers wrap around, and what is empty gives
what the declaration says. A product of integers is exact up to 2 ** 53.
"""

from collections.abc import Sequence
from math import prod

from tripybuild.onnx.dialect.calls import call, convert
from tripybuild.onnx.dialect.compositions import holds, tensor, where
from tripybuild.onnx.value import OnnxValue
from tripybuild.types import dtypes

EXTREMES = frozenset({"ReduceMax", "ReduceMin"})
HALF = 2**32
TOTALS = frozenset({"ReduceProd", "ReduceSum"})


def reduce(value: OnnxValue, dims: Sequence[int], kind: str, keepdim: bool = False) -> OnnxValue:
    """Combine all elements along the dimensions.

    `kind` is an operator of ONNX, such as `ReduceSum`; of booleans, `ReduceMin` says whether all
    are true, and `ReduceMax` whether any is. With `keepdim` the dimensions stay, of size 1.
    """
    if kind == "ReduceMean":
        return _mean(value, dims, keepdim)
    if value.dtype.kind == "float" and kind in EXTREMES:
        found = _combine(kind, value, dims, keepdim)
        # Some runtimes pass over NaN.
        is_nan: OnnxValue = call("IsNaN", value)
        return where(reduce(is_nan, dims, "ReduceMax", keepdim), float("nan"), found)
    if value.dtype is dtypes.int64 and kind == "ReduceSum":
        return _exact_sum(value, dims, keepdim)
    wide = value.dtype
    if wide is dtypes.boolean:  # ONNX Runtime has neither the largest nor the smallest of none
        wide = dtypes.uint8
    elif wide is dtypes.int32 and kind in TOTALS:  # which would be kept in range
        wide = dtypes.int64
    return convert(_combine(kind, convert(value, wide), dims, keepdim), value.dtype)


def _combine(name: str, value: OnnxValue, dims: Sequence[int], keepdim: bool) -> OnnxValue:
    found: OnnxValue = call(name, value, list(dims), keepdims=keepdim)
    return found


def _exact_sum(value: OnnxValue, dims: Sequence[int], keepdim: bool) -> OnnxValue:
    """A sum of int64 from those of both halves: ONNX Runtime adds integers as float64."""
    low = value % HALF
    high = (value - low) / HALF
    lower, upper = (_combine("ReduceSum", each, dims, keepdim) for each in (low, high))
    return upper * HALF + lower


def _mean(value: OnnxValue, dims: Sequence[int], keepdim: bool) -> OnnxValue:
    count = prod([(value.shape or ())[each] for each in dims])
    if value.dtype.kind == "integer" or holds(count > 0):
        return _combine("ReduceMean", value, dims, keepdim)
    # ONNX does not define the mean of nothing.
    return _combine("ReduceSum", value, dims, keepdim) / tensor(count, value.dtype)
