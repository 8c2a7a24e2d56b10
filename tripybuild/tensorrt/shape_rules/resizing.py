"""Shape rules of resize."""

import struct
from collections.abc import Sequence

from tripybuild.tensorrt.shape_rules import MaybeSize, Shape, ShapeError, Sizes, is_static, same


def resize(shape: Shape, scales: Sequence[float] | None, *, cubic: bool = False) -> Sizes:
    """The sizes times their scales; without scales, nothing but the rank is known."""
    if cubic and len(shape) < 2:
        raise ShapeError("does not support resizing on a tensor that has rank < 2")
    if scales is None:
        return (None,) * len(shape)
    if len(scales) != len(shape):
        raise ShapeError("scales parameter must have same number of dimensions as input/output")
    innermost = 2 if cubic else min(3, len(shape))
    if any(scale != 1 for scale in scales[: len(shape) - innermost]):
        raise ShapeError(f"all scale values except {2 if cubic else 3} innermost must be 1")
    return tuple(_scale_size(size, scale) for size, scale in zip(shape, scales, strict=True))


def _scale_size(size: MaybeSize, scale: float) -> MaybeSize:
    """The size in single precision, as TensorRT has it; a symbol's for whole scales alone."""
    if size is None or same(size, 0):
        return size
    if is_static(size):
        return int(_single(_single(float(size)) * _single(scale)))
    return size * int(scale) if float(scale).is_integer() else None


def _single(number: float) -> float:
    rounded: float = struct.unpack("f", struct.pack("f", number))[0]
    return rounded
