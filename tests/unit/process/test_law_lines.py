"""Where a law is declared: found when it is shown, whatever is written around it."""

import os
from pathlib import Path

import pytest
from declaration_files import FILES

from tripybuild.documents.document import read
from tripybuild.process import law_lines
from tripybuild.process.law_lines import law_location, line_of, note_registry


def test_every_law_of_the_repository_is_found(monkeypatch):
    """On the line of its name, as the strict reader says."""
    monkeypatch.setattr(law_lines, "_registries", [])
    for folder in {path.parents[1] for path in FILES}:
        note_registry(folder)
    count = 0
    for path in FILES:
        document, _ = read(path)
        shown = path.relative_to(path.parents[2]).as_posix()
        for law in document.data.get("requires", ()):
            assert line_of(shown, law) == document.span(("requires", law), key=True).line, path
            count += 1
    assert count > 150


TEXT = """\
tripybuild: 1
doc: "even: no law"
inputs:
  even: {type: T, doc: x}
requires:
  # even: no law
  not-even: n % 2
  even:
    that: n % 2 == 0

  "odd" : n % 2 == 1
infer:
  wide: n
"""


def test_only_laws_are_found(tmp_path, monkeypatch):
    """No comments, no keys of other parts, and none that end in the same word."""
    monkeypatch.chdir(tmp_path)
    Path("own").mkdir()
    Path("own/op.yaml").write_text(TEXT)
    found = {name: line_of("own/op.yaml", name) for name in ("even", "not-even", "odd", "wide")}
    assert found == {"even": 8, "not-even": 7, "odd": 11, "wide": 0}
    Path("own/op.yaml").write_text("requires: {a: n > 0, b-c: n < 9}\n")
    assert [line_of("own/op.yaml", name) for name in ("a", "b-c", "c")] == [1, 1, 0]
    assert law_location("own/op.yaml", "a") == "own/op.yaml:1"
    assert law_location("own/op.yaml", "a", 7) == "own/op.yaml:7"
    assert law_location("own/gone.yaml", "a") == "own/gone.yaml"


def test_a_registry_that_is_known_is_looked_at_first(tmp_path, monkeypatch):
    """Wherever a program runs."""
    monkeypatch.setattr(law_lines, "_registries", [])
    (tmp_path / "own/math").mkdir(parents=True)
    (tmp_path / "own/math/op.yaml").write_text(TEXT)
    assert line_of("own/math/op.yaml", "even") == 0
    note_registry(tmp_path / "own")
    assert line_of("own/math/op.yaml", "even") == 8


@pytest.mark.skipif(os.name == "nt", reason="this system has no pipes of Unix")
def test_hostile_names_lead_nowhere(tmp_path, monkeypatch):
    """An executable names files, and may say anything."""
    (tmp_path / "op.yaml").write_text(TEXT)
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    os.mkfifo("pipe.yaml")
    Path("folder.yaml").mkdir()
    Path("secret.txt").write_text(TEXT)
    names = ["../op.yaml", str(tmp_path / "op.yaml"), "pipe.yaml", "folder.yaml", "secret.txt"]
    for name in [*names, "", "a\0.yaml", "x" * 5000 + ".yaml"]:
        assert line_of(name, "even") == 0
