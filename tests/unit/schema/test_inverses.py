"""Helpers of aliases: what is said with one is read back, and nothing else is said."""

import ast
from pathlib import Path

import pytest

from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import SnippetError, parse_expression
from tripybuild.schema.foreign import HELPERS, Expansion, inversions
from tripybuild.types.vocabulary import SHAPE

PAGE = Path(__file__).parents[3] / "docs/operators.md"
# For each helper: a call, the names in it, and whether it can be said.
CALLS = {
    "axes": [
        ("axes(dim, S)", {"dim": [1], "S": [2, 3]}, True),
        ("axes(dim, S)", {"dim": [], "S": []}, True),
        ("axes(dim, S)", {"dim": [], "S": [2]}, False),
    ],
    "or_else": [("or_else(stride, S)", {"stride": [2, 1], "S": [5, 5]}, True)],
    "only": [("only(dim)", {"dim": [3]}, True), ("only(dim)", {"dim": [3, 4]}, False)],
    "pads": [("pads(p)", {"p": [(1, 2), (3, 4), (0, 5)]}, True), ("pads(p)", {"p": []}, True)],
    "pads_from_last": [("pads_from_last(p, S)", {"p": [(1, 2), (3, 4)], "S": [7, 7]}, True)],
    "symmetric": [
        ("symmetric(p, S)", {"p": [(1, 1), (3, 3)], "S": [7, 7]}, True),
        ("symmetric(p, S)", {"p": [(1, 1), (3, 2)], "S": [7, 7]}, False),
    ],
}


def expanded(text):
    expansion = Expansion()
    return expansion.visit(ast.parse(text, mode="eval").body), expansion.when


def value(node, names):
    return evaluate(parse_expression(ast.unparse(node)), names, SHAPE)


@pytest.mark.parametrize("helper", HELPERS)
def test_what_is_said_is_read_back(helper):
    """And the condition holds exactly where it can be said."""
    for text, names, sayable in CALLS[helper]:
        node, when = expanded(text)
        assert all(value(each, names) for each in when) == sayable
        if not sayable:
            continue
        said = value(node, names)
        known = {name: ast.Name(name) for name in names}
        ((mine, back),) = inversions(ast.parse(text, mode="eval").body, ast.Name("theirs"), known)
        found = value(back, {**names, "theirs": said})
        assert [tuple(e) if isinstance(e, list) else e for e in found] == names[mine]


@pytest.mark.parametrize(
    ("text", "said", "found"),
    [
        ("[k]", [3], {"k": 3}),
        ("[lhs, rhs]", [3, 4], {"lhs": 3, "rhs": 4}),
        ("[only(dim), k]", [3, 4], {"dim": [3], "k": 4}),
        ("{linear: 0, nearest: 1}[mode]", 1, {"mode": "nearest"}),
        ('{False: "half", True: "whole"}[flag]', "whole", {"flag": True}),
        ("pads([p, q])", [1, 2, 3, 4], {"p": (1, 3), "q": (2, 4)}),
        ("[*dims]", [3], {}),
        ("n + 1", 3, {}),
        ("axes(dim, T)", [3], {}),  # nothing of the other's says `T`
    ],
)
def test_lists_words_and_helpers_within_each_other(text, said, found):
    """What has no inverse is not read back."""
    node = ast.parse(text, mode="eval").body
    back = dict(inversions(node, ast.Name("theirs"), {"S": ast.Name("sizes")}))
    assert {name: value(each, {"theirs": said}) for name, each in back.items()} == found


def test_a_word_that_nothing_says_is_refused():
    """Reading a call of theirs that is none of ours fails, and guesses nothing."""
    ((_, back),) = inversions(ast.parse("{a: 0}[mode]", mode="eval").body, ast.Name("it"), {})
    with pytest.raises(EvaluationError):
        value(back, {"it": 7})


@pytest.mark.parametrize("text", ["axes(dim)", "only(dim, S)", "pads(pairs=p)"])
def test_arguments_of_helpers_are_counted(text):
    """The message has the call as it should be."""
    with pytest.raises(SnippetError, match="by position") as caught:
        expanded(text)
    assert "write `" in caught.value.hint


def test_the_page_has_every_helper():
    """With what it says, when it can, and what it is."""
    text = PAGE.read_text(encoding="utf-8")
    for name, helper in HELPERS.items():
        when = f"`{helper.when}`" if helper.when else "any"
        call = f"{name}({', '.join(helper.parameters)})"
        assert f"| `{call}` | `{helper.says}` | {when} | {helper.doc} |" in text
