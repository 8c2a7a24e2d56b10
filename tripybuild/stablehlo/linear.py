"""Linear algebra: dot_general, NumPy's matmul, convolution.

Invariant: the result has the dtype of the operands; how it is accumulated is the compiler's affair,
which uses float32 for narrow floats.
"""

import math
from collections.abc import Sequence
from typing import Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.broadcast import broadcast_shapes, broadcast_to
from tripybuild.stablehlo.module import emit, integer, integers, padding_pairs
from tripybuild.stablehlo.operands import same_types
from tripybuild.stablehlo.shapes import reshape
from tripybuild.stablehlo.value import OPERATORS, HloValue

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
    if sizes[0] != sizes[1] or len(lhs_sum) != len(rhs_sum):
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
    if min(lhs.rank, rhs.rank) == 0 or lhs.shape[-1] != rhs.shape[max(rhs.rank - 2, 0)]:
        raise ValueError(f"shapes {lhs.shape} and {rhs.shape} do not multiply")
    if rhs.rank > 2 and math.prod(rhs.shape[:-2]) == 1 and rhs.rank <= lhs.rank:
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
    edges = [(0, 0) for _ in ones] if padding is None else padding
    if not (weight.rank == input.rank == len(strides) + 2 == len(spread) + 2 == len(gaps) + 2):
        raise ValueError(f"filters {weight.shape} do not slide over shape {input.shape}")
    channels, groups = input.shape[1], feature_group_count
    if groups < 1 or channels != weight.shape[1] * groups or weight.shape[0] % groups:
        shapes = f"{weight.shape} in {groups} groups"
        raise ValueError(f"filters {shapes} do not fit the channels of {input.shape}")
    sizes = _output_sizes(input.shape[2:], weight.shape[2:], strides, edges, spread, gaps)
    attributes = {
        "window_strides": integers(strides),
        "padding": padding_pairs(*zip(*edges, strict=True)) if edges else padding_pairs([], []),
        "lhs_dilation": integers(spread),
        "rhs_dilation": integers(gaps),
        "dimension_numbers": _channels_second(count),
        "feature_group_count": integer(groups),
        "batch_group_count": integer(1),
    }
    shape = (input.shape[0], weight.shape[0], *sizes)
    return emit("stablehlo.convolution", (input, weight), input.dtype, shape, attributes)


def _output_sizes(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Pairs,
    spread: Sequence[int],
    gaps: Sequence[int],
) -> list[int]:
    result = []
    for n, k, s, edges, b, d in zip(sizes, kernel, strides, padding, spread, gaps, strict=True):
        if min(s, b, d) < 1:
            raise ValueError(f"strides {tuple(strides)} and dilations must be positive")
        room = (n - 1) * b + 1 + sum(edges) if n else sum(edges)
        reach = (k - 1) * d + 1 if k else 0
        result.append(max(0, (room - reach) // s + 1))
    return result


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
