"""`or`, `and`, `not` and chains on sizes that are not known yet: walked, and as generated."""

import ast
from typing import Any

import pytest

from tripybuild.codegen.python.conditions import explicit
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import parse_expression
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import substitute, symbol
from tripybuild.types.vocabulary import SHAPE

SIZES = {"A": symbol("A"), "B": symbol("B"), "n": 4, "S": [2, 3]}


def walk(text: str, **names: Any) -> Any:
    return evaluate(parse_expression(text), {**SIZES, **names}, SHAPE, passes=(UndecidedSize,))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A == 1 or A == B", "any([A == 1, A == B])"),
        ("A == 1 or n == 5 or A == B", "any([A == 1, A == B])"),
        ("A > 0 and B > 0", "all([A > 0, B > 0])"),
        ("0 < A < B", "all([0 < A, A < B])"),
        ("not A == 1", "A != 1"),
        ("not (A == 1 or B < 2)", "A != 1 and B >= 2"),
        ("A == 1 or (B > 0 and A % B == 0)", "any([A == 1, all([B > 0, A % B == 0])])"),
    ],
)
def test_an_undecided_part_is_joined(text: str, found: str) -> None:
    assert str(walk(text)) == str(walk(found))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A == 1 or n == 4", True),
        ("A == 1 and n == 5", False),
        ("n == 4 or A == 1", True),
        ("A < n < 3", False),
        ("A == 1 or B == 2 or A >= 0", True),
        ("n or A", 4),
        ("n == 5 or A", SIZES["A"]),
        ("1 < n < 9", True),
    ],
)
def test_one_part_decides_whatever_is_undecided_beside_it(text: str, value: object) -> None:
    assert walk(text) is value or walk(text) == value


@pytest.mark.parametrize(
    "text", ["A or 1", "A == 1 or B", "A == 1 or S[A]", "A > 0 and n % 0 == 1"]
)
def test_what_is_no_truth_waits_for_the_sizes(text: str) -> None:
    with pytest.raises(UndecidedSize):
        walk(text)


def test_an_error_beside_decided_parts_is_an_error() -> None:
    with pytest.raises(EvaluationError):
        walk("n == 5 or S[7] == 1")


@pytest.mark.parametrize(
    ("text", "sizes", "found"),
    [
        ("a == 1 or a == b", {"a", "b"}, "any([a == 1, a == b])"),
        ("mode == x or a == 1 or a == b", {"a"}, "mode == x or any([a == 1, a == b])"),
        ("mode == x or a == 1", {"a"}, "mode == x or a == 1"),
        ("len(a) == 1 or len(a) == 2", {"a"}, "len(a) == 1 or len(a) == 2"),
        ("mask is None or a == 1", {"a", "mask"}, "mask is None or a == 1"),
        ("0 < a < b", {"a"}, "all([0 < a, a < b])"),
        ("0 < a + 1 < b", {"a"}, "0 < a + 1 < b"),
        ("not a == b", {"a"}, "a != b"),
        ("not (a < b and a == 1)", {"a"}, "a >= b or a != 1"),
        ("not any(d == 1 for d in a)", {"a"}, "all((d != 1 for d in a))"),
        ("not mode", {"a"}, "not mode"),
        ("a % n == 0 and b % n == 0", {"a", "b"}, "all([a % n == 0, b % n == 0])"),
        # What has a value only behind another part is asked behind it.
        ("b > 0 and a % b == 0", {"a", "b"}, "b > 0 and a % b == 0"),
        ("b < n and s[b] == 1", {"b"}, "b < n and s[b] == 1"),
        ("a == 1 or a", {"a"}, "a == 1 or a"),
        ("a[:1] == b and a == 1", {"a"}, "a[:1] == b and a == 1"),
    ],
)
def test_generated_code_asks_no_undecided_truth(text: str, sizes: set[str], found: str) -> None:
    assert ast.unparse(explicit(parse_expression(text), sizes)) == found


def test_both_say_the_same_when_sizes_are_known() -> None:
    law = parse_expression("A == 1 or B > 2 and not A == B")
    open_ = evaluate(law, SIZES, SHAPE, passes=(UndecidedSize,))
    for a in range(4):
        for b in range(5):
            known = {"A": a, "B": b}
            assert substitute(open_, known) == evaluate(law, known, SHAPE)
