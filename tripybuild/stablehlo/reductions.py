"""Reductions over whole dimensions, sliding windows and running prefixes.

Invariant: sums and products of narrow floats are accumulated in float32; maxima and minima are NaN
if any element is, as in NumPy. Padding is never seen: it holds what changes nothing.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.broadcast import broadcast_in_dim
from tripybuild.stablehlo.comparison import convert, equal, not_equal, select
from tripybuild.stablehlo.constants import constant, iota, scalar
from tripybuild.stablehlo.elementwise import Binary, add, and_, maximum, minimum, multiply, or_
from tripybuild.stablehlo.module import integers, padding_pairs
from tripybuild.stablehlo.operands import check_dims
from tripybuild.stablehlo.regions import emit_regions
from tripybuild.stablehlo.shapes import pad, reshape
from tripybuild.stablehlo.value import HloValue, Number
from tripybuild.types import dtypes

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
        return convert(reduce(convert(input, dtypes.float32), chosen, kind, keepdim), input.dtype)
    shape = tuple([n for i, n in enumerate(input.shape) if i not in chosen])
    result = _emit("stablehlo.reduce", input, kind, shape, {"dimensions": integers(chosen)})
    if not keepdim:
        return result
    return reshape(result, [1 if i in chosen else n for i, n in enumerate(input.shape)])


def _emit(
    name: str, input: HloValue, kind: str, shape: tuple[int, ...], attributes: dict[str, Any]
) -> HloValue:
    dtype = input.dtype
    start = scalar(neutral(kind, dtype), dtype)
    region = ([(dtype, ()), (dtype, ())], lambda a, b: [COMBINE[kind](a, b)])
    return emit_regions(name, (input, start), [(dtype, shape)], [region], attributes)[0]


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
    places = select(found, iota(input.shape, dim, dtypes.int32), input.shape[dim])
    return reduce(places, [dim], "minimum", keepdim)


def window_sizes(
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[Sequence[int]],
    dilation: Sequence[int],
) -> tuple[int, ...]:
    """How many windows fit in each dimension."""
    return tuple(
        max(0, (n + sum(edges) - (d * (k - 1) + 1 if k else 0)) // s + 1)
        for n, k, s, edges, d in zip(sizes, window, strides, padding, dilation, strict=True)
    )


def window_reduce(
    input: HloValue,
    kind: str,
    window: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Sequence[Sequence[int]] | None = None,
    dilation: Sequence[int] | None = None,
) -> HloValue:
    """Combine the elements of each window over the last `len(window)` dimensions.

    Kinds are those of `reduce`; `padding` has a pair of edges for each of the dimensions.
    """
    check_kind(kind, input.dtype)
    count = len(window)
    steps, edges, gaps = _defaults(count, strides, padding, dilation)
    lengths = {count, len(steps), len(edges), len(gaps)}
    positive = all(n > 0 for n in (*window, *steps, *gaps))
    if len(lengths) > 1 or count > input.rank or not positive:
        raise ValueError(f"a window of {tuple(window)} does not slide over shape {input.shape}")
    if is_narrow(kind, input.dtype):
        wide = window_reduce(convert(input, dtypes.float32), kind, window, steps, edges, gaps)
        return convert(wide, input.dtype)
    lead = input.rank - count
    ones = [1] * lead
    inner = window_sizes(input.shape[lead:], window, steps, edges, gaps)
    attributes = {
        "window_dimensions": integers([*ones, *window]),
        "window_strides": integers([*ones, *steps]),
        "window_dilations": integers([*ones, *gaps]),
        "padding": padding_pairs([*[(0, 0)] * lead, *edges]),
    }
    shape = (*input.shape[:lead], *inner)
    return _emit("stablehlo.reduce_window", input, kind, shape, attributes)


def _defaults(
    count: int,
    strides: Sequence[int] | None,
    padding: Sequence[Sequence[int]] | None,
    dilation: Sequence[int] | None,
) -> tuple[Sequence[int], Sequence[Sequence[int]], Sequence[int]]:
    ones = [1] * count
    return (
        ones if strides is None else strides,
        [(0, 0)] * count if padding is None else padding,
        ones if dilation is None else dilation,
    )


def window_counts(
    sizes: Sequence[int],
    window: Sequence[int],
    dtype: dtypes.dtype,
    strides: Sequence[int] | None = None,
    padding: Sequence[Sequence[int]] | None = None,
) -> HloValue:
    """How many elements that are not padding each window sees: a constant, for averages."""
    steps, edges, gaps = _defaults(len(window), strides, padding, None)
    np = bindings.numpy
    counts = np.ones((), np.int64)
    places = window_sizes(sizes, window, steps, edges, gaps)
    for n, k, s, (low, _), many in zip(sizes, window, steps, edges, places, strict=True):
        first = np.arange(many) * s - low
        seen = np.minimum(first + k, n) - np.maximum(first, 0)
        counts = np.multiply.outer(counts, np.maximum(seen, 0))
    return constant(counts, dtype)


def cumulative(
    input: HloValue, kind: str, dim: int, reverse: bool = False, exclusive: bool = False
) -> HloValue:
    """Combine each element with all before it; `exclusive` leaves out the element itself.

    One window as long as the dimension: the compiler turns it into a tree.
    """
    check_kind(kind, input.dtype)
    check_dims(input, [dim])
    size = input.shape[dim]
    if exclusive:
        edge = [0] * input.rank
        edge[dim] = -1 if reverse else 1
        input = pad(input, neutral(kind, input.dtype), edge, [-each for each in edge])
    if size <= 1:
        return input
    window, edges = [1] * input.rank, [(0, 0)] * input.rank
    window[dim] = size
    edges[dim] = (0, size - 1) if reverse else (size - 1, 0)
    return window_reduce(input, kind, window, padding=edges)
