"""Shape rules of the `trtx` dialect.

Invariant: `ShapeError` is in our words; what TensorRT refuses is measured on TensorRT-RTX.
"""

from tripybuild.tensorrt.shape_rules import MaybeSize, Shape, ShapeError, Sizes, is_static


def grid_sample(shape: Shape, grid: Shape) -> Sizes:
    """The input's batch and channels, and a place for each point of the grid."""
    if len(shape) not in {4, 5} or len(grid) != len(shape):
        raise ShapeError(
            f"expected input and grid to have the same rank, 4 or 5, but got {len(shape)} and "
            f"{len(grid)}"
        )
    return (*shape[:2], *grid[1:-1])


def gather_ranks(shape: Shape, ranks: int) -> Sizes:
    """What all ranks have, one after the other along the first dimension."""
    first, *rest = _dimensions(shape)
    return (None if first is None else first * ranks, *rest)


def scatter_ranks(shape: Shape, ranks: int) -> Sizes:
    """A rank's part of the first dimension."""
    first, *rest = _dimensions(shape)
    if is_static(first) and first % ranks:
        raise ShapeError(f"the first dimension ({first}) is not a multiple of the {ranks} ranks")
    return (None if first is None else first // ranks, *rest)


def _dimensions(shape: Shape) -> Shape:
    if not shape:
        raise ShapeError("expected a tensor of rank 1 or more, but got a scalar")
    return shape


def weights(shape: Shape, mode: str, axis: int) -> MaybeSize:
    """How many weights of each kind `scale` takes: one, one per channel, or one per element."""
    if mode == "kUNIFORM":
        return 1
    if mode == "kCHANNEL":
        return shape[axis]
    count: MaybeSize = 1
    for size in shape[axis if axis >= 0 else len(shape) + axis :]:
        if size is None or count is None:
            return None
        count = count * size
    return count
