"""The README's commands, run in a copy of the project, print what the README says."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sections

ROOT = Path(__file__).parent.parent
COPIED = ("generated", "ops_registry", "specs", "tripybuild", "README.md", "pyproject.toml")
LAUNCHER = "#!{python}\nfrom tripybuild.cli.main import main\n\nmain()\n"


@pytest.fixture
def project(tmp_path):
    """A copy of the project whose `tripybuild` and `python` are first on the path."""
    leave = shutil.ignore_patterns("*.tpb")  # what Python compiled is of use there
    for name in COPIED:
        source, place = ROOT / name, tmp_path / name
        shutil.copytree(source, place, ignore=leave) if source.is_dir() else shutil.copy(
            source, place
        )
    (tmp_path / "bin").mkdir()
    launcher = tmp_path / "bin" / "tripybuild"
    launcher.write_text(LAUNCHER.format(python=sys.executable))
    launcher.chmod(0o755)
    return tmp_path


def test_readme(project):
    """Each `console` block ends well and prints its text; `...` stands for anything."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    for section in sections.sections(project / "README.md"):
        for block in section.blocks:
            if block.name is not None:
                (project / block.name).write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                for command, expected in sections.commands(block):
                    printed = _run(command, project)
                    assert _pattern(expected).fullmatch(printed), f"$ {command}\n{printed}"


def _run(command, folder):
    variables = {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": f"{folder}:{folder / 'generated'}",
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"$ {command}\n{done.stdout}"
    return done.stdout


def _pattern(expected):
    return re.compile(re.escape(expected).replace(r"\.\.\.", ".*"), re.DOTALL)
