"""Lines of running jobs: drawn again in their place, and cleared before anything else is said."""

import re
import sys

import pytest

from tripybuild.cli import console, job_lines
from tripybuild.cli.progress import ProgressStyle
from tripybuild.workspace.build import BuildStatus
from tripybuild.workspace.jobs import RunningJob


def screen(text):
    """What a terminal shows of a text, line by line."""
    lines = [""]
    row = 0
    for part in re.split(r"(\n|\r|\x1b\[2K|\x1b\[1A|\x1b\[\d+m)", text):
        if part == "\n":
            row += 1
            lines += [""] * (row - len(lines) + 1)
        elif part == "\x1b[2K":
            lines[row] = ""
        elif part == "\x1b[1A":
            row -= 1
        elif part != "\r" and not part.startswith("\x1b"):
            lines[row] += part
    while lines and not lines[-1]:
        lines.pop()
    return lines


@pytest.fixture
def shown(monkeypatch, capfd):
    """The lines of a build on a terminal of 40 columns, and what it shows."""
    monkeypatch.setattr(job_lines, "choose_style", lambda *, silent: ProgressStyle.LIVE)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    seen = []

    def read():
        seen.append(capfd.readouterr().err)
        return screen("".join(seen))

    return read


def status(count, *running):
    """A build of which so many of 20 jobs are over."""
    return BuildStatus(count, 20, [RunningJob(*each) for each in running])


def test_lines_change_in_their_place(shown):
    """However many there were; a line that stays is above them, and all is gone at the end."""
    with job_lines.show_jobs({"a": 125.0}, silent=False) as lines:
        lines.look(status(0, ("a", "compile", 61.0), ("b", "", 0.5)))
        first = shown()
        assert first[0].endswith("0 of 20 done")
        assert first[1:] == ["  a  compile  1m 01s (last time 2m 05s)"[:39], "  b  start  0.5s"]
        lines.say("[1/20] built a")
        lines.look(status(1, ("b", "a phase of many words that is cut", 1.0)))
        second = shown()
        assert (second[0], len(second)) == ("[1/20] built a", 3)
        assert len(second[2]) == 39
        many = [(f"j{number}", "x", 1.0) for number in range(40)]
        lines.look(status(1, *many))
        assert shown()[-1] == "  and 24 more"
        assert console.line_guard.hide == lines.hide
    assert shown() == ["[1/20] built a"]


def test_an_interrupt_says_how_far_it_was(shown):
    """And that nothing is lost."""

    def build():
        with job_lines.show_results([], silent=False) as (_, look):
            look(status(0, ("a", "x", 1.0)))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build()
    assert shown() == ["Interrupted: 0 of 0 done; the same command goes on"]


def test_nothing_is_shown_where_that_is_wanted(capfd, monkeypatch):
    """With `--quiet` and `--json`."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with job_lines.show_jobs({}, silent=True) as lines:
        lines.look(status(0, ("a", "x", 1.0)))
        lines.say("built")
    assert capfd.readouterr() == ("", "")
