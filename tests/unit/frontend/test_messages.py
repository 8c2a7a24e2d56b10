"""Tests of how messages are written: names of parameters, and what a user wrote for them."""

import numpy as np
import pytest

from tripybuild.frontend.checks.messages import (
    format_value,
    nearest_dtype,
    python_hint,
    replace_names,
)
from tripybuild.types.dtypes import BY_NAME


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`lhs` is int32, `rhs` is float32", "`a` is int32, `b[0]` is float32"),
        ("cast one of them: `cast(rhs, int32)`", "cast one of them: `cast(b[0], int32)`"),
        ("lhs and rhs are prose", "lhs and rhs are prose"),
        ("`lhs_scale` and `x.rhs` are others", "`lhs_scale` and `x.rhs` are others"),
        ("`f(rhs=rhs)`", "`f(rhs=b[0])`"),
        ("`rhs[1]` and `rhs[1][2]`", "`c` and `c[2]`"),
    ],
)
def test_names_are_what_is_written(text, expected):
    """Whole names in backticks only, and no keyword of a call."""
    assert replace_names(text, {"lhs": "a", "rhs": "b[0]", "rhs[1]": "c"}) == expected
    assert replace_names(text, {}) == text


def test_what_stands_alone_can_keep_its_name():
    """A parameter that a hint speaks of is no operand of a call that it shows."""
    text = "give a `dtype` for `cast(input, dtype)`"
    words = {"dtype": "tp.int8", "input": "x"}
    assert replace_names(text, words, alone=False) == "give a `dtype` for `cast(x, tp.int8)`"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cast it: `cast(rhs, int32)`", "cast it: `tp.cast(rhs, tp.int32)`"),
        ("`cast(cast(x, bool), int8)`", "`tp.cast(tp.cast(x, tp.bool), tp.int8)`"),
        ("make one: `tensor(...)`", "make one: `tp.Tensor(...)`"),
        ("did you mean `float32`?", "did you mean `tp.float32`?"),
        ("`x.cast(float32)`, `f(dtype=int4)`", "`x.cast(tp.float32)`, `tp.f(dtype=tp.int4)`"),
        ('`cast(x, "float32")`, `[tensors]`', '`tp.cast(x, "float32")`, `[tensors]`'),
        ("give a `dtype` that holds it; cast(x, int8)",) * 2,
        ("`int32=1`, `tp.cast(x, tp.int8)`",) * 2,
    ],
)
def test_hints_are_written_as_programs_are(text, expected):
    """What is called and what is a dtype is the package's; all else stays as it is."""
    assert python_hint(text) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("float23", "float32"),
        (np.float64, "float64"),
        (np.dtype("int8"), "int8"),
        (np.uint16, "int32"),
        (bool, "bool"),
        (float, "float32"),
        ("nothing", None),
        (3, None),
    ],
)
def test_a_dtype_of_another_library_is_one_of_ours(given, expected):
    assert nearest_dtype(given, BY_NAME) == expected


class Elsewhere:
    """Stands for another library's tensor."""

    shape = (2, 3)

    def type(self):
        """PyTorch's tensors have such a method."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.ones((2, 3)), "an array of shape [2, 3]"),
        (Elsewhere(), "a Elsewhere of shape [2, 3]"),
        (Elsewhere, "the class Elsewhere"),
        (np.float32, "the class numpy.float32"),
        (BY_NAME["float32"], "float32"),
        (int, "the class int"),
    ],
)
def test_values_of_other_libraries_are_shown_in_short(value, expected, monkeypatch):
    monkeypatch.setattr(Elsewhere, "__module__", "__main__")
    assert format_value(value) == expected
