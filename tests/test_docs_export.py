"""What `docs/bench.md`, `check.md`, `compare.md` and their like show is done as they say."""

import re
import shlex
import sys
from pathlib import Path

import pytest
import sections

from tripybuild.cli.main import main
from tripybuild.importer.reading.readings import Readings
from tripybuild.onnx.model import DEFAULT_OPSET, OPSETS
from tripybuild.process import paths
from tripybuild.schema.foreign import signatures
from tripybuild.testing.registry import registry

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "export.md"
# What a page needs beside tripybuild itself.
PAGES = (
    *("bench.md", "check.md", "compare.md", "explain.md", "export.md", "graph.md", "import.md"),
    "profile.md",
    "workspace.md",
    "command-line.md",
)
NEEDED = dict.fromkeys(PAGES, ()) | {"import.md": ("torch",)}


def pattern(expected):
    """What `...` stands for is anything."""
    return re.compile(re.escape(expected).replace(r"\.\.\.", ".*"), re.DOTALL)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")  # PyTorch's own
@pytest.mark.parametrize("page", NEEDED)
def test_each_block_does_what_the_page_says(page, tmp_path, monkeypatch, capfd):
    """In a folder with the page's files."""
    for name in NEEDED[page]:
        pytest.importorskip(name, reason=f"{name} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("COLUMNS", raising=False)  # pytest-xdist's workers have it
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    for section in sections.sections(DOCS / page):
        for block in section.blocks:
            if block.name is not None:
                (tmp_path / block.name).parent.mkdir(exist_ok=True)
                (tmp_path / block.name).write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                exec(compile(block.text, page, "exec"), {})
            elif block.language == "console":
                for command, expected in sections.commands(block):
                    monkeypatch.setattr(sys, "argv", shlex.split(command))
                    with pytest.raises(SystemExit) as ended:
                        main()
                    printed = "".join(capfd.readouterr())
                    assert (ended.value.code or 0) == int(block.options[5:] or 0), printed
                    assert pattern(expected).fullmatch(printed), f"$ {command}\n{printed}"


def test_the_page_says_which_opsets_there_are():
    text = PAGE.read_text(encoding="utf-8")
    assert f"`--opset {OPSETS[0]}` to `--opset {OPSETS[-1]}`" in text
    assert f"the default is {DEFAULT_OPSET}," in text


def test_the_page_says_which_of_core_aten_is_not_read():
    """Of what PyTorch itself calls core; sizes are read where they are arguments."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    core = set()
    for name in signatures("aten"):
        word, _, overload = name.partition(".")
        operator = getattr(getattr(torch.ops.aten, word, None), overload or "default", None)
        if torch.Tag.core in getattr(operator, "tags", ()):
            core.add(name)
    text = (DOCS / "import.md").read_text(encoding="utf-8")
    section = text.partition("## ATen's operators")[2].partition("##")[0]
    named = set(re.findall(r"`([\w.]+)`", section.partition("| --- |")[2].partition("\n\n")[0]))
    read = Readings(registry(paths.registry()), "aten").names | {"sym_size.int", "sym_numel"}
    assert named == core - read
    assert f"Of the {len(core)} overloads" in section
    assert f", {len(named)} are not imported" in section
