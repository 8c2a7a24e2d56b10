"""What the grammar accepts, what it refuses, and where it points."""

import ast

import pytest
from hypothesis import given, settings, strategies as st

from tripybuild.language.grammar import SnippetError, parse, parse_expression
from tripybuild.language.limits import MAXIMUM_CHARACTERS
from tripybuild.language.names import free_names
from tripybuild.language.program import Program

ACCEPTED = [
    "T[N, C // groups, *K]",
    "T[*[size[l] for l in equation.result]]",
    "int | size[...]",
    "T[()]",
    "(input, scales, mode)",
    'arithmetic(kind="kSUM", build=hlo.add, compute=np.add)',
    "2 <= len(D) == len(K) <= 3",
    "groups > 0 and all(s > 0 for s in (*stride, *dilation))",
    "{l: broadcast_size([d for m, d in zip(ls, s) if m == l]) for l in equation.labels}",
    "[low + d + high for (low, high), d in zip(pad, S)]",
    "[(d + sum(p)) // s\n for d, p, s in zip(D, padding, stride)]",
    "a, *b = align(lhs, rhs)\ny = build(*[a, *b])\nreturn y @ x if T == bool else -y ** 2.0",
    "stack[::-1][3 * i:3 * i + 3]",
    "resnets[0](concatenate([x, popped[0]], 1), temb)",
    "input if x is not None and mode not in ['a', None] else ~input & other",
    "reshape(x, E)  # a comment (((",
    "trt.while_(state, condition, body)",
    "_, *rest = split(x, 2)\nreturn [y for _, y in zip(S, rest)]",
]
REFUSED = {
    "lambda: 1": "`lambda` is not part of the snippet language",
    "def f(): pass\nreturn 1": "`def` is not part of the snippet language",
    "for i in x: i\nreturn 1": "a `for` loop is not part of the snippet language",
    "while x: x\nreturn 1": "a `while` loop is not part of the snippet language",
    "import os\nreturn 1": "`import` is not part of the snippet language",
    "import os": "`import` is not part of the snippet language",
    "x += 1\nreturn x": "an augmented assignment is not part of the snippet language",
    "x: int = 1\nreturn x": "an annotated assignment is not part of the snippet language",
    "x[0] = 1\nreturn x": "a line assigns one name, or two and more with at most one star",
    "x.y = 1\nreturn x": "a line assigns one name, or two and more with at most one star",
    "a, b[0] = 1, 2\nreturn a": "only a name can be assigned",
    "a, = x\nreturn a": "a line assigns one name, or two and more with at most one star",
    "*a, *b = x\nreturn a": "a line assigns one name, or two and more with at most one star",
    "a = b = 1\nreturn a": "one `=` in a line",
    "a = 1": "a snippet ends with its result",
    "1\nreturn 2": "only the last line of a snippet is its result",
    "return": "`return` needs an expression",
    "": "the snippet is empty",
    "# nothing": "the snippet is empty",
    "f(x := 1)": "`:=` is not part of the snippet language",
    "f'{x}'": "an f-string is not part of the snippet language",
    "{1, 2}": "a set is not part of the snippet language",
    "{x for x in y}": "a set comprehension is not part of the snippet language",
    "[x async for x in y]": "`async` is not part of the snippet language",
    "[await x]": "`await` is not part of the snippet language",
    "[(yield)]": "`yield` is not part of the snippet language",
    "1 << 2": "`<<` is not part of the snippet language",
    "1 ^ 2": "`^` is not part of the snippet language",
    "f(**x)": "`**` before an argument is not part of the snippet language",
    "{**x}": "`**` in a dictionary is not part of the snippet language",
    "().__class__": "`__class__`: no name begins with `_` or holds `__`",
    "x._y": "`_y`: no name begins with `_` or holds `__`",
    "_x": "`_x`: no name begins with `_` or holds `__`",
    "a__b": "`a__b`: no name begins with `_` or holds `__`",
    "f(_x=1)": "`_x`: no name begins with `_` or holds `__`",
    "_x = 1\nreturn 1": "`_x`: no name begins with `_` or holds `__`",
    "[_ for _ in x]": "`_`: no name begins with `_` or holds `__`",
    "[1 for x[0] in y]": "only names can follow `for`",
    "b'x'": "bytes are not part of the snippet language",
    "1j": "complex numbers are not part of the snippet language",
    "x is y": "`is` is for `None`, `True` and `False`",
    "x is 1": "`is` is for `None`, `True` and `False`",
    "*x": "`*` belongs in a list, a tuple, a call or brackets",
    "(x for x in y)": "a generator may only be the argument of a call",
    "\ufb01": "a snippet is plain ASCII, without '\\ufb01'",
    "1 +": "this is not a Python expression",
    "'\\d'": "this is not a Python expression",
    "2**" + str(2**128): "an integer may have at most 128 bits",
    "0x" + "f" * 3000: "an integer may have at most 128 bits",
    "'" + "x" * 1001 + "'": "a string may have at most 1,000 characters",
    "x" * 4001: "a snippet may have at most 4,000 characters",
    "a = 1\n" * 8 + "return a": "a snippet may have at most 8 statements",
    "(" * 61 + ")" * 61: "a snippet may be nested at most 60 levels deep",
    "-" * 61 + "1": "a snippet may be nested at most 60 levels deep",
    "1" + "+1" * 100: "a snippet may be nested at most 60 levels deep",
    "-" * 3999 + "1": "a snippet may be nested at most 60 levels deep",
    "-" * 10_000 + "1": "a snippet may have at most 4,000 characters",
}


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepts(text):
    """What operators need is in the language."""
    assert isinstance(parse(text).result, ast.expr)


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:20])
def test_refuses(text):
    """What is not in the table is refused by name."""
    with pytest.raises(SnippetError) as caught:
        parse(text)
    deep = caught.value.message == "the snippet is too deep" and text.startswith("-" * 3999)
    assert deep or caught.value.message.startswith(REFUSED[text])


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("x = 1\nreturn f(lambda: x)", (2, 9, 2, 18), "name a function of the vocabulary instead"),
        ("a ^ b", (1, 0, 1, 5), "powers are written `**`"),
        ("  a ^ b", (1, 2, 1, 7), "powers are written `**`"),
        ("[x\n + y._z]", (2, 3, 2, 7), None),
        ("x = 1\nreturn 1 1", (2, 9, 2, 10), None),
        ("x +\u00e9", (1, 3, 1, 4), None),
    ],
)
def test_points_at_the_place(text, place, hint):
    """An error knows where it is, also in an indented text, and what to write instead."""
    with pytest.raises(SnippetError) as caught:
        parse(text)
    error = caught.value
    assert (error.line, error.column, error.end_line, error.end_column) == place
    assert error.hint == hint


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", ["'\\d'", "1if x else 2"])
def test_odd_literals_are_refused(text):
    """What Python only warns of is a mistake, whatever is done with warnings outside."""
    with pytest.raises(SnippetError):
        parse(text)


