"""What a user waits for before anything happens: each command in a fresh process, best of some.

The goals are those of the project. A process of bare Python is shown beside them, since its time
is in each row and no code of ours can lower it.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from table import Cell, Table, arguments, machine, report

ROOT = Path(__file__).parent.parent
TRIPYBUILD = str(Path(sys.executable).with_name("tripybuild"))
NEW = "<a new folder>"
PACKAGES = ("tripybuild", "pydantic", "typer", "pyyaml")


@dataclass(frozen=True)
class Command:
    """A command, and the seconds that it may take."""

    name: str
    words: tuple[str, ...]
    goal: float | None = None
    forgetful: bool = False  # whether the plans of earlier runs are out of its sight


COMMANDS = (
    Command("python -c pass", (sys.executable, "-c", "pass")),
    Command("import tripyapi", (sys.executable, "-c", "import tripyapi"), 0.15),
    Command("tripybuild --help", (TRIPYBUILD, "--help"), 0.2),
    Command("tripybuild gen --check", (TRIPYBUILD, "gen", "--check"), 0.5),
    Command("tripybuild gen, up to date", (TRIPYBUILD, "gen"), 1.0),
    Command("tripybuild gen, all new", (TRIPYBUILD, "gen", "--out", NEW), 1.0),
    Command("gen --check, no plan kept", (TRIPYBUILD, "gen", "--check"), 0.5, forgetful=True),
    Command("gen, all new, no plan kept", (TRIPYBUILD, "gen", "--out", NEW), 1.0, forgetful=True),
)


def seconds_of(command: Command) -> float:
    """Run a command once from the repository's root, and return the seconds that it took."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        words = [folder if word == NEW else word for word in command.words]
        hidden = {"TRIPYBUILD_CACHE_DIR": cache} if command.forgetful else {}
        start = time.perf_counter()
        subprocess.run(words, cwd=ROOT, check=True, capture_output=True, env=os.environ | hidden)
        return time.perf_counter() - start


def row(command: Command, repeats: int) -> Mapping[str, Cell]:
    """Return a command's best time, and whether it keeps to the goal."""
    try:
        seconds = min(seconds_of(command) for _ in range(repeats))
    except FileNotFoundError:
        return {"command": f"{command.name}: not installed", "goal s": command.goal}
    except subprocess.CalledProcessError as failure:
        problem = f"{command.name}: exit code {failure.returncode}"
        return {"command": problem, "goal s": command.goal}
    kept = None if command.goal is None else "yes" if seconds <= command.goal else "no"
    return {"command": command.name, "best s": seconds, "goal s": command.goal, "kept": kept}


def main() -> None:
    """Print the times beside the goals."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    rows = [row(command, options.repeats) for command in COMMANDS]
    columns = ("command", "best s", "goal s", "kept")
    title = f"Start-up, each in a fresh process, best of {options.repeats}"
    report([Table(title, columns, rows)], machine(*PACKAGES), options.json)


if __name__ == "__main__":
    main()
