"""YAML is read strictly, with exact places, and any text ends in data or diagnostics."""

import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from tripybuild.documents import composer
from tripybuild.documents.document import LARGEST_FILE, parse, parse_all, read
from tripybuild.errors.codes import CODES
from tripybuild.errors.diagnostics import HIDDEN, LINE_BREAK, Span

LOADERS = [yaml.SafeLoader, *([yaml.CSafeLoader] if yaml.__with_libyaml__ else [])]


@pytest.fixture(params=LOADERS, ids=lambda loader: loader.__name__, autouse=True)
def _loader(request, monkeypatch):
    """Run each test with libyaml's parser and with PyYAML's own."""
    monkeypatch.setattr(composer, "LOADER", request.param)


def data_of(text):
    """The data of a text without problems."""
    document, problems = parse(text, "a.yaml")
    assert problems == []
    return document.data


def problems_of(text):
    """The problems of a text as (code, line, column)."""
    _, problems = parse(text, "a.yaml")
    return [(problem.code, problem.span.line, problem.span.column) for problem in problems]


def text_of(document, span):
    """What stands at a span of one line."""
    assert span.line == span.end_line
    return document.text.splitlines()[span.line - 1][span.column - 1 : span.end_column - 1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("False", False),
        ("tRUE", "tRUE"),
        ("0", 0),
        ("-12", -12),
        ("+7", 7),
        ("0o17", 15),
        ("0xfF", 255),
        ("1e3", 1000.0),
        ("1e-5", 1e-5),
        (".5", 0.5),
        ("-1.", -1.0),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("y", "y"),
        ("N", "N"),
        ("x", "x"),
        ("-", [None]),
        ("1.2.3", "1.2.3"),
        ("no way", "no way"),
        ("T[N, C, *D]", "T[N, C, *D]"),
        ("'no'", "no"),
        ('"010"', "010"),
        ("|\n  yes", "yes"),
    ],
)
def test_scalar(text, expected):
    """Plain scalars follow the core schema of YAML 1.2; quoted ones and blocks are text."""
    found = data_of(text)

    assert found == expected
    assert type(found) is type(expected)


def test_nan():
    """`.nan` is a float too."""
    assert math.isnan(data_of("x: .nan")["x"])


@pytest.mark.parametrize(
    "text",
    [
        *("no", "Yes", "ON", "off", "010", "-007", "08", "1_000", "0b11", "-0x1F"),
        *("1:30", "1:30.5", "2020-01-31", "2020-01-31t21:59:43Z"),
    ],
)
def test_look_alike(text):
    """What YAML 1.1 reads otherwise is refused as a value and as a key, with a way out."""
    assert problems_of(f"a: {text}") == [("yaml-implicit-type", 1, 4)]
    assert problems_of(f"- {text}: a") == [("yaml-implicit-type", 1, 3)]
    assert problems_of(f"a: '{text}'\n'{text}': b") == []
    _, problems = parse(f"a: {text}", "a.yaml")
    assert f'`"{text}"`' in problems[0].hint


@pytest.mark.parametrize("key", ["true", "False", "NULL", "~", "1", "-2.5", "0x10", ".inf"])
def test_key_that_is_not_text(key):
    """A plain key that reads as a boolean, null or a number is refused."""
    assert problems_of(f"{key}: a") == [("yaml-implicit-type", 1, 1)]


