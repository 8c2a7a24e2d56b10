"""Permutations as tuples: dimension `i` of a transposed tensor is `p[i]` of its source."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

Permutation = tuple[int, ...]
Item = TypeVar("Item")


def identity(rank: int) -> Permutation:
    """The permutation that changes nothing."""
    return tuple(range(rank))


def is_identity(permutation: Sequence[int]) -> bool:
    """Whether a permutation changes nothing."""
    return all(index == source for index, source in enumerate(permutation))


def permute(permutation: Iterable[int], items: Sequence[Item]) -> tuple[Item, ...]:
    """What belongs to a tensor's dimensions (its sizes, say), after the transpose."""
    return tuple(items[source] for source in permutation)


def argsort(keys: Sequence[int]) -> Permutation:
    """The permutation that brings keys into rising order."""
    return tuple(sorted(range(len(keys)), key=keys.__getitem__))


def inverse(permutation: Sequence[int]) -> Permutation:
    """The permutation that undoes another."""
    return argsort(permutation)


def compose(first: Sequence[int], then: Iterable[int]) -> Permutation:
    """One permutation for two transposes, one after the other."""
    return permute(then, first)
