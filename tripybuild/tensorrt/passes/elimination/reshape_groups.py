"""Reshape groups: merged and split dimensions, and commutation with transposes.

Invariant: sizes are known and none is 0. A group has the same number of elements on both sides and
cannot be split; units belong to the group before them, leading ones to the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from tripybuild.tensorrt.passes.elimination.layouts import Permutation, inverse


@dataclass(frozen=True, slots=True)
class DimensionGroup:
    """Dimensions of a reshape's input that become dimensions of its result."""

    source: tuple[int, ...]
    result: tuple[int, ...]


def static_shape(shape: Sequence[int | None]) -> tuple[int, ...] | None:
    """The sizes, if all of them are known and none is 0."""
    found = tuple(size for size in shape if size)
    return found if len(found) == len(shape) else None


def groups(
    source: Sequence[int | None], result: Sequence[int | None]
) -> list[DimensionGroup] | None:
    """The groups of a reshape, in order; None if sizes are not known."""
    before, after = static_shape(source), static_shape(result)
    if before is None or after is None or not before or not after:
        return None
    found: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(before) and j < len(after):
        group, left, right = ([i], [j]), before[i], after[j]
        i, j = i + 1, j + 1
        while left != right:
            if left < right:
                group[0].append(i)
                left, i = left * before[i], i + 1
            else:
                group[1].append(j)
                right, j = right * after[j], j + 1
        found.append(group)
    found[-1][0].extend(range(i, len(before)))
    found[-1][1].extend(range(j, len(after)))
    return [DimensionGroup(tuple(one), tuple(other)) for one, other in found]


def _early(
    source: Sequence[int | None], result: Sequence[int | None]
) -> list[DimensionGroup] | None:
    """The groups that swap as mlir-tensorrt has them: units do not wait for what comes after them.

    A unit of the input may be a group of its own, which has no dimension of the result; units of
    the result belong to the group after them, the last ones to nothing.
    """
    before, after = static_shape(source), static_shape(result)
    if before is None or after is None:
        return None
    found: list[DimensionGroup] = []
    one: list[int] = []
    other: list[int] = []
    left = right = 1
    for index, size in enumerate(before):
        left *= size
        one.append(index)
        while left > right:
            other.append(sum(len(group.result) for group in found) + len(other))
            right *= after[other[-1]]
        if left == right:
            found.append(DimensionGroup(tuple(one), tuple(other)))
            one, other = [], []
    rest = tuple(range(sum(len(group.result) for group in found), len(after)))
    return [*found, DimensionGroup((), rest)] if rest else found


def _group_order(places: Sequence[tuple[int, ...]]) -> list[int]:
    """Groups by their places; those without any come last."""
    return sorted(range(len(places)), key=lambda which: (not places[which], places[which]))


def _consecutive(positions: Sequence[int]) -> bool:
    return all(after == before + 1 for before, after in pairwise(positions))


@dataclass(frozen=True, slots=True)
class SwapResult:
    """A transpose and a reshape that took each other's place."""

    shape: tuple[int, ...]
    permutation: Permutation


def reshape_first(
    permutation: Permutation, source: Sequence[int | None], result: Sequence[int | None]
) -> SwapResult | None:
    """`reshape(transpose(x))` as `transpose(reshape(x))`; `source` is what is reshaped."""
    found = _early(source, result)
    if found is None:
        return None
    origins = [tuple(permutation[index] for index in group.source) for group in found]
    if not all(map(_consecutive, origins)):
        return None
    dimensions = [index for which in _group_order(origins) for index in found[which].result]
    sizes = static_shape(result)
    assert sizes is not None
    return SwapResult(tuple(sizes[index] for index in dimensions), inverse(dimensions))


def transpose_first(
    source: Sequence[int | None], result: Sequence[int | None], permutation: Permutation
) -> SwapResult | None:
    """`transpose(reshape(x))` as `reshape(transpose(x))`; `result` is what is transposed."""
    found = _early(source, result)
    if found is None:
        return None
    at = inverse(permutation)
    places = [tuple(at[index] for index in group.result) for group in found]
    if not all(map(_consecutive, places)):
        return None
    sizes = static_shape(result)
    assert sizes is not None
    return SwapResult(
        tuple(sizes[index] for index in permutation),
        tuple(index for which in _group_order(places) for index in found[which].source),
    )