def test_single_letters_are_keys():
    """Shape names and step names may be single letters that YAML 1.1 takes for booleans."""
    assert data_of("{N: n, y: Y, x: x}") == {"N": "n", "y": "Y", "x": "x"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\na: 3", [("duplicate-key", 3, 1)]),
        ("x: {a: 1, 'a': 2}", [("duplicate-key", 1, 11)]),
        ("a: &x 1\nb: *x", [("yaml-anchor", 1, 4), ("yaml-anchor", 2, 4)]),
        ("a: &a [*a]", [("yaml-anchor", 1, 4), ("yaml-anchor", 1, 8)]),
        ("*a : 1", [("yaml-anchor", 1, 1)]),
        ("shape: *D", [("yaml-anchor", 1, 8)]),
        ("a: *", [("yaml-anchor", 1, 4)]),
        ("<<: {a: 1}", [("yaml-anchor", 1, 1)]),
        ("a: !!str 1", [("yaml-tag", 1, 4)]),
        ("a: !!python/name:os.system x", [("yaml-tag", 1, 4)]),
        ("a: &x\n  !t b", [("yaml-anchor", 1, 4), ("yaml-tag", 2, 3)]),
        ("a: !unknown!x b", [("yaml-tag", 1, 4)]),
        ("? [a]\n: 1", [("yaml-key", 1, 3)]),
        ("%YAML 1.2\n---\na: 1", [("yaml-directive", 1, 1)]),
        ("%YAML 1.2\n# a", [("yaml-directive", 2, 4)]),
        ("%YAML 1.2\na: 1", [("yaml-directive", 2, 1)]),
        ("%YAML 9.0\n---\na: 1", [("yaml-directive", 1, 1)]),
        ("{type: int, doc: One, two}", [("yaml-missing-colon", 1, 23)]),
        ("? a", [("yaml-missing-colon", 1, 3)]),
        ("a: 1\n---\nb: 2", [("yaml-documents", 2, 1)]),
        ("a: x\u202ey\nb: \x07", [("hidden-character", 1, 5), ("hidden-character", 2, 4)]),
        ('a: "\\e"\nb: "\\u202e"', [("hidden-character", 1, 4), ("hidden-character", 2, 4)]),
        ("a: " + "9" * 41, [("yaml-too-large", 1, 4)]),
        ("a: 0x" + "f" * 50_000, [("yaml-too-large", 1, 4)]),
        ("a: -1e999", [("yaml-too-large", 1, 4)]),
        ("a: 1e-999", [("yaml-too-large", 1, 4)]),
        (
            "a: " + "x" * 100_001 + "\nb: no",
            [("yaml-too-large", 1, 4), ("yaml-implicit-type", 2, 4)],
        ),
        ("a: " + "[" * 64, [("yaml-too-deep", 1, 67)]),
    ],
)
def test_refused(text, expected):
    """What could mislead or harm is refused at its exact place, all of it in one run."""
    assert problems_of(text) == expected


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ("a:\n\tb: 1", 2, 1, "a tab indents this line"),
        ("a:\n  b: 1\n\tc: 2", 3, 1, "a tab indents this line"),
        ("a: |\n x\n\ty", 3, 1, "a tab indents this line"),
        ("a: 'b\nc: 1\n", 1, 4, "this quoted string is never closed"),
        ('a: "b', 1, 4, "this quoted string is never closed"),
        ("a: [1,\nb: 2", 1, 4, "`[` is never closed"),
        ("a: {b: 1", 1, 4, "`{` is never closed"),
        ("a: [b: c: d]", 1, 9, "`,` or `]` is expected, found `:`"),
        ("a: b: c", 1, 5, "`:` begins a value where none can begin"),
        ("a: 1\nbc\nd: 2", 2, 1, "this is neither `key: value` nor part of the value above"),
        ("a:\n   b: 1\n  c: 2", 3, 3, "this line fits nothing above it"),
        ("- 1\nb: 2", 2, 1, "this line fits nothing above it"),
        ("a: 'it's'", 1, 8, "text follows a closing quote"),
        ("a: [b] c", 1, 8, "text follows a complete value"),
        ("[b] c", 1, 5, "text follows a complete value"),
        ("'b' c", 1, 5, "text follows a closing quote"),
        ("a: b ? c: d", 1, 9, "`:` begins a value where none can begin"),
        ("a: ? b", 1, 4, "`?` begins a key where none can begin"),
        ("a: @b", 1, 4, "`@` cannot begin a value"),
        ("a: `b`", 1, 4, "a backtick cannot begin a value"),
        ("a: - b", 1, 4, "`-` begins a list item where none can begin"),
        ("a: |b\n  c", 1, 5, "text follows `|` on its line"),
        ("a: [1,, 2]", 1, 7, "a value is expected, found `,`"),
    ],
)
def test_syntax_error(text, line, column, words):
    """A syntax error ends the file with one diagnostic, at its place, in plain words."""
    document, problems = parse(text, "a.yaml")

    assert document is None
    assert [problem.message for problem in problems] == [words]
    assert problems[0].code == "yaml-syntax"
    assert (problems[0].span.line, problems[0].span.column) == (line, column)


@pytest.mark.parametrize("unit", ["[", "- ", "[\n", "{a: ", "? ", "[&a "])
def test_deep_nesting_is_a_diagnostic(unit):
    """Fifty thousand levels neither crash the parser nor take long."""
    document, problems = parse(unit * 50_000, "a.yaml")

    assert document is None
    assert problems[-1].code == "yaml-too-deep"


def test_nesting_below_the_limit():
    """Sixty-three levels are read."""
    found = data_of("[" * 63 + "]" * 63)

    for _ in range(62):
        (found,) = found
    assert found == []


def test_many_problems_end_the_file():
    """A file that is all problems gives a bounded number of them."""
    _, problems = parse("a: 1\n" * 5000, "a.yaml")

    assert len(problems) == 101
    assert problems[-1].message == "reading stops here, after 100 problems"


def test_many_values_end_the_file(monkeypatch):
    """The number of values is bounded."""
    monkeypatch.setattr(composer, "MOST_VALUES", 50)

    assert [code for code, *_ in problems_of("[" + "1, " * 60 + "]")] == ["yaml-too-large"]


