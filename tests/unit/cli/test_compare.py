"""`tripybuild compare`: sides of all kinds beside each other."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from faulty_specs import chain
from jsonschema import Draft7Validator

import tripybuild
from tripybuild.cli.main import main
from tripybuild.process import paths

SPEC = """\
tripybuild: 1
model: curve
inputs:
  x: F[B, 4]
ranges:
  B: {min: 1, opt: 3, max: 8}
parts:
  linear: Linear(4, 4, bias=False)
outputs:
  y: tanh(linear(x))
  total: sum(x, 0)
"""
PROGRAM = """\
import torch
import tripyapi as tp

def double(x: "float32[2, 3]"):
    return x * 2.0

class Net(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return x * self.factor

same, other = Net(2.0), Net(2.5)
"""
WIDE = """\
tripybuild: 1
model: wide
inputs:
  x: float32[B, 5]
ranges:
  B: {min: 1, opt: 3, max: 8}
outputs:
  y: tanh(x)
"""
XLA, ORT = "cpu:xla", "cpu:onnxruntime"


@pytest.fixture
def cli(tmp_path, shared_cache, monkeypatch, capfd):
    """Runs a command in this process in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    Path("curve.yaml").write_text(SPEC)
    Path("program.py").write_text(PROGRAM)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tripybuild", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capfd.readouterr()

    return run


def test_targets_and_executables_are_compared(cli):
    """By one target and another one, at several sizes and seeds; weights are drawn, and said so."""
    words = [f"curve.yaml@{XLA}", f"@{ORT}", "--shapes", "B=2", "--corners", "--seeds", "2"]
    code, out, _ = cli("compare", *words, "--json")
    answer = json.loads(out)
    schema = json.loads((paths.schemas() / "answers" / "compare.json").read_text())
    assert list(Draft7Validator(schema).iter_errors(answer)) == []
    assert code == 0
    sizes = [(each["sizes"]["B"], each["seed"]) for each in answer["calls"]]
    assert sizes == [(2, 0), (2, 1), (1, 0), (1, 1), (8, 0), (8, 1)]
    assert all(o["largest"] < 1e-6 for each in answer["calls"] for o in each["outputs"])

    head, _, rest = SPEC.partition("parts:")
    Path("fixed.yaml").write_text(
        head + "outputs:" + rest.partition("outputs:")[2].replace("linear(x)", "x")
    )
    tripybuild.compile("fixed.yaml", target=XLA, output="fixed.tpb")
    code, out, _ = cli("compare", "fixed.tpb")
    assert (code, "B: fixed.tpb@reference" in out, "A and B agree" in out) == (0, True, True)
    code, out, _ = cli("compare", "curve.yaml", "--target", XLA)
    assert (code, "A: curve.yaml by `cpu:xla`, with random weights" in out) == (0, True)


def test_a_dtype_is_compared_with_another(cli):
    """The coarser one decides the tolerance, and both see the same inputs."""
    words = ["compare", "curve.yaml", "--target", XLA, "--set-b", "F=float16"]
    code, out, _ = cli(*words, "--json")
    answer = json.loads(out)
    assert (code, answer["tolerance"]["relative"]) == (0, 1e-2)
    y, total = answer["calls"][0]["outputs"]
    assert y["dtypes"] == ["float32", "float16"]
    assert 0 < y["largest"] < 5e-3
    assert total["ulps"] == 0  # of the coarser dtype
    code, out, _ = cli(*words, "--rtol", "1e-7")
    assert (code, "`y` differs first at [0, 0]: " in out) == (1, True)


def test_a_peer_is_compared_with_what_it_is_imported_as(cli):
    """By a target of ours: the import and its lowering are asked at once."""
    head, _, rest = SPEC.partition("parts:")
    fixed = head + "outputs:" + rest.partition("outputs:")[2].replace("linear(x)", "x")
    Path("fixed.yaml").write_text(fixed)
    tripybuild.export("fixed.yaml", "fixed.onnx")
    code, out, _ = cli("compare", "onnx:fixed.onnx", f"@{XLA}", "--shapes", "B=2")
    assert code == 0
    assert "B: onnx:fixed.onnx@cpu:xla, imported" in out
    assert "B=2, seed 0" in out


def test_what_differs_is_shown_with_both_values(cli):
    """A peer whose outputs have no names is matched by order, and its module is wrong."""
    pytest.importorskip("torch", reason="torch is not installed")
    np.save("x.npy", np.float32([[1, 2, 3], [0, 5, 6]]))
    words = ["compare", "program.py:double", "--target", XLA, "--input", "x=x.npy"]
    assert cli(*words, "torch:program.py:same")[0] == 0
    code, out, _ = cli(*words, "torch:program.py:other")
    assert code == 1
    assert "outputs are matched by their order" in out
    assert "`output` differs first at [0, 0]: 2 in A, 2.5 in B" in out
    code, _, err = cli("compare", "torch:program.py:same", "torch:program.py:other")
    assert (code, "says what it takes" in err) == (1, True)


@pytest.mark.parametrize(
    ("peer", "code", "message"),
    [
        ("onnx:curve.yaml", "onnx-malformed", "`curve.yaml` is no model of ONNX"),
        ("onnx:empty.onnx", "onnx-malformed", "`empty.onnx` is no model of ONNX"),
        ("onnx:.", "file-not-found", "`.` is a folder"),
        ("onnx:wide.onnx", "engine-failed", "`onnx:wide.onnx` cannot be run"),
        ("torch:program.py:wide", "engine-failed", "`torch:program.py:wide` cannot be run"),
    ],
)
def test_what_a_peer_refuses_is_said_in_our_words(cli, peer, code, message):
    """Its own words are a note; neither are they the message, nor is it an error of ours."""
    if peer.startswith("torch"):
        pytest.importorskip("torch", reason="torch is not installed")
        Path("program.py").write_text(f"{PROGRAM}wide = torch.nn.Linear(5, 5)\n")
    Path("empty.onnx").touch()
    Path("wide.yaml").write_text(WIDE)
    tripybuild.export("wide.yaml", "wide.onnx")
    status, out, err = cli("compare", f"curve.yaml@{XLA}", peer)
    assert (status, out, f"error[{code}]: {message}" in err) == (1, "", True), err
    assert "[ONNXRuntimeError]" not in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["torch:program.py:same"], "missing a required argument: 'x'"),
        (["curve.yaml@nothing"], "`nothing` is not a target"),
        (["none.yaml"], "there is no file `none.yaml`"),
        (["curve.yaml", "--input", "z=x.npy"], "has no input `z`"),
        (["curve.yaml", "--shapes", "B=9"], "`B` must be between 1 and 8"),
        (["curve.yaml", "program.py:double"], "must be 2, but is 3"),
        (["curve.yaml", "wrong:program.py:f"], "wrong:program.py"),
        (["curve.yaml", "--rtol", "inf"], "`inf` is not a number of at least 0"),
    ],
)
def test_what_cannot_be_compared_is_said(cli, words, message):
    np.save("x.npy", np.float32([1]))
    code, out, err = cli("compare", *words)
    assert (code, out) == (2 if "argument-value" in err else 1, "")
    assert message in err
    assert "Traceback" not in err


