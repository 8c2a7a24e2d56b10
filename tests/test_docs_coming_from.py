"""The steps of the pages `docs/coming-from-*.md`, in order, and the specs that they show."""

import re
import shlex
import sys
from pathlib import Path

import pytest
import sections

from tripybuild.cli.main import main

DOCS = Path(__file__).parent.parent / "docs"
# What a page needs beside tripybuild itself.
NEEDED = {
    "coming-from-pytorch.md": ("torch",),
    "coming-from-huggingface.md": ("torch", "transformers"),
    "coming-from-onnx.md": ("onnx",),
}


def expected(text):
    """What `...` stands for is anything."""
    return re.compile(re.escape(text).replace(r"\.\.\.", ".*"), re.DOTALL)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")  # PyTorch's own
@pytest.mark.parametrize("page", NEEDED)
def test_each_step_does_what_the_page_says(page, tmp_path, monkeypatch, capfd):
    """A file that an import has written is what the page shows, or begins so."""
    for name in NEEDED[page]:
        pytest.importorskip(name, reason=f"{name} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    shown = 0
    for section in sections.sections(DOCS / page):
        for block in section.blocks:
            if block.language == "yaml":
                assert expected(block.text).match(Path(block.name).read_text(encoding="utf-8"))
                shown += 1
            elif block.name is not None:
                Path(block.name).write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                exec(compile(block.text, page, "exec"), {})
            elif block.language == "console":
                run(block, monkeypatch, capfd)
    assert shown == 1


def run(block, monkeypatch, capfd):
    """The commands of a block end as it says and print what it shows."""
    wanted = int(block.options.removeprefix("exit=") or 0)
    for command, text in sections.commands(block):
        capfd.readouterr()
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as ended:
            main()
        printed = "".join(capfd.readouterr())
        assert (ended.value.code or 0) == wanted, printed
        assert expected(text).fullmatch(printed), f"$ {command}\n{printed}"
