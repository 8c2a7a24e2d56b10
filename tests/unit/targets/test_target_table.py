"""A target is a folder and a line of the table: nobody else knows its name.

The engine `toy` is in `tests/helpers/toy_engine`, where `sitecustomize` is its line, so that the
compiler's process and doctor's trials have it, too.
"""

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from unary_operator import unary_operator

import tripyapi as tp
import tripybuild
from tripybuild.cli.commands import doctor_trial
from tripybuild.cli.main import main
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.schema.load import load_registries
from tripybuild.targets import table
from tripybuild.targets.executable_file import ExecutableFile, check_manifest
from tripybuild.targets.protocol import Target
from tripybuild.testing.sample import bind
from tripybuild.testing.target_facts import refusals
from tripybuild.types.dtypes import float16, float32
from tripybuild.worker.main import SERVICES

ENGINE = Path(__file__).parents[2] / "helpers" / "toy_engine"
SPEC = """\
tripybuild: 1
model: twice
inputs:
  x: float32[N]
ranges:
  N: {min: 1, opt: 2, max: 8}
outputs:
  y: x + x
"""
OPERATOR = unary_operator(
    "double",
    """\
decompose: input + input
targets:
  toy:
    refuses:
      half:
        when: T == float16
        why: It has none.
        says: [no halves]
examples:
  - call: double([1.0, 2.5])
    gives: [2.0, 5.0]
""",
    dtypes="float32, float16",
)


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The engine, here and in the processes that begin now, with a cache of its own."""
    monkeypatch.syspath_prepend(ENGINE)
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", f"{ENGINE}{os.pathsep}{before}")
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    runpy.run_path(str(ENGINE / "sitecustomize.py"))
    yield table.find_target("toy")
    table.TARGETS.pop("toy", None)


@pytest.fixture
def spec(toy, tmp_path, monkeypatch):
    """A model in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "twice.yaml"
    path.write_text(SPEC)
    return path


