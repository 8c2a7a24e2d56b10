"""Permutations, and reshapes as groups of dimensions: what NumPy says of the same tensors."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tripybuild.tensorrt.passes.elimination.layouts import (
    argsort,
    collapsed_dims,
    compose,
    identity,
    inverse,
    is_identity,
    permute,
)
from tripybuild.tensorrt.passes.elimination.reshape_groups import (
    DimensionGroup,
    groups,
    reshape_first,
    transpose_first,
)

PERMUTATIONS = st.integers(0, 4).flatmap(lambda rank: st.permutations(range(rank))).map(tuple)
SIZES = st.lists(st.sampled_from([1, 1, 2, 3, 4]), min_size=1, max_size=5).map(tuple)


def numbered(shape):
    """A tensor whose elements are all different."""
    return np.arange(math.prod(shape)).reshape(shape)


@given(PERMUTATIONS)
def test_a_transpose_applies_a_permutation_to_sizes(permutation):
    """Sizes go where dimensions go."""
    shape = tuple(range(2, 2 + len(permutation)))
    assert np.transpose(np.zeros(shape), permutation).shape == permute(permutation, shape)


@given(PERMUTATIONS)
def test_an_inverse_undoes(permutation):
    """There and back is the identity, both ways."""
    assert is_identity(compose(permutation, inverse(permutation)))
    assert is_identity(compose(inverse(permutation), permutation))
    assert is_identity(permutation) == (permutation == identity(len(permutation)))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_two_transposes_are_one(rank):
    """The first one is the one that is applied first."""
    x = numbered(range(2, 2 + rank))
    for first, then in itertools.product(itertools.permutations(range(rank)), repeat=2):
        both = np.transpose(np.transpose(x, first), then)
        assert np.array_equal(both, np.transpose(x, compose(first, then)))


@given(st.lists(st.integers(), max_size=5, unique=True))
def test_an_ordering_sorts(keys):
    """The permutation that sorts, applied, is sorted."""
    assert permute(argsort(keys), keys) == tuple(sorted(keys))


def split(draw, shape):
    """Another shape of as many elements: sizes are merged, split and 1s put in."""
    new = list(shape)
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(new)))
        if draw(st.booleans()) and place + 1 < len(new):
            new[place : place + 2] = [new[place] * new[place + 1]]
        elif draw(st.booleans()) and place < len(new) and new[place] % 2 == 0:
            new[place : place + 1] = [2, new[place] // 2]
        else:
            new.insert(place, 1)
    return tuple(new)


@st.composite
def reshapes(draw):
    """Two shapes of one number of elements."""
    shape = draw(SIZES)
    return shape, split(draw, shape)


@given(reshapes())
def test_groups_have_the_same_elements_and_are_smallest(shapes):
    """All dimensions are in a group, in order, and no group could be two."""
    source, result = shapes
    found = groups(source, result)
    assert [i for group in found for i in group.source] == list(range(len(source)))
    assert [i for group in found for i in group.result] == list(range(len(result)))
    for group in found:
        left, right = permute(group.source, source), permute(group.result, result)
        assert math.prod(left) == math.prod(right)
        inner = {math.prod(left[: n + 1]) for n in range(len(left) - 1)} - {1, math.prod(left)}
        assert not inner & {math.prod(right[: n + 1]) for n in range(len(right) - 1)}


@pytest.mark.parametrize(
    ("source", "result"), [((2, None), (2, 3)), ((0, 2), (2, 0)), ((), (1,)), ((1,), ())]
)
def test_groups_need_sizes(source, result):
    """Nothing is known of unknown sizes, of tensors without elements, and of scalars."""
    assert groups(source, result) is None


def test_units_belong_to_the_group_before_them():
    """Leading ones to the first."""
    assert groups((2, 3), (1, 2, 1, 3, 1)) == [
        DimensionGroup((0,), (0, 1)),
        DimensionGroup((1,), (2, 3, 4)),
    ]
    assert groups((1, 6), (6,)) == [DimensionGroup((0, 1), (0,))]


@given(reshapes(), st.randoms(use_true_random=False))
def test_a_reshape_and_a_transpose_swap(shapes, random):
    """Where they may take each other's place, elements are where they were."""
    source, result = shapes
    order = list(range(len(source)))
    random.shuffle(order)
    permutation = tuple(order)
    x = numbered([source[i] for i in inverse(permutation)])
    wanted = np.transpose(x, permutation).reshape(result)
    swapped = reshape_first(permutation, source, result)
    if swapped is not None:
        found = np.transpose(x.reshape(swapped.shape), swapped.permutation)
        assert np.array_equal(found, wanted)


@given(reshapes(), st.randoms(use_true_random=False))
def test_a_transpose_and_a_reshape_swap(shapes, random):
    """And the other way round."""
    source, result = shapes
    order = list(range(len(result)))
    random.shuffle(order)
    x = numbered(source)
    wanted = np.transpose(x.reshape(result), order)
    swapped = transpose_first(source, result, tuple(order))
    if swapped is not None:
        found = np.transpose(x, swapped.permutation).reshape(swapped.shape)
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize(
    ("permutation", "source", "result", "shape", "then"),
    [
        ((1, 0), (3, 4), (3, 2, 2), (2, 2, 3), (2, 0, 1)),
        ((2, 0, 1), (4, 2, 3), (4, 6), (6, 4), (1, 0)),
        ((0, 1), (2, 3), (6,), (6,), (0,)),
        ((1, 0), (6, 4), (6, 1, 4), (1, 4, 6), (2, 0, 1)),
        ((1, 0), (6, 4), (6, 4, 1), (4, 6, 1), (1, 0, 2)),
        ((2, 0, 1), (1, 6, 4), (6, 4), (6, 4), (0, 1)),
        ((), (), (1, 1), (1, 1), (0, 1)),
    ],
)
def test_a_swap_is_found(permutation, source, result, shape, then):
    """Whole groups that change places still do so after the reshape."""
    swapped = reshape_first(permutation, source, result)
    assert (swapped.shape, swapped.permutation) == (shape, then)


def test_no_group_is_torn():
    """A transpose inside of what is merged stays where it is."""
    assert reshape_first((1, 0), (3, 4), (12,)) is None
    assert transpose_first((12,), (3, 4), (1, 0)) is None


@pytest.mark.parametrize(
    ("source", "result", "gone"),
    [
        ((1, 5), (5,), (0,)),
        ((1, 1, 5), (1, 5), (1,)),
        ((1, None, 1, 3), (None, 3), (0, 2)),
        ((1, 1), (), (0, 1)),
        ((2, 1), (2, 1), ()),
    ],
)
def test_dropped_units(source, result, gone):
    """Which ones are not in the result."""
    assert collapsed_dims(source, result) == gone
