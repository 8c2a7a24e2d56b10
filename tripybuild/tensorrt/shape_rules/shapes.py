"""Shape rules of data movement: concatenate, permute, reshape, pad, broadcast."""

import math
from collections.abc import Sequence

from tripybuild.tensorrt.shape_rules import (
    MaybeSize,
    Shape,
    ShapeError,
    Sizes,
    agree,
    is_static,
    same,
)


def concatenation(shapes: Sequence[Shape], axis: int) -> Sizes:
    """The first shape, with the sum of all sizes along the axis."""
    if not shapes:
        raise ShapeError("expected at least one input")
    first = shapes[0]
    if any(len(shape) != len(first) for shape in shapes):
        raise ShapeError("all inputs must have equal rank")
    if not 0 <= axis < len(first):
        raise ShapeError("expected axis to be in the range of [0, input rank)")
    return (*first[:axis], _total([shape[axis] for shape in shapes]), *first[axis + 1 :])


def _total(sizes: Sequence[MaybeSize]) -> MaybeSize:
    total: MaybeSize = 0
    for size in sizes:
        if size is None or total is None:
            return None
        total = total + size
    return total


def is_permutation(order: Sequence[int], rank: int) -> bool:
    """Tell whether the order names each dimension of a rank once."""
    return sorted(order) == list(range(rank))


def transpose(shape: Shape, permutation: Sequence[int]) -> Sizes:
    """The sizes in the order of the permutation."""
    if not is_permutation(permutation, len(shape)):
        raise ShapeError(f'expected "permutation" to be a permutation of rank {len(shape)}')
    return tuple(shape[dim] for dim in permutation)


def reshape(shape: Shape, wanted: Shape, *, zero_is_placeholder: bool) -> Sizes:
    """The wanted sizes; 0 may stand for the input's size, and one -1 for what is left."""
    sizes = [
        _resolve_placeholder(shape, i, size, zero_is_placeholder) for i, size in enumerate(wanted)
    ]
    if not any(same(size, -1) for size in wanted):
        return tuple(sizes)
    left = _quotient(_volume(shape), _volume([size for size in sizes if not same(size, -1)]))
    return tuple(left if same(size, -1) else size for size in sizes)


def _quotient(whole: MaybeSize, part: MaybeSize) -> MaybeSize:
    return None if whole is None or part is None or same(part, 0) else whole // part


def _resolve_placeholder(
    shape: Shape, index: int, size: MaybeSize, zero_is_placeholder: bool
) -> MaybeSize:
    if same(size, 0) and zero_is_placeholder:
        if index >= len(shape):
            raise ShapeError(
                "invalid reshape specification - 0 placeholder maps to out-of-bounds index of "
                "input shape"
            )
        return shape[index]
    if is_static(size) and size < -1:
        raise ShapeError("invalid shape value")
    return size


def _volume(sizes: Shape) -> MaybeSize:
    volume: MaybeSize = 1
    for size in sizes:
        if size is None or volume is None:
            return None
        volume = volume * size
    return volume


def shuffle(
    shape: Shape,
    first: Sequence[int],
    wanted: Shape | None,
    second: Sequence[int],
    *,
    zero_is_placeholder: bool = True,
) -> Sizes:
    """A transposition, a reshape if there is one, and another transposition."""
    if not is_permutation(first, len(shape)):
        raise ShapeError(f"first transpose array is not a permutation of input rank {len(shape)}")
    sizes = transpose(shape, first)
    if wanted is not None:
        _check_reshape(wanted, zero_is_placeholder=zero_is_placeholder)
        sizes = reshape(sizes, wanted, zero_is_placeholder=zero_is_placeholder)
    if not is_permutation(second, len(sizes)):
        raise ShapeError(
            f"second transpose array is not a permutation of reshaped rank {len(sizes)}"
        )
    return transpose(sizes, second)


def _check_reshape(wanted: Shape, *, zero_is_placeholder: bool) -> None:
    left_over = sum(same(size, -1) for size in wanted)
    if left_over > 1:
        raise ShapeError("invalid reshape specification - at most one '-1' is allowed")
    if not zero_is_placeholder and left_over and any(same(size, 0) for size in wanted):
        raise ShapeError(
            'invalid reshape specification - 0 and -1 cannot be used when not in "zero is '
            'placeholder" mode'
        )


def same_volume(left: Shape, right: Shape) -> bool:
    """Tell whether two shapes have as many elements, as far as all sizes are numbers."""
    numbers = [[size for size in shape if is_static(size)] for shape in (left, right)]
    if [len(each) for each in numbers] != [len(left), len(right)]:
        return True
    return math.prod(numbers[0]) == math.prod(numbers[1])


def groups(wide: Shape, narrow: Shape) -> list[list[int]] | None:
    """Which neighbors of a shape make each size of one of lower rank, or None if none do.

    Unknown sizes are equal to themselves; what is left over at the end, ones and unknown sizes,
    belongs to the last group.
    """
    found: list[list[int]] = []
    place = 0
    for size in narrow:
        begin, product = place, 1
        while place < len(wide) - 1 and is_static(next_size := wide[place]):
            if not _continues(product, next_size, size):
                break
            product *= next_size
            place += 1
        if place == len(wide) or not _completes(product, wide[place], size):
            return None
        place += 1
        found.append(list(range(begin, place)))
    if any(is_static(size) and size != 1 for size in wide[place:]):
        return None
    if found:
        found[-1].extend(range(place, len(wide)))
    return found


def _continues(product: int, size: int, target: MaybeSize) -> bool:
    return (is_static(target) and product * size < target) or (size == 1 and not same(target, 1))


def _completes(product: int, size: MaybeSize, target: MaybeSize) -> bool:
    if is_static(size) and is_static(target):
        return product * size == target
    return product == 1 and same(size, target)


def drops_ones_only(wide: Shape, parts: Sequence[Sequence[int]]) -> bool:
    """Tell whether each group of sizes has at most one that is not one."""
    wider = [is_static(size) and size > 1 for size in wide]
    return all(sum(wider[dim] for dim in part) <= 1 for part in parts)


def broadcasts_to(size: MaybeSize, target: MaybeSize) -> bool:
    """Tell whether a size is another one or one, as far as they are known."""
    return same(size, 1) or agree(size, target)


def padding(shape: Shape, before: Sequence[int], after: Sequence[int]) -> Sizes:
    """The two innermost sizes grow by what is put before and after them; less than 0 cuts off."""
    if len(before) != 2 or len(after) != 2:
        raise ShapeError("padding exactly two innermost dimensions is supported.")
    edges = [low + high for low, high in zip(before, after, strict=True)]
    inner = zip(shape[-2:], edges, strict=True)
    return (*shape[:-2], *(None if size is None else size + edge for size, edge in inner))
