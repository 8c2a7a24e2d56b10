"""Window reductions: sliding windows and running prefixes.

Invariant: padding is never seen: it holds what changes nothing for the kind of reduction.
"""

from collections.abc import Sequence
from typing import Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.comparison import convert
from tripybuild.stablehlo.constants import constant, scalar
from tripybuild.stablehlo.module import integers, padding_pairs
from tripybuild.stablehlo.operands import check_dims
from tripybuild.stablehlo.reductions import COMBINE, FLOAT32, check_kind, is_narrow, neutral
from tripybuild.stablehlo.regions import emit_regions
from tripybuild.stablehlo.shapes import pad
from tripybuild.stablehlo.value import HloValue
from tripybuild.types import dtypes


def window_sizes(
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[Sequence[int]],
    dilation: Sequence[int],
) -> tuple[int, ...]:
    """How many windows fit in each dimension."""
    return tuple(
        max(0, (n + sum(edges) - d * (k - 1) - 1) // s + 1)
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
        wide = window_reduce(convert(input, FLOAT32), kind, window, steps, edges, gaps)
        return convert(wide, input.dtype)
    lead = input.rank - count
    ones = [1] * lead
    inner = window_sizes(input.shape[lead:], window, steps, edges, gaps)
    attributes = {
        "window_dimensions": integers([*ones, *window]),
        "window_strides": integers([*ones, *steps]),
        "window_dilations": integers([*ones, *gaps]),
        "padding": padding_pairs(*zip(*[(0, 0)] * lead, *edges, strict=True)),
    }
    return _reduce_window(input, kind, (*input.shape[:lead], *inner), attributes)


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


def _reduce_window(
    input: HloValue, kind: str, shape: tuple[int, ...], attributes: dict[str, Any]
) -> HloValue:
    dtype = input.dtype
    start = scalar(neutral(kind, dtype), dtype)
    region = ([(dtype, ()), (dtype, ())], lambda a, b: [COMBINE[kind](a, b)])
    (result,) = emit_regions(
        "stablehlo.reduce_window", (input, start), [(dtype, shape)], [region], attributes
    )
    return result


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
