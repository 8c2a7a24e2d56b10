"""Pages of error codes: each has a repair, and each example gives its code until it is mended."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from tripybuild.cli.code_pages import read_page
from tripybuild.cli.main import main
from tripybuild.errors.codes import CODES

PAGES = {code: read_page(code) for code in CODES}
EXAMPLES = {code: page for code, page in PAGES.items() if page.command}


def codes_of(command, monkeypatch, capfd):
    """The codes of what a command finds wrong."""
    words = shlex.split(command)
    monkeypatch.setattr(sys, "argv", words if "--json" in words else [*words, "--json"])
    with pytest.raises(SystemExit):
        main()
    return [each["code"] for each in json.loads(capfd.readouterr().out)["diagnostics"]]


@pytest.mark.parametrize("code", EXAMPLES)
def test_an_example_has_its_code_until_it_is_mended(
    code, tmp_path, shared_cache, monkeypatch, capfd
):
    """In the command's JSON, first of all."""
    monkeypatch.chdir(tmp_path)
    page = EXAMPLES[code]
    for name, text in page.files.items():
        Path(name).write_text(text, encoding="utf-8")
    found = codes_of(page.command, monkeypatch, capfd)
    assert found[:1] == [code]
    for name, text in page.repaired.items():
        Path(name).write_text(text, encoding="utf-8")
    if page.then is not None:
        assert codes_of(page.then, monkeypatch, capfd) == []


def test_each_code_has_a_repair():
    """In a sentence; and the page shows what there is."""
    assert len(EXAMPLES) > 45
    for page in PAGES.values():
        assert page.repair.endswith("."), page.code
        assert "\n".join(page.lines()).count("$ ") == (page.command is not None) + (
            page.then is not None
        )