def test_a_call_that_fails_says_which_side_and_which_corner(cli):
    """Of a cache, whose last position and longest input are too much together."""
    text = WIDE.replace("x: float32[B, 5]", "at: int32[()]\n  x: float32[B, 5]")
    text = text.replace("tanh(x)", "x + gather(ones([8], float32), 0, at + arange(B, int32))[0]")
    Path("cache.yaml").write_text(text)
    code, out, err = cli("compare", f"cache.yaml@{ORT}", "@reference", "--corners")
    assert (code, out) == (1, "")
    assert "note: B is `cache.yaml@reference`, called with B=8 and inputs of the seed 0" in err
    assert "hint: integers are drawn as 1: `--below at=N`" in err
    Path("wide.yaml").write_text(WIDE)
    code, _, err = cli("compare", "curve.yaml@reference", "wide.yaml@reference")
    assert (code, "note: B is `wide.yaml@reference`, called with B=3" in err) == (1, True)
    code, _, err = cli("compare", "curve.yaml@")
    assert (code, "`curve.yaml@` names no target behind its `@`" in err) == (2, True)


def test_differences_of_steps_begin_where_a_fault_was_planted(cli):
    """Steps before it are the same, and `graph` shows the numbers; branches need fewer cuts."""
    Path("right.yaml").write_text(chain({17: "{} * 1.25", 20: "{0} + exp(tanh({0}))"}))
    Path("wrong.yaml").write_text(chain({17: "{} * 1.5", 20: "{0} + exp(tanh({0}))"}))
    words = ["right.yaml@reference", "wrong.yaml@reference"]
    code, out, err = cli("compare", *words, "--steps", "d.json", "--json")
    steps = json.loads(out)["steps"]
    assert (code, err) == (1, "")
    assert json.loads(Path("d.json").read_text())["values"] == steps["values"]
    assert steps["cuts"] == steps["needed"] < steps["count"] == len(steps["values"])
    places = {each: int(each.split(":")[0][1:].partition(".")[0]) for each in steps["values"]}
    planted = steps["values"]["s17:mul"]
    assert 1 / 6 <= planted < 1  # a sixth where the largest element is as large as the rms
    assert {steps["values"][each] for each, place in places.items() if place < 17} == {0.0}
    assert steps["values"]["s18:add"] > 0 < steps["values"]["s20:add"]
    code, out, _ = cli("graph", "right.yaml", "--overlay", "d.json")
    assert f"{planted:.3g}" in next(e for e in out.splitlines() if e.startswith("s17 "))
    out = cli("compare", *words, "--steps", "d.json", "--cuts", "4")[1]
    assert f"`--cuts {steps['needed']}` shows all steps" in out
    assert 4 <= len(json.loads(Path("d.json").read_text())["values"]) < steps["count"]
    Path("d.txt").write_text("mine")
    assert "is not a file of differences" in cli("compare", *words, "--steps", "d.txt")[2]
    words = ["program.py:double@reference", "torch:program.py:same", "--steps", "d.json"]
    assert "`torch:program.py:same` has no steps" in cli("compare", *words)[2]
