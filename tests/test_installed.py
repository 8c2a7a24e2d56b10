"""An installed wheel works without the clone: compile and run a copied spec, and extend it."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A virtual environment with the wheel; the dependencies are those of this one."""
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    _run([*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT], folder)
    _run([sys.executable, "-m", "venv", folder / "venv"], folder)
    (wheel,) = folder.glob("*.whl")
    python = folder / "venv" / "bin" / "python"
    _run([*pip, "--python", python, "install", "--no-deps", "--no-index", wheel], folder)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.mark.full
def test_a_copied_spec_compiles_and_runs(installed):
    """Registry and generated code are in the wheel."""
    for name in ("digits.yaml", "digits.safetensors"):
        shutil.copy(ROOT / "specs" / name, installed)
    np.save(installed / "image.npy", np.zeros((2, 1, 8, 8), np.float32))
    tripybuild = installed / "venv" / "bin" / "tripybuild"
    where = "import tripybuild, tripyapi; print(tripybuild.__file__, tripyapi.__file__)"
    python = installed / "venv" / "bin" / "python"
    assert str(ROOT) not in _run([python, "-c", where], installed)
    _run([tripybuild, "compile", "digits.yaml"], installed)
    printed = _run([tripybuild, "run", "digits.tpb", "--input", "image=image.npy"], installed)

    assert "logits         float32[2, 10]" in printed


@pytest.mark.full
def test_a_registry_of_ones_own_extends_the_built_in_one(installed):
    """`new op` and `gen` use the registry in the wheel, and specs call its operators."""
    tripybuild = installed / "venv" / "bin" / "tripybuild"
    _run([tripybuild, "new", "op", "double", "--registry", "mine"], installed)
    assert str(installed) not in (installed / "mine/math/double.yaml").read_text()
    _run([tripybuild, "gen", "--registry", "mine", "--package", "my_operators"], installed)
    code = "import my_operators; print(my_operators.double)"
    python = installed / "venv" / "bin" / "python"
    printed = _run([python, "-c", code], installed, PYTHONPATH=str(installed / "generated"))

    assert printed.startswith("<function double")
    spec = "tripybuild: 1\nmodel: twice\nregistry: mine\n"
    spec += "inputs:\n  x: float32[2]\noutputs:\n  y: double(x)\n"
    (installed / "twice.yaml").write_text(spec)
    _run([tripybuild, "compile", "twice.yaml", "--target", "reference"], installed)


def _run(words, folder, **variables):
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, words)),
        cwd=folder,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
