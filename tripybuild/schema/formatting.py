"""Canonical formatting: what `tripybuild fmt` writes and `gen --check` requires.

Quotes: a text is in quotes where YAML needs them: in double ones, or in single ones around double
ones and backslashes. The words are `true`, `false` and `null`. Texts of several lines stay.

Order: whole lines move. A comment above a key and one behind a value move with them; comments above
the first key of a file are the file's, and those above the `-` of an item are the item's. Blank
lines move with the key below them; a key that comes to the first place leaves them to the one that
was there.

Invariant: what is read from the text stays the same, but for an expression: the text of a number or
of a constant becomes the number, or the word for the constant, which say the same. Where moved
lines would mean something else, as with `|+`, whose blank lines are part of the text, keys stay.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise

from tripybuild.documents.composer import Location
from tripybuild.documents.document import Document, parse
from tripybuild.errors.diagnostics import LINE_BREAK
from tripybuild.schema.kinds import KINDS, kind_of
from tripybuild.schema.reading_order import entries, is_expression


def format_document(document: Document) -> str | None:
    """Give the text of a document in its one form, or None where it is no file of tripybuild's.

    Args:
        document: A document that was read without a problem.
    """
    kind = kind_of(document.data)
    if kind is None:
        return None
    text = requote(document, partial(is_expression, KINDS[kind]))
    if text != document.text:
        again, _ = parse(text, document.path)
        assert again is not None
        document = again
    found = entries(document.data, KINDS[kind])
    orders = {location: order for location, keys, order in found if keys != order}
    return reorder(document, orders)


def is_formatted(document: Document) -> bool:
    """Tell whether a document has its one form, or could not be given it."""
    return format_document(document) in (document.text, None)


_WORDS = {
    **dict.fromkeys(("True", "TRUE"), "true"),
    **dict.fromkeys(("False", "FALSE"), "false"),
    **dict.fromkeys(("~", "Null", "NULL"), "null"),
}
_CONSTANTS = {"True": "true", "False": "false", "None": "null"}


def requote(document: Document, is_expression: Callable[[Location], bool]) -> str:
    """Give the text of a document with quotes by the rule.

    Args:
        document: A document that was read without a problem.
        is_expression: Whether the value at a place is an expression of Python.
    """
    edits: list[tuple[int, int, int, str]] = []
    for location, (row, start, _, stop), written in document.inline_values():
        if written in _WORDS:
            edits.append((row, start, stop, _WORDS[written]))
        elif written[:1] in ("'", '"') or written == "None":
            value = document.at(location)
            if isinstance(value, str):
                wanted = _quoted_scalar(document, location, value, is_expression(location))
                edits += [(row, start, stop, wanted)] if wanted not in (None, written) else []
    if not edits:
        return document.text
    ends = [match.end() for match in LINE_BREAK.finditer(document.text)]
    starts, text = [0, *ends], document.text
    for row, start, stop, wanted in sorted(edits, reverse=True):
        text = text[: starts[row] + start] + wanted + text[starts[row] + stop :]
    again, problems = parse(text, document.path)
    same = not problems and again is not None and _texts(again.data) == _texts(document.data)
    return text if same else document.text


def _quoted_scalar(
    document: Document, location: Location, value: str, is_expression: bool
) -> str | None:
    """How a text is written by the rule; None where it stays as it is."""
    if is_expression and value in _CONSTANTS:
        return _CONSTANTS[value]
    is_flow = any(document.is_flow(location[:depth]) for depth in range(len(location)))
    if _is_plain(value, is_flow=is_flow, is_expression=is_expression):
        return value
    if not value.isprintable():
        return None
    if '"' in value or "\\" in value:
        return "'" + value.replace("'", "''") + "'"
    return f'"{value}"'


@lru_cache(maxsize=4096)
def _is_plain(text: str, *, is_flow: bool, is_expression: bool) -> bool:
    """Whether a text needs no quotes where it stands, as the strict reader says."""
    document, problems = parse(f"[{text}]" if is_flow else f"- {text}", "")
    if problems or document is None:
        return False
    found = document.data
    read = found[0] if isinstance(found, list) and len(found) == 1 else None
    return read == text or (is_expression and isinstance(read, int | float) and str(read) == text)


def _texts(data: object) -> object:
    """What a document holds, with numbers and constants as Python writes them."""
    if isinstance(data, dict):
        return {key: _texts(value) for key, value in data.items()}
    return [_texts(each) for each in data] if isinstance(data, list) else str(data)


_DASHES = re.compile(r" *(?:- +)+")
_COMMA = re.compile(r"\s*,\s*")


@dataclass(frozen=True, slots=True)
class _Entry:
    """The lines of one key: blank ones, comments above it, its own, and the rest of its value."""

    blank: list[str]
    above: list[str]
    key: str
    rest: list[str]


def reorder(document: Document, orders: Mapping[Location, Sequence[str]]) -> str:
    """Give the text of a document in which some mappings have their keys in these orders.

    Args:
        document: A document that was read without a problem.
        orders: All keys of a mapping in their new order, by its location.
    """
    starts = [0, *(match.end() for match in LINE_BREAK.finditer(document.text))]
    deepest_first = sorted(orders.items(), key=lambda each: len(each[0]), reverse=True)
    text, blocks = document.text, []
    for location, order in deepest_first:
        if document.is_flow(location):
            text = _with_flow(document, text, starts, location, order)
        else:
            blocks.append((location, order))
    original = _lines(text)
    lines = list(original)
    for location, order in blocks:
        _move(document, original, lines, location, order)
    if (result := "".join(lines)) == document.text:
        return result
    again, problems = parse(result, document.path)
    same = not problems and again is not None and _same(again.data, document.data)
    return result if same else document.text


def _same(one: object, other: object) -> bool:
    """Whether two documents hold the same, in whatever order; as JSON, NaN is as good as others."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _lines(text: str) -> list[str]:
    """The lines of a text with their ends, which the last one gets, too."""
    ends = [match.end() for match in LINE_BREAK.finditer(text)]
    lines = [text[start:end] for start, end in pairwise([0, *ends])]
    if rest := text[ends[-1] if ends else 0 :]:
        lines.append(rest + (LINE_BREAK.findall(text)[-1] if ends else "\n"))
    return lines


