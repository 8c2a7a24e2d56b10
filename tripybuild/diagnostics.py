"""Problems as data: where they are, how they read, and what each code means.

Law: nothing here knows YAML, an operator or a target, and nothing here prints. Whatever a user's
file holds, a rendered diagnostic is safe to show in a terminal.
"""

import difflib
import linecache
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tripybuild.callers import Caller, callers
from tripybuild.codes import CODES as CODES  # noqa: PLC0414  # the front door of this layer

# Characters that a terminal obeys or hides: controls (but tab and line breaks), separators that
# only some programs take for line breaks, bidirectional overrides, invisible marks and tags,
# surrogates and non-characters.
HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)
LINE_BREAK = re.compile("\r\n|\r|\n")

MOST_SHOWN = 4 * 1024 * 1024  # bytes of a file that an excerpt is taken from
_TAB = "    "
_LONGEST_LINE = 160
_BEFORE_SPAN = 40
_LONGEST_NAME = 100
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
    callers: tuple[Caller, ...] = ()
    """The lines of a Python program that led to the place, the nearest first."""


class DiagnosticError(Exception):
    """Carries diagnostics through code that cannot return them; a text is one of a program."""

    def __init__(self, *diagnostics: Diagnostic | str) -> None:
        found = tuple(map(_called, diagnostics))
        super().__init__(*found)
        self.diagnostics = found

    def __str__(self) -> str:
        """The block forms: what a traceback ends in is all that a user of Python sees."""
        return "\n\n".join(render(_full(each), text_of) for each in self.diagnostics)


def _called(diagnostic: Diagnostic | str) -> Diagnostic:
    """The problem with who called, where its place is the line of a program that is running."""
    if isinstance(diagnostic, str):
        return Diagnostic("program-failed", diagnostic)
    span = diagnostic.span
    if span is None or diagnostic.callers:
        return diagnostic
    found = callers(span.path, span.line, span.end_line)
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
        lines.extend(_place(diagnostic.span, _one_line(diagnostic.label), source, paint))
        calls = (_shortened(_one_line(str(each))) for each in diagnostic.callers)
        lines.extend(f"{paint('blue', '  called at')} {each}" for each in calls)
    if diagnostic.label and len(lines) <= 2:
        notes = (diagnostic.label, *notes)  # there is no source line to put it under
    for each in diagnostic.related:
        lines.append(f"{paint('cyan', 'note')}: {_visible(each.message)}")
        lines.extend(_place(each.span, "", source, paint))
    lines.extend(f"{paint('cyan', 'note')}: {_visible(note)}" for note in notes)
    if diagnostic.hint is not None:
        lines.append(f"{paint('cyan', 'hint')}: {_visible(diagnostic.hint)}")
    return "\n".join(lines)


def text_of(path: str) -> str | None:
    """Give the text of a file, or of what was typed at a prompt, or None if it cannot be shown."""
    try:
        if Path(path).is_fifo():  # nobody may ever write into it
            return None
        with Path(path).open("rb") as file:
            return file.read(MOST_SHOWN).decode("utf-8")
    except (OSError, ValueError):
        return "".join(linecache.getlines(path)) if path in linecache.cache else None


def concise(diagnostic: Diagnostic) -> str:
    """Give the one-line form, `path:line:col: code message`."""
    place = "" if diagnostic.span is None else f"{diagnostic.span}: "
    return _one_line(f"{place}{diagnostic.code} {diagnostic.message}")


def as_json(diagnostic: Diagnostic) -> dict[str, object]:
    """Give the form for programs: only dicts, lists, strings, integers and None."""
    data = asdict(diagnostic)
    return {**data, **{key: list(data[key]) for key in ("notes", "related", "callers")}}


def suggest(name: str, known: Iterable[str]) -> str | None:
    """Find the known name that `name` was most likely meant to be."""
    names = sorted(set(known) - {name})
    if len(name) > _LONGEST_NAME:
        return None
    folded = name.casefold()
    for candidate in names:
        if candidate.casefold() == folded:
            return candidate
    close = difflib.get_close_matches(name, names, n=1)
    if close:
        return close[0]
    related = [known for known in names if known and _begins_other(known, name)]
    return min(related, key=lambda known: (abs(len(known) - len(name)), known), default=None)


def paired(names: Iterable[str], others: Iterable[str]) -> dict[str, str]:
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


def _place(
    span: Span, label: str, source: Callable[[str], str | None], paint: Callable[[str, str], str]
) -> list[str]:
    """Give where a span is, and its source line."""
    arrow = paint("blue", " " * max(2, len(str(span.line))) + "-->")
    return [f"{arrow} {_one_line(str(span))}", *_excerpt(span, label, source, paint)]


def _excerpt(
    span: Span, label: str, source: Callable[[str], str | None], paint: Callable[[str, str], str]
) -> list[str]:
    """Give the source line of a span and its carets, or nothing where it cannot be had."""
    text = source(span.path)
    lines = [] if text is None else LINE_BREAK.split(text.removeprefix("\ufeff"))
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


def _shortened(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..."


def _window(line: str, start: int, end: int) -> tuple[str, str, str]:
    """Cut a line into what is before, in and after a span; of a long line keep what is near."""
    first, last = 0, len(line)
    if last > _LONGEST_LINE:
        first = max(0, start - _BEFORE_SPAN)
        last = min(last, first + _LONGEST_LINE)
    end = min(end, last)
    before = ("..." if first else "") + _shown(line[first:start])
    after = _shown(line[end:last]) + ("..." if last < len(line) else "")
    return before, _shown(line[start:end]), after


def _width(text: str) -> int:
    """Count the columns that a text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _shown(text: str) -> str:
    return _visible(text).replace("\t", _TAB)


def _visible(text: str) -> str:
    return HIDDEN.sub("\ufffd", text)


def _one_line(text: str) -> str:
    return " ".join(LINE_BREAK.split(_visible(text)))


def _paint(color: str, text: str) -> str:
    return f"{_COLORS[color]}{text}\x1b[0m"


def _leave(_color: str, text: str) -> str:
    return text