def test_duplicate_names_both_lines():
    """The first of two equal keys counts, and the problem names both lines."""
    document, problems = parse("a: 1\nb:\n  c: 1\na:\n  c: 2", "a.yaml")

    assert document.data == {"a": 1, "b": {"c": 1}}
    assert problems[0].message == "the key `a` occurs twice, on lines 1 and 4"
    assert document.span(("a",)).line == document.span(("a", "c")).line == 1


NESTED = """\
op: softmax
inputs:
  x:
    type: T[*S]
    list: [1, {k: v}]

decompose: |
  a = x
  return a

examples:
  - call: f(x)
    gives: 1
"""


@pytest.mark.parametrize(
    ("location", "is_key", "expected"),
    [
        (("op",), False, (1, 5, 1, 12)),
        (("op",), True, (1, 1, 1, 3)),
        (("inputs",), False, (3, 3, 5, 22)),
        (("inputs", "x"), True, (3, 3, 3, 4)),
        (("inputs", "x", "list", 1), False, (5, 15, 5, 21)),
        (("inputs", "x", "list", 1, "k"), False, (5, 19, 5, 20)),
        (("inputs", "x", "list"), False, (5, 11, 5, 22)),
        (("decompose",), False, (8, 3, 9, 11)),
        (("examples",), False, (11 + 1, 3, 13, 13)),
        (("examples", 0), True, (12, 5, 13, 13)),
        (("inputs", "x", "doc"), False, (4, 5, 5, 22)),
        (("inputs", "x", "doc"), True, (3, 3, 3, 4)),
        (("absent", 3), False, (1, 1, 13, 13)),
        ((), True, (1, 1, 13, 13)),
    ],
)
def test_span(location, is_key, expected):
    """Every key and value has its place, and what is absent has its nearest parent's."""
    document, _ = parse(NESTED, "a.yaml")

    assert document.span(location, key=is_key) == Span("a.yaml", *expected)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_breaks_and_byte_order_mark(newline, mark):
    """Windows line breaks and a byte order mark change neither data nor places."""
    plain, _ = parse(NESTED, "a.yaml")
    document, problems = parse(mark + NESTED.replace("\n", newline), "a.yaml")

    assert problems == []
    assert document.data == plain.data
    for location in [("op",), ("inputs",), ("decompose",), ("examples", 0, "gives")]:
        assert document.span(location) == plain.span(location)


@pytest.mark.parametrize(
    "text",
    [
        "é😀: ab + name",
        "k: 'ab + name'",
        "k: 'it''s + name'",
        'k: "ab + name"',
        'k: "\\x41\\u0042\\U00000043\\t\\"\\\\ + name"',
        'k: "a\\nb + name"',
        "k: |\n  ab + name",
        "k: |2-\n    ab + name",
        "- k: |+ # why\n\n      ab\n        + name\n\n\n- 1",
        "k: |\r\n  ab\r\n  é😀 + name\r\n",
    ],
)
def test_snippet_span_is_exact(text):
    """A name in a scalar's text is found where it is written."""
    document, problems = parse(text, "a.yaml")
    location, value = (), document.data
    while not isinstance(value, str):
        step = next(iter(value)) if isinstance(value, dict) else 0
        location, value = (*location, step), value[step]
    rows = value.split("\n")
    line = next(number for number, row in enumerate(rows, 1) if "name" in row)
    column = rows[line - 1].index("name")

    assert problems == []
    span = document.snippet_span(location, line, column, line, column + 4)
    assert text_of(document, span) == "name"


def test_snippet_span_over_lines():
    """A stretch of a block may go over lines."""
    document, _ = parse(NESTED, "a.yaml")

    assert document.snippet_span(("decompose",), 1, 4, 2, 6) == Span("a.yaml", 8, 7, 9, 9)


def test_snippet_span_never_ends_before_it_begins():
    """Positions that are out of order or out of the text give a place in the text."""
    document, _ = parse("k: abc", "a.yaml")

    assert document.snippet_span(("k",), 1, 2, 1, 0) == Span("a.yaml", 1, 6, 1, 6)
    assert document.snippet_span(("k",), 0, -5, 7, 99) == Span("a.yaml", 1, 4, 1, 7)


@pytest.mark.parametrize("text", ["k: >\n  ab\n  cd\n", "k: ab\n  cd", "k: 'ab\n  cd'", "k: 12"])
def test_snippet_span_falls_back(text):
    """Where a position is not known, the place is the whole value's."""
    document, _ = parse(text, "a.yaml")

    assert document.snippet_span(("k",), 1, 1, 1, 2) == document.span(("k",))
    assert document.snippet_span(("z",), 1, 1, 1, 2) == document.span(("z",))


