"""User frames: the Python frames above a location, walked when an error is created.

Invariant: nothing is noted while a program runs well. When it is refused, its frames are still
there.
"""

import linecache
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from types import FrameType

# Frames of these packages are ours: a user's place is outside. Generated packages add themselves.
PACKAGES = {"tripybuild", "tripyapi"}
MOST = 8  # callers that are told
_LIBRARIES = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")


@dataclass(frozen=True, slots=True)
class UserFrame:
    """A line of a user's program that was running, and the function that it is in."""

    path: str
    line: int
    function: str
    text: str
    times: int = 1
    """How often in a row, where a function calls itself."""

    def __str__(self) -> str:
        """`user.py:7 in Block.forward: x = self.inner(x)`."""
        inside = "" if self.function.startswith("<") else f" in {self.function}"
        again = f" ({self.times} times)" if self.times > 1 else ""
        text = f": {self.text}" if self.text else ""
        return f"{self.path}:{self.line}{inside}{again}{text}"


def user_frames(path: str, line: int, end_line: int) -> tuple[UserFrame, ...]:
    """The lines that led to a place, the nearest first; none where the place is not running.

    Only the user's own are told, up to the program or module that is run: no frames of ours, and
    none of installed libraries.

    Args:
        path: The file of the place.
        line: Its first line.
        end_line: Its last line.
    """
    frames = _outer_frames(sys._getframe(1))  # noqa: SLF001 - the documented way to a frame
    nearest = next(frames, None)
    if nearest is None or nearest.f_code.co_filename != path:
        return ()
    if not line <= nearest.f_lineno <= end_line or _is_module(nearest):
        return ()
    found = list(_frame_lines(frames))
    return (*found[: MOST - 1], *found[MOST - 1 :][-1:])  # of many, the first and the outermost


def _frame_lines(frames: Iterator[FrameType]) -> Iterator[UserFrame]:
    """The lines of frames, up to the one that is run; those that are equal are one."""
    own = (each for each in _frames_to_module(frames) if not is_library(each.f_code.co_filename))
    for (code, line), equal in groupby(own, lambda each: (each.f_code, each.f_lineno)):
        linecache.checkcache(code.co_filename)
        text = linecache.getline(code.co_filename, line).strip()
        yield UserFrame(code.co_filename, line, code.co_qualname, text, len(list(equal)))


def _frames_to_module(frames: Iterator[FrameType]) -> Iterator[FrameType]:
    for frame in frames:
        yield frame
        if _is_module(frame):
            return


def _outer_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """The frames that are not ours, from a frame outwards."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in PACKAGES:
            yield frame
        frame = frame.f_back


def _is_module(frame: FrameType) -> bool:
    """Whether a program, a module or what was typed at a prompt begins here."""
    return frame.f_code.co_name == "<module>"


# Where libraries are, of any environment.
INSTALLED = frozenset({"site-packages", "dist-packages"})


@cache
def is_library(path: str) -> bool:
    """Whether a file is Python's, ours, or installed: a library, or a command that begins one."""
    folders = [str(Path(__file__).parents[1]), *map(sysconfig.get_path, _LIBRARIES)]
    if path.startswith("<frozen") or any(path.startswith(f"{each}/") for each in folders):
        return True
    return not INSTALLED.isdisjoint(Path(path).parts)  # also of an environment below this one
