"""Sizes in shape rules: what is known of them, comparison, and broadcasting.

Invariant: a rule is a function from tuples of sizes to a tuple of sizes; a size is an `int`, a
`Dim`, or None where it is unknown. A rule that is put numbers in for symbols gives the same as
its result that is put the numbers in. `ShapeError` says in NVIDIA's words why there is no result.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

from tripybuild.symbolic.dims import Dim, Size, same

MaybeSize = Size | None
Shape = Sequence[MaybeSize]
Sizes = tuple[MaybeSize, ...]


class ShapeError(ValueError):
    """Operands have no result; the message is NVIDIA's."""


def is_static(size: MaybeSize) -> TypeGuard[int]:
    """Tell whether a size is a number: what may be refused when it is compiled."""
    return size is not None and not isinstance(size, Dim)


def differ(left: MaybeSize, right: MaybeSize) -> bool:
    """Tell whether two sizes are numbers, and different ones."""
    return is_static(left) and is_static(right) and left != right


def agree(left: MaybeSize, right: MaybeSize) -> bool:
    """Tell whether two sizes are the same as far as they are known: None agrees with everything."""
    return left is None or right is None or not differ(left, right)


def compatible(left: Shape, right: Shape) -> bool:
    """Tell whether two shapes are the same, as far as they are known."""
    return len(left) == len(right) and all(map(agree, left, right))


def broadcast(*shapes: Shape) -> Sizes:
    """Shapes of one rank whose sizes are equal or one; a number wins over what is not known."""
    if len({len(shape) for shape in shapes}) != 1:
        raise ShapeError("shapes of different ranks do not broadcast")
    return tuple(map(_common, zip(*shapes, strict=True)))


def _common(sizes: Sequence[MaybeSize]) -> MaybeSize:
    numbers = {size for size in sizes if is_static(size) and size != 1}
    if len(numbers) > 1:
        raise ShapeError("sizes are neither equal nor one")
    if numbers:
        return numbers.pop()
    others = [size for size in sizes if not is_static(size)]
    if not others:
        return 1
    return others[0] if all(same(others[0], size) for size in others) else None


def broadcastable(*shapes: Shape) -> bool:
    """Tell whether shapes broadcast, as far as they are known."""
    try:
        broadcast(*shapes)
    except ShapeError:
        return False
    return True


def elementwise_shape(*operands: Shape) -> Sizes:
    """The shape of a function of the elements of several operands."""
    try:
        return broadcast(*operands)
    except ShapeError:
        raise ShapeError("failed to determine expected shape") from None


def volume(sizes: Shape) -> MaybeSize:
    """How many elements a shape has; None where a size is unknown."""
    count: MaybeSize = 1
    for size in sizes:
        if size is None or count is None:
            return None
        count = count * size
    return count


def replace_size(shape: Shape, axis: int, size: MaybeSize) -> Sizes:
    """The shape with another size along an axis."""
    if not 0 <= axis < len(shape):
        raise ShapeError("expected axis to be in the range of [0, input rank)")
    return (*shape[:axis], size, *shape[axis + 1 :])


@dataclass(frozen=True, slots=True)
class Windows:
    """How windows step over the spatial dimensions; dilation is one for each if it is None."""

    stride: Sequence[int]
    pre_padding: Sequence[int]
    post_padding: Sequence[int]
    dilation: Sequence[int] | None = None

    @classmethod
    def of(
        cls,
        count: int,
        stride: Sequence[int] | None,
        before: Sequence[int] | None,
        after: Sequence[int] | None,
        dilation: Sequence[int] | None = None,
    ) -> "Windows":
        """The windows that a layer's arguments say; steps of one without padding by default."""
        lists = zip((stride, before, after, dilation), (1, 0, 0, 1), strict=True)
        return cls(*[(usual,) * count if each is None else each for each, usual in lists])

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


def broadcasts_to(size: MaybeSize, target: MaybeSize) -> bool:
    """Tell whether a size is another one or one, as far as they are known."""
    return same(size, 1) or agree(size, target)


def same_volume(left: Shape, right: Shape) -> bool:
    """Tell whether two shapes have as many elements, as far as all sizes are numbers."""
    numbers = [[size for size in shape if is_static(size)] for shape in (left, right)]
    if [len(each) for each in numbers] != [len(left), len(right)]:
        return True
    return math.prod(numbers[0]) == math.prod(numbers[1])
