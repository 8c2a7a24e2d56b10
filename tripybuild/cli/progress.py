"""Progress of a command on stderr: the phase that runs, its time, and that of the last run.

On a terminal it is one line that changes; elsewhere a line where a phase takes over a second, and
one at its end. Invariant: whatever ends a command, the changing line is cleared before.
"""

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum

from tripybuild.cli.console import (
    DIM,
    PLAIN,
    is_terminal,
    is_utf8,
    line_guard,
    uses_color,
    write_note,
)
from tripybuild.cli.phase_times import PhaseTimes
from tripybuild.process import phases

VARIABLE = "TRIPYBUILD_PROGRESS"
FRAMES, PLAIN_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"
TICK, FLICKER = 0.1, 0.2  # seconds of a frame, and before the first
SHORT, LONG = 0.1, 1.0  # seconds of phases that are named on a terminal, and in a pipe
CLEAR, UP = "\r\x1b[2K", "\x1b[1A\x1b[2K"
MINUTE = 60


class ProgressStyle(Enum):
    """How progress is shown."""

    LIVE = "live"
    LINES = "lines"
    OFF = "off"


def choose_style(*, silent: bool) -> ProgressStyle:
    """The style for this process's stderr."""
    if silent or os.environ.get(VARIABLE) == ProgressStyle.OFF.value:
        return ProgressStyle.OFF
    if is_terminal() and os.environ.get("TERM") != "dumb":
        return ProgressStyle.LIVE
    return ProgressStyle.LINES


class Progress:
    """The phases of one command.

    Args:
        style: How they are shown.
        times: What they took before.
        verbose: Whether those that took no time are said, too.
    """

    def __init__(self, style: ProgressStyle, times: PhaseTimes, *, verbose: bool = False) -> None:
        self._style, self._times, self._verbose = style, times, verbose
        self._phase, self._began, self._is_said = "", 0.0, False
        self._taken: dict[str, float] = {}
        self._drawn = 0  # characters of the changing line
        self._frame = 0
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, phase: str) -> None:
        """End the phase before, and begin this one; an empty name begins none."""
        now = time.perf_counter()
        with self._lock:
            if phase == self._phase:
                return
            self._finish(now)
            self._phase, self._began, self._is_said = phase, now, False
        if self._thread is None and phase and self._style is not ProgressStyle.OFF:
            self._thread = threading.Thread(target=self._tick, name="progress", daemon=True)
            self._thread.start()

    def close(self, *, is_done: bool) -> None:
        """End what runs; the times of a command that was done are kept for the next."""
        if is_done:
            self.begin(phases.END)
        self._over.set()
        self.hide()
        if self._thread is not None:
            self._thread.join()
            self.hide()
        if is_done:
            self._times.store(self._taken)

    def interrupted(self) -> str:
        """What an interrupt ended, in one line."""
        if not self._phase:
            return ""
        took = format_elapsed(time.perf_counter() - self._began)
        return f"Interrupted after {took} of: {self._phase}"

    def hide(self) -> None:
        """Clear the changing line; it is drawn again at the next tick."""
        with self._lock:
            self._erase()

    def erase_now(self) -> None:
        """Clear the changing line where the process ends at once, whatever holds the lock."""
        if self._drawn:
            os.write(2, CLEAR.encode())

    def _finish(self, now: float) -> None:
        if not self._phase:
            return
        took = now - self._began
        self._taken[self._phase] = self._taken.get(self._phase, 0.0) + took
        shown = {ProgressStyle.LIVE: SHORT, ProgressStyle.LINES: LONG}
        if self._style in shown and (took >= shown[self._style] or self._verbose):
            text = f" {self._phase} in {took:.2f}s"
            write_note(f"{DIM}{text}{PLAIN}" if uses_color() else text, is_styled=True)

    def _tick(self) -> None:
        while not self._over.wait(TICK):
            with self._lock:
                if self._phase and not self._over.is_set():
                    self._show(time.perf_counter() - self._began)

    def _show(self, elapsed: float) -> None:
        last = self._times.last(self._phase) if elapsed > FLICKER else None
        before = "" if last is None else f" (last time {format_elapsed(last)})"
        if self._style is ProgressStyle.LINES:
            if elapsed >= LONG and not self._is_said:
                self._is_said = True
                write_note(f" {self._phase} ...{before}")
            return
        if elapsed <= FLICKER:
            return
        frames = FRAMES if is_utf8() else PLAIN_FRAMES
        self._frame += 1
        frame = frames[self._frame % len(frames)]
        self._draw(f"{frame} {self._phase}  {format_elapsed(elapsed)}{before}")

    def _draw(self, text: str) -> None:
        columns = _columns()
        text = text[: columns - 1]
        self._erase()
        shown = f"{DIM}{text}{PLAIN}" if uses_color() else text
        try:
            sys.stderr.write(shown)
            sys.stderr.flush()
        except (OSError, ValueError):  # nothing reads it any more
            self._style = ProgressStyle.OFF
            return
        self._drawn = len(text)

    def _erase(self) -> None:
        if not self._drawn or sys.stderr is None:
            return
        rows = (self._drawn - 1) // _columns()  # more than none where the window became narrower
        self._drawn = 0
        try:
            sys.stderr.write(CLEAR + UP * rows)
            sys.stderr.flush()
        except (OSError, ValueError):
            self._style = ProgressStyle.OFF


def _columns() -> int:
    try:
        return max(os.get_terminal_size(2).columns, 2)
    except OSError:
        return 80


def format_elapsed(seconds: float) -> str:
    """A time that goes on: `9.3s`, `2m 05s`."""
    if seconds < MINUTE:
        return f"{seconds:.1f}s"
    return f"{int(seconds) // MINUTE}m {int(seconds) % MINUTE:02d}s"


@contextmanager
def show_progress(
    command: str, options: Mapping[str, object], *, silent: bool, verbose: bool
) -> Iterator[None]:
    """Show the phases that begin inside of a `with` block.

    Args:
        command: The command's name.
        options: What it was called with: times are compared with those of the same.
        silent: Whether nothing is shown.
        verbose: Whether each phase is named at its end, however short.
    """
    shown = Progress(choose_style(silent=silent), PhaseTimes(command, options), verbose=verbose)
    phases.set_listener(shown.begin)
    line_guard.hide, line_guard.erase_now = shown.hide, shown.erase_now
    try:
        yield
    except KeyboardInterrupt:
        said = shown.interrupted()
        shown.close(is_done=False)
        write_note("" if silent else said)
        raise
    except BaseException:
        shown.close(is_done=False)
        raise
    else:
        shown.close(is_done=True)
    finally:
        phases.set_listener(None)
        line_guard.reset()
