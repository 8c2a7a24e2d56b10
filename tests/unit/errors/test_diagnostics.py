"""Diagnostics read well, stay aligned, and are safe to show."""

import ast
import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import tripybuild
from tripybuild.errors.diagnostics import (
    CODES,
    Diagnostic,
    DiagnosticError,
    Related,
    Span,
    as_json,
    concise,
    pair_names,
    render,
    suggest,
    text_of,
)

PACKAGE = Path(tripybuild.__file__).parent


def one_line(line, start, end, **more):
    """A diagnostic on a stretch of a one-line file, rendered."""
    diagnostic = Diagnostic("some-code", "it is wrong", Span("a.yaml", 1, start, 1, end), **more)
    return render(diagnostic, lambda _: line).split("\n")


def test_block_form():
    """The block form is the one of the design, to the letter."""
    source = "\n" * 56 + "      down: convolution(x, w_down, groups=3)\n"
    diagnostic = Diagnostic(
        "convolution/groups-divide",
        "`convolution` requires `C % groups == 0 and M % groups == 0`",
        Span("specs/unet.yaml", 57, 13, 57, 45),
        "C = 64, M = 128, groups = 3",
        ("required by ops_registry/nn/convolution.yaml:48",),
        "use 2 groups",
    )

    assert render(diagnostic, lambda _: source) == (
        "error[convolution/groups-divide]: "
        "`convolution` requires `C % groups == 0 and M % groups == 0`\n"
        "  --> specs/unet.yaml:57:13\n"
        "   |\n"
        "57 |       down: convolution(x, w_down, groups=3)\n"
        "   |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ C = 64, M = 128, groups = 3\n"
        "note: required by ops_registry/nn/convolution.yaml:48\n"
        "hint: use 2 groups"
    )


@pytest.mark.parametrize(
    ("number", "arrow", "gutter", "row"),
    [(7, "  -->", "   |", " 7 | x"), (123, "   -->", "    |", "123 | x")],
)
def test_gutter_width(number, arrow, gutter, row):
    """The gutter is as wide as the line's number, two columns at least."""
    span = Span("a.yaml", number, 1, number, 2)
    lines = render(Diagnostic("c", "m", span), lambda _: "x\n" * number).split("\n")

    assert lines[1:4] == [f"{arrow} a.yaml:{number}:1", gutter, row]
    assert lines[4] == f"{gutter} ^"


@pytest.mark.parametrize(
    ("line", "start", "end", "shown", "carets"),
    [
        ("ab cd", 4, 6, "ab cd", "   ^^"),
        ("\tab", 2, 4, "    ab", "    ^^"),
        ("日本 x", 4, 5, "日本 x", "     ^"),
        ("日本 x", 1, 3, "日本 x", "^^^^"),
        ("e\u0301 x", 4, 5, "e\u0301 x", "  ^"),
        ("ab", 3, 3, "ab", "  ^"),
        ("ab", 9, 12, "ab", "  ^"),
    ],
)
def test_carets_stay_aligned(line, start, end, shown, carets):
    """Carets stand under the span, whatever the width of the characters before and in it."""
    rendered = one_line(line, start, end)

    assert rendered[3:] == [f" 1 | {shown}", f"   | {carets}"]


def test_span_of_several_lines():
    """Of a span over several lines the carets mark the rest of the first."""
    diagnostic = Diagnostic("c", "m", Span("a.yaml", 1, 4, 3, 2), "here")
    rendered = render(diagnostic, lambda _: "a: [b,\r\n  c\r\n]").split("\n")

    assert rendered[3:] == [" 1 | a: [b,", "   |    ^^^ here"]


def test_byte_order_mark_takes_no_column():
    """A mark at the start of the file does not shift the carets."""
    assert one_line("\ufeffab", 2, 3)[3:] == [" 1 | ab", "   |  ^"]


def test_long_line_is_cut_around_the_span():
    """Of a very long line only the part near the span is shown, and the carets fit it."""
    line = "x" * 5000 + "HERE" + "y" * 5000
    shown, carets = one_line(line, 5001, 5005)[3:]

    assert len(shown) < 200
    assert shown[carets.index("^") : carets.rindex("^") + 1] == "HERE"


def test_no_source():
    """Where the file cannot be had, the label is kept as a note."""
    diagnostic = Diagnostic("c", "m", Span("a.yaml", 3, 1, 3, 2), "found 3")

    expected = "error[c]: m\n  --> a.yaml:3:1\nnote: found 3"
    assert render(diagnostic, lambda _: None) == expected
    assert render(diagnostic, lambda _: "one line") == expected
    assert render(Diagnostic("c", "m", label="found 3"), lambda _: None) == (
        "error[c]: m\nnote: found 3"
    )


