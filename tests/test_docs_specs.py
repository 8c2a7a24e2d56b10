"""`docs/specs.md`: its excerpts stand in the specs, and its commands print what it says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import sections

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "specs.md"
LAUNCHER = "#!{python}\nfrom tripybuild.cli.main import main\n\nmain()\n"
BLOCKS = [block for section in sections.sections(PAGE) for block in section.blocks]


@pytest.mark.parametrize("number", [i for i, b in enumerate(BLOCKS) if b.language == "yaml"])
def test_an_excerpt_is_of_its_file(number):
    """Line by line, with the file's own indentation."""
    block = BLOCKS[number]
    assert block.name is not None
    assert block.name.startswith("specs/")
    whole = (ROOT / block.name).read_text(encoding="utf-8")
    assert f"\n{block.text}" in f"\n{whole}"


def test_the_commands_print_what_the_page_says(tmp_path):
    """With a small checkpoint of random weights."""
    pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    (tmp_path / "specs").symlink_to(ROOT / "specs")
    (tmp_path / "bin").mkdir()
    for name, text in (("tripybuild", LAUNCHER), ("python", '#!/bin/sh\nexec {python} "$@"\n')):
        launcher = tmp_path / "bin" / name
        launcher.write_text(text.format(python=sys.executable))
        launcher.chmod(0o755)
    ran = 0
    for block in BLOCKS:
        if block.language == "python":
            (tmp_path / block.name).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for command, expected in sections.commands(block):
                printed = run(command, tmp_path)
                pattern = ".*?".join(map(re.escape, expected.split("...")))
                assert re.fullmatch(pattern, printed, re.DOTALL), f"$ {command}\n{printed}"
                ran += 1
    assert ran >= 5


def run(command, folder):
    """What a command prints."""
    variables = {
        **os.environ,
        "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": f"{ROOT}:{ROOT / 'generated'}",
        "HF_HUB_OFFLINE": "1",
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
    return done.stdout
