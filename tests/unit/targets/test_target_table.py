"""A target is found by its name: one line of the table is all that a new one needs."""

import json

import numpy as np
import pytest

import tripybuild
from tripybuild.cli.commands import doctor_trial
from tripybuild.cli.main import main
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets import table
from tripybuild.targets.protocol import Target

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


@pytest.fixture
def spec(tmp_path, monkeypatch):
    """A model in the current folder, and a target more in the table."""
    monkeypatch.setitem(table.TARGETS, "toy", "toy_target:Toy")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "twice.yaml"
    path.write_text(SPEC)
    return path


def command(monkeypatch, capfd, *words):
    """The exit code of a command, and what it prints."""
    monkeypatch.setattr("sys.argv", ["tripybuild", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code or 0, "".join(capfd.readouterr())


def check_twice(executable):
    """It computes, for sizes that nobody named before."""
    for size in (2, 5):
        x = np.arange(size, dtype=np.float32)
        np.testing.assert_array_equal(executable(x=x)["y"], x + x)


def test_a_new_target_compiles_saves_and_loads(spec):
    """As every other, from Python."""
    made = tripybuild.compile(spec, target="toy", output="twice.tpb")
    assert made.manifest["target"] == "toy"
    check_twice(made)
    check_twice(tripybuild.load("twice.tpb"))
    check_twice(tripybuild.load("twice.tpb", rebuild=True))
    assert tripybuild.emit(spec, "toy").startswith("toy\n")


def test_the_commands_know_a_new_target(spec, monkeypatch, capfd):
    """`compile`, `inspect` and `run`; a file of it is checked and described by the target."""
    code, said = command(monkeypatch, capfd, "compile", spec.name, "--target", "toy")
    assert code == 0, said
    _, said = command(monkeypatch, capfd, "inspect", "twice.tpb")
    assert "target  toy" in said
    assert "operations  1" in said
    _, said = command(monkeypatch, capfd, "inspect", "twice.tpb", "--json")
    assert json.loads(said)["toys"] == 1
    np.save("x.npy", np.ones(3, np.float32))
    code, said = command(
        monkeypatch, capfd, "run", "twice.tpb", "--input", "x=x.npy", "--output", "out.npz"
    )
    assert code == 0, said
    np.testing.assert_array_equal(np.load("out.npz")["y"], np.full(3, 2, np.float32))


def test_a_trial_asks_the_target_whether_it_works(spec, tmp_path, monkeypatch):
    """`doctor` has no table of its own."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path))  # a trial has its own
    found = json.loads(doctor_trial.run_trial("toy"))
    assert found == {"facts": {"numpy": np.__version__}, "diagnostics": []}


def test_a_target_refuses_what_it_does_not_have(spec, tmp_path):
    """GPUs to build for, modules of MLIR, and a process."""
    (tmp_path / "a.mlir").write_text("module {}\n")
    toy = table.find_target("toy")
    for refuse, words in (
        (lambda: table.parse_target("toy:sm89"), "is built for the machine that it is on"),
        (lambda: tripybuild.compile("a.mlir", target="toy"), "which the target `toy` does not run"),
        (lambda: tripybuild.emit("a.mlir", "toy"), "has no form `toy`"),
        (toy.prepare_compiler, "in no process of its own"),
    ):
        with pytest.raises(DiagnosticError, match=words):
            refuse()


@pytest.mark.parametrize("name", table.TARGETS)
def test_every_target_of_the_table_is_one(name):
    """Found by its name, which is what it prints."""
    target = table.find_target(name)
    assert isinstance(target, Target)
    assert (target.name, str(target)) == (name, name)
    assert target.form in table.forms()
    assert target is table.parse_target(name)


def test_a_file_for_a_target_that_is_not_here_is_refused(spec, monkeypatch):
    """Before anything in it is used."""
    tripybuild.compile(spec, target="toy", output="twice.tpb")
    monkeypatch.delitem(table.TARGETS, "toy")
    with pytest.raises(DiagnosticError, match="which is not one here"):
        tripybuild.load("twice.tpb")
