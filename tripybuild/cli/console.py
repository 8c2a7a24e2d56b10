"""Console: data on stdout, all else on stderr, color only on a terminal; and standard input.

Invariant: what comes from a user's file never reaches the terminal as a control sequence.
"""

import json
import linecache
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TextIO

from tripybuild.errors.diagnostics import (
    HIDDEN,
    Diagnostic,
    DiagnosticError,
    Span,
    as_json,
    concise,
    render,
    text_of,
)

STDIN = "-"
WIDTH, LEAST_WIDTH = 120, 20  # columns
TIMING = "==== Timing ====\n"  # what the logger writes above a time; here it is one line
DIM, PLAIN = "\x1b[2m", "\x1b[0m"


class DiagnosticFormat(StrEnum):
    """How diagnostics are written."""

    FULL = "full"
    CONCISE = "concise"


def _nothing() -> None:
    """Do nothing."""


@dataclass(slots=True)
class LineGuard:
    """What keeps texts and a changing line apart.

    Args:
        hide: Clears the line before a text is written.
        erase_now: Clears it where the process ends at once.
        quiet: Whether errors alone are written.
    """

    hide: Callable[[], None] = _nothing
    erase_now: Callable[[], None] = _nothing
    quiet: bool = False

    def reset(self) -> None:
        """There is no changing line any more."""
        self.hide = self.erase_now = _nothing


line_guard = LineGuard()


class GuardedStream:
    """Stderr for other writers: they clear the changing line, too."""

    def write(self, text: str) -> int:
        """Write a text as it is."""
        line_guard.hide()
        return 0 if sys.stderr is None else sys.stderr.write(text.removeprefix(TIMING))

    def flush(self) -> None:
        """Write what waits."""
        if sys.stderr is not None:
            sys.stderr.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return is_terminal()


def uses_color() -> bool:
    """Whether stderr shows color: a terminal does, unless the environment objects."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal() and os.environ.get("TERM") != "dumb"


class OutputError(OSError):
    """Stdout took no more of what a command printed while it worked."""


def write_data(text: str) -> None:
    """Write data to stdout."""
    _write(sys.stdout, HIDDEN.sub("\ufffd", text))


def write_piece(text: str) -> None:
    """Write a piece of a line to stdout, where it is seen at once."""
    if sys.stdout is not None:
        line_guard.hide()
        try:
            sys.stdout.write(HIDDEN.sub("\ufffd", text))
            sys.stdout.flush()
        except OSError as error:
            raise OutputError(error.errno, error.strerror) from error


def write_note(text: str, *, is_styled: bool = False) -> None:
    """Write what was done to stderr, unless errors alone are wanted."""
    if not line_guard.quiet:
        _write(sys.stderr, text if is_styled else HIDDEN.sub("\ufffd", text))


def write_problem(text: str) -> None:
    """Write a line about what went wrong to stderr."""
    _write(sys.stderr, HIDDEN.sub("\ufffd", text))


def write_json(data: Mapping[str, object], diagnostics: Iterable[Diagnostic]) -> None:
    """Write the one JSON document of a command."""
    document = {**data, "diagnostics": [as_json(each) for each in sort_diagnostics(diagnostics)]}
    write_data(json_text(document))


def json_text(data: Mapping[str, object]) -> str:
    """Data as JSON that a person can read."""
    return json.dumps(data, indent=2, allow_nan=False)


def report(diagnostics: Iterable[Diagnostic], form: DiagnosticFormat) -> None:
    """Write diagnostics to stderr, in the order of files and lines."""
    ordered = sort_diagnostics(diagnostics)
    if form is DiagnosticFormat.CONCISE:
        _write(sys.stderr, "\n".join(map(concise, ordered)))
        return
    color = uses_color()
    source = cache(text_of)
    blocks = [render(each, source, color) for each in ordered]
    if len(blocks) > 1:
        blocks.append(f"{len(blocks)} problems")
    _write(sys.stderr, "\n\n".join(blocks))


def table_lines(title: str, rows: Mapping[str, str]) -> Iterator[str]:
    """A table below an empty line and its title; nothing where it has no rows."""
    if rows:
        width = max(map(len, rows))
        yield f"\n{title}"
        yield from (f"  {name.ljust(width)}  {text}".rstrip() for name, text in rows.items())


def count_files(count: int) -> str:
    """`1 file`, or `2 files`."""
    return "1 file" if count == 1 else f"{count} files"


def terminal_width() -> int:
    """The columns of the terminal or of `COLUMNS`, or as many as are read well without either."""
    is_there = sys.stdout is not None and sys.stdout.isatty()
    if not is_there and not os.environ.get("COLUMNS", "").isdigit():
        return WIDTH
    return max(shutil.get_terminal_size((WIDTH, 24)).columns, LEAST_WIDTH)


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sort by location, diagnostics without one last; duplicates are removed."""
    return sorted(dict.fromkeys(diagnostics), key=_place)


def _place(diagnostic: Diagnostic) -> tuple[bool, str, int, int]:
    span = diagnostic.span
    return (True, "", 0, 0) if span is None else (False, span.path, span.line, span.column)


def is_terminal() -> bool:
    """Whether stderr is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def is_utf8() -> bool:
    """Whether stderr takes any character."""
    encoding = getattr(sys.stderr, "encoding", None) or ""
    return encoding.lower().replace("-", "") == "utf8"


def _write(stream: TextIO | None, text: str) -> None:
    if stream is not None and text:  # a closed stream is None
        line_guard.hide()
        print(text, file=stream, flush=True)


def read_stdin() -> str:
    """Read all of stdin with its line breaks; problems can then show lines of it.

    Raises:
        DiagnosticError: It is not UTF-8.
    """
    content = b"" if sys.stdin is None else sys.stdin.buffer.read()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        found = Diagnostic("not-utf8", "standard input is not UTF-8 text", Span(STDIN, 1, 1, 1, 1))
        raise DiagnosticError(found) from error
    linecache.cache[STDIN] = (len(text), None, text.splitlines(keepends=True), STDIN)
    return text
