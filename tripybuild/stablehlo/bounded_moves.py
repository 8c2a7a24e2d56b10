"""Parts and moves of values whose sizes have bounds, and what such rules are made of.

Invariant: see `bounded`. What a rule appends by `Emission.append` is taken as it is, for the sizes
of memory; what it builds by functions of the dialect keeps to the rules itself.
"""

import math
from collections.abc import Sequence
from typing import Any

from tripybuild.stablehlo.broadcast import broadcast_in_dim
from tripybuild.stablehlo.comparison import (
    clamp,
    convert,
    divide,
    greater_equal,
    less,
    remainder,
    select,
)
from tripybuild.stablehlo.constants import constant, iota, scalar
from tripybuild.stablehlo.elementwise import maximum, minimum
from tripybuild.stablehlo.indexing import take
from tripybuild.stablehlo.module import Emission, SizeArray, current, integers
from tripybuild.stablehlo.slices import dynamic_slice, slice
from tripybuild.stablehlo.value import HloValue, Operand
from tripybuild.symbolic.dims import Dim, same
from tripybuild.types import dtypes

Results = tuple[HloValue, ...]
Size = Any  # an `int` or a `Dim`; the functions of the dialect take both


class UnboundedOperation(Exception):  # noqa: N818 - what asks for it has another way
    """An operation whose results padding would change."""


def is_dynamic(size: object) -> bool:
    """Whether a size depends on a call."""
    return isinstance(size, Dim)


def size_array(emission: Emission, name: str) -> tuple[Any, ...]:
    """The sizes that an attribute lists."""
    found: SizeArray = emission.attributes[name]
    return found.sizes


def require(holds: object, why: str) -> None:
    """Refuse an operation unless something is known to hold.

    Raises:
        UnboundedOperation: It may not hold.
    """
    if holds is not True:
        raise UnboundedOperation(why)


def largest_product(sizes: Sequence[Size]) -> int:
    """How many elements dimensions have in memory."""
    bounds = current().bounds
    assert bounds is not None
    return math.prod(map(bounds.largest, sizes))


def places_below(size: Size, dtype: dtypes.dtype = dtypes.int64) -> HloValue:
    """0, 1, 2, ... up to the largest that a size can be."""
    return iota((size,), 0, dtype)


def mask_beyond(value: HloValue, dims: Sequence[int], fill: Operand) -> HloValue:
    """The value with another in the place of what lies beyond the true sizes of dimensions."""
    for dim in dims:
        size: Size = value.shape[dim]
        if is_dynamic(size):
            inside = less(places_below(size, dtypes.int32), size)
            value = select(broadcast_in_dim(inside, value.shape, [dim]), value, fill)
    return value


def reshape_groups(emission: Emission) -> Results:
    """Groups of dimensions whose sizes have one product are reshaped, each by itself."""
    (value,), (dtype, shape) = emission.operands, emission.results[0]
    groups = _groups(value.shape, shape)
    mixed = [not (_is_leading(before) and _is_leading(after)) for before, after in groups]
    if not any(mixed):
        return emission.append()
    whole = tuple(
        largest_product(before) if mixes else _product(before)
        for (before, _), mixes in zip(groups, mixed, strict=True)
    )
    (value,) = Emission(emission.name, [value], [(dtype, whole)], {}, []).append()
    for dim, (before, after) in enumerate(groups):
        if mixed[dim]:
            value = take(value, _moved_places(before, after), dim)
    return Emission(emission.name, [value], emission.results, {}, []).append()


def _is_leading(sizes: Sequence[Size]) -> bool:
    """Whether what is below the true sizes comes first, where the dimensions are one."""
    several = [size for size in sizes if not same(size, 1)]
    return not any(map(is_dynamic, several[1:]))


def _groups(old: Sequence[Size], new: Sequence[Size]) -> list[tuple[list[Size], list[Size]]]:
    """Consecutive dimensions of two shapes with equal products, as few as can be together."""
    found: list[tuple[list[Size], list[Size]]] = []
    left, right = list(old), list(new)
    while left and right:
        before, after = [left.pop(0)], [right.pop(0)]
        while not same(a := _product(before), b := _product(after)):
            if left and (same(b % a, 0) or not right):
                before.append(left.pop(0))
            elif right and (same(a % b, 0) or not left):
                after.append(right.pop(0))
            else:
                require(bool(left and right), "sizes have no common parts")
                before.append(left.pop(0))
                after.append(right.pop(0))
        found.append((before, after))
    if not found:
        return [(left, right)]
    found[-1][0].extend(left)
    found[-1][1].extend(right)
    return found


def _product(sizes: Sequence[Size]) -> Size:
    total: Size = 1
    for each in sizes:
        total = total * each
    return total


def _moved_places(before: Sequence[Size], after: Sequence[Size]) -> HloValue:
    """Where in the memory of dimensions the elements stand that other dimensions show."""
    length = _product(after)
    rest, number = places_below(length), _repeat(0, length)
    for at in range(len(after)):  # the number of an element, of those below the true sizes
        behind = largest_product(after[at + 1 :])
        number = number + divide(rest, behind) * _product(after[at + 1 :])
        rest = remainder(rest, behind)
    place = _repeat(0, length)
    for at in range(len(before)):
        true = _repeat(_product(before[at + 1 :]), length)
        place = place + divide(number, true) * largest_product(before[at + 1 :])
        number = remainder(number, true)
    return place


