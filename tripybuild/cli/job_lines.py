"""Progress of many jobs on stderr: a line for each that runs, and one for each that is over.

On a terminal the lines of running jobs change; elsewhere there are only those of jobs that are
over. Invariant: whatever ends a command, the changing lines are cleared before.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tripybuild.cli.console import DIM, PLAIN, is_utf8, line_guard, uses_color, write_note
from tripybuild.cli.progress import (
    FRAMES,
    PLAIN_FRAMES,
    ProgressStyle,
    choose_style,
    format_elapsed,
)
from tripybuild.process.memory import format_bytes
from tripybuild.process.quantities import format_seconds

if TYPE_CHECKING:
    from tripybuild.workspace.build import BuildStatus
    from tripybuild.workspace.jobs import JobResult
    from tripybuild.workspace.plan import PlannedJob
    from tripybuild.workspace.session import Finish, Look

WORDS = ("built", "passed", "skipped", "failed", "crashed", "left out")
UP = "\x1b[1A\x1b[2K"
CLEAR = "\r\x1b[2K"
MOST = 16  # lines of running jobs


class JobLines:
    """The lines of one build.

    Args:
        style: How they are shown.
        last: The seconds that jobs took before, by name.
    """

    def __init__(self, style: ProgressStyle, last: Mapping[str, float]) -> None:
        self._style, self._last = style, last
        self._drawn = self._frame = 0

    def look(self, status: "BuildStatus") -> None:
        """Draw the lines of what runs now."""
        if self._style is not ProgressStyle.LIVE:
            return
        self._frame += 1
        frames = FRAMES if is_utf8() else PLAIN_FRAMES
        frame = frames[self._frame % len(frames)]
        self.hide()
        lines = [f"{frame} {status.finished} of {status.total} done"]
        for each in status.running[:MOST]:
            last = self._last.get(each.job)
            before = f" (last time {format_elapsed(last)})" if last else ""
            taken = format_elapsed(each.seconds)
            lines.append(f"  {each.job}  {each.phase or 'start'}  {taken}{before}")
        if len(status.running) > MOST:
            lines.append(f"  and {len(status.running) - MOST} more")
        self._draw(lines)

    def say(self, text: str) -> None:
        """Write a line that stays."""
        if self._style is not ProgressStyle.OFF:
            write_note(text)

    def hide(self) -> None:
        """Clear the changing lines."""
        if self._drawn and sys.stderr is not None:
            sys.stderr.write(CLEAR + UP * (self._drawn - 1))
            sys.stderr.flush()
        self._drawn = 0

    def erase_now(self) -> None:
        """Clear them where the process ends at once."""
        if self._drawn:
            os.write(2, (CLEAR + UP * (self._drawn - 1)).encode())

    def _draw(self, lines: list[str]) -> None:
        width = shutil.get_terminal_size().columns - 1
        text = "\n".join(line[:width] for line in lines)
        sys.stderr.write(f"{DIM}{text}{PLAIN}" if uses_color() else text)
        sys.stderr.flush()
        self._drawn = len(lines)


@contextmanager
def show_jobs(last: Mapping[str, float], *, silent: bool) -> Iterator[JobLines]:
    """Show the jobs of a build inside of a `with` block."""
    lines = JobLines(choose_style(silent=silent), last)
    before: tuple[Callable[[], None], Callable[[], None]] = line_guard.hide, line_guard.erase_now
    line_guard.hide, line_guard.erase_now = lines.hide, lines.erase_now
    try:
        yield lines
    finally:
        lines.hide()
        line_guard.hide, line_guard.erase_now = before


@contextmanager
def show_results(
    planned: Sequence["PlannedJob"], *, silent: bool
) -> Iterator[tuple["Finish", "Look"]]:
    """Show results and progress of jobs inside of a `with` block."""
    total = sum(not each.is_current for each in planned)
    last = {each.job.name: each.expected for each in planned}
    count = 0
    with show_jobs(last, silent=silent) as lines:

        def finish(job: "PlannedJob", result: "JobResult") -> None:
            nonlocal count
            count += 1
            took = f" in {format_seconds(result.seconds)}" if result.outcome == "done" else ""
            peak = f", {format_bytes(result.peak)}" if result.peak and took else ""
            lines.say(f"[{count}/{total}] {outcome_word(job, result)} {result.job}{took}{peak}")

        try:
            yield finish, lines.look
        except KeyboardInterrupt:
            lines.say(f"Interrupted: {count} of {total} done; the same command goes on")
            raise


def outcome_word(planned: "PlannedJob", result: "JobResult") -> str:
    """What became of a job, in a word of `WORDS`."""
    if result.outcome != "done":
        return "left out" if result.outcome == "canceled" else result.outcome
    if planned.job.action == "compile":
        return "built"
    return "skipped" if result.report.get("skipped") else "passed"
