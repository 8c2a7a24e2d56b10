"""References of division that rounds, and of powers of integers, at edges."""

import numpy as np
from hypothesis import assume, given, strategies as st

import tripyapi as tp
from tripybuild.types import dtypes


def int8(*numbers: int) -> tp.Tensor:
    """Small integers."""
    return tp.Tensor(np.array(numbers, np.int8))


def test_floor_division_of_floats_is_the_floor_of_the_quotient() -> None:
    """Floats that divide by zero give infinity, as division does."""
    got = tp.floordiv(tp.Tensor([7.0, -7.0, 1.0]), tp.Tensor([2.0, 2.0, 0.0]))
    assert got.tolist() == [3.0, -4.0, np.inf]


def test_floor_division_of_integers_rounds_down() -> None:
    """Integers keep their dtype."""
    got = tp.floordiv(int8(7, -7, 7), int8(2, 2, -2))
    assert got.dtype is dtypes.int8
    assert got.tolist() == [3, -4, -4]


@given(lhs=st.integers(-(2**63), 2**63 - 1), rhs=st.integers(-(2**63), 2**63 - 1))
def test_division_of_integers_is_cut_off(lhs: int, rhs: int) -> None:
    """Towards zero, exactly, also where a float has too few bits; `-2**63 / -1` wraps."""
    assume(rhs != 0)
    exact = abs(lhs) // abs(rhs) * (1 if (lhs < 0) == (rhs < 0) else -1)
    for bits, type in ((8, np.int8), (64, np.int64)):
        if all(-(2 ** (bits - 1)) <= each < 2 ** (bits - 1) for each in (lhs, rhs, exact)):
            a, b = (tp.Tensor(np.array([each], type)) for each in (lhs, rhs))
            assert tp.div(a, b).tolist() == [exact]


def power(base: list[int], exponent: list[int]) -> list[int]:
    """What the operator gives for int8, at edges that its suite does not ask for."""
    return tp.pow(int8(*base), int8(*exponent)).tolist()


def test_power_of_integers_cuts_negative_exponents_off() -> None:
    """Only 1 and -1 have an integer as their inverse."""
    assert power([2, 1, -1, -1, 2], [-1, -3, -3, -2, 3]) == [0, 1, -1, 1, 8]


def test_power_of_integers_wraps() -> None:
    """A power that does not fit keeps its lowest bits, as the engines do."""
    assert power([5], [30]) == [-87]
