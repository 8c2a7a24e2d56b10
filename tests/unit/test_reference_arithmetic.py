"""Helpers of the references: division that rounds, and powers of integers."""

import numpy as np

import tripyapi as tp
from tripybuild.numerics.arrays import floor_divide


def test_floor_divide_of_floats_is_the_floor_of_the_quotient() -> None:
    """Floats that divide by zero give infinity, as division does."""
    with np.errstate(all="ignore"):
        got = floor_divide(np.array([7.0, -7.0, 1.0]), np.array([2.0, 2.0, 0.0]))
    np.testing.assert_array_equal(got, [3.0, -4.0, np.inf])


def test_floor_divide_of_integers_rounds_down() -> None:
    """Integers keep their dtype."""
    got = floor_divide(np.array([7, -7, 7], np.int8), np.array([2, 2, -2], np.int8))
    assert got.dtype == np.int8
    assert got.tolist() == [3, -4, -4]


def power(base: list[int], exponent: list[int]) -> list[int]:
    """What the operator gives for int8, at edges that its suite does not ask for."""
    made = (tp.Tensor(np.array(each, np.int8)) for each in (base, exponent))
    return tp.pow(*made).tolist()


def test_power_of_integers_cuts_negative_exponents_off() -> None:
    """Only 1 and -1 have an integer as their inverse."""
    assert power([2, 1, -1, -1, 2], [-1, -3, -3, -2, 3]) == [0, 1, -1, 1, 8]


def test_power_of_integers_wraps() -> None:
    """A power that does not fit keeps its lowest bits, as the engines do."""
    assert power([5], [30]) == [-87]
