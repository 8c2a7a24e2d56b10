"""Linear algebra: dot_general, NumPy's matmul, convolution, einsum.

Invariant: the result has the dtype of the operands; how it is accumulated is the compiler's affair,
which uses float32 for narrow floats. The equation of an einsum names its result.
"""

import math
from collections.abc import Sequence
from typing import Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.broadcast import broadcast_in_dim, broadcast_shapes, broadcast_to
from tripybuild.stablehlo.comparison import equal, select
from tripybuild.stablehlo.constants import iota
from tripybuild.stablehlo.module import emit, integer, integers, padding_pairs
from tripybuild.stablehlo.operands import same_types
from tripybuild.stablehlo.reductions import reduce, window_sizes
from tripybuild.stablehlo.shapes import reshape, transpose
from tripybuild.stablehlo.value import OPERATORS, HloValue, same_sizes
from tripybuild.types import dtypes

Pairs = Sequence[Sequence[int]]


def dot_general(
    lhs: HloValue, rhs: HloValue, contracting_dims: Pairs, batch_dims: Pairs = ((), ())
) -> HloValue:
    """Sum products over the contracting dimensions, for each index of the batch dimensions.

    Each argument has the dimensions of `lhs` and those of `rhs`. The result has the batch
    dimensions, then what is left of `lhs`, then what is left of `rhs`.
    """
    same_types(lhs, rhs)
    (lhs_sum, rhs_sum), (lhs_batch, rhs_batch) = contracting_dims, batch_dims
    taken = [(*lhs_batch, *lhs_sum), (*rhs_batch, *rhs_sum)]
    sizes = [[each.shape[i] for i in dims] for each, dims in zip((lhs, rhs), taken, strict=True)]
    if not same_sizes(*sizes) or len(lhs_sum) != len(rhs_sum):
        shapes = f"{lhs.shape} and {rhs.shape}"
        raise ValueError(f"shapes {shapes} do not match along {taken[0]} and {taken[1]}")
    numbers = bindings.stablehlo.DotDimensionNumbers.get(
        list(lhs_batch), list(rhs_batch), list(lhs_sum), list(rhs_sum)
    )
    free = [
        n
        for each, dims in zip((lhs, rhs), taken, strict=True)
        for i, n in enumerate(each.shape)
        if i not in dims
    ]
    shape = (*[lhs.shape[i] for i in lhs_batch], *free)
    attributes = {"dot_dimension_numbers": numbers}
    return emit("stablehlo.dot_general", (lhs, rhs), lhs.dtype, shape, attributes)


def matmul(lhs: HloValue, rhs: HloValue) -> HloValue:
    """numpy.matmul: matrices are the last two dimensions, vectors are allowed, others broadcast."""
    if min(lhs.rank, rhs.rank) == 0 or not same_sizes(
        lhs.shape[-1], rhs.shape[max(rhs.rank - 2, 0)]
    ):
        raise ValueError(f"shapes {lhs.shape} and {rhs.shape} do not multiply")
    if rhs.rank > 2 and same_sizes(math.prod(rhs.shape[:-2]), 1) and rhs.rank <= lhs.rank:
        rhs = reshape(rhs, rhs.shape[-2:])
    if rhs.rank <= 2:
        return dot_general(lhs, rhs, ([lhs.rank - 1], [max(rhs.rank - 2, 0)]))
    if lhs.rank == 1:
        batched = matmul(reshape(lhs, (1, *lhs.shape)), rhs)
        return reshape(batched, (*batched.shape[:-2], batched.shape[-1]))
    batch = broadcast_shapes(lhs.shape[:-2], rhs.shape[:-2])
    left = broadcast_to(lhs, (*batch, *lhs.shape[-2:]))
    right = broadcast_to(rhs, (*batch, *rhs.shape[-2:]))
    dims = range(len(batch))
    return dot_general(left, right, ([left.rank - 1], [right.rank - 2]), (dims, dims))


def convolution(
    input: HloValue,
    weight: HloValue,
    window_strides: Sequence[int] | None = None,
    padding: Pairs | None = None,
    lhs_dilation: Sequence[int] | None = None,
    rhs_dilation: Sequence[int] | None = None,
    feature_group_count: int = 1,
) -> HloValue:
    """Slide filters `[M, C / groups, *K]` over `[N, C, *D]`.

    `padding` has a pair of edges, which may be negative, for each of the spatial dimensions;
    `lhs_dilation` spreads the input, `rhs_dilation` the filter.
    """
    same_types(input, weight)
    count = input.rank - 2
    ones = [1] * max(count, 0)
    strides, spread, gaps = window_strides or ones, lhs_dilation or ones, rhs_dilation or ones
    edges = [(0, 0)] * len(ones) if padding is None else padding
    if not (weight.rank == input.rank == len(strides) + 2 == len(spread) + 2 == len(gaps) + 2):
        raise ValueError(f"filters {weight.shape} do not slide over shape {input.shape}")
    channels, groups = input.shape[1], feature_group_count
    if groups < 1 or channels != weight.shape[1] * groups or weight.shape[0] % groups:
        shapes = f"{weight.shape} in {groups} groups"
        raise ValueError(f"filters {shapes} do not fit the channels of {input.shape}")
    if min((*strides, *spread, *gaps), default=1) < 1:
        raise ValueError(f"strides {tuple(strides)} and dilations must be positive")
    spatial = [(n - 1) * b + 1 if n else 0 for n, b in zip(input.shape[2:], spread, strict=True)]
    sizes = window_sizes(spatial, weight.shape[2:], strides, edges, gaps)
    attributes = {
        "window_strides": integers(strides),
        "padding": padding_pairs(edges),
        "lhs_dilation": integers(spread),
        "rhs_dilation": integers(gaps),
        "dimension_numbers": _channels_second(count),
        "feature_group_count": integer(groups),
        "batch_group_count": integer(1),
    }
    shape = (input.shape[0], weight.shape[0], *sizes)
    return emit("stablehlo.convolution", (input, weight), input.dtype, shape, attributes)


