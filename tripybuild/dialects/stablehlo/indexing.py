"""Elements chosen by computed indices.

Law: indices may be negative, as in NumPy, and count from the end then; what is still outside is
clamped to the edge, because a compiled program cannot raise.
"""

from typing import Any

from tripybuild.dialects.stablehlo import bindings
from tripybuild.dialects.stablehlo.broadcast import broadcast_shapes, broadcast_to
from tripybuild.dialects.stablehlo.choice import less, select
from tripybuild.dialects.stablehlo.module import emit, integers
from tripybuild.dialects.stablehlo.value import Value


def _from_start(indices: Value, size: int) -> Value:
    """Count indices from the start, also those that counted from the end."""
    if indices.dtype.kind != "integer":
        raise ValueError(f"indices must be integers, not {indices.dtype.name}")
    if indices.dtype.lowest == 0:
        return indices
    return select(less(indices, 0), indices + size, indices)


def take(input: Value, indices: Value, dim: int) -> Value:
    """numpy.take: `dim` is replaced by the dimensions of `indices`."""
    if not 0 <= dim < input.rank or (input.shape[dim] == 0 and 0 not in indices.shape):
        raise ValueError(f"nothing to take from dimension {dim} of shape {input.shape}")
    extra = indices.rank
    shape = (*input.shape[:dim], *indices.shape, *input.shape[dim + 1 :])
    offsets = [i for i in range(len(shape)) if not dim <= i < dim + extra]
    numbers = bindings.stablehlo.GatherDimensionNumbers.get(offsets, [dim], [], [], [dim], extra)
    sizes = [*input.shape[:dim], min(input.shape[dim], 1), *input.shape[dim + 1 :]]
    return _gather(input, _from_start(indices, input.shape[dim]), numbers, sizes, shape)


def take_along(input: Value, indices: Value, dim: int) -> Value:
    """numpy.take_along_axis: equal ranks; all other dimensions are matched, or broadcast."""
    if not (0 <= dim < input.rank == indices.rank):
        shapes = f"{input.shape} and {indices.shape}"
        raise ValueError(f"dimension {dim} cannot be taken along shapes {shapes}")
    others = [i for i in range(input.rank) if i != dim]
    common = broadcast_shapes(*[tuple(each.shape[i] for i in others) for each in (input, indices)])
    source = broadcast_to(input, (*common[:dim], input.shape[dim], *common[dim:]))
    where = broadcast_to(indices, (*common[:dim], indices.shape[dim], *common[dim:]))
    if input.shape[dim] == 0 and 0 not in where.shape:
        raise ValueError(f"nothing to take from dimension {dim} of shape {input.shape}")
    numbers = bindings.stablehlo.GatherDimensionNumbers.get(
        [], [dim], others, others, [dim], input.rank
    )
    sizes = [min(size, 1) for size in source.shape]
    return _gather(source, _from_start(where, input.shape[dim]), numbers, sizes, where.shape)


def _gather(
    input: Value, indices: Value, numbers: Any, sizes: list[int], shape: tuple[int, ...]
) -> Value:
    attributes = {"dimension_numbers": numbers, "slice_sizes": integers(sizes)}
    return emit("stablehlo.gather", (input, indices), input.dtype, shape, attributes)
