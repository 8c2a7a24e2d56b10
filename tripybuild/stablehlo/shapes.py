"""Data movement: reshape, transpose, concatenate, reverse, pad, and scales for each element.

Invariant: nothing is emitted where nothing changes.
"""

import math
from collections.abc import Sequence

from tripybuild.stablehlo.broadcast import broadcast_in_dim
from tripybuild.stablehlo.module import emit, integer, integers
from tripybuild.stablehlo.operands import check_dims, same_types
from tripybuild.stablehlo.value import HloValue, Operand, same_sizes


def reshape(input: HloValue, shape: Sequence[int]) -> HloValue:
    """The same values, in row-major order, in another shape."""
    shape = tuple(shape)
    if math.prod(shape) != math.prod(input.shape) or any(size < 0 for size in shape):
        raise ValueError(f"a tensor of shape {input.shape} does not fit in shape {shape}")
    if same_sizes(shape, input.shape):
        return input
    return emit("stablehlo.reshape", (input,), input.dtype, shape)


def transpose(input: HloValue, permutation: Sequence[int]) -> HloValue:
    """Dimension `i` of the result is dimension `permutation[i]` of the input."""
    order = tuple(permutation)
    if sorted(order) != list(range(input.rank)):
        raise ValueError(f"{order} does not permute the dimensions of shape {input.shape}")
    if order == tuple(range(input.rank)):
        return input
    shape = tuple([input.shape[dim] for dim in order])
    attributes = {"permutation": integers(order)}
    return emit("stablehlo.transpose", (input,), input.dtype, shape, attributes)


def concatenate(values: Sequence[HloValue], dim: int) -> HloValue:
    """Join tensors along a dimension that they have."""
    tensors = same_types(*values)
    shapes = [tensor.shape for tensor in tensors]
    rests = {(*shape[:dim], *shape[dim + 1 :]) for shape in shapes}
    if not 0 <= dim < tensors[0].rank or len(rests) > 1:
        raise ValueError(f"shapes {' and '.join(map(str, shapes))} do not join along {dim}")
    if len(tensors) == 1:
        return tensors[0]
    total = sum(shape[dim] for shape in shapes)
    result = (*shapes[0][:dim], total, *shapes[0][dim + 1 :])
    attributes = {"dimension": integer(dim)}
    return emit("stablehlo.concatenate", tensors, tensors[0].dtype, result, attributes)


def reverse(input: HloValue, dims: Sequence[int]) -> HloValue:
    """The elements in opposite order along each of the dimensions."""
    chosen = check_dims(input, dims)
    if not chosen:
        return input
    attributes = {"dimensions": integers(chosen)}
    return emit("stablehlo.reverse", (input,), input.dtype, input.shape, attributes)


def pad(
    input: HloValue,
    value: Operand,
    low: Sequence[int],
    high: Sequence[int],
    interior: Sequence[int] | None = None,
) -> HloValue:
    """Add elements before, after and between those of each dimension; negative edges cut off."""
    between = tuple(interior) if interior is not None else (0,) * input.rank
    if not len(low) == len(high) == len(between) == input.rank or min(between, default=0) < 0:
        edges = f"{tuple(low)}, {tuple(high)} and {between}"
        raise ValueError(f"edges {edges} do not fit shape {input.shape}")
    tensor, filler = same_types(input, value)
    edges_and_sizes = zip(low, high, between, input.shape, strict=True)
    shape = tuple(
        a + b + n + (max(n - 1, 0) * gap if gap else 0) for a, b, gap, n in edges_and_sizes
    )
    if any(size < 0 for size in shape):
        raise ValueError(f"edges {tuple(low)} and {tuple(high)} cut too much off {input.shape}")
    if not (any(low) or any(high) or any(between)):
        return input
    attributes = {
        "edge_padding_low": integers(low),
        "edge_padding_high": integers(high),
        "interior_padding": integers(between),
    }
    return emit("stablehlo.pad", (tensor, filler), input.dtype, shape, attributes)


def spread_scale(scale: HloValue, shape: Sequence[int], dim: int | None = None) -> HloValue:
    """A scale for each element of a shape.

    One number is for all elements, a list along `dim` for each channel; without `dim`, a scale of
    the shape's own rank has one number for each block, and divides the shape.
    """
    shape = tuple(shape)
    if not scale.shape or dim is not None:
        return broadcast_in_dim(scale, shape, [dim] if dim is not None else [])
    pairs = list(zip(scale.shape, shape, strict=False))
    if scale.rank != len(shape) or not all(
        same_sizes(a, b) or (a and b % a == 0) for a, b in pairs
    ):
        raise ValueError(f"scales of shape {scale.shape} are not for blocks of {shape}")
    blocks = [part for count, size in pairs for part in (count, size // max(count, 1))]
    return reshape(broadcast_in_dim(scale, blocks, range(0, len(blocks), 2)), shape)
