"""Pages of error codes: each has a repair, and each example gives its code until it is mended."""

import json
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest
import typer

from tripybuild.cli.code_pages import read_page
from tripybuild.cli.command_line import CommandLine
from tripybuild.cli.main import app, main
from tripybuild.errors.codes import CODES
from tripybuild.errors.diagnostics import DiagnosticError

HERE = Path(__file__).name
PAGES = {code: read_page(code) for code in CODES}
EXAMPLES = {code: page for code, page in PAGES.items() if page.command}


WARNING = re.compile(r"^warning\[(.+?)\]", re.MULTILINE)
ROOT = Path(__file__).resolve().parents[3]


def codes_of(line, monkeypatch, capfd):
    """The codes of what the last of some commands finds wrong, or warns of."""
    *before, last = line.split(" && ")
    for each in before:
        assert run(each, monkeypatch, capfd) == [], each
    return run(last, monkeypatch, capfd)


def run(command, monkeypatch, capfd):
    """The codes of one command: of the program, or of a file of Python."""
    words = shlex.split(command)
    while "=" in words[0]:
        monkeypatch.setenv(*words.pop(0).split("="))
    if words[0] == "python":
        try:
            runpy.run_path(words[1], run_name="__main__")
        except DiagnosticError as error:
            return [each.code for each in error.diagnostics]
        return []
    monkeypatch.setattr(sys, "argv", words if "--json" in words else [*words, "--json"])
    with pytest.raises(SystemExit):
        main()
    out, err = capfd.readouterr()
    return [each["code"] for each in json.loads(out)["diagnostics"]] + WARNING.findall(err)


@pytest.mark.filterwarnings("ignore:.*LeafSpec.* is deprecated")  # within PyTorch
@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_has_its_code_until_it_is_mended(
    code, tmp_path, shared_cache, monkeypatch, capfd
):
    """In the command's JSON, first of all."""
    monkeypatch.chdir(tmp_path)
    page = EXAMPLES[code]
    write(page.files)
    found = codes_of(page.command, monkeypatch, capfd)
    assert found[-1 if code == "more-problems" else 0] == code
    write(page.repaired)
    if page.then is not None:
        assert codes_of(page.then, monkeypatch, capfd) == []


def write(files):
    """Files by their paths."""
    for name, text in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")


def test_each_code_has_a_repair():
    """In a sentence; and the page shows what there is."""
    for page in PAGES.values():
        assert page.repair.endswith("."), page.code
        has_one = (page.cause is None) == (page.command is not None)
        assert has_one, f"{page.code} needs an example, or says in `cause:` how it comes about"
        assert "\n".join(page.lines()).count("  $ ") == (page.command is not None) + (
            page.then is not None
        )


def test_commands_that_repairs_name_exist():
    """With their options."""
    root = typer.main.get_command(app)
    seen = 0
    for page in PAGES.values():
        for words in re.findall(r"`tripybuild ([^`]+)`", f"{page.repair} {page.cause}"):
            read = CommandLine(shlex.split(words)).parse(root)
            assert not read.unknown, f"{page.code}: {words}"
            seen += 1
    assert seen > 5


def test_what_has_no_example_is_brought_about_by_a_test():
    """By one that has the means: a process that is killed, another version, a file cut short."""
    texts = [p.read_text() for p in (ROOT / "tests").rglob("test_*.py") if p.name != HERE]
    texts += [p.read_text() for p in (ROOT / "tests/diagnostics").glob("*.md")]
    without = [page for page in PAGES.values() if page.command is None]
    assert len(without) < len(PAGES) / 4
    for page in without:
        assert page.cause.endswith("."), page.code
        named = re.compile(rf"""["\[]{page.code}["\] :]""")
        assert any(map(named.search, texts)), page.code
