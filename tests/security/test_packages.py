"""What an executable or a specification names imports nothing that nobody asked for."""

import json
import shutil
import sys
from dataclasses import replace
from importlib import import_module
from types import ModuleType

import numpy as np
import pytest
from own_registry import CUT, ROWS
from unary_operator import unary_operator

import tripybuild
from tripybuild.compiler.executable import Executable
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import package_catalog

EFFECT = "from pathlib import Path\nPath({path!r}).write_text('imported')\n"
SPEC = """\
tripybuild: 1
model: calls
registry: {registry}
inputs:
  x: float32[2]
outputs:
  y: {call}(x)
"""


@pytest.fixture(scope="module")
def made(own):
    """An executable with operators of a registry, which compiles each size when it is called."""
    return tripybuild.compile(own.spec, target="reference")


@pytest.fixture
def altered(made, tmp_path):
    """Writes an executable, whole, whose graph names another package, and calls it."""

    def write(**package):
        members = dict(made._members)
        data = json.loads(bytes(members["trace.json"]))
        data["packages"][0] |= package
        members["trace.json"] = json.dumps(data, sort_keys=True).encode()
        Executable(made.manifest, members).save(tmp_path / "altered.tpb")
        return tripybuild.load(tmp_path / "altered.tpb")(rows=ROWS)

    return write


def code_of(function, *arguments, **named):
    """The code of the one diagnostic with which something is refused."""
    with pytest.raises(DiagnosticError) as raised:
        function(*arguments, **named)
    return raised.value.diagnostics[0].code


OTHER = "0" * 64


@pytest.mark.parametrize("name", ["os", "antigravity", "tripyapi", "tripybuild.cli", "my_ops.ops"])
def test_an_executable_names_a_module(altered, name):
    """Neither one that is imported, nor one that could be, is looked at."""
    before = set(sys.modules)

    assert code_of(altered, name=name, digest=OTHER) == "missing-package"

    assert "antigravity" not in set(sys.modules) - before


def test_an_executable_names_a_file_beside_it(altered, tmp_path, monkeypatch):
    """Also where it says of itself that it is installed: only where things are installed counts."""
    effect = tmp_path / "effect"
    (tmp_path / "planted.py").write_text(EFFECT.format(path=str(effect)))
    about = tmp_path / "planted.egg-info"
    about.mkdir()
    (about / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[tripybuild.packages]\nplanted = planted\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    package_catalog._entry_points.cache_clear()

    assert code_of(altered, name="planted", digest=OTHER) == "missing-package"

    assert not effect.exists()
    assert "planted" not in sys.modules


def test_a_module_that_looks_like_a_package(altered, monkeypatch):
    """A table of places is not enough: a package enters itself when it is imported."""
    false = ModuleType("false_package")
    false._PLACES = {"hard_shrink": "os.ops.path", "patches": "os.ops.path"}
    monkeypatch.setitem(sys.modules, "false_package", false)

    assert code_of(altered, name="false_package", digest=OTHER) == "missing-package"


@pytest.mark.parametrize(
    "package",
    [
        {"name": None}, {"name": ""}, {"name": "a" * 300}, {"name": "\x1b[31m"}, {"name": ["os"]},
        {"digest": "os"}, {"digest": None}, {"digest": "g" * 64}, {"digest": ["0"] * 64},
    ],
)  # fmt: skip
def test_what_names_no_package(altered, package):
    """It is no executable that we wrote, and nothing of it is shown."""
    assert code_of(altered, **package) == "executable-altered"


def installed(folder, monkeypatch, value):
    """A distribution whose metadata gives a package, where Python finds what is installed."""
    about = folder / "some_operators-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: some-operators\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[tripybuild.packages]\nsome_operators = {value}\n")
    monkeypatch.setattr(package_catalog, "_libraries", lambda: {str(folder)})
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder)])
    package_catalog._entry_points.cache_clear()


def test_an_installed_package_is_found(own, altered, tmp_path, monkeypatch):
    """It says in its metadata that it is one; nobody has to import it first."""
    folder = tmp_path / "site"
    words = ["tripybuild", "gen", "--registry", str(own.registry), "--package", "some_operators"]
    monkeypatch.setattr(sys, "argv", [*words, "--out", str(folder)])
    with pytest.raises(SystemExit) as ended:
        import_module("tripybuild.cli.main").main()
    assert not ended.value.code
    installed(folder, monkeypatch, "some_operators")
    monkeypatch.setattr(package_catalog, "_packages", {})

    assert altered(name="some_operators")["cut"].tolist() == CUT.tolist()


