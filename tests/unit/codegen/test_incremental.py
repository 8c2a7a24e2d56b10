"""What is kept of a registry's plan: after any change, it is what a plan from nothing gives."""

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from unary_operator import TYPES

from tripybuild.cache.store import Cache
from tripybuild.codegen.incremental import package_files as incremental
from tripybuild.codegen.incremental.fragment_store import FragmentRecord, FragmentStore
from tripybuild.codegen.incremental.package_files import package_files
from tripybuild.codegen.package.fragment import PackageFragment
from tripybuild.codegen.package.plan import plan
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths
from tripybuild.schema import registry_files
from tripybuild.schema.load import load

FAMILY = f"""\
tripybuild: 1
family: plain
parameters: [build]
{TYPES.replace("[float32]", "[float32, int32]")}reference: build
lower:
  tensorrt: build
  stablehlo: build
  onnx: build
sample: {{S: [2, 3]}}
"""
MODULE = """\
tripybuild: 1
module: Bias
doc: Add a constant.
sizes: [width]
inputs:
  x: float32[..., width]
weights:
  bias: float32[width]
outputs:
  output: x + bias
"""


def simple(name, build="input + input", more="", method=""):
    """An operator of the family."""
    alias = f"aliases:\n  tensor: {method}\n" if method else ""
    return (
        f"tripybuild: 1\nop: {name}\nlike: plain(build={build})\ndoc: Change values.\n{more}{alias}"
    )


def composed(name, text, method=""):
    """An operator that is composed of others."""
    alias = f"aliases:\n  tensor: {method}\n" if method else ""
    types = re.search(r"types:.*?(?=reference)", FAMILY, re.DOTALL)[0]
    head = f"tripybuild: 1\nop: {name}\ninline: true\ndoc: Change values.\n"
    return f"{head}{types}decompose: {text}\nsample: {{S: [2, 3]}}\n{alias}"


START = {
    "families/plain.yaml": FAMILY,
    "math/double.yaml": simple("double"),
    "math/same.yaml": simple("same", "input", method="same"),
    "math/fourfold.yaml": composed("fourfold", "double(double(input))", method="fourfold"),
    "math/sizes.yaml": composed("sizes", "input if len(S) > prod([1]) else double(input)"),
}

# Each changes some files of the ones above; None removes a file.
CHANGES = {
    "nothing": {},
    "a doc": {"math/double.yaml": simple("double").replace("Change", "Double")},
    "a snippet": {"math/double.yaml": simple("double", "input - input")},
    "a family": {"families/plain.yaml": FAMILY.replace("The values.", "All values.")},
    "a new operator": {"math/threefold.yaml": composed("threefold", "double(input)")},
    "an operator less": {"math/fourfold.yaml": None},
    "another folder": {"math/same.yaml": None, "nn/same.yaml": START["math/same.yaml"]},
    "a Python word": {"math/prod.yaml": simple("prod")},
    "a module": {"modules/bias.yaml": MODULE.replace("float32[..., width]", "float32[2, width]")},
    "another use": {"math/fourfold.yaml": composed("fourfold", "same(double(input))")},
    "another method": {"math/same.yaml": simple("same", "input", method="itself")},
    "methods swapped": {
        "math/same.yaml": simple("same", "input", method="fourfold"),
        "math/fourfold.yaml": composed("fourfold", "double(double(input))", method="same"),
    },
}