def command(monkeypatch, capfd, *words):
    """What a command prints, which ends well."""
    monkeypatch.setattr("sys.argv", ["tripybuild", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    said = "".join(capfd.readouterr())
    assert not ended.value.code, said
    return said


def check_twice(executable):
    """It computes, for sizes that nobody named before."""
    for size in (2, 5):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(executable(x=x)["y"], x + x)


def test_it_compiles_saves_and_loads(spec):
    """As every other, from Python; its program is made in the compiler's process."""
    made = tripybuild.compile(spec, target="toy", output="twice.tpb")
    assert made.manifest["target"] == "toy"
    assert bytes(made.member("toy/program.txt")).startswith(b"toy: ")
    check_twice(made)
    check_twice(tripybuild.load("twice.tpb"))
    check_twice(tripybuild.load("twice.tpb", rebuild=True))
    assert tripybuild.emit(spec, "toy-text").startswith("toy\n")


def test_what_it_made_is_found_in_the_cache(spec, monkeypatch):
    """Then no process is asked."""
    first = tripybuild.compile(spec, target="toy")
    monkeypatch.setattr("tripybuild.worker.compiler_process.session", lambda _: None)
    assert tripybuild.compile(spec, target="toy").members == first.members


def test_it_compiles_functions(toy):
    """Of Python."""
    info = tp.InputInfo([(1, 2, 8)], tp.float32)
    made = tp.compile(lambda x: x * 2.0, args=[info], target="toy")
    assert made(tp.Tensor([1.0, 3.0])).tolist() == [2.0, 6.0]


def test_the_commands_know_it(spec, monkeypatch, capfd):
    """`compile`, `inspect` and `run`; its `ExecutableFile` checks and describes a file of it."""
    said = command(monkeypatch, capfd, "compile", spec.name, "--target", "toy")
    assert "Compiled `twice.yaml` for `toy`" in said
    said = command(monkeypatch, capfd, "inspect", "twice.tpb")
    assert "target  toy" in said
    assert "begins  toy: " in said
    said = command(monkeypatch, capfd, "inspect", "twice.tpb", "--json")
    assert json.loads(said)["entries"][0]["program"].startswith("toy: ")
    assert command(monkeypatch, capfd, "compile", spec.name, "--emit", "toy-text")[:4] == "toy\n"
    np.save("x.npy", np.ones(3, np.float32))
    command(monkeypatch, capfd, "run", "twice.tpb", "--input", "x=x.npy", "--output", "out.npz")
    np.testing.assert_array_equal(np.load("out.npz")["y"], np.full(3, 2, np.float32))


def test_help_names_it(toy):
    """With the text that it prints; nothing of it is imported for that."""
    code = (
        "import sys; from tripybuild.__main__ import main; main(); assert 'toy' not in sys.modules"
    )
    words = [sys.executable, "-c", f"import sys; sys.argv[1:] = ['compile', '--help']; {code}"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert "mlir-tensorrt, toy." in " ".join(done.stdout.split()).replace("- ", "-")
    assert "|toy-text]" in done.stdout


def test_doctor_tries_it(toy):
    """In a process of its own; there is no table of trials."""
    found = doctor_trial.run_trial("toy", 60)
    assert found["problems"] == []
    assert found["facts"] == {"numpy": np.__version__}


def test_operators_may_say_what_it_refuses(toy, tmp_path):
    """The schema and the suites take its name, and that of its form, from the table."""
    (tmp_path / "double.yaml").write_text(OPERATOR)
    operator = load_registries([tmp_path]).operators["double"]
    names = table.exception_names("toy")
    assert list(refusals(operator, names, bind(operator, {"T": float16}))) == ["half"]
    assert list(refusals(operator, names, bind(operator, {"T": float32}))) == []
    del table.TARGETS["toy"]
    with pytest.raises(DiagnosticError, match="`toy` is not a target"):
        load_registries([tmp_path])


def test_it_refuses_what_it_does_not_have(spec, tmp_path):
    """GPUs to build for, and modules of MLIR; the hints name targets that have them."""
    (tmp_path / "a.mlir").write_text("module {}\n")
    for refuse, words, hint in (
        (lambda: table.parse_target("toy:sm8"), "built for the machine", "`tensorrt-rtx:sm8` is"),
        (lambda: tripybuild.compile("a.mlir", target="toy"), "does not run", "--target tensorrt"),
        (lambda: tripybuild.emit("a.mlir", "toy-text"), "form `toy-text`", "--emit tensorrt"),
        (lambda: table.prepare_compiler("reference"), "in no process of its own", ""),
    ):
        with pytest.raises(DiagnosticError, match=words) as raised:
            refuse()
        assert hint in (raised.value.diagnostics[0].hint or "")


def test_options_are_written_behind_commas(toy, spec):
    """Each is a value that its line of the table allows; the manifest has them."""
    made = tripybuild.compile(spec, target="toy,letters=5, case=lower", output="twice.tpb")
    assert made.manifest["options"] == {"letters": 5, "case": "lower"}
    found = tripybuild.load("twice.tpb")
    assert str(found.target) == "toy,letters=5,case=lower"
    check_twice(found)
    assert str(table.parse_target("toy,case=upper,letters=1")) == "toy,letters=1,case=upper"
    assert table.parse_target("toy").options == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("toy,letter=1", "`toy` has no option `letter`|did you mean `letters`?"),
        ("toy,speed=1", "`toy` has no option `speed`|its options are `letters`, `case`"),
        ("toy,letters=10", "`letters` of `toy` is a number from 1 to 9, and not `10`|None"),
        ("toy,letters=-1", "`letters` of `toy` is a number from 1 to 9, and not `-1`|None"),
        ("toy,letters=²", "`letters` of `toy` is a number from 1 to 9, and not `²`|None"),
        ("toy,letters", "`letters` of `toy` is a number from 1 to 9, and not ``|None"),
        ("toy,case=Upper", "`case` of `toy` is `upper` or `lower`, and not `Upper`|None"),
        ("toy,letters=1,letters=1", "`letters` of `toy` is set twice|None"),
        ("toy,", "`toy` has no option ``|its options are `letters`, `case`"),
        ("cpu:xla,letters=1", "`cpu:xla` takes no options|None"),
        ("reference,", "`reference` takes no options|None"),
    ],
)
def test_options_that_a_target_does_not_have_are_refused(toy, text, said):
    """Before anything is compiled."""
    with pytest.raises(DiagnosticError) as raised:
        table.parse_target(text)
    found = raised.value.diagnostics[0]
    assert f"{found.message}|{found.hint}" == said


@pytest.mark.parametrize("options", [{"letters": 10}, {"letters": True}, {"other": 1}, [1], "a"])
def test_a_file_with_options_that_its_target_does_not_have_is_refused(spec, options):
    """Whoever wrote it."""
    made = tripybuild.compile(spec, target="toy")
    content = {**made.manifest, "options": options}
    with pytest.raises(DiagnosticError, match="its `options` cannot be understood"):
        check_manifest(content, made.members)


def test_a_target_alone_chooses_its_engine(spec):
    """The manifest names the engine, which then loads and runs the file."""
    made = tripybuild.compile(spec, target="cpu", output="twice.tpb")
    assert made.manifest["target"] == table.usual_engine("cpu") == "cpu:onnxruntime"
    assert str(tripybuild.load("twice.tpb").target) == "cpu:onnxruntime"
    assert made.members.keys() == tripybuild.compile(spec, target="cpu:onnxruntime").members.keys()


def test_a_file_that_names_no_engine_is_xlas(spec):
    """As earlier versions wrote them."""
    made = tripybuild.compile(spec, target="cpu:xla")
    made.manifest = {**made.manifest, "target": "cpu"}
    made.save("twice.tpb")
    check_twice(tripybuild.load("twice.tpb"))
    check_twice(tripybuild.load("twice.tpb", rebuild=True))


def test_a_file_without_its_members_is_refused(spec):
    """The check asks its `ExecutableFile`."""
    made = tripybuild.compile(spec, target="toy")
    del made._members["toy/program.txt"]
    made.save("twice.tpb")
    with pytest.raises(DiagnosticError, match="it has no `toy/program"):
        tripybuild.load("twice.tpb")


def test_a_file_for_a_target_that_is_not_here_is_refused(spec):
    """Before anything in it is used."""
    tripybuild.compile(spec, target="toy", output="twice.tpb")
    del table.TARGETS["toy"]
    with pytest.raises(DiagnosticError, match="which is not one here"):
        tripybuild.load("twice.tpb")


@pytest.mark.parametrize("name", table.TARGETS)
def test_every_target_of_the_table_is_one(name):
    """Found by its name, which is what it prints."""
    target = table.find_target(name)
    assert isinstance(target, Target)
    assert isinstance(table.find_file(name), ExecutableFile)
    assert (target.name, str(target)) == (name, name)
    assert target.entry.form in table.forms()
    assert target is table.parse_target(name)
    assert table.import_part(target.entry.compiler or "json:loads")


@pytest.mark.parametrize("place", SERVICES.values())
def test_every_service_of_the_compilers_process_is_there(place):
    """It is imported at its first request."""
    assert callable(table.import_part(place))
