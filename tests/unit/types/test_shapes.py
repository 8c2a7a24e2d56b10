"""Shape functions: on sizes, substituted, they give what they give on numbers."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tripybuild.symbolic.conditions import Condition, UndecidedSize
from tripybuild.symbolic.dims import Dim, evaluate, quotient, same, symbol
from tripybuild.types.dtypes import boolean, float16, int8, int32, int64
from tripybuild.types.shapes import (
    SHAPE_FUNCTIONS,
    BroadcastError,
    align,
    broadcast,
    broadcast_size,
    ceildiv,
    conformable,
    count,
    drop,
    fresh_symbols,
    insert,
    inverse,
    prod,
    replace,
    scaled_size,
    unknown,
)

A, B, C = symbol("A"), symbol("B", 1), symbol("C", 2)
NAMES = {"A": A, "B": B, "C": C}
ENTRIES = st.sampled_from(["A", "B", "C", 0, 1, 1, 2, 3])
SHAPES = st.lists(st.lists(ENTRIES, max_size=3), min_size=1, max_size=3)


@given(SHAPES)
@settings(max_examples=300, deadline=None)
def test_broadcasting_is_numpys(shapes):
    """Wherever the law holds the result is numpy's, and wherever it does not numpy refuses too."""
    sizes = [[NAMES.get(entry, entry) for entry in shape] for shape in shapes]
    law = conformable(*sizes)
    try:
        result = broadcast(*sizes)
    except BroadcastError:
        assert law is False
        return
    for values in itertools.product((0, 1, 2, 3), (1, 2, 3), (2, 3)):
        numbers = dict(zip("ABC", values, strict=True))
        concrete = [[numbers.get(entry, entry) for entry in shape] for shape in shapes]
        if law.holds(numbers) if isinstance(law, Condition) else law:
            expected = np.broadcast_shapes(*map(tuple, concrete))
            assert tuple(evaluate(size, numbers) for size in result) == expected
        else:
            with pytest.raises(ValueError):
                np.broadcast_shapes(*map(tuple, concrete))


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        (([A, 1], [1, B]), [A, B]),
        (([A], [A]), [A]),
        (([A], [4]), [4]),
        (([4], [B]), [4]),
        (([C], [symbol("D", 2)]), [C]),
        (([C], [A]), [C]),
        (([2, 3, 1], [4]), [2, 3, 4]),
    ],
)
def test_broadcasting_stays_simple(shapes, expected):
    """No extremes appear where one side is known not to be 1."""
    assert same(broadcast(*shapes), expected)


def test_impossible_shapes_are_told():
    """The error carries the two shapes that do not fit."""
    with pytest.raises(BroadcastError, match=r"\[2, C\] and \[3, 1\]") as caught:
        broadcast([1], [2, C], [3, 1])
    assert caught.value.right == [3, 1]
    assert conformable([2, C], [3, B]) is False
    assert str(conformable([A], [B])) == "A == B or A == 1 or B == 1"
    assert conformable([A, 1], [B]) is True


def test_an_einsum_size_is_the_one_that_is_not_one():
    """Sizes of one label broadcast together, and no sizes are 1."""
    assert same(broadcast_size([1, C, 1]), C)
    assert broadcast_size([]) == 1


def test_shapes_are_edited_by_position():
    """Replace, drop, insert and align take tuples or lists and leave them alone."""
    shape = (A, 2, 3)
    assert same(replace(shape, [0, -1], 1), [1, 2, 1])
    assert same(replace(shape, 1, B), [A, B, 3])
    assert same(drop(shape, -1), [A, 2])
    assert same(drop(shape, [0, 2]), [2])
    assert same(insert(shape, 3, B), [A, 2, 3, B])
    assert same(insert(shape, -1, B), [A, 2, 3, B])
    assert same(align(shape, 5), [1, 1, A, 2, 3])
    for broken in (
        lambda: drop(shape, 3),
        lambda: insert(shape, 4, 1),
        lambda: replace(shape, 3, 1),
    ):
        with pytest.raises(IndexError):
            broken()
    with pytest.raises(ValueError, match="more than 2"):
        align(shape, 2)


@given(st.integers(0, 50), st.integers(1, 9))
def test_division_rounds_up(size, by):
    """Rounding up agrees with numbers, for numbers and for sizes."""
    expected = math.ceil(size / by)
    assert ceildiv(size, by) == ceildiv(size, by) == expected
    assert evaluate(ceildiv(A, by), {"A": size}) == expected
    assert evaluate(ceildiv(A, B), {"A": size, "B": by}) == expected
    assert evaluate(ceildiv(size, A), {"A": by}) == expected