FAULTS = {
    "no YAML": {"math/double.yaml": "op: ["},
    "a name less that is used": {"math/double.yaml": None},
    "a cycle": {
        "math/sizes.yaml": composed("sizes", "fourfold(input)"),
        "math/fourfold.yaml": composed("fourfold", "sizes(input)"),
    },
    "a method twice": {"math/double.yaml": simple("double", method="same")},
    "a name twice": {"nn/double.yaml": simple("double")},
    "a family less": {"families/plain.yaml": None},
    "a builder": {"math/double.yaml": simple("double", "trt.nonsense(input)")},
    "an argument more that is used": {
        "math/double.yaml": simple("double", more="attributes:\n  much: {type: int, doc: Much.}\n")
    },
    "an operator that is a family": {
        "math/double.yaml": FAMILY.replace("family: plain", "family: double")
    },
    "a module twice": {"nn/double.yaml": MODULE, "modules/double.yaml": MODULE},
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A registry that takes the place of the built-in one, planned once."""
    root = tmp_path / "ops"
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(paths, "registry", lambda: root)
    write(root, START)
    package_files([], "tripyapi")
    return root


def note_reads(monkeypatch, seen):
    """Add each declaration that is read to a list."""
    read = registry_files.read_file

    def noted(root, path, *rest, **options):
        seen.append(path)
        return read(root, path, *rest, **options)

    monkeypatch.setattr(registry_files, "read_file", noted)


def write(root, files):
    """Write and remove files."""
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            place.unlink()
        else:
            place.write_text(text)


def test_a_kept_plan_needs_no_schema():
    """To load it takes as long as all that is left to do."""
    code = "import sys, tripybuild.codegen.incremental.package_files; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {each for each in done.stdout.split() if each.startswith("tripybuild.")}
    assert "tripybuild.codegen.package.package" in loaded
    names_of_files = {"tripybuild.schema.registry_folders"}
    assert not {each for each in loaded if ".schema." in each} - names_of_files
    assert not {
        each
        for each in loaded
        if each.startswith(("tripybuild.trace", "tripybuild.documents.document"))
    }


def test_nothing_is_read_where_nothing_changed(folder, monkeypatch):
    """The plan comes from what is kept alone."""
    before = package_files([], "tripyapi").files
    monkeypatch.setattr("tripybuild.codegen.incremental.update.fragments", None)
    monkeypatch.setattr("tripybuild.schema.registry_files.read", None)
    assert package_files([], "tripyapi").files == before


def test_all_files_are_read_once_where_nothing_is_kept(folder, monkeypatch):
    """Without what is kept, a changed part of the files is all of them."""
    count = []
    note_reads(monkeypatch, count)
    monkeypatch.setattr(Cache, "get", lambda *_: None)
    package_files([], "tripyapi")
    assert sorted(count) == sorted(folder.rglob("*.yaml"))


def test_what_would_be_reformatted_is_kept(folder):
    """`gen --check` says it without reading any file."""
    assert package_files([], "tripyapi").unformatted == []
    first, *others = START["math/double.yaml"].splitlines(keepends=True)
    write(folder, {"math/double.yaml": "".join([*others, first])})
    for _ in range(2):
        assert package_files([], "tripyapi").unformatted == ["ops/math/double.yaml"]
    write(folder, {"families/plain.yaml": START["families/plain.yaml"].rstrip("\n")})
    assert "ops/families/plain.yaml" in package_files([], "tripyapi").unformatted
    write(folder, START)
    assert package_files([], "tripyapi").unformatted == []


def test_a_comment_in_a_family_changes_no_operation(folder):
    """Generated code has the names of laws, and no lines."""
    law = "requires:\n  some:\n    that: len(S) > 0\n    message: None is there.\n"
    family = FAMILY.replace("reference:", f"{law}reference:", 1)
    write(folder, {"families/plain.yaml": family})
    before = package_files([], "tripyapi").files
    assert any('"some": Law(' in text for text in before.values())
    write(folder, {"families/plain.yaml": f"# A comment.\n{family}"})
    after = package_files([], "tripyapi").files
    assert [path for path in after if before[path] != after[path]] == ["tripyapi/declarations.py"]


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_gives_what_a_plan_from_nothing_gives(folder, name):
    """Forwards, and back again."""
    write(folder, CHANGES[name])
    declared, problems = load([folder])
    assert not problems
    assert package_files([], "tripyapi").files == plan(declared)
    write(folder, dict.fromkeys(CHANGES[name]) | {p: START[p] for p in CHANGES[name] if p in START})
    declared, _ = load([folder])
    assert package_files([], "tripyapi").files == plan(declared)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported_with_all_others(folder, name):
    """What is wrong is what a reading of all files finds."""
    write(folder, {"math/other.yaml": simple("other").replace("values.", "values")})
    write(folder, FAULTS[name])
    _, problems = load([folder])
    with pytest.raises(DiagnosticError) as error:
        package_files([], "tripyapi")
    found = {each.code for each in error.value.diagnostics}
    assert found == {each.code for each in problems}
    assert found


@pytest.mark.parametrize("name", ["a doc", "a snippet", "a new operator", "another folder"])
def test_other_files_are_not_read_again(folder, monkeypatch, name):
    """One changed operator is read with the families; the whole registry is not."""
    write(folder, CHANGES[name])
    monkeypatch.setattr("tripybuild.codegen.incremental.update.load_registries", None)
    package_files([], "tripyapi")


def test_own_code_is_part_of_the_key(folder, monkeypatch, tmp_path):
    """Another version of ours plans anew."""
    key = incremental._key(["ops"], "tripyapi")
    assert incremental._key(["ops"], "mine") != key
    other = tmp_path / "code"
    other.mkdir()
    (other / "x.py").write_text("1")
    monkeypatch.setattr(paths, "PACKAGE", other)
    assert incremental._key(["ops"], "tripyapi") != key


def test_an_added_registry_has_files_of_its_own(folder, tmp_path):
    """The built-in operators are called, and give no files."""
    mine = tmp_path / "mine"
    write(mine, {"math/eightfold.yaml": composed("eightfold", "double(fourfold(input))")})
    for text in ("double(fourfold(input))", "fourfold(double(input))"):
        write(mine, {"math/eightfold.yaml": composed("eightfold", text)})
        declared, problems = load([folder, mine])
        assert not problems
        files = package_files([mine], "mine").files
        assert files == plan(declared, "mine")
        assert "mine/ops/math/eightfold.py" in files
        assert "mine/ops/math/double.py" not in files


def test_a_registry_that_is_not_there_is_missed_whatever_is_kept(folder, tmp_path):
    """What is kept of the others is all that they declare, and still not what was asked for."""
    mine = tmp_path / "mine"
    write(mine, {"math/eightfold.yaml": composed("eightfold", "double(fourfold(input))")})
    package_files([mine], "mine")
    for added in ([tmp_path / "gone"], [mine, tmp_path / "gone"], [mine / "math/eightfold.yaml"]):
        for _ in range(2):
            with pytest.raises(DiagnosticError, match="there is no folder"):
                package_files(added, "mine")


def test_families_that_nobody_names_are_not_read_again(folder, monkeypatch):
    """Families have the names of their files, and other files' texts name those that they like."""
    write(folder, {"families/other.yaml": FAMILY.replace("family: plain", "family: other")})
    package_files([], "tripyapi")
    read = []
    note_reads(monkeypatch, read)
    write(folder, {"math/double.yaml": START["math/double.yaml"].replace("Change", "Double")})
    package_files([], "tripyapi")
    assert {path.name for path in read} == {"double.yaml", "plain.yaml"}


def test_parts_come_back_as_they_were_stored():
    """Texts stay as they are: none, several, with breaks of any system, beyond ASCII."""
    files = {"a.py": "x = '\u00e4\U0001f600'\r\n", "empty": "", "b.md": "one\rtwo\n\n\x85three"}
    given = PackageFragment(
        name="mine",
        folder="math",
        summary="\u00c4ndern.\n",
        home="tripyapi.ops.math.mine",
        uses=("add", "exp"),
        others=("own",),
        methods={"mine": "def mine(self):\n"},
        imports={"typing": ["Any"]},
        files=files,
    )
    by_path = {
        "ops/math/mine.yaml": FragmentRecord("1", ("ops/families/plain.yaml",), given),
        "ops/families/plain.yaml": FragmentRecord("2"),
        "ops/modules/bias.yaml": FragmentRecord("3", (), replace(given, files={}, is_module=True)),
    }
    for parts in (FragmentStore(by_path, {"schemas/a.json": "{}\n"}), FragmentStore({}, {})):
        assert FragmentStore.from_bytes(parts.to_bytes()) == parts


def test_packages_of_others_share_what_is_built_in(folder, tmp_path, monkeypatch):
    """A second package reads its own declarations alone; it is what a plan from nothing gives."""
    mine = tmp_path / "mine"
    write(mine, {"math/own.yaml": composed("own", "double(input)")})
    package_files([mine], "first")
    monkeypatch.setattr("tripybuild.codegen.incremental.update.load_registries", None)

    found = package_files([mine], "second").files

    declared, problems = load([folder, mine])
    assert not problems
    assert found == plan(declared, "second")
