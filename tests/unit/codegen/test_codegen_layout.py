"""The pretty printer: the formatter leaves alone what it prints, and it keeps its meaning."""

import ast
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from tripybuild.codegen.python.expressions import statement_value
from tripybuild.codegen.python.layout import WIDTH, render

ROOT = Path(__file__).resolve().parents[3]
RUFF = shutil.which("ruff", path=str(ROOT / ".venv" / "bin")) or shutil.which("ruff")
needs_ruff = pytest.mark.skipif(RUFF is None, reason="ruff is not installed")

CORPUS = [
    "a",
    "a + b * c - d // e % f",
    "(a + b) * -c ** 2",
    "x ** -y",
    "f(a, *d, b=c)",
    "(*stride, *dilation)",
    "(a,)",
    "[a, b, *c][1:-1]",
    "x[1:, ::2]",
    "not a and (b or c) and d is not None",
    "2 <= len(D) == len(K) <= 3",
    "a if b else c if d else e",
    "all(s > 0 for s in (*stride, *dilation))",
    "[(d + sum(p) - r * (k - 1) - 1) // s + 1 for d, k, s, p, r in zip(D, K, stride, padding, dilation)]",  # noqa: E501
    "{name: value for name, (value, _) in items if value if name}",
    '{"a": 1, **rest}',
    "trt.convolution(input, weight, bias, stride=stride, dilation=dilation, num_groups=groups, pre_padding=[p[0] for p in padding])",  # noqa: E501
    "trt.reshape(trt.softmax(flat, axis=flat.rank - 1 if dim is None else flat.rank - len(S) + dim), S)",  # noqa: E501
    "first_long_operand_name * second_long_operand_name + third_long_operand_name * fourth_long_operand_name + fifth",  # noqa: E501
    "first_condition_that_is_long and second_condition_that_is_long and third_condition_that_is_long or fourth",  # noqa: E501
    "value_of_the_first_kind if condition_that_decides_about_it(a, b, c) else value_of_the_second_kind(d, e, f, g)",  # noqa: E501
    "cls(a_first_long_argument, a_second_long_argument, a_third_long_argument, a_fourth).with_types(TensorType(T, (S, B, D * H)), TensorType(T, (D, B, H)), TensorType(T, (D, B, H)))",  # noqa: E501
    '"text with \\"quotes\\" and a \\\\ backslash"',
    "1.5e-07 + 3",
]


def printed(expression: str) -> str:
    """A statement with the expression at its right."""
    node = ast.parse(expression, mode="eval").body
    return render(["result = ", statement_value(node)])


def formatted(text: str) -> str:
    """What the formatter makes of a text."""
    command = [RUFF, "format", "--isolated", "--line-length", str(WIDTH), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def meaning(statement: str) -> str:
    """The value of an assignment as a syntax tree."""
    return ast.dump(ast.parse(statement).body[0].value)


@pytest.mark.parametrize("expression", CORPUS)
def test_corpus_keeps_its_meaning(expression):
    """Parentheses and line breaks change nothing."""
    assert meaning(printed(expression)) == meaning(f"result = {expression}")


@needs_ruff
def test_corpus_is_formatted():
    """The formatter leaves each statement of the corpus as it is."""
    text = "\n".join(map(printed, CORPUS)) + "\n"
    assert formatted(text) == text


names = st.sampled_from(["a", "stride", "padding", "input_channels", "a_name_of_medium_length"])
atoms = st.one_of(
    names, st.integers(0, 9_999).map(str), st.sampled_from(['"text"', "None", "True"])
)


def larger(parts):
    """Expressions made of smaller ones."""
    several = st.lists(parts, min_size=1, max_size=5)
    operators = st.sampled_from(["+", "-", "*", "//", "%", "@"])
    return st.one_of(
        st.tuples(parts, operators, parts).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})"),
        several.map(lambda p: f"[{', '.join(p)}]"),
        several.map(lambda p: f"({', '.join(p)},)"),
        st.tuples(names, several).map(lambda t: f"{t[0]}({', '.join(t[1])})"),
        st.tuples(names, parts, several).map(lambda t: f"{t[0]}({t[1]}, key=[{', '.join(t[2])}])"),
        st.tuples(parts, parts, parts).map(lambda t: f"(({t[0]}) if ({t[1]}) else ({t[2]}))"),
        st.tuples(parts, parts).map(lambda t: f"(({t[0]}) and ({t[1]}))"),
        st.tuples(parts, parts).map(lambda t: f"(({t[0]}) <= ({t[1]}))"),
        st.tuples(parts, names).map(lambda t: f"[({t[0]}) for item in {t[1]} if item]"),
        st.tuples(names, parts).map(lambda t: f"{t[0]}[({t[1]})]"),
        parts.map(lambda p: f"-({p})"),
    )


expressions = st.recursive(atoms, larger, max_leaves=14)


@given(expressions)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_expression_keeps_its_meaning(expression):
    """What is printed is read as the same tree."""
    assert meaning(printed(expression)) == meaning(f"result = {expression}")


# Where a statement breaks at an operator whose last operand has brackets, the formatter may hug the
# brackets and the printer does not; declarations do not go there, nor does this test.
sums = st.lists(atoms, min_size=1, max_size=4).map(" + ".join)


def bracketed(parts):
    """Calls, displays and comprehensions of smaller ones."""
    several = st.lists(parts, min_size=1, max_size=5)
    return st.one_of(
        several.map(lambda p: f"[{', '.join(p)}]"),
        several.map(lambda p: f"({', '.join(p)},)"),
        st.tuples(names, several).map(lambda t: f"{t[0]}({', '.join(t[1])})"),
        st.tuples(names, parts, several).map(lambda t: f"{t[0]}({t[1]}, key=[{', '.join(t[2])}])"),
        st.tuples(parts, names).map(lambda t: f"[{t[0]} for item in {t[1]} if item]"),
    )


@needs_ruff
@given(st.lists(st.recursive(sums, bracketed, max_leaves=8), min_size=4, max_size=8))
@settings(max_examples=25, deadline=None, derandomize=True)
def test_any_call_is_formatted(many):
    """The formatter leaves printed calls, displays and comprehensions as they are."""
    text = "\n".join(map(printed, many)) + "\n"
    assert formatted(text) == text
