"""Shape rules of elementwise operations: broadcasting."""

from collections.abc import Sequence

from tripybuild.tensorrt.shape_rules import MaybeSize, Shape, ShapeError, Sizes, is_static, same

# The functions of two elements whose result is bool, whatever the elements are.
TRUTHS = frozenset({"kGREATER", "kEQUAL", "kLESS", "kAND", "kOR", "kXOR"})


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


def elementwise(*operands: Shape) -> Sizes:
    """The shape of a function of the elements of several operands."""
    try:
        return broadcast(*operands)
    except ShapeError:
        raise ShapeError("failed to determine expected shape") from None
