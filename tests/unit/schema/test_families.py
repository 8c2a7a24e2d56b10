"""Families that refine families: parameters go up, what is nearer to the operator counts."""

import pytest

from tripybuild.codegen.incremental.package_files import package_files
from tripybuild.codegen.package.plan import plan
from tripybuild.schema.load import load

ROOT = """\
tripybuild: 1
family: mapped
parameters: [body, size]
defaults: {size: 3}
types:
  T: [float32]
inputs:
  input: {type: "T[*S]", doc: The values.}
outputs:
  output: {type: "T[*S]", doc: The results.}
requires:
  not-many: len(S) < size
decompose: body
sample: {S: [2]}
examples:
  - {call: "mapped([[[[1.0]]]])", fails: not-many}
"""
CHILD = """\
tripybuild: 1
family: shifted
extends: mapped(input + by, size=most)
parameters: [by, most]
defaults: {most: 4}
types:
  T: [float32, int32]
"""
SHIFT = """\
tripybuild: 1
op: shift
like: shifted(by=2)
doc: Move each value by two.
"""
JUMP = """\
tripybuild: 1
op: jump
like: shifted(by=7, most=2)
doc: Move each value by seven.
types:
  T: [float32]
requires:
  not-many: len(S) == 1
"""


@pytest.fixture
def folder(tmp_path):
    """A registry with a family, one that extends it, and two operators."""
    files = {"families/mapped": ROOT, "families/shifted": CHILD, "shift": SHIFT, "jump": JUMP}
    for name, text in files.items():
        path = tmp_path / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_what_is_nearer_to_the_operator_counts(folder):
    """Types and laws are overridden, parameters put in at each level, examples kept."""
    registry, found = load([folder])
    assert not found, found
    shift, jump = registry.operators["shift"], registry.operators["jump"]
    assert [str(each) for each in shift.types["T"]] == ["float32", "int32"]
    assert [str(each) for each in jump.types["T"]] == ["float32"]
    assert shift.decompose.text == "input + 2"
    assert jump.decompose.text == "input + 7"
    assert shift.laws["not-many"].that.text == "len(S) < 4"
    assert jump.laws["not-many"].that.text == "len(S) == 1"
    assert shift.examples[0].call.text.startswith("shift(")
    assert [name for name, _ in shift.families] == ["mapped", "shifted"]
    root = folder.name
    assert shift.family_paths == (f"{root}/families/mapped.yaml", f"{root}/families/shifted.yaml")
    law = plan(registry, "own")["own/ops/shift.py" if shift.inline else "own/trace/shift.py"]
    assert f'source="{root}/families/mapped.yaml"' in law


@pytest.mark.parametrize("file", ["mapped", "shifted"])
def test_a_change_of_any_family_is_a_change_of_the_operator(folder, tmp_path, monkeypatch, file):
    """What is kept from before is what a plan from nothing gives, and digests differ."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    before = load([folder])[0].operators["shift"].digest
    package_files([folder], "own")
    path = folder / "families" / f"{file}.yaml"
    old, new = ("len(S) < size", "len(S) < size + 1") if file == "mapped" else ("4", "5")
    path.write_text(path.read_text().replace(old, new))
    found = package_files([folder], "own").files
    registry, problems = load([folder])
    assert not problems
    assert found == plan(registry, "own")
    assert registry.operators["shift"].digest != before


@pytest.mark.parametrize(
    ("file", "old", "new", "code"),
    [
        ("shift.yaml", "like: shifted(by=2)", "like: shifted", "family-parameters"),
        ("shift.yaml", "(by=2)", "(by=2, size=1)", "family-parameters"),
        ("families/shifted.yaml", "T: [float32, int32]", "T: [float32]", "given-twice"),
        ("families/shifted.yaml", "mapped(input + by, size=most)", "mappd", "unknown-family"),
        ("families/shifted.yaml", "most: 4", "most: 4 +", "snippet-syntax"),
        ("families/mapped.yaml", "mapped\n", "mapped\nextends: shifted(1)\n", "cyclic-family"),
    ],
)
def test_what_is_wrong_is_told_once(folder, file, old, new, code):
    """However many operators are of the family."""
    path = folder / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    _, found = load([folder])
    places = [str(each.span) for each in found if each.code == code]
    assert places
    assert len(places) == len(set(places)), found
