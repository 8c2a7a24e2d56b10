"""Diagnostics: problems as data with code, span, found values and hint.

Invariant: nothing here knows YAML, an operator or a target, and nothing here prints. Whatever a
user's file holds, a rendered diagnostic is safe to show in a terminal.
"""

import difflib
import linecache
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path

from tripybuild.errors.budget import try_spend
from tripybuild.errors.codes import CODES
from tripybuild.errors.user_frames import UserFrame, user_frames

_LONGEST_NAME = 100  # of a name that others are compared with
MOST_SHOWN = 4 * 1024 * 1024  # bytes of a file that an excerpt is taken from
# Characters that a terminal obeys or hides: controls (but tab and line breaks), separators that
# only some programs take for line breaks, bidirectional overrides, invisible marks and tags,
# surrogates and non-characters.
HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
LINE_BREAK = re.compile("\r\n|\r|\n")
_TAB = "    "
_LONGEST_LINE = 160
_BEFORE_SPAN = 40
_COLORS = {"red": "\x1b[1;31m", "blue": "\x1b[1;34m", "cyan": "\x1b[1;36m", "bold": "\x1b[1m"}


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a file: lines and columns count from one, and the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Related:
    """Another place that a problem has to do with, and what is to be known about it."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem: a stable code, one sentence, and what a reader needs to mend it."""

    code: str
    message: str
    span: Span | None = None
    label: str = ""
    notes: tuple[str, ...] = ()
    hint: str | None = None
    related: tuple[Related, ...] = ()
    callers: tuple[UserFrame, ...] = ()
    """The lines of a Python program that led to the place, the nearest first."""


class DiagnosticError(Exception):
    """Carries diagnostics through code that cannot return them; a text is one of a program."""

    def __init__(self, *diagnostics: Diagnostic | str) -> None:
        found = tuple(map(_add_frames, diagnostics))
        super().__init__(*found)
        self.diagnostics = found

    def __str__(self) -> str:
        """The block forms: what a traceback ends in is all that a user of Python sees."""
        return "\n\n".join(render(_full(each), text_of) for each in self.diagnostics)


def _add_frames(diagnostic: Diagnostic | str) -> Diagnostic:
    """The problem with user frames, if its span is a line of a running program."""
    if isinstance(diagnostic, str):
        return Diagnostic("program-failed", diagnostic)
    span = diagnostic.span
    if span is None or diagnostic.callers:
        return diagnostic
    found = user_frames(span.path, span.line, span.end_line)
    return replace(diagnostic, callers=found) if found else diagnostic


_extra: dict[str, bool] = {}


def explain(wanted: bool) -> None:
    """Let errors say what their codes mean, or no longer."""
    _extra["codes"] = wanted


def explains() -> bool:
    """Whether errors say what their codes mean."""
    return _extra.get("codes", False)


def _full(diagnostic: Diagnostic) -> Diagnostic:
    """The problem with what its code means, where that is wanted; laws say it themselves."""
    meaning = CODES.get(diagnostic.code) if explains() else None
    return replace(diagnostic, notes=(*diagnostic.notes, meaning)) if meaning else diagnostic


def render(
    diagnostic: Diagnostic,
    source: Callable[[str], str | None],
    color: bool = False,
    kind: str = "error",
) -> str:
    """Give the block form: message, place, source line with carets, other places, notes and hint.

    Args:
        diagnostic: The problem to show.
        source: Gives the text of the file at a path, or None where it cannot be had.
        color: Whether to add ANSI colors; the text is the same without them.
        kind: What it is called: an error, or a warning.
    """
    paint = _paint if color else _leave
    code, message = _visible(diagnostic.code), _visible(diagnostic.message)
    lines = [f"{paint('red', f'{kind}[{code}]')}{paint('bold', f': {message}')}"]
    notes = diagnostic.notes
    if diagnostic.span is not None:
        lines.extend(_location_lines(diagnostic.span, one_line(diagnostic.label), source, paint))
        calls = (_shorten(one_line(str(each))) for each in diagnostic.callers)
        lines.extend(f"{paint('blue', '  called at')} {each}" for each in calls)
    if diagnostic.label and len(lines) <= 2:
        notes = (diagnostic.label, *notes)  # there is no source line to put it under
    for each in diagnostic.related:
        lines.append(f"{paint('cyan', 'note')}: {_visible(each.message)}")
        lines.extend(_location_lines(each.span, "", source, paint))
    lines.extend(f"{paint('cyan', 'note')}: {_visible(note)}" for note in notes)
    if diagnostic.hint is not None:
        lines.append(f"{paint('cyan', 'hint')}: {_visible(diagnostic.hint)}")
    return "\n".join(lines)


def text_of(path: str) -> str | None:
    """Give the text of a file, or of what was typed at a prompt, or None if it cannot be shown."""
    try:
        if Path(path).is_fifo():  # it may never have a writer
            return None
        with Path(path).open("rb") as file:
            return file.read(MOST_SHOWN).decode("utf-8")
    except (OSError, ValueError):
        return "".join(linecache.getlines(path)) if path in linecache.cache else None


def concise(diagnostic: Diagnostic) -> str:
    """Give the one-line form, `path:line:col: code message`."""
    where = "" if diagnostic.span is None else f"{diagnostic.span}: "
    return one_line(f"{where}{diagnostic.code} {diagnostic.message}")


