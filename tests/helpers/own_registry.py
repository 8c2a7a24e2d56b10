"""A user's registry, and the package that `gen` makes of it, once for all tests."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

ROOT = Path(__file__).parent.parent.parent
REGISTRY = ROOT / "tests/fixtures/my_registry"
SPEC = """\
tripybuild: 1
model: edges
registry: my_registry
inputs:
  rows: float32[B, N]
ranges:
  B: {min: 1, opt: 2, max: 8}
  N: {min: 2, opt: 4, max: 16, multiple_of: 2}
parts:
  gate: Gate(2)
outputs:
  cut: gate(shrunk_patches(hard_shrink(rows, 0.75), 2))
weights: edges.safetensors
"""
ROWS = np.float32([[1, 2, 3, 4, 0.5, -6]] * 3)
# What `cut` is for these rows: of pairs, the second is doubled.
CUT = np.float32([[[0, 4], [3, 8], [0, -12]]] * 3)


@dataclass(frozen=True)
class Own:
    """A folder with `my_registry`, and `generated/my_ops` made of it; `edges.yaml` calls both."""

    folder: Path
    said: str

    @property
    def spec(self):
        """A specification that names the registry."""
        return self.folder / "edges.yaml"

    @property
    def registry(self):
        """The registry's folder."""
        return self.folder / "my_registry"

    @property
    def generated(self):
        """Where the package is."""
        return self.folder / "generated"


def made(folder):
    """Make it all in a folder."""
    shutil.copytree(REGISTRY, folder / "my_registry")
    (folder / "edges.yaml").write_text(SPEC)
    save_file({"gate.weight": np.float32([1, 2])}, folder / "edges.safetensors")
    words = ["gen", "--registry", "my_registry", "--package", "my_ops"]
    done = subprocess.run(
        [sys.executable, "-m", "tripybuild", *words],
        cwd=folder, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Own(folder, done.stderr)