def test_color_only_adds_escapes():
    """The colored text is the plain one and escape sequences."""
    diagnostic = Diagnostic("c", "m", Span("a.yaml", 1, 1, 1, 2), "l", ("n",), "h")
    colored = render(diagnostic, lambda _: "xyz", color=True)

    assert colored != render(diagnostic, lambda _: "xyz")
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == render(diagnostic, lambda _: "xyz")


@given(st.text(max_size=30), st.text(max_size=60), st.integers(1, 70), st.integers(1, 70))
def test_any_text_is_safe_to_show(words, source, column, end_column):
    """No text of a user reaches the terminal with a control or bidirectional character."""
    span = Span(words, 1, column, 1, end_column)
    shown = render(Diagnostic(words, words, span, words, (words,), words), lambda _: source)

    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\x1b]", shown)


def test_concise():
    """The concise form is one line, with the place where there is one."""
    span = Span("a.yaml", 3, 5, 3, 9)

    assert concise(Diagnostic("some-code", "it is\nwrong", span)) == (
        "a.yaml:3:5: some-code it is wrong"
    )
    assert concise(Diagnostic("some-code", "it is wrong")) == "some-code it is wrong"


def test_json():
    """The form for programs goes through `json` and keeps everything."""
    span = Span("a.yaml", 1, 2, 3, 4)
    diagnostic = Diagnostic("c", "m", span, "l", ("n",), "h", (Related("r", span),))
    place = {"path": "a.yaml", "line": 1, "column": 2, "end_line": 3, "end_column": 4}

    assert json.loads(json.dumps(as_json(diagnostic))) == {
        "code": "c",
        "message": "m",
        "span": place,
        "label": "l",
        "notes": ["n"],
        "hint": "h",
        "related": [{"message": "r", "span": place}],
        "callers": [],
    }
    assert as_json(Diagnostic("c", "m"))["span"] is None


def test_error_reads_as_its_diagnostics(tmp_path):
    """The exception holds the diagnostics and reads as their block forms, source line included."""
    path = tmp_path / "given.py"
    path.write_text("x + y\n")
    first = Diagnostic("a", "one", Span(str(path), 1, 5, 1, 6), "here", hint="try")
    second = Diagnostic("b", "two", Span("<nowhere>", 1, 1, 1, 2))
    error = DiagnosticError(first, second)

    assert error.diagnostics == (first, second)
    assert str(error).splitlines() == [
        "error[a]: one",
        f"  --> {path}:1:5",
        "   |",
        " 1 | x + y",
        "   |     ^ here",
        "hint: try",
        "",
        "error[b]: two",
        "  --> <nowhere>:1:1",
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("convolutoin", "convolution"),
        ("Softmax", "softmax"),
        ("Cin", "C"),
        ("dim", "dims"),
        ("zzz", None),
        ("", None),
        ("x" * 100_000, None),
    ],
)
def test_suggest(name, expected):
    """The nearest known name is suggested, and none where nothing is near."""
    assert suggest(name, ["softmax", "convolution", "C", "dims", "N", ""]) == expected


@pytest.mark.parametrize(
    ("names", "others", "expected"),
    [
        (["weight", "bias"], ["weigth"], {"weight": "weigth"}),
        (["weight", "weight_scale"], ["weights"], {"weight": "weights"}),
        (["a.weight", "b.weight"], ["a.weigth", "b.weigth"], None),
        (["layer1", "other"], ["layer"], {"layer1": "layer"}),
        (["x"], [], {}),
    ],
)
def test_paired(names, others, expected):
    """Nothing is meant twice: what is nearest to each other belongs together."""
    wanted = expected if expected is not None else dict(zip(names, others, strict=True))
    assert pair_names(names, others) == wanted


def test_every_code_used_here_is_explained():
    """Each fixed code that the modules of this layer write is in `CODES`, in kebab-case."""
    used = set()
    for name in ("document", "composer", "scalars", "syntax_errors"):
        tree = ast.parse((PACKAGE / "documents" / f"{name}.py").read_text(encoding="utf-8"))
        used |= {
            node.value
            for call in ast.walk(tree)
            if isinstance(call, ast.Call)
            for node in call.args
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and re.fullmatch(r"(yaml|not|file|hidden|duplicate)-[a-z0-9-]+", node.value)
        }

    assert len(used) > 12
    assert used <= set(CODES)
    assert all(re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", code) for code in CODES)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes of Unix")
def test_a_pipe_is_not_read_to_show_it(tmp_path):
    """Nobody may ever write into it."""
    os.mkfifo(tmp_path / "pipe")
    assert text_of(str(tmp_path / "pipe")) is None
