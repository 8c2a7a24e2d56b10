"""Source excerpts for terminals: the line of a span, underlined with carets.

Invariant: whatever a file holds, what is given here is safe to show.
"""

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tripybuild.errors.diagnostics import Span

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


def place(
    span: "Span", label: str, source: Callable[[str], str | None], paint: Callable[[str, str], str]
) -> list[str]:
    """Give where a span is, and its source line."""
    arrow = paint("blue", " " * max(2, len(str(span.line))) + "-->")
    return [f"{arrow} {one_line(str(span))}", *_excerpt(span, label, source, paint)]


def _excerpt(
    span: "Span", label: str, source: Callable[[str], str | None], paint: Callable[[str, str], str]
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


def shorten(line: str) -> str:
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
    return visible(text).replace("\t", _TAB)


def visible(text: str) -> str:
    """A text that a terminal shows and does not obey."""
    return HIDDEN.sub("\ufffd", text)


def one_line(text: str) -> str:
    """A text on one line."""
    return " ".join(LINE_BREAK.split(visible(text)))
