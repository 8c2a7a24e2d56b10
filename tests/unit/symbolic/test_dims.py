"""Sizes against Python: whatever is decided or simplified must be what plain integers give."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tripybuild.symbolic.conditions import (
    Condition,
    UndecidedSize,
    conjunction,
    disjunction,
    negation,
)
from tripybuild.symbolic.dims import (
    Dim,
    evaluate,
    maximum,
    minimum,
    parse_condition,
    parse_dim,
    same,
    select,
    substitute,
    symbol,
)

A = symbol("A")
B = symbol("B", 1)
C = symbol("C", 2, 9)
S = symbol("S", 16, 256, 16)
NAMES = {"A": A, "B": B, "C": C, "S": S}

NUMBERS = {
    "A": st.integers(0, 40),
    "B": st.integers(1, 40),
    "C": st.integers(2, 9),
    "S": st.integers(1, 16).map(lambda n: 16 * n),
}
SIZES = st.fixed_dictionaries(NUMBERS)
OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "max": maximum,
    "min": minimum,
    "select": lambda a, b: select(a < b, b - a, a),
}
COMPARISONS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
EXPRESSIONS = st.recursive(
    st.one_of(st.sampled_from(sorted(NAMES)), st.integers(-20, 20)),
    lambda inner: st.tuples(st.sampled_from(sorted(OPERATORS)), inner, inner),
    max_leaves=7,
)


def built(expression, names):
    """Compute an expression over sizes or over numbers, with the same operators."""
    if isinstance(expression, tuple):
        operator, left, right = expression
        return OPERATORS[operator](built(left, names), built(right, names))
    return names[expression] if isinstance(expression, str) else expression


def power(size, exponent):
    """Multiply a size by itself."""
    return size if exponent == 1 else size * power(size, exponent - 1)


def outcome(compute):
    """Give the value, or None where it divides by zero."""
    try:
        return compute()
    except ZeroDivisionError:
        return None


@given(EXPRESSIONS, st.lists(SIZES, min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_normal_form_means_what_python_computes(expression, samples):
    """The value, the bounds, substitution, and the printed text all agree with plain integers."""
    size = outcome(lambda: built(expression, NAMES))
    if size is None:
        return
    for numbers in samples:
        expected = outcome(lambda: built(expression, numbers))  # noqa: B023
        if expected is None:
            continue
        assert evaluate(size, numbers) == expected
        assert substitute(size, numbers) == expected
        if isinstance(size, Dim):
            first, *rest = sorted(numbers)
            partial = substitute(size, {first: numbers[first]})
            assert substitute(partial, {name: numbers[name] for name in rest}) == expected
            assert size.low is None or size.low <= expected
            assert size.high is None or expected <= size.high
    assert same(parse_dim(str(size), NAMES), size)


@given(EXPRESSIONS, EXPRESSIONS, st.sampled_from(sorted(COMPARISONS)), st.lists(SIZES, min_size=3))
@settings(max_examples=200, deadline=None)
def test_what_is_decided_holds_for_all_sizes(left, right, operator, samples):
    """A comparison that is a bool agrees with every sample, and a condition tells each one."""
    compare = COMPARISONS[operator]
    truth = outcome(lambda: compare(built(left, NAMES), built(right, NAMES)))
    for numbers in samples:
        expected = outcome(lambda: compare(built(left, numbers), built(right, numbers)))  # noqa: B023
        if truth is None or expected is None:
            continue
        if isinstance(truth, Condition):
            assert truth.holds(numbers) is expected
            assert (~truth).holds(numbers) is not expected
            assert substitute(truth, numbers) is expected
        else:
            assert truth is expected
    if isinstance(truth, Condition):
        assert parse_condition(str(truth), NAMES) == truth


@given(EXPRESSIONS, EXPRESSIONS, EXPRESSIONS)
@settings(max_examples=150, deadline=None)
def test_the_normal_form_is_one(a, b, c):
    """The laws of a ring hold by identity, and identical sizes have one hash."""
    x, y, z = (outcome(lambda e=e: built(e, NAMES)) for e in (a, b, c))
    if any(each is None for each in (x, y, z)):
        return
    left, right = (x + y) * z, z * y + x * z
    assert same(left, right)
    assert hash(left) == hash(right)
    assert same(maximum(x, y, z), maximum(z, maximum(y, x)))
    assert same(x - x, 0)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (B * S + 1, "B*S + 1"),
        (A + B - 1, "A + B - 1"),
        (8 - A, "8 - A"),
        (-(A // 2), "-(A // 2)"),
        (S % 32, "S % 32"),
        (A % B + S // 16, "S // 16 + A % B"),
        (S // 2 * 3, "3*(S // 2)"),
        (S // 32 * 3, "3*(S // 32)"),
        ((A + 1) // (B + 1) * A, "A*((A + 1) // (B + 1))"),
        (maximum(A, B) - 1, "max(A, B) - 1"),
        (select(B == 4, A, B), "select(B == 4, A, B)"),
        # A strided convolution, twice, and a rounded-up division: two divisions become one.
        ((((A + 2 - 2 - 1) // 2 + 1) + 2 - 2 - 1) // 2 + 1, "(A + 3) // 4"),
        (0 - ((0 - A) // 3), "(A + 2) // 3"),
    ],
)
def test_sizes_read_like_python(size, text):
    """A size prints as a person would write it."""
    assert str(size) == text


@pytest.mark.parametrize(
    "truth",
    [
        S // 16 * 16 == S,
        S % 16 == 0,
        S % 8 == 0,
        same(B * S // B, S),
        same(A - A, 0),
        same(A * 1 + 0, A),
        same(A // 2 * 2 + A % 2, A),
        symbol("D", 2) != 1,
        S + 4 != 16,  # by divisibility
        S != 100,
        B * S - B >= 15,  # the terms share an atom
        S // (S + 1) == 0,
        C // 16 == 0,
        A % 7 < 7,
        -(-A // 2) * 2 >= A,
        maximum(B, 1) == B,
        minimum(A, 0) == 0,
        minimum(A, 2 * ((A + 2) // 3)) <= A,
        A - minimum(A, B) >= 0,
        (A + 1) // 2 <= A + 1,
    ],
)
def test_what_must_be_decided(truth):
    """Divisibility, bounds and exact division decide what models need."""
    assert truth is True


@pytest.mark.parametrize(
    ("truth", "text"),
    [
        (A == 1, "A == 1"),
        (B == 1, "B == 1"),
        (4 == B * C, "B*C == 4"),  # noqa: SIM300
        (S % 32 == 0, "S % 32 == 0"),
        (A * B // A == B, "A*B // A == B"),  # A may be zero
        (symbol("S") == S, "S == S"),  # two sizes of one name with other knowledge
    ],
)
def test_what_is_undecided_says_so(truth, text):
    """A condition prints, and refuses to be true or false."""
    assert str(truth) == text
    with pytest.raises(UndecidedSize, match="depends on sizes") as caught:
        bool(truth)
    assert caught.value.condition is truth


def test_one_false_part_decides_a_conjunction():
    """Undecided parts matter only where no other part decides."""
    unsure = A == 1
    assert conjunction([unsure, False]) is False
    assert disjunction([unsure, True]) is True
    assert conjunction([True, unsure]) is unsure
    both = conjunction([unsure, disjunction([B == 2, C == 3])])
    assert str(both) == "A == 1 and (B == 2 or C == 3)"
    assert str(negation(both)) == "A != 1 or (B != 2 and C != 3)"
    assert substitute(both, {"A": 1, "B": 2}) is True
    assert same(parse_condition(str(both), NAMES).key, both.key)


def test_sizes_are_keys():
    """A dict tells sizes apart without asking whether they are equal; hash(-1) is hash(-2)."""
    table = {-A: "minus", -2 * A: "minus two", A: "one", 4: "four"}
    assert table[A * -2] == "minus two"
    assert table[-A] == "minus"
    assert {-1 // A: 1, -2 // A: 2}[-2 // A] == 2
    assert {symbol("D", -1): 1, symbol("D", -2): 2}[symbol("D", -2)] == 2
    assert copy.deepcopy(A) is A
    assert same([A, (B, 1)], (A, [B, 1]))
    assert not same([A], [B])


def test_numbers_of_numpy_are_numbers():
    """A size taken from an array counts as an int on either side."""
    assert same(np.int64(2) * A, A * 2)
    assert same(A + np.int32(1), A + 1)
    assert (np.int64(1) == symbol("D", 2)) is False


@pytest.mark.parametrize("use", [int, float, range, lambda d: [0] * d, lambda d: [1, 2][d]])
def test_a_size_is_not_a_number(use):
    """Where Python needs a number, the message names the size."""
    with pytest.raises(TypeError, match="A"):
        use(A)


@pytest.mark.parametrize(
    "make",
    [
        lambda: symbol("a b"),
        lambda: symbol("max"),
        lambda: symbol("A", 5, 4),
        lambda: symbol("A", 17, 31, 16),
        lambda: symbol("A", multiple_of=0),
        lambda: S.substitute({"S": 100}),
        lambda: S.substitute({"S": 512}),
        lambda: S.substitute({"S": symbol("T", 257)}),
        lambda: evaluate(S, {"S": 100}),
        lambda: power(A + B + C + S + 1, 12),
    ],
)
def test_bad_sizes_are_value_errors(make):
    """Impossible knowledge, sizes outside of it, and runaway expressions are refused."""
    with pytest.raises(ValueError):
        make()


@pytest.mark.parametrize(
    "text",
    [
        "Z",
        "A +",
        "A ** 2",
        "A / 2",
        "A.low",
        "len(A)",
        "max(A, key=1)",
        "1 // 0",
        "True",
        "1.5",
        "A < 1",
        "[A]",
        "(lambda: A)()",
        "-" * 5000 + "A",
        "(" * 500 + "A" + ")" * 500,
        "A+" * 9000 + "A",
        "A\0",
    ],
)
def test_bad_texts_are_value_errors(text):
    """Nothing but sizes is read, and nothing crashes."""
    with pytest.raises(ValueError):
        parse_dim(text, NAMES)


def test_sizes_do_not_grow_without_end():
    """What a size says twice at each level would soon fill the memory when it is written."""

    def grown(size, levels):
        return grown((size + maximum(size, B)) // (A + 2), levels - 1) if levels else size

    with pytest.raises(ValueError, match="too many sizes"):
        grown(A, 64)
