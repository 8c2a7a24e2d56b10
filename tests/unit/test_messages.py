"""Tests of how messages are written: names of parameters, and what a user wrote for them."""

import pytest

from tripybuild.trace.messages import named


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`lhs` is int32, `rhs` is float32", "`a` is int32, `b[0]` is float32"),
        ("cast one of them: `cast(rhs, int32)`", "cast one of them: `cast(b[0], int32)`"),
        ("lhs and rhs are prose", "lhs and rhs are prose"),
        ("`lhs_scale` and `x.rhs` are others", "`lhs_scale` and `x.rhs` are others"),
        ("`f(rhs=rhs)`", "`f(rhs=b[0])`"),
    ],
)
def test_names_are_what_is_written(text, expected):
    """Whole names in backticks only, and no keyword of a call."""
    assert named(text, {"lhs": "a", "rhs": "b[0]"}) == expected
    assert named(text, {}) == text
