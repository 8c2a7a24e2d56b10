"""Reductions over whole dimensions.

Invariant: sums and products of narrow floats are accumulated in float32; maxima and minima are NaN
if any element is, as in NumPy.
"""

from collections.abc import Sequence
from functools import cache

from tripybuild.stablehlo.broadcast import broadcast_in_dim
from tripybuild.stablehlo.comparison import convert, equal, not_equal, select
from tripybuild.stablehlo.constants import iota, scalar
from tripybuild.stablehlo.elementwise import Binary, add, and_, maximum, minimum, multiply, or_
from tripybuild.stablehlo.module import integers
from tripybuild.stablehlo.operands import check_dims
from tripybuild.stablehlo.regions import emit_regions
from tripybuild.stablehlo.shapes import reshape
from tripybuild.stablehlo.value import HloValue, Number
from tripybuild.types import dtypes

FLOAT32 = dtypes.BY_NAME["float32"]
INT32 = dtypes.BY_NAME["int32"]

COMBINE: dict[str, Binary] = {
    "sum": add,
    "product": multiply,
    "maximum": maximum,
    "minimum": minimum,
    "and": and_,
    "or": or_,
}


@cache
def neutral(kind: str, dtype: dtypes.dtype) -> Number:
    """What changes nothing when it is combined with any value of the dtype."""
    finite = dtype.kind != "float" or dtype.bits < 16
    infinity = float("inf")
    table: dict[str, Number] = {
        "sum": 0,
        "product": 1,
        "maximum": dtype.lowest if finite else -infinity,
        "minimum": dtype.highest if finite else infinity,
        "and": 1 if dtype.kind == "boolean" or dtype.lowest == 0 else -1,
        "or": 0,
    }
    if dtype.kind == "integer" and dtype.lowest == 0 and kind == "and":
        return dtype.highest
    return table[kind]


def check_kind(kind: str, dtype: dtypes.dtype) -> None:
    """Refuse kinds that do not exist, and those that the dtype has no meaning for."""
    if kind not in COMBINE:
        raise ValueError(f"kind {kind!r} is none of {', '.join(COMBINE)}")
    if kind in ("sum", "product") and dtype.kind == "boolean":
        raise ValueError(f"a {kind} of bools: convert them to numbers, or use and / or")
    if kind in ("and", "or") and dtype.kind == "float":
        raise ValueError(f"there is no `{kind}` of {dtype.name}")


def is_narrow(kind: str, dtype: dtypes.dtype) -> bool:
    """Whether float32 is needed to accumulate."""
    return kind in ("sum", "product") and dtype.kind == "float" and dtype.bits < 32


def reduce(input: HloValue, dims: Sequence[int], kind: str, keepdim: bool = False) -> HloValue:
    """Combine all elements along the dimensions.

    Kinds: sum, product, maximum, minimum, and, or. With `keepdim` the dimensions stay, of size 1.
    """
    check_kind(kind, input.dtype)
    chosen = check_dims(input, dims)
    if not chosen:
        return input
    if is_narrow(kind, input.dtype):
        return convert(reduce(convert(input, FLOAT32), chosen, kind, keepdim), input.dtype)
    dtype = input.dtype
    shape = tuple([n for i, n in enumerate(input.shape) if i not in chosen])
    start = scalar(neutral(kind, dtype), dtype)
    region = ([(dtype, ()), (dtype, ())], lambda a, b: [COMBINE[kind](a, b)])
    attributes = {"dimensions": integers(chosen)}
    (result,) = emit_regions(
        "stablehlo.reduce", (input, start), [(dtype, shape)], [region], attributes
    )
    if not keepdim:
        return result
    return reshape(result, [1 if i in chosen else n for i, n in enumerate(input.shape)])


def argmax(input: HloValue, dim: int, keepdim: bool = False) -> HloValue:
    """Where the largest element is, as int32: the first of equals; NaN is larger than all."""
    return _where_best(input, dim, "maximum", keepdim)


def argmin(input: HloValue, dim: int, keepdim: bool = False) -> HloValue:
    """Where the smallest element is, as int32: the first of equals; NaN is smaller than all."""
    return _where_best(input, dim, "minimum", keepdim)


def _where_best(input: HloValue, dim: int, kind: str, keepdim: bool) -> HloValue:
    # Two plain reductions vectorize; one over (value, index) pairs does not.
    check_dims(input, [dim])
    if input.shape[dim] == 0:
        raise ValueError(f"dimension {dim} of shape {input.shape} has no elements to search")
    best = reduce(input, [dim], kind)
    others = [i for i in range(input.rank) if i != dim]
    found = equal(input, broadcast_in_dim(best, input.shape, others))
    if input.dtype.kind == "float":
        found = found | not_equal(input, input)
    places = select(found, iota(input.shape, dim, INT32), input.shape[dim])
    return reduce(places, [dim], "minimum", keepdim)
