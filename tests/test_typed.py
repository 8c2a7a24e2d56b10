"""Type checkers know what the library takes and gives: mypy, strictly, on a user's programs.

The library's own types are read from the cache that checking the project leaves.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAMS = ROOT / "tests/fixtures/typed"
LINE = re.compile(r".*\.py:(\d+): error: .*\[([a-z-]+)\]")


@pytest.fixture(scope="module")
def found():
    """What mypy says of each program: lines, with the kind of each mistake."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", *sorted(PROGRAMS.glob("*.py"))],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    assert done.returncode == 1, "there are mistakes in one of the programs"
    lines = done.stdout.splitlines()
    return {
        program.stem: [line for line in lines if f"{program.stem}.py:" in line]
        for program in PROGRAMS.glob("*.py")
    }


def test_nothing_is_wrong_with_a_program_that_is_right(found):
    """Types are known, and are those that run."""
    assert found["program"] == []


def test_each_mistake_is_found(found):
    """At its line, and of the kind that it is."""
    text = (PROGRAMS / "mistakes.py").read_text(encoding="utf-8")
    marked = {n: line for n, line in enumerate(text.splitlines(), 1) if "  # " in line}
    wanted = {(n, line.rpartition("# ")[2]) for n, line in marked.items()}
    matches = [LINE.fullmatch(line) for line in found["mistakes"] if "error:" in line]
    assert {(int(m[1]), m[2]) for m in matches if m} == wanted
    assert len(wanted) > 15


@pytest.mark.parametrize("package", ["tripybuild", "generated/tripyapi"])
def test_packages_say_that_they_are_typed(package):
    """Both halves: without this, all that comes from a package is of any type."""
    assert (ROOT / package / "py.typed").is_file()