STEP = """\
def step(h, row):
  a, b = split(row, 2)
  return [a * h, b]
def twice(h, row):
  return step(*step(h, row))
last, seen = scan(step, [x], [rows])
return last, twice(seen, y)"""
REFUSED_FUNCTIONS = {
    "def f(): return 1\nreturn 1": "a function takes tensors by position",
    "def f(x, *y): return 1\nreturn 1": "a function takes tensors by position",
    "def f(x, y=1): return 1\nreturn 1": "a function takes tensors by position",
    "def f(x: int): return 1\nreturn 1": "a function takes tensors by position",
    "def f(x) -> int: return 1\nreturn 1": "a function takes tensors by position",
    "def f(*, x): return 1\nreturn 1": "a function takes tensors by position",
    "@g\ndef f(x): return 1\nreturn 1": "a function takes tensors by position",
    "def f(f): return 1\nreturn 1": "`f` has a name twice",
    "def f(_x): return 1\nreturn 1": "`_x`: no name begins with `_` or holds `__`",
    "def __f(x): return 1\nreturn 1": "`__f`: no name begins with `_` or holds `__`",
    "def f(x): x\nreturn 1": "a function ends with `return`",
    "def f(x): return lambda: x\nreturn 1": "`lambda` is not part of the snippet language",
    "def f(x): return x._y\nreturn 1": "`_y`: no name begins with `_` or holds `__`",
    "def f(x):\n def g(y): return y\n return g\nreturn 1": "`def` is not part of",
    "def f(x):\n"
    + " a = 1\n" * 8
    + " return a\nreturn 1": "a snippet may have at most 8 statements",
    "def f(x): return x": "`def` is not part of the snippet language",
    "async def f(x): return x\nreturn 1": "`async def` is not part of the snippet language",
}


