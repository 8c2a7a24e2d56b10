"""Rules of shapes that move values: numbers in the place of symbols give the same shapes."""

import pytest
from hypothesis import given, strategies as st

from tripybuild.symbolic.dims import same, substitute, symbol
from tripybuild.tensorrt.layers import (
    collectives,
    elementwise,
    images,
    indexing,
    reshapes,
    shapes,
    slicing,
)
from tripybuild.tensorrt.shape_rules import ShapeError

NAMES = ("A", "B", "C")
SYMBOLS = [symbol(name, 1, 64) for name in NAMES]
A, B, C = SYMBOLS
AXES = [(0, 1, 2), (2, 0, 1), (1, 2, 0)]

RULES = {
    "concatenation": lambda a, b, c: slicing.ConcatenationOp.result_shape(
        [(a, 3), (b, 3), (c + a, 3)], 0
    ),
    "transpose": lambda a, b, c: shapes.transpose_shape((a, b, c), (2, 0, 1)),
    "shuffle": lambda a, b, c: shapes.shuffle_shape(
        (a, b, c * 4), (1, 0, 2), (0, a * 4, -1), (2, 0, 1)
    ),
    "reshape": lambda a, b, c: shapes.reshape_shape(
        (a, b, 6 * c), (-1, 3, c), zero_is_placeholder=False
    ),
    "padding": lambda a, b, c: slicing.PaddingOp.result_shape((a, b, c, 9), (1, -2), (3, 0)),
    "gather": lambda a, b, c: indexing.GatherOp.result_shape((a, b, c), (a, 5), 1, 1),
    "gather without a batch": lambda a, b, c: indexing.GatherOp.result_shape((a, b), (c, 5), 0),
    "gather_nd": lambda a, b, c: indexing.GatherNdOp.result_shape((a, b, c), (c, 2)),
    "scatter_nd": lambda a, b, c: indexing.ScatterOp.result_shape((a, b), (c, 1), (c, b)),
    "one_hot": lambda a, b, c: indexing.OneHotOp.result_shape((a, b), (2,), -2),
    "non_zero": lambda a, b, c: indexing.NonZeroOp.result_shape((a, b, c)),
    "resize": lambda a, b, c: images.resize_shape((a, b, c), (1, 2.0, 3.0)),
    "grid_sample": lambda a, b, c: images.GridSampleOp.result_shape((a, b, 8, 9), (a, c, 7, 2)),
    "gathered": lambda a, b, c: collectives.gather_ranks((a, b, c), 4),
    "scattered": lambda a, b, c: collectives.scatter_ranks((a * 4, b, c), 4),
    "weights": lambda a, b, c: (elementwise.count_weights((a, b, c), "kELEMENTWISE", 1),),
}


@pytest.mark.parametrize("name", RULES)
@given(numbers=st.tuples(*[st.integers(1, 64)] * 3))
def test_symbols_and_numbers_agree(name, numbers):
    """A rule of symbols says what it says of numbers; what it does not know, it says of none."""
    general = RULES[name](*SYMBOLS)
    sizes = dict(zip(NAMES, numbers, strict=True))
    special = RULES[name](*numbers)
    found = tuple(None if size is None else substitute(size, sizes) for size in general)
    assert same(found, special)


def test_fractions_of_symbols_are_not_known():
    """A size in single precision depends on the number."""
    assert images.resize_shape((A, 10), (0.5, 0.5)) == (None, 5)


def test_one_unknown_size_can_be_computed():
    """From the volume; where that is not known, it is not."""
    assert shapes.reshape_shape((4, 6), (-1, 3), zero_is_placeholder=True) == (8, 3)
    assert shapes.reshape_shape((4, None), (-1, 3), zero_is_placeholder=True) == (None, 3)
    assert shapes.reshape_shape((0, 5), (-1, 0), zero_is_placeholder=False) == (None, 0)
    assert same(shapes.reshape_shape((A, 6), (-1, 3), zero_is_placeholder=True), (A * 2, 3))


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ((1, 2, 1, 3), (2, 3), [[0, 1], [2, 3]]),
        ((2, 3, 4), (6, 4), [[0, 1], [2]]),
        ((2, 1, 1), (2,), [[0, 1, 2]]),
        ((1, 1), (), []),
        ((1, None), (None,), [[0, 1]]),
        ((None, 1, None), (None, None), [[0], [1, 2]]),
        ((1, 0, 4), (0, 4), [[0, 1], [2]]),
        ((4, None), (4,), [[0, 1]]),
        ((A, 1, B), (A, B), [[0], [1, 2]]),
        ((2, 3), (5,), None),
        ((2, 3), (), None),
        ((None, 2), (4,), None),
        ((2, None), (None,), None),
        ((A, 1), (B,), None),
    ],
)
def test_dimensions_are_grouped(wide, narrow, expected):
    """Neighbours make a dimension of lower rank, or nothing does."""
    assert reshapes.dimension_groups(wide, narrow) == expected


def test_only_ones_are_dropped():
    """A group has one other size at most."""
    assert reshapes.drops_ones_only((1, 2, 1), [[0, 1, 2]])
    assert not reshapes.drops_ones_only((2, 3), [[0, 1]])
    assert reshapes.drops_ones_only((0, 1, B), [[0, 1], [2]])


def test_parts_of_what_cannot_be_divided():
    """The ranks of a collective have equal parts."""
    with pytest.raises(
        ShapeError, match=r"the first dimension \(5\) is not a multiple of the 2 ranks"
    ):
        collectives.scatter_ranks((5, 3), 2)
    with pytest.raises(ShapeError, match="rank 1 or more"):
        collectives.gather_ranks((), 2)
