"""Square brackets, resolved: what NumPy takes is what the start, size and step describe."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tripybuild.frontend.checks.indexing import Index, IndexFormError, resolve
from tripybuild.symbolic.dims import Dim, substitute, symbol

BOUND = st.none() | st.integers(-9, 9)
PLACE = st.tuples(st.sampled_from([-1, 1]), st.integers(-9, 9))  # a * S + b
STEP = st.none() | st.integers(-4, 4).filter(bool)
ENTRY = st.none() | st.builds(slice, BOUND, BOUND, STEP) | st.integers(-3, 2)


def placed(place: tuple[int, int] | None) -> Dim | None:
    return place and symbol("S", 0, 12) * place[0] + place[1]


def taken(array: np.ndarray, index: Index) -> np.ndarray:
    """The elements at the places that a resolved index describes."""
    places = [
        a + t * np.arange(n) for a, n, t in zip(index.start, index.size, index.step, strict=True)
    ]
    return array[np.ix_(*places)].reshape(index.result)


@given(st.lists(ENTRY, max_size=5), st.booleans(), st.integers(0, 5))
def test_an_index_takes_what_numpy_takes(entries: list[object], dots: bool, place: int) -> None:
    """Integers, slices, None and dots, in any order, agree with NumPy or are refused by both."""
    array = np.arange(3 * 4 * 5).reshape(3, 4, 5)
    key = tuple([*entries[:place], ..., *entries[place:]] if dots else entries)
    try:
        wanted = array[key]
    except IndexError:
        with pytest.raises(IndexFormError):
            resolve(key, array.shape)
        return
    assert np.array_equal(taken(array, resolve(key, array.shape)), wanted)


@given(st.builds(slice, BOUND, BOUND, STEP), st.integers(0, 12))
def test_a_slice_of_a_symbol_becomes_that_of_its_number(key: slice, size: int) -> None:
    """The slice of a symbolic dimension, substituted, describes what the slice of a number does."""
    dynamic = resolve(key, [symbol("S", 0, 12)])
    fixed = resolve(key, [size])
    names = {"S": size}
    values = [
        part if isinstance(part, int) else part.substitute(names)
        for part in (dynamic.start[0], dynamic.size[0])
    ]
    assert values == [fixed.start[0], fixed.size[0]]


@given(st.builds(slice, *[st.none() | PLACE] * 2, STEP), st.integers(0, 12))
def test_bounds_that_depend_on_the_size_count_from_where_its_number_says(
    key: slice, size: int
) -> None:
    """A bound such as `S - 4` counts from the end for small sizes only."""
    dynamic = resolve(slice(*map(placed, (key.start, key.stop)), key.step), [symbol("S", 0, 12)])
    start, length = (substitute(part, {"S": size}) for part in (dynamic.start[0], dynamic.size[0]))
    number = [at if at is None else at[0] * size + at[1] for at in (key.start, key.stop)]
    found = [start + count * (key.step or 1) for count in range(length)]
    assert found == list(range(size))[slice(*number, key.step)]


@given(PLACE, st.integers(1, 12))
def test_a_place_that_depends_on_the_size(place: tuple[int, int], size: int) -> None:
    """An integer that is negative for some sizes only counts from the end for those."""
    number = place[0] * size + place[1]
    if -size <= number < size:
        start = resolve(placed(place), [symbol("S", 0, 12)]).start[0]
        assert substitute(start, {"S": size}) == range(size)[number]


@pytest.mark.parametrize(
    "key", [1.5, "a", True, np.zeros(3), (..., ...), (0, 0, 0), slice(None, None, 0), slice("a")]
)
def test_what_is_no_index_is_refused(key: object) -> None:
    """Other kinds of values, too many entries and a step of 0 are refused in words."""
    with pytest.raises(IndexFormError):
        resolve(key, (3, 4))


def test_integers_of_numpy_are_integers() -> None:
    """What has `__index__` counts as the integer that it gives."""
    assert resolve((np.int64(1), slice(np.int32(2))), (3, 4)) == resolve((1, slice(2)), (3, 4))
