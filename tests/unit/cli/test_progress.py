"""Progress on real pseudo terminals, in pipes, and where nothing is wanted."""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from tripybuild.cli.phase_times import PhaseTimes

pytestmark = pytest.mark.skipif(os.name == "nt", reason="this system has no pseudo terminals")

# A command that works, as others do.
PROGRAM = """\
import signal, sys, time
from tripybuild.cli import main, progress
from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.interrupts import Interrupts
from tripybuild.errors.logger import logger
from tripybuild.process.phases import begin_phase

progress.LONG = progress.SHORT = 0.4

@command
def work() -> CommandResult:
    begin_phase("prepare")
    with logger.log_time("a step"):
        pass
    logger.verbose("cache hit: it was there")
    begin_phase("build the engine")
    time.sleep(SECONDS)
    return CommandResult(text="answer", remark="Done", data={"answer": 1})

main.app.command("work")(work)
interrupts = Interrupts()
interrupts.install()
interrupts.working = True
sys.argv = ["tripybuild", "work", *sys.argv[1:]]
main.main()
"""
SPINNING = re.compile(r"[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏|/\\-] build the engine  0\.\ds")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """The command for a number of seconds; its cache is empty."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TERM", "xterm")
    for name in ("TRIPYBUILD_PROGRESS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return lambda seconds: [sys.executable, "-c", PROGRAM.replace("SECONDS", str(seconds))]


def on_terminal(words, *, columns=60, interrupt=False, narrow=0):
    """What a command writes to a terminal of its own, and its exit code."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(words[0], words)
    resize(terminal, columns)
    seen, is_asked = "", False
    while select.select([terminal], [], [], 20)[0]:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
        seen += part.decode()
        if SPINNING.search(seen) and not is_asked:
            is_asked = True
            if interrupt:
                os.write(terminal, b"\x03")
            if narrow:
                resize(terminal, narrow)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    return status, seen


def resize(terminal, columns):
    """Make a window as wide as this."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def screen(text):
    """What stays on the lines of a terminal that is wide enough."""
    lines = []
    for line in text.replace("\x1b[2m", "").replace("\x1b[0m", "").split("\r\n"):
        shown = line.rpartition("\r\x1b[2K")[2]
        lines.append(re.sub(r"\d+\.\d+", "N", shown))
    return lines


def test_a_terminal_shows_one_line_that_changes(program):
    """It is cleared at the end, and says how long the phase took the last time."""
    status, seen = on_terminal(program(0.7))
    assert (status, screen(seen)) == (0, [" build the engine in Ns", "answer", "Done", ""])
    assert SPINNING.search(seen)
    assert "last time" not in seen
    _, seen = on_terminal(program(0.7))
    assert re.search(r"s \(last time [01]\.\ds\)", seen)
    assert re.search(r"\x1b\[2m. build", seen)


def test_an_interrupt_clears_the_line(program):
    """It ends with the exit code of shells, and in one line."""
    status, seen = on_terminal(program(10), interrupt=True)
    assert status == 130
    said = screen(seen.replace("^C", ""))
    assert said == ["Interrupted after Ns of: build the engine", ""]


def test_a_narrow_window_without_color(program, monkeypatch):
    """Lines are cut to the window's columns, also where it became narrower meanwhile."""
    monkeypatch.setenv("NO_COLOR", "1")
    status, seen = on_terminal(program(0.9), columns=40, narrow=12)
    assert status == 0
    assert "\x1b[2m" not in seen
    drawn = [each for each in seen.split("\r\x1b[2K") if "build the" in each[:20]]
    assert len(drawn[1].replace("\x1b[1A\x1b[2K", "")) <= 11
    assert "\x1b[1A\x1b[2K" in seen  # the row that the terminal broke off
    monkeypatch.setenv("TERM", "dumb")
    _, seen = on_terminal(program(0.6))
    assert "\x1b" not in seen
    assert " build the engine ...\r\n build the engine in " in re.sub(r" \(last[^)]*\)", "", seen)


def test_a_pipe_has_lines_for_what_takes_long(program, monkeypatch):
    """And nothing beside the answer with `--json` and `-q`; more with `-v`."""

    def run(*words, seconds=0.6):
        done = subprocess.run(
            [*program(seconds), *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == (2 if {"-v", "-q"} <= {*words} else 0), done.stderr
        return done.stdout, re.sub(r"\d+\.\d+", "N", done.stderr)

    lines = " build the engine ...\n build the engine in Ns\nDone\n"
    assert run() == ("answer\n", lines)
    assert run(seconds=0)[1] == "Done\n"
    assert run("-q") == ("answer\n", "")
    out, err = run("--json")
    assert (json.loads(out), err) == ({"answer": 1, "diagnostics": []}, "Done\n")
    verbose = "a step: N s\n[V] cache hit: it was there\n prepare in Ns\n build the engine in Ns\n"
    assert run("-v", seconds=0)[1] == f"{verbose}Done\n"
    assert "error[conflicting-options]" in run("-v", "-q")[1]
    monkeypatch.setenv("TRIPYBUILD_PROGRESS", "off")
    assert run()[1] == "Done\n"


def test_times_never_matter(tmp_path, monkeypatch):
    """A file that is damaged, or a folder that cannot be written, is as none."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path))
    asked = {"spec": Path("a.yaml"), "sizes": [("S", 2)], "json": False, "output": Path("x")}
    PhaseTimes("compile", asked).store({"build": 2.0, "short": 0.1})
    assert PhaseTimes("compile", {**asked, "output": None}).last("build") == 2.0
    assert PhaseTimes("compile", {**asked, "sizes": [("S", 3)]}).last("build") is None
    file = tmp_path / "phases.json"
    known = json.loads(file.read_text())
    (key,) = known
    for text in ("", "[", "[1]", '{"a": 1}', f'{{"{key}": {{"build": "x"}}}}', "\x00", "[" * 9999):
        file.write_text(text)
        assert PhaseTimes("compile", asked).last("build") is None
        PhaseTimes("compile", asked).store({"build": 3.0})
        assert PhaseTimes("compile", asked).last("build") == 3.0
    file.unlink()
    file.mkdir()
    PhaseTimes("compile", asked).store({"build": 3.0})
    assert PhaseTimes("compile", asked).last("build") is None
    began = time.perf_counter()
    for number in range(250):
        PhaseTimes("run", {"number": number + 1}).store({"build": 0.1})
    assert time.perf_counter() - began < 1
