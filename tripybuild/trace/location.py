"""Source locations of operations: a step of a specification, or a Python line.

Finding out must cost next to nothing while recording, so a place is kept as what is at hand (a
step, or a code object and an offset) and becomes a `Span` only when it is printed.
"""

import linecache
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType
from typing import Protocol

from tripybuild.errors.diagnostics import Span


class Location(Protocol):
    """A place that can be shown."""

    @property
    def label(self) -> str:
        """A short name: the path of the step, or the name of the function."""
        ...

    @property
    def part(self) -> str:
        """The path of the part of a model that it is in; of a program, the function."""
        ...

    def span(self) -> Span:
        """The lines and columns."""
        ...


@dataclass(unsafe_hash=True, slots=True)  # frozen ones take twice as long to make
class PythonLocation:
    """Instruction of a frame, with its line and columns. Immutable."""

    code: CodeType
    instruction: int

    @property
    def label(self) -> str:
        """The function that was running."""
        return self.code.co_name

    @property
    def part(self) -> str:
        """The function, by the names that it is in."""
        return self.code.co_qualname.replace(".<locals>.", ".")

    @property
    def position(self) -> "Position":
        """First and last line, first and last column, as Python counts them."""
        return _positions(self.code)[self.instruction // 2]

    def span(self) -> Span:
        """The expression's own columns: Python keeps them for each instruction."""
        return _span(self)


@lru_cache(maxsize=4096)
def _span(place: PythonLocation) -> Span:
    line, end_line, column, end_column = place.position
    line = line or place.code.co_firstlineno
    column = 0 if column is None else column
    end_column = column + 1 if end_column is None else end_column
    return span_between(place.code.co_filename, line, column, end_line or line, end_column)


Position = tuple[int | None, int | None, int | None, int | None]


def span_between(path: str, line: int, column: int, end_line: int, end_column: int) -> Span:
    """A span from lines that count from one and columns that count bytes from zero, as Python's."""
    first, last = _characters(path, line, column), _characters(path, end_line, end_column)
    return Span(path, line, first + 1, end_line, last + 1)


@lru_cache(maxsize=256)
def _positions(code: CodeType) -> list[Position]:
    """Lines and columns of each instruction, cached per code object."""
    return list(code.co_positions())


def _characters(path: str, line: int, octets: int) -> int:
    """Python counts the bytes of a line, people its characters."""
    text = linecache.getline(path, line)
    return octets if text.isascii() else len(text.encode()[:octets].decode(errors="ignore"))


@dataclass(frozen=True, slots=True)
class UnknownLocation:
    """Unknown location."""

    label: str = "unknown"
    part: str = ""

    def span(self) -> Span:
        """No file: line 1 of `<unknown>`."""
        return Span("<unknown>", 1, 1, 1, 2)


_current: ContextVar[Location | None] = ContextVar("location", default=None)


@contextmanager
def at(location: Location) -> Iterator[None]:
    """Operations recorded inside are placed there, whatever Python code asks for them."""
    token = _current.set(location)
    try:
        yield
    finally:
        _current.reset(token)


def pinned_location() -> Location:
    """Location set by `at`, which avoids the cost of a frame walk."""
    return _current.get() or UnknownLocation()


_package_of: dict[object, str] = {}  # by a module's name; asked for each frame of each operation


def caller_location(packages: Container[str], above: int = 1) -> Location:
    """The current place: what `at` says, else the nearest frame outside of the given packages.

    Args:
        packages: Whose frames are passed over.
        above: Where the search begins; callers between are known to be of these packages. Python
            makes an object for each frame that is looked at.
    """
    location = _current.get()
    if location is not None:
        return location
    frame: FrameType | None = sys._getframe(above)  # noqa: SLF001 - the documented way to a frame
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        package = _package_of.get(name)
        if package is None:
            package = _package_of[name] = str(name).partition(".")[0]
        if package not in packages:
            return PythonLocation(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return UnknownLocation()


@dataclass(frozen=True, slots=True)
class StoredLocation:
    """A place that was read back from an executable."""

    label: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    part: str = ""

    def span(self) -> Span:
        """The place as it was when the executable was made."""
        return Span(self.path, self.line, self.column, self.end_line, self.end_column)