def test_several_documents():
    """Documents come apart, with places in the whole text."""
    documents, problems = parse_all("a: 1\n---\nb: 2\n---\nc: [", "a.yaml")

    assert [document.data for document in documents] == [{"a": 1}, {"b": 2}]
    assert documents[1].span(("b",)) == Span("a.yaml", 3, 4, 3, 5)
    assert [problem.code for problem in problems] == ["yaml-syntax"]


def test_empty_text():
    """An empty text is a document of nothing, and no document among several."""
    assert data_of("# nothing\n") is None
    assert parse_all("", "a.yaml") == ([], [])


def test_read(tmp_path):
    """A file is read as its text would be."""
    path = tmp_path / "a.yaml"
    path.write_bytes("\ufeffname: é\r\n".encode())
    document, problems = read(path)

    assert problems == []
    assert document.data == {"name": "é"}
    assert document.path == path.as_posix()


@pytest.mark.parametrize(
    ("content", "code", "line", "column"),
    [
        (b"a: \xc3\xa9\nb: \xff", "not-utf8", 2, 4),
        ("a: 1".encode("utf-16"), "not-utf8", 1, 1),
        (b"a: 1\n#" + b"x" * LARGEST_FILE, "yaml-too-large", 1, 1),
    ],
)
def test_read_refuses(tmp_path, content, code, line, column):
    """A file that is not UTF-8 or too large is a diagnostic."""
    path = tmp_path / "a.yaml"
    path.write_bytes(content)
    document, (problem,) = read(path)

    assert document is None
    assert (problem.code, problem.span.line, problem.span.column) == (code, line, column)


def test_read_what_is_no_file(tmp_path):
    """An absent file, a folder, a device and an impossible name are diagnostics."""
    for path in [tmp_path / "absent.yaml", tmp_path, Path("/dev/zero"), Path("a\0b")]:
        document, (problem,) = read(path)

        assert document is None
        assert problem.code in {"file-not-found", "file-unreadable"}


def test_text_that_is_too_large():
    """A text beyond the limit is not given to the parser."""
    assert parse_all("#" * (LARGEST_FILE + 1), "a.yaml")[1][0].code == "yaml-too-large"


TEXTS = st.text().filter(lambda text: not HIDDEN.search(text) and "\r" not in text)
SCALARS = st.none() | st.booleans() | st.integers(-(10**39), 10**39) | TEXTS
DATA = st.recursive(
    SCALARS | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


class Dumper(yaml.SafeDumper):
    """Writes every text in quotes, and no aliases."""

    def ignore_aliases(self, _data):
        return True


Dumper.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


@settings(max_examples=60, deadline=None)
@given(data=DATA, flow=st.booleans(), unicode=st.booleans())
def test_dumped_data_comes_back(data, flow, unicode):
    """What PyYAML writes, with its texts quoted, is read as it was."""
    text = yaml.dump(data, Dumper=Dumper, default_flow_style=flow, allow_unicode=unicode)
    document, problems = parse(text, "a.yaml")

    assert problems == []
    assert document.data == data


PIECES = [
    "a",
    ": ",
    "- ",
    "\n",
    "  ",
    "\t",
    "[",
    "]",
    "{",
    "}",
    ",",
    "'",
    '"',
    "|",
    ">",
    "&x",
    "*x",
]
PIECES += ["!t", "%", "@", "#", "? ", "---\n", "...", "no", "010", "\\", "\r\n", "é", "\ufeff", "é"]
PIECES += ["1e9", "\\U99999999", "%YAML 1.1\n", "<<", "\x00", "\u2028", "0x", "_", "\ud800"]


@settings(max_examples=150, deadline=None)
@given(text=st.lists(st.sampled_from(PIECES) | st.characters(), max_size=25).map("".join))
def test_any_text_ends_in_data_or_diagnostics(text):
    """No text makes the reader raise, and every place that it gives is in the text."""
    document, problems = parse(text, "a.yaml")
    lines = LINE_BREAK.split(text)

    assert document is not None or problems
    for problem in problems:
        assert 1 <= problem.span.line <= len(lines)
        assert 1 <= problem.span.column <= len(lines[problem.span.line - 1]) + 1
        assert problem.code in CODES
    check_spans(document)


def check_spans(document, location=()):
    """Every part of a document has a place that does not end before it begins."""
    if document is None:
        return
    value = document.at(location)
    span = document.span(location)
    assert (span.line, span.column) <= (span.end_line, span.end_column)
    if isinstance(value, str):
        inner = document.snippet_span(location, 1, 0, 9, 9)
        assert (inner.line, inner.column) <= (inner.end_line, inner.end_column)
    elif isinstance(value, dict | list):
        for step in value if isinstance(value, dict) else range(len(value)):
            check_spans(document, (*location, step))
