"""What `tripybuild build` takes where nothing has changed, beside `make -q` and `ninja`.

A workspace of 100 executables, and a Makefile and a `build.ninja` that say the same: 25 specs in
two dtypes for two targets, with and without weights of 256 MB. The others look at times of files,
`tripybuild` at their content and at the versions of what compiles.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from table import Cell, Table, arguments, machine, report

SPECS, ROUNDS = 25, 7
WIDTH = 8192  # of a weight in float32: 256 MB
GOAL = 1.0  # seconds
SPEC = """\
tripybuild: 1
model: m{number}
inputs: {{x: "F[B, 4]"}}
ranges: {{B: {{min: 1, opt: 4, max: 64}}}}
outputs: {{y: x * {number}.0}}
"""
LARGE = """\
tripybuild: 1
model: large
inputs: {{x: "F[{width}]"}}
parts: {{big: "Linear({width}, {width}, bias=False)"}}
outputs: {{y: big(x)}}
weights: large.safetensors
"""
FLEET = """\
tripybuild: 1
workspace: fleet
specs: [specs/*.yaml]
builds:
  all: {targets: [reference, "cpu:onnxruntime"], dtypes: [float32, float16], specs: ["m*"]}
"""


def write(folder: Path) -> None:
    """Write the workspace, and the files of the others."""
    (folder / "specs").mkdir()
    for number in range(SPECS):
        (folder / f"specs/m{number}.yaml").write_text(SPEC.format(number=number))
    (folder / "tripybuild.yaml").write_text(FLEET)


def write_peers(folder: Path) -> int:
    """Say the same to `make` and to `ninja`; give the number of outputs."""
    outputs = sorted(each.relative_to(folder) for each in folder.rglob("*.tpb"))
    rules, edges = (
        ["all: " + " ".join(map(str, outputs))],
        ["rule compile", "  command = touch $out"],
    )
    for output in outputs:
        spec = f"specs/{output.name.partition('-')[0]}.yaml"
        more = " specs/large.safetensors" if "large" in output.name else ""
        rules.append(f"{output}: {spec}{more} tripybuild.yaml\n\ttouch $@")
        edges.append(f"build {output}: compile {spec}{more} tripybuild.yaml")
    (folder / "Makefile").write_text("\n".join(rules) + "\n")
    (folder / "build.ninja").write_text("\n".join(edges) + "\n")
    return len(outputs)


def timed(folder: Path, words: Sequence[str]) -> tuple[float, float]:
    """The seconds of a command and those of its processor."""
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(words, check=False, cwd=folder, capture_output=True, text=True)
    seconds, after = time.perf_counter() - start, os.times()
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stdout}{done.stderr}")
    return seconds, sum(after[2:4]) - sum(before[2:4])


def rows(folder: Path, label: str) -> list[dict[str, Cell]]:
    """Rows of a workspace: the first build, and what follows where nothing changed."""
    build = [sys.executable, "-m", "tripybuild", "build", "--quiet"]
    first, used = timed(folder, build)
    count = write_peers(folder)
    for words in (["make"], ["ninja"]):
        if shutil.which(words[0]):
            subprocess.run(words, cwd=folder, check=True, capture_output=True)
    said: dict[str, Cell] = {"workspace": label, "outputs": count}
    found: list[dict[str, Cell]] = [
        {**said, "command": "tripybuild build, new", "s": first, "processor s": used}
    ]
    time.sleep(2.5)  # what was just written is looked at twice
    timed(folder, build)
    peers = {"tripybuild build": build, "make -q": ["make", "-q"], "ninja": ["ninja"]}
    for name, words in peers.items():
        if name == "tripybuild build" or shutil.which(words[0]):
            times = [timed(folder, words) for _ in range(ROUNDS)]
            wall, processor = (statistics.median(column) for column in zip(*times, strict=True))
            found.append({**said, "command": name, "s": wall, "processor s": processor})
    return found


def main() -> None:
    """Measure, and print the table."""
    options = arguments(__doc__).parse_args()
    found: list[dict[str, Cell]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "fleet"
        folder.mkdir()
        os.environ.setdefault("TRIPYBUILD_CACHE_DIR", f"{name}/cache")
        write(folder)
        found += rows(folder, "small specs")
        (folder / "specs/large.yaml").write_text(LARGE.format(width=WIDTH))
        weight = np.zeros((WIDTH, WIDTH), np.float32)
        save_file({"big.weight": weight}, folder / "specs/large.safetensors")
        text = FLEET + "  large: {specs: [large], targets: [reference]}\n"
        (folder / "tripybuild.yaml").write_text(text)
        found += rows(folder, "and 256 MB of weights")
    note = f"goal: a build of 100 outputs where nothing changed takes at most {GOAL:.0f} s"
    columns = ("workspace", "command", "outputs", "s", "processor s")
    title = f"A workspace where nothing changed, median of {ROUNDS}"
    report([Table(title, columns, found, [note])], machine("tripybuild"), options.json)


if __name__ == "__main__":
    main()
