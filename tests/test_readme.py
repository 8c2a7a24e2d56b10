"""The README's commands, run in a copy of the project, print what the README says."""

import shutil
from pathlib import Path

import pytest
import sections

ROOT = Path(__file__).parent.parent
COPIED = ("generated", "ops_registry", "specs", "tripybuild", "README.md", "pyproject.toml")


@pytest.fixture
def project(tmp_path):
    """A copy of the project."""
    leave = shutil.ignore_patterns("*.tpb")  # what Python compiled is of use there
    for name in COPIED:
        source, place = ROOT / name, tmp_path / name
        shutil.copytree(source, place, ignore=leave) if source.is_dir() else shutil.copy(
            source, place
        )
    return tmp_path


def test_readme(project):
    """Each `console` block ends well and prints its text; `...` stands for anything."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    for section in sections.sections(project / "README.md"):
        for block in section.blocks:
            if block.name is not None:
                (project / block.name).write_text(block.text, encoding="utf-8")
            elif block.language == "console":
                for command, expected in sections.commands(block):
                    done = sections.shell(
                        command, project, project, PYTEST_ADDOPTS="-p no:cacheprovider"
                    )
                    shown = f"$ {command}\n{done.stdout}"
                    assert done.returncode == 0, shown
                    assert sections.is_printed(expected, done.stdout), shown
