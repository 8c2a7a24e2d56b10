"""Explicit broadcasting by NumPy's rules, since StableHLO has no implicit one.

Invariant: nothing is emitted where nothing changes.
"""

from collections.abc import Sequence
from functools import lru_cache

from tripybuild.stablehlo.module import emit, integers
from tripybuild.stablehlo.value import HloValue, same_sizes


def broadcast_in_dim(input: HloValue, shape: Sequence[int], dims: Sequence[int]) -> HloValue:
    """Place dimension `i` of the input at `dims[i]` of `shape`, and repeat it everywhere else."""
    shape, dims = tuple(shape), tuple(dims)
    if not _fits(input.shape, shape, dims):
        raise ValueError(f"shape {input.shape} does not broadcast to {shape} along {dims}")
    if same_sizes(shape, input.shape) and dims == tuple(range(len(shape))):
        return input
    attributes = {"broadcast_dimensions": integers(dims)}
    return emit("stablehlo.broadcast_in_dim", (input,), input.dtype, shape, attributes)


@lru_cache(maxsize=4096)
def _fits(sizes: tuple[int, ...], shape: tuple[int, ...], dims: tuple[int, ...]) -> bool:
    return len(dims) == len(sizes) == len(set(dims)) and all(
        0 <= dim < len(shape) and (same_sizes(size, 1) or same_sizes(size, shape[dim]))
        for size, dim in zip(sizes, dims, strict=True)
    )


def broadcast_to(input: HloValue, shape: Sequence[int]) -> HloValue:
    """Repeat dimensions of size one, and add new ones in front, until the shape is `shape`."""
    if same_sizes(input.shape, tuple(shape)):
        return input
    new = len(shape) - len(input.shape)
    if new < 0:
        raise ValueError(f"shape {input.shape} does not broadcast to {tuple(shape)}")
    return broadcast_in_dim(input, shape, range(new, len(shape)))


@lru_cache(maxsize=4096)
def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all of them broadcast to."""
    rank = max(map(len, shapes), default=0)
    result = []
    for sizes in zip(*[(1,) * (rank - len(shape)) + shape for shape in shapes], strict=True):
        wide = {size for size in sizes if not same_sizes(size, 1)}
        if len(wide) > 1:
            raise ValueError(f"shapes {' and '.join(map(str, shapes))} do not broadcast")
        result.append(wide.pop() if wide else 1)
    return tuple(result)