def test_reads_functions():
    """A function sees its parameters, what is assigned above it, and what is free."""
    program = parse(STEP, functions=True)
    assert free_names(program) == ("split", "scan", "x", "rows", "y")
    made = Program(program.assignments, program.result)
    assert made.text == STEP.replace("  ", "    ").replace(
        "last, twice(seen, y)", "(last, twice(seen, y))"
    )


@pytest.mark.parametrize("text", REFUSED_FUNCTIONS, ids=lambda text: text[:20])
def test_refuses_functions(text):
    """A function is names in parentheses, lines, and a result."""
    with pytest.raises(SnippetError) as caught:
        parse(text, functions=True)
    assert caught.value.message.startswith(REFUSED_FUNCTIONS[text])


def test_functions_are_for_decompositions():
    """No other snippet has them, and the hint says which do."""
    with pytest.raises(SnippetError) as caught:
        parse(STEP)
    assert caught.value.hint == "only a decomposition has functions, for operators that run them"


def test_reads_assignments():
    """Targets keep their stars, and the result is the last line's."""
    program = parse("a, *b = f(x)\nc = a\nreturn b, c")
    assert [line.targets for line in program.assignments] == [("a", "*b"), ("c",)]
    assert ast.unparse(program.result) == "(b, c)"
    assert program.text.startswith("a, *b")


def test_reads_one_expression():
    """Where an expression is asked for, lines and `return` are refused."""
    node = parse_expression(" [N, M, *E] ")
    assert (node.col_offset, node.end_col_offset) == (1, 11)
    for text in ("a = 1\na", "return 1"):
        with pytest.raises(SnippetError, match="only an expression may stand here"):
            parse_expression(text)


PIECES = st.sampled_from(
    [
        *["(", ")", "[", "]", "{", "}", ",", ".", ":", ";", "=", "==", ":=", "->", "+", "-", "**"],
        *["//", "@", "~", "<", "<<", "not", "in", "is", "and", "or", "if", "else", "for", "async"],
        *["await", "lambda", "def", "class", "return", "yield", "import", "from", "x", "y", "f"],
        *["__x__", "1", "1.5", "1j", "0x", "'a'", "b'a'", "f'{x}'", "'''", '"', "\\", "#", "..."],
        *["None", "True", "*", "\n", "\n\t", "\t", "\0", "\r", "\x0c", "\u00e9", "\ud800"],
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map(" ".join)))
def test_any_text_is_read_or_refused(text):
    """No text makes anything but a program or a `SnippetError` that points into it."""
    try:
        program = parse(text)
    except SnippetError as error:
        place = error.line, error.column
    else:
        place = 1, 0
        for node in ast.walk(program.result):
            assert not getattr(node, "id", getattr(node, "attr", "")).startswith("_")
    assert 1 <= place[0] <= text.count("\n") + 2
    assert place[1] >= 0


@pytest.mark.parametrize("unit", ["(", "[", "{", "f(", "a[", "-", "not ", "x**", "lambda:", "a."])
@pytest.mark.parametrize("end", ["", "1", ")", "!"])
def test_endless_texts_are_refused(unit, end):
    """A text of one thing over and over is refused, and the parser survives it."""
    with pytest.raises(SnippetError):
        parse(unit * ((MAXIMUM_CHARACTERS - 1) // len(unit)) + end)
