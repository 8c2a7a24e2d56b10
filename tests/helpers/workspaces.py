"""Small workspaces, jobs in this process, and the command line in a process of its own."""

import contextlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

from tripybuild.workspace.execution import do_job

SPEC = """\
tripybuild: 1
model: {name}
inputs: {{edges: "F[B, 3]"}}
ranges: {{B: {{min: 1, opt: 4, max: 8}}}}
outputs: {{total: "edges * {factor}"}}
"""
FLEET = """\
tripybuild: 1
workspace: fleet
specs: [specs/*.yaml]
builds: {plain: {targets: [reference]}}
"""

# A spec that compiles at once.
VOLUMES = """\
tripybuild: 1
model: volumes
inputs: {edges: "float32[B, 3]"}
ranges: {B: {min: 1, opt: 4, max: 8}}
outputs: {total: "edges * 2.0"}
"""


def spec(name, factor="2.0"):
    """The text of a spec."""
    return SPEC.format(name=name, factor=factor)


def write(root, text=FLEET, names=("one", "two")):
    """Write a workspace of some specs."""
    (root / "specs").mkdir(exist_ok=True)
    (root / "tripybuild.yaml").write_text(text, encoding="utf-8")
    for name in names:
        (root / "specs" / f"{name}.yaml").write_text(spec(name), encoding="utf-8")
    return root


class HereExecutor:
    """Does jobs in this process, in the order in which they come."""

    def __init__(self, root, **_):
        self.root, self.results = root, []

    def submit(self, job):
        """Do it now."""
        with contextlib.chdir(self.root):
            self.results.append(do_job(job))

    def completed(self, timeout):
        """One result at a time."""
        return [self.results.pop(0)] if self.results else []

    def running(self):
        """Nothing runs behind the caller's back."""
        return []

    def cancel(self):
        """All was done when it was submitted."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Nothing was started."""


def start(root, *words, drops=""):
    """Start `tripybuild` in a folder, as root without some of its rights."""
    rights = [shutil.which("setpriv"), "--bounding-set", drops] if drops else []
    return subprocess.Popen(
        [*rights, sys.executable, "-m", "tripybuild", *words],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcomes(said):
    """What became of each job, by an answer in JSON."""
    return {each["name"]: each["outcome"] for each in json.loads(said)["jobs"]}


def codes(said):
    """The codes of an answer's diagnostics."""
    return [each["code"] for each in json.loads(said)["diagnostics"]]


def temporaries(root):
    """Files that were not finished."""
    return [each for each in Path(root).rglob("*.part") if each.is_file()]