def _channels_second(count: int) -> Any:
    spatial = list(range(2, 2 + count))
    return bindings.stablehlo.ConvDimensionNumbers.get(
        input_batch_dimension=0,
        input_feature_dimension=1,
        input_spatial_dimensions=spatial,
        kernel_input_feature_dimension=1,
        kernel_output_feature_dimension=0,
        kernel_spatial_dimensions=spatial,
        output_batch_dimension=0,
        output_feature_dimension=1,
        output_spatial_dimensions=spatial,
    )


OPERATORS.update({"matmul": matmul})


def einsum(inputs: Sequence[HloValue], equation: str) -> HloValue:
    """Multiply the inputs and sum over the labels that the result lacks: `bij,bjk->bik`."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow or len(terms) != len(inputs):
        raise ValueError(f"{equation!r} does not name {len(inputs)} inputs and a result")
    for term, value in zip(terms, inputs, strict=True):
        if not set(term) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"):
            raise ValueError(f"{term!r} is not made of letters")
        if len(term) != value.rank:
            raise ValueError(f"{term!r} does not name the dimensions of shape {value.shape}")
    if len(set(result)) != len(result) or not set(result) <= set(left):
        raise ValueError(f"{equation!r} has a result that its inputs do not give")
    pairs = [_diagonals(value, term) for value, term in zip(inputs, terms, strict=True)]
    terms = [term for _, term in pairs]
    sizes = _sizes([value for value, _ in pairs], terms)
    values = [_expand_labels(value, term, sizes) for value, term in pairs]
    value, term = _reduce_labels(values[0], terms[0], {*result, *"".join(terms[1:])})
    for i in range(1, len(values)):
        needed = {*result, *"".join(terms[i + 1 :])}
        other, labels = _reduce_labels(values[i], terms[i], {*needed, *term})
        value, term = _product(value, term, other, labels, needed)
    value, term = _reduce_labels(value, term, set(result))
    return transpose(value, [term.index(label) for label in result])


def _diagonals(value: HloValue, term: str) -> tuple[HloValue, str]:
    """The diagonal along each label that the term repeats."""
    for last in range(len(term) - 1, 0, -1):
        first = term.index(term[last])
        if first < last:
            if value.shape[first] != value.shape[last]:
                raise ValueError(f"{term!r} names no diagonal of shape {value.shape}")
            rows, columns = [iota(value.shape, dim, dtypes.int32) for dim in (first, last)]
            value = reduce(select(equal(rows, columns), value, 0), [last], "sum")
            term = term[:last] + term[last + 1 :]
    return value, term


def _sizes(inputs: Sequence[HloValue], terms: Sequence[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for term, value in zip(terms, inputs, strict=True):
        for label, size in zip(term, value.shape, strict=True):
            known = sizes.get(label, 1)
            if not any(same_sizes(size, n) for n in (1, known)) and not same_sizes(known, 1):
                raise ValueError(f"`{label}` is both {known} and {size}")
            sizes[label] = known if same_sizes(size, 1) else size
    return sizes


def _expand_labels(value: HloValue, term: str, sizes: dict[str, int]) -> HloValue:
    return broadcast_in_dim(value, [sizes[label] for label in term], range(len(term)))


def _reduce_labels(value: HloValue, term: str, needed: set[str]) -> tuple[HloValue, str]:
    """Sum over labels that occur in no other operand or result."""
    dims = [dim for dim, label in enumerate(term) if label not in needed]
    rest = "".join(label for label in term if label in needed)
    return reduce(value, dims, "sum"), rest


def _product(
    lhs: HloValue, left: str, rhs: HloValue, right: str, needed: set[str]
) -> tuple[HloValue, str]:
    shared = [label for label in left if label in right]
    batch = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]
    places = [
        [[term.index(x) for x in labels] for term in (left, right)] for labels in (summed, batch)
    ]
    product = dot_general(lhs, rhs, places[0], places[1])
    free = [label for label in left + right if label not in shared]
    return product, "".join([*batch, *free])