def _repeat(size: Size, length: Size) -> HloValue:
    return constant(size, dtypes.int64, [length])


def reverse_true(emission: Emission) -> Results:
    """The last element is the last below the true size."""
    (value,) = emission.operands
    dims = size_array(emission, "dimensions")
    emission.attributes["dimensions"] = integers(
        [dim for dim in dims if not is_dynamic(value.shape[dim])]
    )
    for dim in dims:
        size: Size = value.shape[dim]
        if is_dynamic(size):
            value = take(value, maximum((size - 1) - places_below(size), 0), dim)
    emission.operands = [value]
    return emission.append() if size_array(emission, "dimensions") else (value,)


def slice_part(emission: Emission) -> Results:
    """A part that begins where a size says begins there in a call."""
    (value,) = emission.operands
    keys = ("start_indices", "limit_indices", "strides")
    start, limit, strides = (size_array(emission, key) for key in keys)
    require(not any(map(is_dynamic, strides)), "its steps depend on a size")
    if not any(map(is_dynamic, start)):
        return emission.append()
    sizes = [end - begin for begin, end in zip(start, limit, strict=True)]
    begins = [scalar(each, dtypes.int64) for each in start]
    moved = dynamic_slice(value, begins, sizes)
    return (slice(moved, [0] * len(sizes), sizes, strides),)


def _starts(emission: Emission, first: int, part: Sequence[Size]) -> list[HloValue]:
    """Where parts begin, no farther back than the true sizes let them."""
    starts = []
    whole = emission.operands[0].shape
    for start, size, length in zip(emission.operands[first:], whole, part, strict=True):
        room = size - length
        inside = clamp(0, convert(start, dtypes.int64), room) if is_dynamic(room) else start
        starts.append(convert(inside, dtypes.int64))
    return starts


def take_part(emission: Emission) -> Results:
    """Where more fits behind a small part than behind a large one, its elements are looked up."""
    sizes, starts = (
        size_array(emission, "slice_sizes"),
        _starts(emission, 1, size_array(emission, "slice_sizes")),
    )
    value = emission.operands[0]
    for dim, length in enumerate(sizes):
        if is_dynamic(length) and not same(value.shape[dim], length):
            places = places_below(length) + broadcast_in_dim(starts[dim], (length,), [])
            value, starts[dim] = take(value, places, dim), constant(0, dtypes.int64)
    emission.operands = [value, *starts]
    return emission.append()


def update_part(emission: Emission) -> Results:
    """What is beyond the true size of an update is not written."""
    whole, update = emission.operands[:2]
    starts = _starts(emission, 2, update.shape)
    pairs = enumerate(zip(whole.shape, update.shape, strict=True))
    partial = [dim for dim, (size, n) in pairs if is_dynamic(n) and not same(size, n)]
    require(len(partial) < 2, "it updates a part of several dimensions")
    for dim in partial:
        length: Size = update.shape[dim]
        room = largest_product([whole.shape[dim]]) - largest_product([length])
        begin = minimum(starts[dim], room)
        places = places_below(length) - broadcast_in_dim(starts[dim] - begin, (length,), [])
        starts[dim] = begin
        moved = take(update, maximum(places, 0), dim)
        written = greater_equal(places, 0) & less(places, length)
        sizes = {"slice_sizes": integers(update.shape)}
        type_ = (whole.dtype, update.shape)
        there = Emission("stablehlo.dynamic_slice", [whole, *starts], [type_], sizes, []).append()
        update = select(broadcast_in_dim(written, update.shape, [dim]), moved, there[0])
    emission.operands = [whole, update, *starts]
    return emission.append()


def concatenate_parts(emission: Emission) -> Results:
    """Each part is written behind the true size of the one before, and over what is there."""
    (dtype, shape) = emission.results[0]
    dim = int(emission.attributes["dimension"].value)
    if not any(is_dynamic(each.shape[dim]) for each in emission.operands[:-1]):
        return emission.append()
    whole, begin = constant(0, dtype, shape), 0
    for part in emission.operands:
        starts = [constant(0, dtypes.int64)] * len(shape)
        starts[dim] = constant(begin, dtypes.int64)
        taken = [whole, part, *starts]
        name = "stablehlo.dynamic_update_slice"
        (whole,) = Emission(name, taken, emission.results, {}, []).append()
        begin = begin + part.shape[dim]
    return (whole,)


def pad_edges(emission: Emission) -> Results:
    """What is put behind an edge begins at the true size."""
    value, fill = emission.operands
    keys = ("edge_padding_low", "edge_padding_high", "interior_padding")
    low, high, between = (size_array(emission, key) for key in keys)
    require(not any(map(is_dynamic, (*low, *between))), "its edges depend on a size")
    cut = [is_dynamic(each) or each > 0 for each in high]
    dims = [dim for dim, each in enumerate(cut) if each]
    emission.operands = [mask_beyond(value, dims, fill), fill]
    return emission.append()
