"""`docs/specs.md`: its excerpts stand in the specs, and its commands print what it says."""

from pathlib import Path

import pytest
import sections

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "specs.md"
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
    ran = 0
    for block in BLOCKS:
        if block.language == "python":
            (tmp_path / block.name).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for command, expected in sections.commands(block):
                printed = sections.shell(command, tmp_path, HF_HUB_OFFLINE="1").stdout
                assert sections.is_printed(expected, printed), f"$ {command}\n{printed}"
                ran += 1
    assert ran >= 5
