"""Files whose names are no UTF-8, which Unix allows: specs, programs, modules, weights, outputs."""

import os
import sys

import numpy as np
import pytest

import tripybuild
from tripybuild.cli.main import main
from tripybuild.errors.diagnostics import portable_path
from tripybuild.tensorrt.emission.module import _file_name

ODD = os.fsdecode(b"\xff\xc3\xa9 ")
SPEC = """\
tripybuild: 1
model: m
inputs:
  x: float32[4]
outputs:
  y: tanh(x)
"""
MODULE = """\
func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
"""
PROGRAM = "import tripyapi as tp\n\n\ndef f(x):\n    return tp.tanh(x)\n"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="this system has no odd names")


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run a command in a folder; its status and what it said."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tripybuild", *words])
        with pytest.raises(SystemExit) as raised:
            main()
        said = capsys.readouterr()
        return raised.value.code, said.out + said.err

    return run


def test_all_files_of_a_run(command, tmp_path):
    """A spec, its executable, an input and the outputs, in a folder of such a name."""
    folder = tmp_path / ODD
    folder.mkdir()
    (folder / f"{ODD}.yaml").write_text(SPEC, encoding="utf-8")
    np.save(folder / f"{ODD}.npy", np.zeros(4, np.float32))
    spec, made, given, out = (f"{ODD}/{ODD}.{kind}" for kind in ("yaml", "tpb", "npy", "npz"))

    for words in (
        ("compile", spec, "-o", made),
        ("compile", spec, "--emit", "stablehlo", "-o", f"{ODD}.mlir"),
        ("compile", spec, "--emit", "tensorrt"),
        ("compile", spec, "--json", "-o", made),
        ("inspect", made),
        ("run", made, "--input", f"x={given}", "--output", out),
    ):
        status, said = command(*words)
        assert status == 0, said
    assert np.load(folder / f"{ODD}.npz")["y"].tolist() == [0.0] * 4
    tripybuild.load(folder / f"{ODD}.tpb").save(folder / "copy.tpb")


def test_programs_and_modules(command, tmp_path):
    """Python, and MLIR by hand."""
    (tmp_path / f"{ODD}.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / f"{ODD}.mlir").write_text(MODULE, encoding="utf-8")
    given = ("--input", "x=float32[2]")

    for words in (
        ("compile", f"{ODD}.py:f", *given, "-o", "m.tpb"),
        ("trace", f"{ODD}.py:f", *given),
        ("opt", f"{ODD}.mlir"),
    ):
        status, said = command(*words)
        assert status == 0, said


@pytest.mark.parametrize("kind", ["yaml", "mlir", "tpb", "py:f"])
def test_what_is_not_there(kind, command):
    """The refusal can be written."""
    action = {"yaml": "compile", "mlir": "opt", "tpb": "inspect", "py:f": "trace"}[kind]
    status, said = command(action, f"{ODD}.{kind}")
    assert status == 1
    assert "error[file-not-found]" in said


def test_places_are_utf8(tmp_path):
    """What MLIR and TensorRT are told of a file."""
    assert portable_path(f"{ODD}.yaml", None) == "\\xff\N{LATIN SMALL LETTER E WITH ACUTE} .yaml"
    assert portable_path(str(tmp_path / ODD), tmp_path).startswith("\\xff")
    assert _file_name(f"{ODD}.yaml", None).data.encode()
