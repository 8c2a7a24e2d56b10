"""What `tripybuild gen` takes: for a registry as it is and for one of twice the size.

Each is run in a copy of the sources, with plans kept nowhere (`cold`), after nothing changed, and
after one operator's file changed. A second name for each operator doubles the registry. The command
says itself how long it worked; the process, with what Python and its packages need to start, is
shown beside it, as processor time too, since that is what others' work does not change.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from table import Cell, Table, arguments, machine, report

ROOT = Path(__file__).parent.parent
COPIED = ("tripybuild", "ops_registry", "generated")
CHANGED = "nn/softmax.yaml"
GOALS = {"cold": 1.5, "one file changed": 0.4, "nothing changed": None}


def gen(folder: Path) -> tuple[float, float, float]:
    """Generate, and return what the command says, the process's seconds, and its processor's."""
    cache = {"TRIPYBUILD_CACHE_DIR": str(folder / "cache")}
    # Sources compile once, as they do for a user, whatever the environment of a container says.
    found = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": ""}
    words = [sys.executable, "-c", "from tripybuild.cli.main import main; main()", "gen"]
    before, start = os.times(), time.perf_counter()
    environment = os.environ | cache | found
    done = subprocess.run(
        words, check=False, cwd=folder, capture_output=True, text=True, env=environment
    )
    if done.returncode:
        sys.exit(done.stderr)
    seconds, after = time.perf_counter() - start, os.times()
    processor = sum(after[2:4]) - sum(before[2:4])
    work = re.findall(r" in ([0-9.]+)s", done.stdout + done.stderr)
    return float(work[0]), seconds, processor


def doubled(registry: Path) -> None:
    """Give each operator a twin, which no Tensor method calls."""
    for path in sorted(registry.rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        if found := re.search(r"^op: (\w+)$", text, re.MULTILINE):
            name = found[1]
            twin = text.replace(f"op: {name}\n", f"op: {name}_twin\n").replace(
                f"call: {name}(", f"call: {name}_twin("
            )
            twin = re.sub(r"^aliases:\n(  .*\n)+", "", twin, flags=re.MULTILINE)
            path.with_stem(f"{name}_twin").write_text(twin, encoding="utf-8")


def forget(folder: Path) -> None:
    """Remove what earlier runs kept."""
    shutil.rmtree(folder / "cache", ignore_errors=True)


def change(folder: Path) -> None:
    """Change what one operator's documentation says."""
    path = folder / "ops_registry" / CHANGED
    text = path.read_text(encoding="utf-8")
    path.write_text(
        re.sub(r"(doc: \|\n  )(\d+ )?", rf"\g<1>{time.time_ns() % 1000} ", text, count=1)
    )


def nothing(_: Path) -> None:
    """Leave all as it is."""


BEFORE: Mapping[str, Callable[[Path], object]] = {
    "cold": forget,
    "nothing changed": nothing,
    "one file changed": change,
}


def rows(*, twice: bool, repeats: int) -> list[Mapping[str, Cell]]:
    """Measure each case in a copy of the sources; the best of some runs counts."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in COPIED:
            shutil.copytree(
                ROOT / each, folder / each, ignore=shutil.ignore_patterns("__pycache__")
            )
        if twice:
            doubled(folder / "ops_registry")
        declared = (folder / "ops_registry").rglob("*.yaml")
        count = sum("\nop: " in path.read_text(encoding="utf-8") for path in declared)
        gen(folder)  # Python compiles the sources, and generated files are written
        found: list[Mapping[str, Cell]] = []
        for case, prepare in BEFORE.items():
            times = []
            for _ in range(repeats):
                prepare(folder)
                times.append(gen(folder))
            work, process, processor = (min(column) for column in zip(*times, strict=True))
            goal = GOALS[case]
            kept = None if goal is None else "yes" if work <= goal else "no"
            found.append(
                {
                    "operators": f"{count}, {case}",
                    "work s": work,
                    "goal s": goal,
                    "kept": kept,
                    "process s": process,
                    "processor s": processor,
                }
            )
        return found


def main() -> None:
    """Print the times beside the goals."""
    parser = arguments(__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    measured = [
        row for twice in (False, True) for row in rows(twice=twice, repeats=options.repeats)
    ]
    columns = ("operators", "work s", "goal s", "kept", "process s", "processor s")
    title = f"`tripybuild gen`, best of {options.repeats}"
    report(
        [Table(title, columns, measured)], machine("tripybuild", "pydantic", "typer"), options.json
    )


if __name__ == "__main__":
    main()
