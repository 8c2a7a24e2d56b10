"""Modules that extend modules: entries are inherited, with their places in the file they are in."""

from inspect import signature
from pathlib import Path

import pytest
import written

from tripybuild.codegen.incremental.package_files import package_files
from tripybuild.codegen.package.plan import plan
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.packages.libraries import model_libraries
from tripybuild.schema.load import load

SCALE = """\
tripybuild: 1
module: Scale
doc: Multiply by a weight.
sizes:
  width: {doc: The size of the vectors.}
  times: {default: 1, doc: How often.}
requires:
  some-width: width > 0
  sometimes: times > 0
inputs:
  x: F[N, width]
weights:
  weight: F[width]
steps:
  scaled: x * weight
outputs:
  out: scaled
sample: {N: 2, width: 3}
examples:
  - {call: Scale(0), fails: some-width}
  - {call: "Scale(1, times=0)", fails: sometimes}
"""
SHIFT = """\
tripybuild: 1
module: Shift
extends: Scale
doc: Multiply by a weight, and add another one.
requires:
  sometimes: times > 1
weights:
  shift: F[width]
outputs:
  out: scaled + shift
"""
TWICE = """\
tripybuild: 1
module: Twice
extends: Shift
doc: Shift the doubled product.
steps:
  scaled: x * weight * 2.0
sample: {times: 2}
"""
SPEC = "registry: own\ninputs:\n  x: F[2, 3]\nparts:\n  layer: {made}\noutputs:\n  y: layer(x)\n"


@pytest.fixture
def folder(tmp_path):
    """A registry with a module, one that extends it, and one that extends that."""
    root = tmp_path / "own"
    root.mkdir()
    for name, text in {"scale": SCALE, "shift": SHIFT, "twice": TWICE}.items():
        (root / f"{name}.yaml").write_text(text)
    return root


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def problems(folder, made):
    path = written.write(folder, SPEC.format(made=made))
    with pytest.raises(DiagnosticError) as raised:
        build(path, homes=model_libraries(None, path))
    return [(each.code, *each.notes) for each in raised.value.diagnostics]


def test_entries_are_inherited_and_overridden_where_they_stand(folder):
    registry, found = load([folder])
    assert not found, found
    file = registry.modules["Twice"].file
    assert list(file.sizes) == ["width", "times"]
    assert list(file.weights) == ["weight", "shift"]
    assert file.steps == {"scaled": "x * weight * 2.0"}
    assert file.outputs == {"out": "scaled + shift"}
    assert file.sample == {"N": 2, "width": 3, "times": 2}
    assert [each.call for each in file.examples] == ["Twice(0)", "Twice(1, times=0)"]
    assert registry.modules["Twice"].family_paths == ("own/scale.yaml", "own/shift.yaml")


def test_names_of_sizes_are_entries_too(folder):
    change(folder / "scale.yaml", "  width: {doc: The size of the vectors.}\n", "")
    change(folder / "scale.yaml", "  times: {default: 1, doc: How often.}\n", "")
    change(folder / "scale.yaml", "sizes:\n", "sizes: [width, times]\n")
    change(folder / "shift.yaml", "requires:\n", "sizes:\n  times: 3\nrequires:\n")
    kind = model_libraries(folder, folder)([])[0].module("Twice")
    assert str(signature(kind)) == "(width: int, times: int = 3) -> None"


def test_a_class_names_the_files_of_its_laws(folder):
    text = plan(load([folder])[0], "own")["own/modules/twice.py"]
    assert '"some-width": Law("width > 0", source="own/scale.yaml", about="width")' in text
    assert '"sometimes": Law("times > 1", source="own/shift.yaml", about="times")' in text
    assert "scaled = x * self.weight * 2.0" in text


def test_a_specification_says_where_an_inherited_law_stands(folder):
    law = "required by own/scale.yaml:8"
    assert problems(folder.parent, "Twice(0, 2)") == [("Twice/some-width", law)]
    law = "required by own/shift.yaml:6"
    assert problems(folder.parent, "Twice(3)") == [("Twice/sometimes", law)]


def test_a_module_may_extend_one_of_another_registry(tmp_path):
    """The built-in one, or another one that the model is given."""
    for name, text in (
        ("own", "tripybuild: 1\nmodule: Plain\nextends: Embedding\ndoc: As it is.\n"),
        ("more", "tripybuild: 1\nmodule: Same\nextends: Plain\ndoc: As that is.\n"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{text.split()[3].lower()}.yaml").write_text(text)
    text = """
        registry: [own, more]
        inputs:
          x: int32[2]
        parts:
          layer: Same(5, 3)
        outputs:
          y: layer(x)
        """
    path = written.write(tmp_path, text)
    made = build(path, homes=model_libraries(None, path)).graph
    assert {name: value.shape for name, value in made.weights.items()} == {"layer.weight": (5, 3)}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("scale", "x * weight", "weight * x"),
        ("shift", "scaled + shift", "scaled - shift"),
        ("twice", "doubled", "twofold"),
    ],
)
def test_a_change_of_a_module_is_a_change_of_those_that_extend_it(
    folder, tmp_path, monkeypatch, file, old, new
):
    """What is kept from before is what a plan from nothing gives, and the rest is kept."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    package_files([folder], "own")
    change(folder / f"{file}.yaml", old, new)
    with monkeypatch.context() as patch:
        patch.setattr("tripybuild.codegen.incremental.update.load_registries", None)
        found = package_files([folder], "own").files
    assert found == plan(load([folder])[0], "own")


@pytest.mark.parametrize(
    ("file", "old", "new", "wanted"),
    [
        ("twice", "extends: Shift", "extends: Shif", ("unknown-family", "3:10")),
        ("scale", "doc: M", "extends: Twice\ndoc: M", ("cyclic-family", "3:10")),
        ("shift", "times > 1", "times > 0", ("given-twice", "6:3")),
    ],
)
def test_what_cannot_be_extended_is_told_at_its_line(folder, file, old, new, wanted):
    path = folder / f"{file}.yaml"
    change(path, old, new)
    _, found = load([folder])
    here = [(each.code, str(each.span).split(":", 1)[1]) for each in found]
    assert wanted in here, found


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ([("scale", "weights:", "wieghts:")], [("scale", "unknown-key")]),
        ([("shift", "extends: Scale", "extends: Scal")], [("shift", "unknown-family")]),
        (
            [("scale", "doc: M", "extends: Shift\ndoc: M")],
            [("shift", "cyclic-family"), ("scale", "cyclic-family")],
        ),
        ([("shift", "times > 1", "times > 0")], [("shift", "given-twice")]),
    ],
)
def test_what_is_wrong_with_a_base_is_reported_once(folder, changes, wanted):
    """However many modules extend it."""
    for name, old, new in changes:
        change(folder / f"{name}.yaml", old, new)
    found = [(Path(each.span.path).stem, each.code) for each in load([folder])[1]]
    assert sorted(found) == sorted(wanted)


def test_a_problem_of_an_inherited_entry_names_the_module_that_inherits_it(folder):
    change(folder / "shift.yaml", "  shift: F[width]", "  shift: F[width]\n  scaled: F[width]")
    with pytest.raises(DiagnosticError) as raised:
        plan(load([folder])[0], "own")
    (found,) = raised.value.diagnostics
    assert (found.code, Path(found.span.path).stem) == ("given-twice", "scale")
    assert found.notes == ("in `Shift`, which extends `Scale`",)
