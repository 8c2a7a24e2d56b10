"""The files and commands of `docs/targets.md` and of the page for TensorRT do what they say."""

import re
import shlex
import sys
from pathlib import Path

import pytest
import sections

from tripybuild.cli.main import main
from tripybuild.targets import table

PAGE = Path(__file__).parent.parent / "docs" / "targets.md"


def pattern(expected):
    """What `...` stands for is anything."""
    return re.compile(re.escape(expected).replace(r"\.\.\.", ".*"), re.DOTALL)


@pytest.mark.parametrize(
    "page", [PAGE, PAGE.with_name("coming-from-tensorrt.md")], ids=lambda p: p.stem
)
def test_each_command_prints_what_the_page_says(page, tmp_path, monkeypatch, capfd):
    """In a folder with the page's files."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    for section in sections.sections(page):
        for block in section.blocks:
            if block.name is not None:
                (tmp_path / block.name).write_text(block.text, encoding="utf-8")
            elif block.language == "python" and page != PAGE:  # its own is a line of a table
                exec(compile(block.text, page.name, "exec"), {})
            elif block.language == "console":
                for command, expected in sections.commands(block):
                    monkeypatch.setattr(sys, "argv", shlex.split(command))
                    with pytest.raises(SystemExit) as ended:
                        main()
                    printed = "".join(capfd.readouterr())
                    assert (ended.value.code or 0) == int("exit=1" in block.options), printed
                    assert pattern(expected).fullmatch(printed), f"$ {command}\n{printed}"


def test_the_page_has_every_target():
    """Each has a row of the table."""
    rows = re.findall(r"^\| `([a-z:-]+)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert tuple(rows) == tuple(table.TARGETS)
