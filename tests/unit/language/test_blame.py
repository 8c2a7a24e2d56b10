"""What is underlined where a part of an expression fails."""

import ast

import pytest

from tripybuild.language.blame import blamed_part
from tripybuild.language.grammar import parse


@pytest.mark.parametrize(
    ("text", "underlined"),
    [
        ("down(relu(up(x)))", "down"),
        ("softmax(x + y, 1)", "softmax(x + y, 1)"),
        ("x.reshape([a, b])", "x.reshape([a, b])"),
        ("relu(x).reshape([a, b])", ".reshape"),
        ("x.reshape(f(y))", ".reshape"),
        ("layers[0].norm(relu(x))", ".norm"),
        ("a + b", "a + b"),
        ("a * b + c", "+"),
        ("relu(a) @ (b)", "@"),
        ("(f(a))\\n// b", None),
        ("relu(a)[0, 1]", "[0, 1]"),
        ("a[0]", "a[0]"),
        ("-relu(a)", "-relu(a)"),
    ],
)
def test_the_part_that_is_about_the_node_alone(text, underlined):
    """A name, a sign or brackets where there are calls inside; else the node."""
    text = text.replace("\\n", "\n")
    program = parse(f"({text})" if "\n" in text else text)
    node = blamed_part(program.result, program.text)

    assert isinstance(node, ast.AST)
    if underlined is None:
        assert node is program.result
    else:
        assert text[node.col_offset : node.end_col_offset] == underlined
