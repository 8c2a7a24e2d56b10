"""Shape rules of reductions."""

from collections.abc import Sequence

from tripybuild.tensorrt.shape_rules import MaybeSize, Shape, ShapeError, Sizes

_RAGGED_RANK = 3


def replace_size(shape: Shape, axis: int, size: MaybeSize) -> Sizes:
    """The shape with another size along an axis."""
    if not 0 <= axis < len(shape):
        raise ShapeError("expected axis to be in the range of [0, input rank)")
    return (*shape[:axis], size, *shape[axis + 1 :])


def reduce(shape: Shape, axes: Sequence[int], *, keep_dimensions: bool = False) -> Sizes:
    """Reduced dimensions have size one, or go."""
    if any(not 0 <= axis < len(shape) for axis in axes):
        message = (
            f"expected each element of reduceAxes to be smaller than input type rank ({len(shape)})"
        )
        raise ShapeError(message)
    if keep_dimensions:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def top_k(shape: Shape, k: int, axis: int) -> Sizes:
    """So many elements along an axis."""
    return replace_size(shape, axis, k)


def arg_extreme(shape: Shape, axis: int) -> Sizes:
    """One element along an axis, whose dimension stays."""
    return replace_size(shape, axis, 1)


def ragged_softmax(shape: Shape, bounds: Shape) -> Sizes:
    """The shape of the input; both have three dimensions."""
    if len(shape) != _RAGGED_RANK or len(bounds) != _RAGGED_RANK:
        raise ShapeError("expected input and bounds to be of rank 3")
    return tuple(shape)
