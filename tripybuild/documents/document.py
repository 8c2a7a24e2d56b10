"""Strict YAML reader: text to plain data, with a span for every key and value.

Invariant: strict, and total. Any text gives data, diagnostics or both, never an exception, and
every problem of a file that reading can go on from is found in one run.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tripybuild.documents.composer import Location, Place, Tree, compose
from tripybuild.errors.budget import BudgetError
from tripybuild.errors.diagnostics import LINE_BREAK, Diagnostic, DiagnosticError, Span
from tripybuild.errors.limits import budget_diagnostic

LARGEST_FILE = 4 * 1024 * 1024

# One character of a double-quoted text, as it is written.
_WRITTEN = re.compile(r"\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\.|.")
_WRITTEN_SINGLE = re.compile(r"''|.")


@dataclass(frozen=True)
class Document:
    """One YAML document: plain data, and where each part of it stands in the text."""

    path: str
    text: str
    data: object
    _tree: Tree = field(repr=False, compare=False)

    def span(self, location: tuple[str | int, ...], *, key: bool = False) -> Span:
        """Give the place of a value, or of its key; of the nearest parent where it has none.

        A block scalar is where its text is, below the `|`.
        """
        place = self._find(location, key=key)
        return self._span(*self._skip_header(self._trim(place)))

    def origin(self, _location: Location) -> "Document":
        """Give the file that a part stands in: this one."""
        return self

    def snippet_span(
        self,
        location: tuple[str | int, ...],
        line: int,
        column: int,
        end_line: int,
        end_column: int,
    ) -> Span:
        """Give the place of a stretch of a scalar's text.

        Lines count from one and columns from zero, in characters: the same as in `ast` for the
        ASCII text that a snippet is. The place is exact for scalars that are plain, quoted on one
        line, or literal blocks; else it is the whole value's.
        """
        place, text = self._tree.values.get(location), self.at(location)
        if place is None or not isinstance(text, str):
            return self.span(location)
        start = self._file_position(place, text, line, column)
        end = self._file_position(place, text, end_line, end_column)
        if start is None or end is None:
            return self.span(location)
        return self._span(*start, *max(start, end))

    def at(self, location: Location) -> object:
        """Give the data at a location, or None where there is none."""
        data = self.data
        for step in location:
            if isinstance(data, dict):
                data = data.get(step)
            elif isinstance(data, list) and isinstance(step, int) and 0 <= step < len(data):
                data = data[step]
            else:
                return None
        return data

    def inline_values(self) -> Iterator[tuple[Location, Place, str]]:
        """Give each value that stands on one line: its place, and what is written there."""
        for location, place in self._tree.values.items():
            if place[0] == place[2]:
                yield location, place, self._lines[place[0]][place[1] : place[3]]

    def is_flow(self, location: Location) -> bool:
        """Tell whether a list or a mapping is one in brackets."""
        row, column, _, _ = self._tree.values[location]
        return self._lines[row][column : column + 1] in ("{", "[")

    @cached_property
    def _lines(self) -> list[str]:
        return LINE_BREAK.split(self.text)

    def _find(self, location: Location, *, key: bool) -> Place:
        keys = self._tree.keys if key else {}
        for length in range(len(location), -1, -1):
            parent = location[:length]
            place = keys.get(parent) or self._tree.values.get(parent)
            if place is not None:
                return place
        return self._tree.start

    def _span(self, line: int, column: int, end_line: int, end_column: int) -> Span:
        return Span(self.path, line + 1, column + 1, end_line + 1, end_column + 1)

    def _trim(self, place: Place) -> Place:
        """End a block scalar, or what it ends, with its last line that is not blank."""
        line, column, end_line, end_column = place
        if end_column or end_line <= line:
            return place
        end_line -= 1
        while end_line > line and not self._lines[end_line].strip():
            end_line -= 1
        return line, column, end_line, len(self._lines[end_line].rstrip())

    def _skip_header(self, place: Place) -> Place:
        """Begin a block scalar with its first line that is not blank."""
        line, column, end_line, end_column = place
        count = min(end_line + 1, len(self._lines))
        if line >= count or self._lines[line][column : column + 1] not in ("|", ">"):
            return place
        for row in range(line + 1, count):
            if text := self._lines[row].strip():
                return row, self._lines[row].index(text), end_line, end_column
        return place

    def _file_position(
        self, place: Place, text: str, line: int, column: int
    ) -> tuple[int, int] | None:
        """Give where a position in a scalar's text is written in the file, if that is known."""
        rows = text.split("\n")
        row = min(max(line, 1), len(rows)) - 1
        offset = min(max(column, 0), len(rows[row]))
        first, start, last, end = place
        written = self._lines[first][start:]
        if written.startswith("|"):
            return self._in_block(first, rows, row, offset)
        if written.startswith(">") or first != last:
            return None
        position = sum(len(before) + 1 for before in rows[:row]) + offset
        starts = _starts(self._lines[first][start:end])
        if len(starts) != len(text) + 1:
            return None
        return first, start + starts[position]

    def _in_block(
        self, header: int, rows: list[str], row: int, offset: int
    ) -> tuple[int, int] | None:
        """Find a position in a literal block: its rows are the file's lines, indented."""
        for number, text in enumerate(rows):
            if text:
                indent = len(self._lines[header + 1 + number]) - len(text)
                break
        else:
            return None
        line = min(header + 1 + row, len(self._lines) - 1)
        return line, min(indent + offset, len(self._lines[line]))