@given(st.integers(-30, 30), st.integers(-7, 7).filter(bool))
@settings(max_examples=200, deadline=None)
def test_a_quotient_is_cut_off(size, by):
    """Whatever of both is a symbol, and whatever is known of its sign."""
    expected = math.trunc(size / by)
    left, right = symbol("L", -99, 99), symbol("R", -99, 99)
    sizes = {"L": size, "R": by, "A": abs(size)}
    for one, other in [(size, by), (left, by), (size, right), (left, right), (-left, -by)]:
        assert evaluate(quotient(one, other), sizes) == expected
    assert evaluate(quotient(-A, by), sizes) == math.trunc(-abs(size) / by)
    assert same(quotient(A, 3), A // 3)  # nothing is said twice where signs are known


@given(st.integers(0, 300), st.sampled_from([1, 2, 0.5, 2.0, 1.5, 0.25, 1 / 3, 0.1]))
def test_scaling_rounds_down(size, factor):
    """A factor scales a size as it scales a number."""
    expected = scaled_size(size, factor)
    # 3 * (1 / 3) is exact in floating point only by luck; sizes use the fraction that was meant.
    assert evaluate(scaled_size(A, factor), {"A": size}) - expected in (
        (0, 1) if factor < 0.4 else (0,)
    )
    assert str(scaled_size(A, 0.5)) == "A // 2"


def test_counting_takes_only_what_is_certain():
    """A size is never -1, and an undecided entry is not counted."""
    assert count([A, -1, 4, -1], -1) == 2
    assert count([A, 4], 4) == 1


def test_products_of_nothing_are_one():
    """The volume of a scalar is 1."""
    assert prod([]) == 1
    assert str(prod([A, 2, B])) == "2*A*B"


@given(st.permutations(range(5)))
def test_a_permutation_is_undone(permutation):
    """The inverse brings each dimension back, and only permutations have one."""
    assert [permutation[i] for i in inverse(permutation)] == list(range(5))
    with pytest.raises(ValueError, match="permutation"):
        inverse([*permutation, 7])


def test_unknown_sizes_are_named_in_order():
    """Equal programs name their unknown sizes equally, and bounds may be sizes."""
    with fresh_symbols():
        first = [unknown(), unknown(1, symbol("S", 1, 8) * 2)]
    with fresh_symbols():
        second = [unknown(), unknown(1, 16)]
    assert same(first, second)
    assert list(map(str, first)) == ["_0", "_1"]
    assert (first[1].low, first[1].high) == (1, 16)
    assert unknown(0, A).high is None


def test_pythons_names_work_on_sizes():
    """`max`, `min`, `all`, `any` and `int` are Python's on numbers, and total on sizes."""
    largest, every, some = (SHAPE_FUNCTIONS[name] for name in ("max", "all", "any"))
    assert largest([1, 2.5]) == largest(1, 2.5) == 2.5
    assert str(largest([A, 3])) == str(largest(A, 3)) == "max(A, 3)"
    assert same(SHAPE_FUNCTIONS["min"](0, A), 0)
    assert every([A == 1, False]) is False
    assert isinstance(every([A == 1, True]), Condition)
    assert some([A == 1, 3]) is True
    assert SHAPE_FUNCTIONS["int"](2.9) == 2
    assert same(SHAPE_FUNCTIONS["int"](A), A)
    assert not SHAPE_FUNCTIONS["is_int"](True)
    assert isinstance(SHAPE_FUNCTIONS["select"](A == 1, A, B), Dim)


@pytest.mark.parametrize(
    ("size", "by", "expected"),
    [(7, 2.0, 4), (6, 1.5, 4), (-7, 2.0, -3), (5, -0.5, -10), (0, 0.3, 0)],
)
def test_a_quotient_of_floats_is_rounded_up_as_that_of_integers_is(
    size: int, by: float, expected: int
) -> None:
    """A float divides numbers and symbols alike."""
    assert ceildiv(size, by) == expected
    assert evaluate(ceildiv(symbol("Q", -99), by), {"Q": size}) == expected


def test_a_number_is_in_range_of_a_dtype_that_can_hold_it():
    """A fraction is left out; floats are rounded. Of a size a call tells, where that matters."""
    in_range = SHAPE_FUNCTIONS["in_range"]
    assert in_range(127, int8)
    assert in_range(-128.9, int8)
    assert not in_range(128, int8)
    assert not in_range(-129.0, int8)
    assert not in_range(math.nan, int64)
    assert not in_range(-math.inf, int32)
    assert in_range(math.nan, float16)
    assert in_range(300, boolean)
    assert in_range(A, int32)
    assert in_range(A, float16)
    assert in_range(symbol("S", 1, 127), int8)
    assert not in_range(symbol("S", 128), int8)
    with pytest.raises(UndecidedSize):
        in_range(A, int8)
