"""Keys in another order: what moves with a key, what stays, and that nothing else changes."""

import random
from collections import Counter

import pytest
from declaration_files import FILES, HINT, REGISTRY, meaning

from tripybuild.documents.document import parse, read
from tripybuild.schema.formatting import format_document, reorder
from tripybuild.schema.kinds import KINDS, kind_of
from tripybuild.schema.load import load
from tripybuild.schema.reading_order import entries


def moved(text, orders):
    document, problems = parse(text, "a.yaml")
    assert problems == []
    return reorder(document, orders)


def root(text, keys):
    return moved(text, {(): keys.split()})


def shuffled(document, draw):
    """A file with the keys of each of its entries in another order.

    A comment that comes to the top would be the file's: then the first key stays.
    """
    found = entries(document.data, KINDS[kind_of(document.data)])
    orders = {place: draw.sample(keys, len(keys)) for place, keys, _ in found}
    if "\n#" in document.text:
        orders[()].sort(key=lambda key: key != "tripybuild")
    return reorder(document, orders)


@pytest.mark.parametrize("seed", range(2))
def test_every_file_comes_back_from_any_order(seed):
    """With its comments, quotes and blank lines; and means the same in between."""
    draw, different = random.Random(seed), 0
    for path in FILES:
        document, problems = read(path)
        assert (problems, format_document(document)) == ([], document.text), HINT
        text = shuffled(document, draw)
        other, problems = parse(text, document.path)
        assert (problems, meaning(other)) == ([], meaning(document))
        assert Counter(text) == Counter(document.text)
        assert format_document(other) == document.text
        different += text != document.text
    assert different > 0.9 * len(FILES)


def test_a_registry_loads_in_any_order(tmp_path):
    """The order of keys is nobody's error."""
    draw = random.Random(0)
    folder = tmp_path / "ops_registry"
    for path in REGISTRY.rglob("*.yaml"):
        place = folder / path.relative_to(REGISTRY)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(shuffled(read(path)[0], draw), encoding="utf-8")
    registry, found = load([folder])
    assert found == []
    names = {path.stem for path in REGISTRY.rglob("*.yaml")}
    assert registry.operators.keys() <= names
    assert len(registry.operators) + len(registry.modules) > 0.9 * len(names)


COMMENTED = """\
# of the file
b: 1  # beside b
# above a

# right above a
a:
  x: 1
  # inside of a

c: |
  # text
# at the end
"""


def test_comments_travel_with_the_key_below():
    """But for those of the file, and those at the end of a mapping."""
    assert (
        root(COMMENTED, "a c b")
        == """\
# of the file
# above a

# right above a
a:
  x: 1
  # inside of a

c: |
  # text
b: 1  # beside b
# at the end
"""
    )
    assert root(COMMENTED, "b a c") == COMMENTED


def test_items_keep_their_dash():
    """The first key of an item stands behind it, whichever that is."""
    text = "a:\n  -   y: 1\n      # why\n      x:\n      - 2\n  # next\n  - - y: 1\n      x: 2\n"
    found = moved(text, {("a", 0): ["x", "y"], ("a", 1, 0): ["x", "y"]})
    assert found == (
        "a:\n  # why\n  -   x:\n      - 2\n      y: 1\n  # next\n  - - x: 2\n      y: 1\n"
    )


def test_mappings_in_braces_keep_their_form():
    """Over several lines, too; one with a comment stays as it is."""
    text = "a: { y: {q: 1, p: [2, 3]},\n     x : 'a, b' }\n"
    found = moved(text, {("a",): ["x", "y"], ("a", "y"): ["p", "q"]})
    assert found == "a: { x : 'a, b',\n     y: {p: [2, 3], q: 1} }\n"
    text = "a: {y: 1,  # one\n    x: 2}\n"
    assert moved(text, {("a",): ["x", "y"]}) == text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("b: 1\na: 2", "a: 2\nb: 1\n"),
        ("b: 1\r\na: 2", "a: 2\r\nb: 1\r\n"),
        ("b:\na: ''\n", "a: ''\nb:\n"),
        ("b: one\n  two\n\n  three\na: 'x\n\n  y'\n", "a: 'x\n\n  y'\nb: one\n  two\n\n  three\n"),
        ("b: >\n  one\n\n  two\n\na: 2\n", "a: 2\n\nb: >\n  one\n\n  two\n"),
        ("---\nb: 1\n'a': 2\n...\n", "---\n'a': 2\nb: 1\n...\n"),
    ],
)
def test_forms_of_values(text, wanted):
    """What is quoted, folded, empty, or has the line breaks of another system."""
    assert root(text, "a b") == wanted


@pytest.mark.parametrize(
    "text", ["b: |+\n  text\n\n\na: 1\n\nc: 1\n", "? b\n: 1\n? a\n: 2\n? c\n: 3\n"]
)
def test_what_cannot_be_moved_stays(text):
    """Blank lines that are text, and keys behind a `?`."""
    assert root(text, "a b c") == text
    assert root(text, "c a b") == text
