"""Console: data on stdout, all else on stderr, color only on a terminal; and standard input.

Invariant: what comes from a user's file never reaches the terminal as a control sequence.
"""

import json
import linecache
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
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
WIDTH, LEAST_WIDTH = 120, 60  # columns
DIM, PLAIN = "\x1b[2m", "\x1b[0m"


class DiagnosticFormat(StrEnum):
    """How diagnostics are written."""

    FULL = "full"
    CONCISE = "concise"


def uses_color() -> bool:
    """Whether stderr shows color: a terminal does, unless the environment objects."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return _is_terminal() and os.environ.get("TERM") != "dumb"


class OutputError(OSError):
    """Stdout took no more of what a command printed while it worked."""


def write_data(text: str) -> None:
    """Write data to stdout."""
    _write(sys.stdout, HIDDEN.sub("\ufffd", text))


def write_piece(text: str) -> None:
    """Write a piece of a line to stdout, where it is seen at once."""
    if sys.stdout is not None:
        try:
            sys.stdout.write(HIDDEN.sub("\ufffd", text))
            sys.stdout.flush()
        except OSError as error:
            raise OutputError(error.errno, error.strerror) from error


def write_note(text: str) -> None:
    """Write what was done to stderr."""
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


class PhaseReporter:
    """Progress reporter: finished phases and their durations."""

    def __init__(self) -> None:
        self._phase, self._began = "", 0.0

    def __call__(self, phase: str, seconds: float) -> None:
        """Note that a phase begins, so many seconds after the start."""
        if self._phase and _is_terminal():
            text = f" {HIDDEN.sub('', self._phase)} in {seconds - self._began:.2f}s"
            _write(sys.stderr, f"{DIM}{text}{PLAIN}" if uses_color() else text)
        self._phase, self._began = phase, seconds


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
    """The columns of the terminal, or as many as are read well where there is none."""
    is_there = sys.stdout is not None and sys.stdout.isatty()
    return max(shutil.get_terminal_size().columns, LEAST_WIDTH) if is_there else WIDTH


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sort by location, diagnostics without one last; duplicates are removed."""
    return sorted(dict.fromkeys(diagnostics), key=_place)


def _place(diagnostic: Diagnostic) -> tuple[bool, str, int, int]:
    span = diagnostic.span
    return (True, "", 0, 0) if span is None else (False, span.path, span.line, span.column)


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _write(stream: TextIO | None, text: str) -> None:
    if stream is not None and text:  # a closed stream is None
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
