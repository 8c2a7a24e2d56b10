"""Shape rules of gather, scatter and other indexed operations."""

from tripybuild.tensorrt.shape_rules import (
    MaybeSize,
    Shape,
    ShapeError,
    Sizes,
    compatible,
    is_static,
)
from tripybuild.tensorrt.shape_rules.arithmetic import broadcast


def gather(data: Shape, indices: Shape, axis: int, broadcast_dims: int = 0) -> Sizes:
    """The data's shape with that of the indices in the place of the axis."""
    if not 0 <= axis < len(data):
        raise ShapeError("axis must obey 0 <= axis < rank(input).")
    try:
        leading = broadcast(data[:broadcast_dims], indices[:broadcast_dims])
    except ShapeError:
        raise ShapeError("Failed to broadcast numBroadcastDims dimensions.") from None
    return (*leading, *data[broadcast_dims:axis], *indices[broadcast_dims:], *data[axis + 1 :])


def gather_nd(data: Shape, indices: Shape, broadcast_dims: int = 0) -> Sizes:
    """Each vector of indices takes what it leads to; NVIDIA's operation has no broadcast dims."""
    if not data or not indices:
        raise ShapeError("input rank and indices rank must be >= 1")
    length = indices[-1]
    if not isinstance(length, int) or not 0 < length <= len(data) - broadcast_dims:
        raise ShapeError(
            "the extent of the last dimension of 'indices' shape must be greater than zero and "
            "less-than-or-equal-to 'data' rank"
        )
    return (*indices[:-1], *data[broadcast_dims + length :])


def scatter_nd(data: Shape, indices: Shape, updates: Shape, name: str = "scatter_nd") -> Sizes:
    """The data's shape, where the updates have the shape of what the indices lead to."""
    if not indices:
        raise ShapeError(f"{name} indices must have rank >= 1")
    length = indices[-1]
    if not isinstance(length, int):
        raise ShapeError(
            f"the last dimension in {name} indices tensor (the index vector size) must be static"
        )
    if length > len(data):
        raise ShapeError(f"{name} index vector size cannot be larger than the input rank")
    rank = len(data) + len(indices) - length - 1
    if len(updates) != rank:
        raise ShapeError(f"{name} expected updates tensor rank to be {rank}")
    if not compatible(updates[len(indices) - 1 :], data[length:]):
        raise ShapeError(
            f"{name} input tensor shape is incompatible with the shape of the updates tensor"
        )
    return tuple(data)


def one_hot(indices: Shape, values: Shape, axis: int, depth: MaybeSize = None) -> Sizes:
    """The indices' shape with the depth at the axis, which may count from the end."""
    rank = len(indices)
    if not -rank - 1 <= axis <= rank:
        raise ShapeError("expected axis to be in the range [-rank(indices)-1, rank(indices)]")
    if len(values) != 1:
        raise ShapeError("expected values to be of rank 1")
    if values[0] is None or (is_static(values[0]) and values[0] != 2):
        raise ShapeError("expected values to have two elements")
    place = axis % (rank + 1)
    return (*indices[:place], depth, *indices[place:])


def non_zero(shape: Shape) -> Sizes:
    """One row per dimension; the number of columns depends on data."""
    return (len(shape), None)
