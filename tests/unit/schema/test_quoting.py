"""Quotes by one rule: where YAML needs them, and nowhere else."""

import random

import pytest
from declaration_files import FILES, HINT, meaning

from tripybuild.documents.document import parse, read
from tripybuild.schema.formatting import format_document, requote
from tripybuild.schema.kinds import KINDS, kind_of
from tripybuild.schema.reading_order import is_expression

SPELLINGS = {True: ["True", "TRUE"], False: ["False", "FALSE"], None: ["~", "Null", "NULL"]}


def quoted(text, *, expressions=True):
    document, problems = parse(text, "a.yaml")
    assert problems == []
    return requote(document, lambda _: expressions)


def respelled(document, draw):
    """A file with half of its texts and words written in another way that means the same."""
    lines = document.text.splitlines(keepends=True)
    model = KINDS[kind_of(document.data)]
    found = sorted(document.inline_values(), key=lambda each: each[1], reverse=True)
    for location, (row, start, _, stop), written in found:
        value, line = document.at(location), lines[row]
        ways = []
        if isinstance(value, str):
            ways = [f"'{value.replace(chr(39), chr(39) * 2)}'"]
            ways += [] if '"' in value or "\\" in value else [f'"{value}"']
        elif isinstance(value, bool) or (value is None and written):
            ways = list(SPELLINGS[value])
            if is_expression(model, location):
                ways += [repr(value), f'"{value}"']
        if ways and draw.random() < 0.5:
            lines[row] = line[:start] + draw.choice(ways) + line[stop:]
    return "".join(lines)


@pytest.mark.parametrize("seed", range(2))
def test_every_file_comes_back_from_other_quotes(seed):
    """And its expressions say the same in between."""
    draw, different = random.Random(seed), 0
    for path in FILES:
        document, problems = read(path)
        assert (problems, format_document(document)) == ([], document.text), HINT
        text = respelled(document, draw)
        other, problems = parse(text, document.path)
        assert problems == []
        assert format_document(other) == document.text
        assert meaning(parse(format_document(other), "a.yaml")[0]) == meaning(document)
        different += text != document.text
    assert different > 0.9 * len(FILES)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("'x + 1'", "x + 1"),
        ('"x + 1"', "x + 1"),
        ("'[1, x]'", '"[1, x]"'),
        ("'''zeros'''", "\"'zeros'\""),
        ("\"{0: 'a'}[x]\"", "\"{0: 'a'}[x]\""),
        ('"{0: \\"a\\"}[x]"', "'{0: \"a\"}[x]'"),
        ("'a: b'", '"a: b"'),
        ("'a #b'", '"a #b"'),
        ("'no'", '"no"'),
        ("''", '""'),
        (r'"a\nb"', r'"a\nb"'),
        ("'1'", "1"),
        ("'1e5'", '"1e5"'),
        ("'None'", "null"),
        ("None", "null"),
        ("'True'", "true"),
        ("False", "false"),
        ("~", "null"),
    ],
)
def test_expressions(written, wanted):
    """In block style; a number in quotes is one, as Python reads it."""
    assert quoted(f"a: {written}  # why\n") == f"a: {wanted}  # why\n"


def test_texts_of_the_form_keep_their_type():
    """A text is no number, and `None` no word, where no expression stands."""
    text = 'a: "1"\nb: None\nc: "None"\nd: TRUE\n'
    assert quoted(text, expressions=False) == 'a: "1"\nb: None\nc: None\nd: true\n'


def test_brackets_need_more_quotes():
    """Commas and brackets end a text there."""
    text = "a: {x: 'T[*S]', y: 'b c', z: ['d, e', 'f']}\nb: 'T[*S], d'\n"
    assert quoted(text) == 'a: {x: "T[*S]", y: b c, z: ["d, e", f]}\nb: T[*S], d\n'


def test_texts_of_several_lines_stay():
    """However they are written."""
    text = "a: |\n  'x'\nb: 'one\n\n  two'\nc: x\n  y\n"
    assert quoted(text) == text
