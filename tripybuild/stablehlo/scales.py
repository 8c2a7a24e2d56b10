"""Quantization scales: per tensor, per channel, or per block.

Invariant: a scale is repeated, never changed, so that it can be multiplied and divided by as it is.
"""

from collections.abc import Sequence

from tripybuild.stablehlo.broadcast import broadcast_in_dim
from tripybuild.stablehlo.shapes import reshape
from tripybuild.stablehlo.value import HloValue


def spread_scale(scale: HloValue, shape: Sequence[int], dim: int | None = None) -> HloValue:
    """A scale for each element of a shape.

    One number is for all elements, a list along `dim` for each channel; without `dim`, a scale of
    the shape's own rank has one number for each block, and divides the shape.
    """
    shape = tuple(shape)
    if not scale.shape or dim is not None:
        return broadcast_in_dim(scale, shape, [dim] if dim is not None else [])
    pairs = list(zip(scale.shape, shape, strict=False))
    if scale.rank != len(shape) or not all(a == b or (a and b % a == 0) for a, b in pairs):
        raise ValueError(f"scales of shape {scale.shape} are not for blocks of {shape}")
    blocks = [part for count, size in pairs for part in (count, size // max(count, 1))]
    return reshape(broadcast_in_dim(scale, blocks, range(0, len(blocks), 2)), shape)