def _with_flow(
    document: Document, text: str, starts: Sequence[int], location: Location, order: Sequence[str]
) -> str:
    """Reorder `{b: 1, a: 2}` in place; one that holds a comment stays as it is.

    The text has the length and the lines of the document's, since inner mappings come first.
    """

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column - 1

    places: dict[str, tuple[int, int]] = {}
    for key in _keys(document, location):
        name = document.span((*location, key), key=True)
        value = document.span((*location, key))
        end = max((name.end_line, name.end_column), (value.end_line, value.end_column))
        places[key] = place(name.line, name.column), place(*end)
    between = [text[a[1] : b[0]] for a, b in pairwise(places.values())]
    if not all(_COMMA.fullmatch(each) for each in between):
        return text
    parts = [text[slice(*places[key])] for key in order]
    pairs = zip(parts, [*between, ""], strict=True)
    first, last = min(places.values())[0], max(places.values())[1]
    return text[:first] + "".join(part + separator for part, separator in pairs) + text[last:]


def _move(
    document: Document,
    original: Sequence[str],
    lines: list[str],
    location: Location,
    order: Sequence[str],
) -> None:
    """Reorder the lines of a mapping in block style; `original` is what the document's spans mean.

    What has moved inside of it has stayed inside of the lines of one of its keys.
    """
    names = {key: document.span((*location, key), key=True) for key in _keys(document, location)}
    indent = next(iter(names.values())).column - 1
    rows = [name.line - 1 for name in names.values()]
    dashes = original[rows[0]][:indent]
    if _DASHES.fullmatch(dashes) is None:
        dashes = ""
    margins = {original[row][:indent] for row in rows[bool(dashes) :]}
    if margins - {" " * indent}:  # `? key`
        return
    stops = [
        _stop(original, max(row, document.span((*location, key)).end_line - 1) + 1, indent)
        for key, row in zip(names, rows, strict=True)
    ]
    first = rows[0] if dashes or not location else _start(original, rows[0])
    begins = [first, *stops[:-1]]
    starts = [_skip_blank(original, row) for row in begins]
    entries = {
        key: _Entry(
            blank=lines[begin:start],
            above=lines[start:row],
            key=" " * indent + lines[row][indent:],
            rest=lines[row + 1 : stop],
        )
        for key, begin, start, row, stop in zip(names, begins, starts, rows, stops, strict=True)
    }
    was_first = next(iter(names))
    entries[was_first] = replace(entries[was_first], blank=entries[order[0]].blank)
    entries[order[0]] = replace(entries[order[0]], blank=[])
    moved = [entries[key] for key in order]
    if dashes:
        margin = " " * (len(dashes) - len(dashes.lstrip()))
        above = [margin + line.lstrip(" ") for line in moved[0].above]
        moved[0] = replace(moved[0], above=above, key=dashes + moved[0].key[indent:])
    lines[first : stops[-1]] = [
        line for each in moved for line in (*each.blank, *each.above, each.key, *each.rest)
    ]


def _keys(document: Document, location: Location) -> list[str]:
    """The keys of a mapping, as they stand in the file."""
    data = document.at(location)
    assert isinstance(data, dict)
    return list(data)


def _stop(lines: Sequence[str], row: int, indent: int) -> int:
    """Where what belongs to a key ends: behind comments that are indented more than it is."""
    stop = row
    while row < len(lines) and _is_blank_or_comment(lines[row]):
        if lines[row].strip():
            if len(lines[row]) - len(lines[row].lstrip()) <= indent:
                break
            stop = row + 1
        row += 1
    return stop


def _start(lines: Sequence[str], row: int) -> int:
    """Where the comments right above a key begin."""
    while row and lines[row - 1].lstrip().startswith("#"):
        row -= 1
    return row


def _skip_blank(lines: Sequence[str], row: int) -> int:
    while not lines[row].strip():
        row += 1
    return row


def _is_blank_or_comment(line: str) -> bool:
    return line.lstrip()[:1] in ("", "#")