def test_metadata_cannot_name_another_module(altered, tmp_path, monkeypatch):
    """The name that is asked for is the module that is imported, or nothing is."""
    (tmp_path / "elsewhere.py").write_text(EFFECT.format(path=str(tmp_path / "effect")))
    installed(tmp_path, monkeypatch, "elsewhere:run")

    assert code_of(altered, name="some_operators", digest=OTHER) == "missing-package"

    assert not (tmp_path / "effect").exists()


def test_a_file_beside_the_program_is_no_installed_package(altered, tmp_path, monkeypatch):
    """Python would import it instead of what the metadata means."""
    (tmp_path / "site").mkdir()
    (tmp_path / "some_operators.py").write_text(EFFECT.format(path=str(tmp_path / "effect")))
    installed(tmp_path / "site", monkeypatch, "some_operators")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "some_operators", raising=False)

    assert code_of(altered, name="some_operators", digest=OTHER) == "missing-package"

    assert not (tmp_path / "effect").exists()


# --- specifications ---


def spec(folder, registry="my_registry", call="evil", decompose="input + input"):
    """A specification beside a registry with one operator."""
    (folder / "my_registry/math").mkdir(parents=True, exist_ok=True)
    text = unary_operator("evil", f"decompose: {decompose}\n", "[2]")
    (folder / "my_registry/math/evil.yaml").write_text(text)
    path = folder / "calls.yaml"
    path.write_text(SPEC.format(registry=registry, call=call))
    return path


@pytest.mark.parametrize(
    ("registry", "code"),
    [
        ("../my_registry", "outside-folder"), ("inside/../../my_registry", "outside-folder"),
        ("/my_registry", "outside-folder"), ("linked", "outside-folder"),
        ("holding", "outside-folder"), ("nowhere", "file-not-found"),
        ("calls.yaml", "file-not-found"), ("[my_registry, linked]", "outside-folder"),
    ],
)  # fmt: skip
def test_a_specification_names_a_folder_elsewhere(tmp_path, registry, code):
    """Neither by its path nor by a link of it or in it, and nothing is generated."""
    folder = tmp_path / "inside"
    path = spec(folder, registry)
    shutil.copytree(folder / "my_registry", tmp_path / "my_registry")
    (folder / "linked").symlink_to(tmp_path / "my_registry")
    (folder / "holding").mkdir()
    (folder / "holding/evil.yaml").symlink_to(tmp_path / "my_registry/math/evil.yaml")

    assert code_of(tripybuild.compile, path, target="reference") == code


def test_a_registry_is_read_and_not_imported(tmp_path):
    """Python files in it are nobody's; only its YAML is looked at."""
    path = spec(tmp_path)
    effect = tmp_path / "effect"
    for name in ("__init__.py", "math/__init__.py", "math/evil.py", "conftest.py"):
        (tmp_path / "my_registry" / name).write_text(EFFECT.format(path=str(effect)))

    made = tripybuild.compile(path, target="reference")

    assert made(x=np.float32([1, 2]))["y"].tolist() == [2, 4]
    assert not effect.exists()


@pytest.mark.parametrize(
    "decompose",
    ["__import__('os').system('true')", "open('effect', 'w')", "input.value.producer", "max"],
)
def test_a_snippet_of_a_registry_is_refused(tmp_path, monkeypatch, decompose):
    """With its line, as `gen` refuses it, before any code is made of it."""
    monkeypatch.chdir(tmp_path)
    path = spec(tmp_path, decompose=json.dumps(decompose))

    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(path, target="reference")

    assert {each.span.path for each in raised.value.diagnostics} == {
        str(tmp_path / "my_registry/math/evil.yaml")
    }
    assert not (tmp_path / "effect").exists()


def test_generated_code_is_held_against_its_grammar(tmp_path, monkeypatch):
    """Also where it is loaded and not written: what should not be there ends it."""
    from tripybuild.codegen.incremental import package_files as generator  # noqa: PLC0415

    effect = tmp_path / "effect"
    planned = generator.package_files

    def altered(roots, package):
        plan = planned(roots, package)
        evil = {f"{package}/ops/math/evil.py": EFFECT.format(path=str(effect))}
        return replace(plan, files={**plan.files, **evil})

    monkeypatch.setattr(generator, "package_files", altered)

    assert code_of(tripybuild.compile, spec(tmp_path), target="reference") == "generated-code"
    assert not effect.exists()
