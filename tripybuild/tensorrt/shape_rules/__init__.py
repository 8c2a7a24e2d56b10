"""Shape rules: result shapes from operand shapes, shared by dialect and recorder.

Invariant: a rule is a function from tuples of sizes to a tuple of sizes; a size is an `int`, a
`Dim`, or None where it is unknown. A rule that is put numbers in for symbols gives the same as
its result that is put the numbers in. `ShapeError` says in NVIDIA's words why there is no result.
"""

from collections.abc import Sequence
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


__all__ = ["Shape", "ShapeError", "Sizes", "agree", "compatible", "differ", "is_static", "same"]
