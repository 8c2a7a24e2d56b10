"""Bad arguments of public functions: diagnostics, and never an exception of Python's or NumPy's."""

import numpy as np
import pytest

import tripyapi as tp
from tripybuild.errors.diagnostics import DiagnosticError

HUGE = 10**30


def nested(depth):
    """A number in that many lists."""
    found = 1.0
    for _ in range(depth):
        found = [found]
    return found


def cyclic():
    """A list that holds itself."""
    found = []
    found.append(found)
    return found


def cyclic_dict():
    """A dictionary that holds itself."""
    found = {}
    found["a"] = found
    return found


X = tp.ones((2, 2))
CASES = {
    "tril": (lambda: tp.tril(X, HUGE), "tril/diagonal-range"),
    "triu": (lambda: tp.triu(X, -HUGE), "triu/diagonal-range"),
    "triu at the end of int32": (lambda: tp.triu(X, 2**31 - 1), "triu/diagonal-range"),
    "scales": (lambda: tp.resize_linear(X, scales=[1.0, 1e308]).eval(), "size-out-of-range"),
    "a size of an array": (lambda: tp.DimensionInputInfo(np.array(2.5)), "wrong-value"),
    "sizes of an array": (lambda: tp.InputInfo([np.array([1, 2])], tp.float32), "wrong-value"),
    "deep": (lambda: tp.Tensor(nested(80)), "wrong-type"),
    "deeper": (lambda: tp.Tensor(nested(5000)), "wrong-type"),
    "a list in itself": (lambda: tp.Tensor(cyclic()), "wrong-type"),
    "lists in itself": (lambda: tp.Tensor([cyclic(), cyclic()]), "wrong-type"),
    "no float holds it": (lambda: tp.Tensor([1.0, 10**400]), "wrong-type"),
    "an argument in itself": (lambda: tp.reshape(X, cyclic()), "wrong-value"),
    "an operand in itself": (lambda: X + cyclic(), "wrong-value"),
    "an inline function's": (lambda: tp.flatten(X, cyclic()), "wrong-value"),
    "fields in themselves": (
        lambda: tp.plugin("A", [X], [(2, tp.float32)], fields=cyclic_dict()),
        "plugin/fields",
    ),
    "deep arguments": (lambda: tp.concatenate(nested(5000), 0), "wrong-value"),
    "a list for a tensor": (lambda: tp.square([X]), "square/input"),
    "a tuple for a tensor": (lambda: tp.square((X, X)), "square/input"),
    "a dtype as a function": (lambda: tp.float32(2.5), "wrong-type"),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_arguments_are_diagnostics(case):
    """Huge numbers, deep lists, lists in themselves, and arrays where numbers are wanted."""
    call, code = CASES[case]

    with pytest.raises(DiagnosticError) as raised:
        call()

    assert [each.code for each in raised.value.diagnostics] == [code]


@pytest.mark.parametrize("dtype", [tp.float32, tp.float16, tp.bfloat16])
def test_numbers_beyond_64_bits_are_floats(dtype):
    """They are rounded once, as floats are."""
    x = tp.cast(tp.Tensor([1.0]), dtype)
    assert (x != HUGE).tolist() == [True]
    made = tp.cast(tp.Tensor([HUGE, 1.5], dtype=dtype), tp.float32).tolist()
    assert made[1] == 1.5
    assert made[0] > 1e29


def test_recursion_of_a_program_is_its_own():
    """A function that calls itself for ever keeps Python's own words."""

    def loop(x):
        return tp.cond(tp.Tensor(True), loop, loop, [x])

    with pytest.raises(RecursionError):
        loop(X)
