"""Canonical quoting of YAML scalars, and canonical spelling of YAML keywords.

A text is in quotes where YAML needs them: in double ones, or in single ones around double ones and
backslashes. The words are `true`, `false` and `null`. Texts of several lines stay as they are.

Invariant: what is read stays the same, but for an expression: the text of a number or of a constant
becomes the number, or the word for the constant, which say the same.
"""

from collections.abc import Callable
from functools import lru_cache

from tripybuild.documents.composer import Location
from tripybuild.documents.document import Document, parse
from tripybuild.errors.diagnostics import LINE_BREAK

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
