"""The example of `docs/operators.md` is a registry, and becomes the code that the page shows."""

import shlex
import sys
import textwrap
from importlib import import_module
from pathlib import Path

import pytest
import sections
import yaml

from tripybuild.cli.main import main
from tripybuild.schema.files import FamilyFile, OperatorFile

PAGE = Path(__file__).parent.parent / "docs" / "operators.md"


def test_cases_become_the_code_that_the_page_shows(tmp_path, shared_cache, monkeypatch):
    """`gen` writes it, and it computes what the examples say."""
    monkeypatch.chdir(tmp_path)
    (section,) = (each for each in sections.sections(PAGE) if "`cases:`" in each.title)
    file, console, code = section.blocks
    (tmp_path / file.name).parent.mkdir()
    (tmp_path / file.name).write_text(file.text, encoding="utf-8")
    for command, _ in sections.commands(console):
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
    written = tmp_path / "generated/my_norms/decompositions/norm_of_rows.py"
    assert textwrap.indent(code.text, "    ") in written.read_text(encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "generated"))
    norm_of_rows = import_module("my_norms").norm_of_rows
    rows = import_module("tripyapi").Tensor([[3.0, -4.0]])
    found = [norm_of_rows(rows, by).tolist() for by in ("square", "largest", "sum")]
    assert found == [[5.0], [4.0], [7.0]]


def test_excerpts_have_known_keys():
    """Those of an operator or a family; `docs/operators-reference.md` has them all."""
    blocks = [b for s in sections.sections(PAGE) for b in s.blocks if b.language == "yaml"]
    assert len(blocks) >= 5
    for block in blocks:
        data = yaml.safe_load(block.text)
        model = FamilyFile if "family" in data else OperatorFile
        assert set(data) <= set(model.model_fields), block.text