def as_json(diagnostic: Diagnostic) -> dict[str, object]:
    """Give the form for programs: only dicts, lists, strings, integers and None."""
    data = asdict(diagnostic)
    return {**data, **{key: list(data[key]) for key in ("notes", "related", "callers")}}


def _paint(color: str, text: str) -> str:
    return f"{_COLORS[color]}{text}\x1b[0m"


def _leave(_color: str, text: str) -> str:
    return text


def portable_path(path: str, folder: Path | None) -> str:
    r"""The path of a file, relative to a model's folder, however both are spelled.

    What lies elsewhere, as the modules of a Python program do, is called as Python would import it:
    relative to the folder on its path that holds it. What is in none keeps its name only. Without
    a folder, the path stays as it is. A byte that is no UTF-8, which neither MLIR nor TensorRT
    takes, is written `\xff`.
    """
    if folder is not None and not path.startswith("<"):  # as what was typed at a prompt does
        path = _relative(path, folder, Path.cwd())
    if path.isascii():
        return path
    return path.encode(errors="surrogateescape").decode(errors="backslashreplace")


@lru_cache(maxsize=1024)
def _relative(path: str, folder: Path, current: Path) -> str:
    def whole(each: str | Path) -> Path:  # links stay as they are
        return Path(os.path.normpath(current / each))

    file = whole(path)
    imported = sorted(map(whole, sys.path), key=lambda each: len(each.parts), reverse=True)
    for each in (whole(folder), *imported):
        if file.is_relative_to(each):
            return file.relative_to(each).as_posix()
    return file.name


def suggest(name: str, known: Iterable[str]) -> str | None:
    """Find the known name that `name` was most likely meant to be."""
    names = sorted(set(known) - {name})
    if len(name) > _LONGEST_NAME or not try_spend("suggestions", len(names)):
        return None  # to compare many names with many takes minutes; the first ones have hints
    folded = name.casefold()
    for candidate in names:
        if candidate.casefold() == folded:
            return candidate
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return close[0]
    related = [known for known in names if known and _begins_other(known, name)]
    return min(related, key=lambda known: (abs(len(known) - len(name)), known), default=None)


def pair_names(names: Iterable[str], others: Iterable[str]) -> dict[str, str]:
    """Find which of the others each name was most likely meant to be, none of them twice.

    Two that are nearest to each other belong together, then two of what is left.
    """
    left, free = list(dict.fromkeys(names)), list(dict.fromkeys(others))
    found: dict[str, str] = {}
    while left and free:
        near = {name: suggest(name, free) for name in left}
        new = {n: other for n, other in near.items() if other and suggest(other, left) == n}
        if not new:
            break
        found |= new
        left = [name for name in left if name not in new]
        free = [other for other in free if other not in new.values()]
    return found


def _begins_other(one: str, other: str) -> bool:
    """Tell whether one name is the other and more: `Cin` for `C`, `dim` for `dimension`."""
    return bool(one and other) and (one.startswith(other) or other.startswith(one))


def _location_lines(
    span: Span, label: str, source: Callable[[str], str | None], paint: Callable[[str, str], str]
) -> list[str]:
    """Give where a span is, and its source line."""
    arrow = paint("blue", " " * max(2, len(str(span.line))) + "-->")
    return [f"{arrow} {one_line(str(span))}", *_excerpt(span, label, source, paint)]


def _excerpt(
    span: Span, label: str, source: Callable[[str], str | None], paint: Callable[[str, str], str]
) -> list[str]:
    """Give the source line of a span and its carets, or nothing where it cannot be had."""
    text = source(span.path)
    lines = [] if text is None else _lines(text)
    if not 1 <= span.line <= len(lines):
        return []
    line = lines[span.line - 1]
    start = min(span.column - 1, len(line))
    end = span.end_column - 1 if span.end_line == span.line else len(line.rstrip())
    before, marked, after = _window(line, start, max(start, min(end, len(line))))
    margin = " " * max(2, len(str(span.line)))
    carets = "^" * max(1, _width(marked))
    under = paint("red", f"{carets} {label}".rstrip())
    return [
        paint("blue", f"{margin} |"),
        f"{paint('blue', f'{span.line:>2} |')} {before}{marked}{after}".rstrip(),
        f"{paint('blue', f'{margin} |')} {' ' * _width(before)}{under}",
    ]


@lru_cache(maxsize=1)
def _lines(text: str) -> list[str]:
    """The lines of a file, of which many problems may be shown in a row."""
    return LINE_BREAK.split(text.removeprefix("\ufeff"))


def _shorten(line: str) -> str:
    """A line that is not too long."""
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..."


def _window(line: str, start: int, end: int) -> tuple[str, str, str]:
    """Cut a line into what is before, in and after a span; of a long line keep what is near."""
    first, last = 0, len(line)
    if last > _LONGEST_LINE:
        first = max(0, start - _BEFORE_SPAN)
        last = min(last, first + _LONGEST_LINE)
    end = min(end, last)
    before = ("..." if first else "") + _display_text(line[first:start])
    after = _display_text(line[end:last]) + ("..." if last < len(line) else "")
    return before, _display_text(line[start:end]), after


def _width(text: str) -> int:
    """Count the columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _display_text(text: str) -> str:
    return _visible(text).replace("\t", _TAB)


def _visible(text: str) -> str:
    """A text that a terminal shows and does not obey."""
    return HIDDEN.sub("\ufffd", text)


def one_line(text: str) -> str:
    """A text on one line."""
    return " ".join(LINE_BREAK.split(_visible(text)))
