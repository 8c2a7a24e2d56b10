"""Shape rules of convolutions and pooling.

Invariant: a shape is `[batch, channels, *spatial]`, with two or three spatial dimensions. Division
rounds down; what is not known stays unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripybuild.symbolic.dims import Size
from tripybuild.tensorrt.shape_rules import MaybeSize, Shape, ShapeError, Sizes, is_static

_RANKS = (4, 5)


@dataclass(frozen=True, slots=True)
class Windows:
    """How windows step over the spatial dimensions; dilation is one for each if it is None."""

    stride: Sequence[int]
    pre_padding: Sequence[int]
    post_padding: Sequence[int]
    dilation: Sequence[int] | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any], count: int) -> "Windows":
        """The windows that a layer's arguments say; steps of one without padding by default."""
        ones, zeros = (1,) * count, (0,) * count
        return cls(
            given["stride"] or ones,
            given["pre_padding"] or zeros,
            given["post_padding"] or zeros,
            given.get("dilation") or ones,
        )

    def fit(self, count: int) -> bool:
        """Tell whether there is a number for each dimension, and all of them can step."""
        lists = (self.stride, self.pre_padding, self.post_padding, self.dilation or [1] * count)
        return all(len(each) == count for each in lists) and all(step > 0 for step in self.stride)

    def slots(self, sizes: Shape, kernel: Shape) -> Sizes:
        """How many windows there are along each dimension."""
        return tuple(self._slot(i, size, kernel[i]) for i, size in enumerate(sizes))

    def spread(self, sizes: Shape, kernel: Shape) -> Sizes:
        """How far the windows of so many places reach: what a deconvolution gives."""
        return tuple(self._spread(i, size, kernel[i]) for i, size in enumerate(sizes))

    def _slot(self, i: int, size: MaybeSize, kernel: MaybeSize) -> MaybeSize:
        if size is None or kernel is None:
            return None
        room = size + self.pre_padding[i] + self.post_padding[i] - self._reach(i, kernel)
        return room // self.stride[i] + 1

    def _spread(self, i: int, size: MaybeSize, kernel: MaybeSize) -> MaybeSize:
        if size is None or kernel is None:
            return None
        padding = self.pre_padding[i] + self.post_padding[i]
        return (size - 1) * self.stride[i] - padding + self._reach(i, kernel)

    def _reach(self, i: int, kernel: Size) -> Size:
        return (self.dilation[i] if self.dilation else 1) * (kernel - 1) + 1


def convolution(shape: Shape, kernel: Shape, windows: Windows) -> Sizes:
    """A kernel is `[filters, channels of a group, *spatial]`."""
    _check(shape, kernel, windows, "convolution")
    inner = windows.slots(shape[2:], kernel[2:])
    return _result((shape[0], kernel[0], *inner), "convolution")


def deconvolution(shape: Shape, kernel: Shape, windows: Windows, groups: int = 1) -> Sizes:
    """A kernel is `[channels, filters of a group, *spatial]`."""
    _check(shape, kernel, windows, "deconvolution")
    filters = None if kernel[1] is None else kernel[1] * groups
    inner = windows.spread(shape[2:], kernel[2:])
    return _result((shape[0], filters, *inner), "deconvolution")


def pool(shape: Shape, size: Sequence[int], windows: Windows) -> Sizes:
    """Channels stay apart."""
    _check_input(shape)
    lists = (size, windows.stride, windows.pre_padding, windows.post_padding)
    if any(len(each) != len(shape) - 2 for each in lists):
        message = (
            '"windowSize", "stride" ,"prePadding", and "postPadding", should have size equal to '
            "number of spatial dimensions."
        )
        raise ShapeError(message)
    if not windows.fit(len(size)):
        raise ShapeError("failed to compute output shape of pooling operation")
    return _result((*shape[:2], *windows.slots(shape[2:], size)), "pooling")


def _check_input(shape: Shape) -> None:
    if len(shape) not in _RANKS:
        message = "failed to create input shape components. Input must be 4D or 5D"
        raise ShapeError(message)


def _check(shape: Shape, kernel: Shape, windows: Windows, name: str) -> None:
    _check_input(shape)
    if len(kernel) not in _RANKS:
        message = "failed to create kernel shape components. Kernel must be 4D or 5D"
        raise ShapeError(message)
    if len(kernel) != len(shape) or not windows.fit(len(shape) - 2):
        raise ShapeError(f"failed to compute output shape of {name} operation")


def _result(sizes: Sizes, name: str) -> Sizes:
    if any(is_static(size) and size < 0 for size in sizes):
        raise ShapeError(f"failed to compute output shape of {name} operation")
    return sizes