# Gives the document of a path, and what is wrong with it.
Reader = Callable[[Path], tuple[Document | None, list[Diagnostic]]]


def parse(text: str, path: str) -> tuple[Document | None, list[Diagnostic]]:
    """Read a text of exactly one document.

    With problems that reading can go on from, there is a document beside the diagnostics; it holds
    the best guess, so that other checks can report their own problems in the same run.
    """
    documents, problems = parse_all(text, path)
    if len(documents) > 1:
        line, column, end_line, end_column = documents[1]._tree.start  # noqa: SLF001
        span = Span(path, line + 1, column + 1, end_line + 1, end_column + 1)
        message = "a file holds one document, found a second"
        hint = "give each document a file of its own"
        problems.append(Diagnostic("yaml-documents", message, span, hint=hint))
    if not documents and not problems:
        return Document(path, text.removeprefix("\ufeff"), None, Tree(None)), problems
    return (documents[0] if documents else None), problems


def parse_all(text: str, path: str) -> tuple[list[Document], list[Diagnostic]]:
    """Read a text of any number of documents, separated by `---`."""
    text = text.removeprefix("\ufeff")
    if len(text) > LARGEST_FILE:
        return [], [_too_large(path)]
    try:
        trees, problems = compose(text, path)
    except BudgetError as error:
        return [], [budget_diagnostic(error, Span(path, 1, 1, 1, 1))]
    return [Document(path, text, tree.data, tree) for tree in trees], problems


def read(path: Path) -> tuple[Document | None, list[Diagnostic]]:
    """Read a file of exactly one document."""
    try:
        return parse(read_text(path, LARGEST_FILE), path.as_posix())
    except DiagnosticError as error:
        return None, list(error.diagnostics)


def read_text(path: Path, largest: int | None = None) -> str:
    """Read a file of UTF-8 text, of at most so many bytes.

    Raises:
        DiagnosticError: The file is not there, not to be read, too large or no such text.
    """
    content = _content(path, largest)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        lines = LINE_BREAK.split(content[: error.start].decode("utf-8"))
        line, column = len(lines), len(lines[-1]) + 1
        message = f"the file is not UTF-8 text, found the byte 0x{content[error.start]:02X}"
        span = Span(path.as_posix(), line, column, line, column + 1)
        found = Diagnostic("not-utf8", message, span, hint="save the file as UTF-8")
        raise DiagnosticError(found) from None


def _content(path: Path, largest: int | None) -> bytes:
    """Give the bytes of a regular file of reasonable size."""
    name = path.as_posix()
    start = Span(name, 1, 1, 1, 1)
    try:
        if not path.is_file():
            kind = "a folder" if path.is_dir() else "a device" if path.exists() else None
            message = f"`{name}` is {kind}, not a file" if kind else f"there is no file `{name}`"
            raise DiagnosticError(Diagnostic("file-not-found", message, start))
        with path.open("rb") as file:
            content = file.read(-1 if largest is None else largest + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"the file cannot be read: {reason}"
        raise DiagnosticError(Diagnostic("file-unreadable", message, start)) from error
    if largest is not None and len(content) > largest:
        raise DiagnosticError(_too_large(name))
    return content


def _too_large(name: str) -> Diagnostic:
    message = f"a file has at most {LARGEST_FILE:,} bytes"
    return Diagnostic("yaml-too-large", message, Span(name, 1, 1, 1, 1))


def _starts(written: str) -> list[int]:
    """Give where each character of a one-line scalar begins, and where the last one ends."""
    if written[:1] not in ("'", '"'):
        return list(range(len(written) + 1))
    pattern = _WRITTEN if written[0] == '"' else _WRITTEN_SINGLE
    return [match.start() + 1 for match in pattern.finditer(written[1:-1])] + [len(written) - 1]
