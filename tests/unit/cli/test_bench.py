"""`tripybuild bench`, and inputs that are drawn for it and for `run --random`."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from jsonschema import Draft7Validator

import tripybuild
from tripybuild.cli.main import main
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import paths
from tripybuild.targets.drawn_inputs import call_sizes, draw_inputs

SPEC = """\
tripybuild: 1
model: rows
inputs:
  table: float32[N, 8]
  index: int32[B]
  mask: bool[B]
ranges:
  N: {min: 2, opt: 4, max: 64}
  B: {min: 1, opt: 3, max: 64}
outputs:
  picked: where(reshape(mask, [B, 1]), gather(table, 0, index), 0.0)
"""
LARGE = SPEC.replace(
    "gather(table, 0, index)", "exp(sin(tile(gather(table, 0, index), [1, 2000])))"
)
CURVE = """\
tripybuild: 1
model: curve
inputs:
  rows: float32[2, 3]
outputs:
  y: relu(rows)
"""
MODULE = """\
import torch

class Net(torch.nn.Module):
    def forward(self, x, scale=None):
        with open("seen.txt", "w") as file:
            file.write(f"{self.training} {tuple(x.shape)}")
        return torch.relu(x)

class Wide(torch.nn.Module):
    def forward(self, x, y):
        return x + y

net, wide = Net(), Wide()
"""
FUNCTION = """\
import tripyapi as tp

def double(x: tp.InputInfo([tp.NamedDimension("B", 1, 3, 64), 8], tp.float32)):
    return x * 2.0
"""
ENDS = """\
import os
import signal
import torch

class Net(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        if self.number == 0:
            raise MemoryError
        os.kill(os.getpid(), self.number)

memory, killed = Net(0), Net(signal.SIGKILL)
"""
TARGET = "cpu:onnxruntime"


@pytest.fixture
def folder(tmp_path, shared_cache, monkeypatch):
    """A folder with an executable, to work in."""
    monkeypatch.chdir(tmp_path)
    Path("rows.yaml").write_text(SPEC)
    Path("large.yaml").write_text(LARGE)
    tripybuild.compile("rows.yaml", target=TARGET, output="rows.tpb")
    return tmp_path


@pytest.fixture
def cli(folder, monkeypatch, capfd):
    """Runs a command in this process, and gives its exit code, stdout and stderr."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tripybuild", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capfd.readouterr()

    return run


def test_contestants_are_measured_beside_each_other(cli):
    """An executable and specs, at several sizes; the answer has the published form."""
    words = ["rows.tpb", "rows.yaml", "large.yaml", "--target", TARGET, "--threads", "1"]
    words += ["--shapes", "B=2", "--shapes", "B=8,N=2", "--rounds", "4", "--seconds", "0.04"]
    words += ["--together"]
    code, out, _ = cli("bench", *words, "--json")
    answer = json.loads(out)
    schema = json.loads((paths.schemas() / "answers" / "bench.json").read_text())
    Draft7Validator.check_schema(schema)

    assert list(Draft7Validator(schema).iter_errors(answer)) == []
    assert code == 0
    assert [each["sizes"] for each in answer["runs"]] == [{"N": 4, "B": 2}, {"N": 2, "B": 8}]
    for run in answer["runs"]:
        for each in run["contestants"]:
            assert 0 < each["best"] <= each["p50"] <= each["p90"] <= each["p99"]
            assert each["p50_interval"] == sorted(each["p50_interval"])
            assert each["calls"] >= 4
            assert min(each["load"], each["first_call"]) > 0
            low, high = each["ratio"]["interval"]
            assert low <= each["ratio"]["value"] <= high
        first, _, large = run["contestants"]
        assert first["ratio"]["value"] == 1
        assert large["ratio"]["interval"][0] > 1  # it computes 4000 times as much
    assert answer["together"] is True
    words = ["rows.tpb", "rows.tpb", "--rounds", "3", "--seconds", "0.01", "--clients", "2"]
    np.savez("rows.npz", index=np.int32([1, 0]), table=np.ones((5, 8), np.float32))
    words += ["--input", "index=rows.npz", "--input", "table=rows.npz"]
    code, out, _ = cli("bench", *words)
    assert (code, "rows.tpb takes" in out, "B=2,N=5" in out) == (0, True, True)
    words = ["rows.yaml", "@cpu:onnxruntime", "--rounds", "3", "--seconds", "0.01", "--json"]
    code, out, _ = cli("bench", *words, "--target", "cpu:xla", "--together")
    (run,) = json.loads(out)["runs"]
    assert [(each["name"], each["target"]) for each in run["contestants"]] == [
        ("rows.yaml", "cpu:xla"),
        ("rows.yaml@cpu:onnxruntime", "cpu:onnxruntime"),
    ]


def test_peers_are_called_with_the_same_inputs(cli):
    """A module of PyTorch, and a file of ONNX, whose input may be called something else."""
    Path("curve.yaml").write_text(CURVE)
    Path("net.py").write_text(MODULE)
    tripybuild.export("curve.yaml", "curve.onnx")
    peers = ["torch:net.py:net", "torch:net.py:wide", "onnx:curve.onnx"]
    words = ["curve.yaml", "--rounds", "3", "--seconds", "0.01", "--threads", "1", "--json"]
    words += ["--target", TARGET, *(word for peer in peers[::2] for word in ("--compare", peer))]
    code, out, _ = cli("bench", *words)
    (run,) = json.loads(out)["runs"]
    assert (code, json.loads(out)["together"]) == (0, False)
    assert [each["target"] for each in run["contestants"]] == [
        f"{TARGET},threads=1", "torch", "onnx"
    ]  # fmt: skip
    assert Path("seen.txt").read_text() == "False (2, 3)"
    for peer, message in (
        (peers[1], "it takes x, y, and not rows"),
        ("onnx:none.onnx", "there is no file `none.onnx`"),
        ("curve.onnx", "`curve.onnx` is no peer"),
    ):
        code, _, err = cli("bench", "curve.yaml", "--compare", peer)
        assert (code, message in err) == (2 if peer == "curve.onnx" else 1, True), err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rows.tpb", "--threads", "2"], "an executable is compiled already"),
        (["rows.tpb@cpu:xla"], "`rows.tpb` is compiled already, and takes no target"),
        (["@cpu:xla"], "`@cpu:xla` is a target"),
        (["rows.yaml", "--threads", "2"], "`cpu` does not take a number of threads"),
        (["rows.tpb", "--shapes", "M=2"], "has no dynamic size `M`"),
        (["rows.tpb", "--shapes", "B=65"], "`B` must be between 1 and 64"),
        (["rows.tpb", "--below", "table=3"], "has no input `table` of integers"),
        (["rows.tpb", "--below", "index=0"], "cannot be drawn below 0"),
        (["rows.tpb", "--entry", "other"], "other"),
        (["none.tpb"], "there is no file `none.tpb`"),
    ],
)
def test_what_cannot_be_measured_is_said(cli, words, message):
    """In words, before anything is measured."""
    code, out, err = cli("bench", *words)
    usage = "error[conflicting-options]" in err or "error[argument-value]" in err
    assert (code, out) == (2 if usage else 1, "")
    assert message in err


def test_a_picture_shows_distributions_and_sizes(cli):
    """Of functions, too; a missing package or folder is told before anything is measured."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    Path("double.py").write_text(FUNCTION)
    words = ["double.py:double", "rows.tpb", "--together", "--rounds", "3", "--seconds", "0.01"]
    for name, shapes, shown in (
        ("one.svg", ["B=2"], ["part of the calls", "B=2"]),
        ("two.svg", ["B=2", "B=4"], ["milliseconds, median to p90", "B=4,N=4"]),
    ):
        asked = [word for each in shapes for word in ("--shapes", each)]
        chosen = words[:1] + words[2:] if name == "one.svg" else words[1:]
        assert cli("bench", *chosen, *asked, "--plot", name)[0] == 0
        texts = ET.parse(name).iter("{http://www.w3.org/2000/svg}text")
        found = {each.text for each in texts}
        assert found >= {*shown, chosen[0]}, found
    assert cli("bench", *words[1:], "--plot", "two.svg")[0] == 0  # it is ours
    sizes = [word for size in ("2", "65", "4") for word in ("--shapes", f"B={size}")]
    assert cli("bench", *words[1:], *sizes, "--plot", "three.svg")[0] == 1
    assert "B=65" in Path("three.svg").read_text()
    Path("keep.svg").write_text("<svg>mine</svg>")
    for name, message in (
        ("none/one.svg", "there is no folder `none`"),
        ("keep.svg", "`keep.svg` already exists, and is not a picture of tripybuild"),
        ("one.gif", "with the suffix `.svg`, `.png`, `.pdf`"),
    ):
        code, out, err = cli("bench", *words, "--plot", name)
        assert (code, out, message in err) == (1, "", True), err
    assert Path("keep.svg").read_text() == "<svg>mine</svg>"


def test_the_end_of_a_contestant_is_told_and_the_others_are_measured(cli):
    """Its process is another one, whose end is no end of ours; what is not there ends all."""
    Path("curve.yaml").write_text(CURVE)
    Path("wide.yaml").write_text(CURVE.replace("relu(rows)", "rows @ rows"))
    Path("ends.py").write_text(ENDS)
    words = ["wide.yaml", "curve.yaml", "--target", TARGET, "--rounds", "3", "--seconds", "0.01"]
    peers = ["--compare", "torch:ends.py:memory", "--compare", "torch:ends.py:killed"]
    code, out, err = cli("bench", *words, *peers, "--json")
    answer = json.loads(out)
    (run,) = answer["runs"]
    assert (code, [each["name"] for each in run["contestants"]]) == (1, ["curve.yaml"]), err
    assert run["failed"] == ["wide.yaml", "torch:ends.py:memory", "torch:ends.py:killed"]
    said = {each["code"]: each for each in answer["diagnostics"]}
    assert set(said) == {"matmul/contractible", "out-of-memory", "contestant-ended"}
    assert said["matmul/contractible"]["notes"][-1] == "`wide.yaml` is not measured"
    assert "torch:ends.py:memory" in said["out-of-memory"]["message"]
    assert "`torch:ends.py:killed` was killed" in said["contestant-ended"]["message"]
    code, out, err = cli("bench", *words[1:], "--together", *words[:1])
    assert (code, "wide.yaml failed" in out, "Traceback" in err) == (1, True, False)
    few = ["rows.tpb", "--rounds", "3", "--seconds", "0.01", "--together"]
    code, out, err = cli("bench", *few, "--shapes", "B=2", "--shapes", "B=65")
    assert (code, out.endswith("\n\nB=65\n  rows.tpb failed\n")) == (1, True), out
    code, out, err = cli("bench", "curve.yaml", "none.yaml")
    assert (code, out, "there is no file `none.yaml`" in err) == (1, "", True)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="this system has no /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_of_a_contestant_is_left(folder, number):
    """Ctrl-C reaches the whole group of processes, and says nothing; a kill reaches one of them."""
    words = ["rows.tpb", "rows.tpb", "--seconds", "100"]
    program = [sys.executable, "-m", "tripybuild", "bench", *words]
    started = subprocess.Popen(
        program, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    children = Path(f"/proc/{started.pid}/task/{started.pid}/children")
    end = time.monotonic() + 60
    while len(contestants := children.read_text().split()) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    (os.killpg if number == signal.SIGINT else os.kill)(started.pid, number)
    out, err = started.communicate(timeout=20)

    assert (len(contestants), out) == (2, "")
    if number == signal.SIGINT:
        assert started.returncode == 130
        assert re.fullmatch(r"Interrupted after [\d.]+s of: measure\n", err), err
    end = time.monotonic() + 5
    while (left := [each for each in contestants if is_alive(each)]) and time.monotonic() < end:
        time.sleep(0.05)
    assert left == []


def is_alive(number):
    """Whether a process is there that did not end."""
    try:
        status = Path(f"/proc/{number}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def test_weights_that_are_not_there_are_drawn_if_asked_for(cli):
    """The refusal says how, and so does the table."""
    text = CURVE.replace("relu(rows)", "layer(rows)") + "weights: none.safetensors\n"
    Path("layer.yaml").write_text(
        text.replace("outputs:", "parts: {layer: 'Linear(3, 2)'}\noutputs:")
    )
    words = ["layer.yaml", "--target", TARGET, "--rounds", "3", "--seconds", "0.01", "--together"]
    code, out, err = cli("bench", *words)
    assert (code, out, "or draw them by `--random`" in err) == (1, "", True), err
    code, out, _ = cli("bench", *words, "--random", "--seed", "3")
    assert (code, "layer.yaml is measured with random weights" in out) == (0, True)


@pytest.mark.parametrize("duration", ["inf", "nan", "0", "-1", "1e9", "x"])
def test_a_duration_is_a_number_above_zero(cli, duration):
    for words in (["bench", "rows.tpb", "--seconds"], ["reduce", "rows.yaml", "--limit"]):
        code, out, err = cli(*words, duration)
        assert (code, out) == (2, "")
        assert f"`{duration}` is not a number of seconds" in err


def test_the_table_fits_the_terminal(cli, monkeypatch):
    """Numbers below names, or one below the other, where there is less room."""
    words = ["rows.yaml", "rows.tpb", "--target", TARGET, "--together", "--seconds", "0.01"]
    for columns, head in ((120, "target  "), (80, "    median  "), (40, "    median ")):
        monkeypatch.setenv("COLUMNS", str(columns))
        code, out, _ = cli("bench", *words)
        table = [each for each in out.splitlines() if "takes" not in each]
        assert (code, max(map(len, table)) <= columns, head in out) == (0, True, True), out
        assert out.count(f"  rows.yaml  {TARGET}") == 1


def test_inputs_are_drawn_by_a_seed(folder):
    """Floats are drawn, integers are 1 unless a bound is given, booleans are true."""
    signature = tripybuild.load("rows.tpb").signature
    sizes = call_sizes(signature, {"B": 40})
    assert sizes == {"N": 4, "B": 40}
    first, same, other = (draw_inputs(signature, sizes, seed, {"index": 4}) for seed in (1, 1, 2))

    assert all((first[name] == same[name]).all() for name in first)
    assert not np.array_equal(first["table"], other["table"])
    assert set(first["index"]) == {0, 1, 2, 3}
    assert (first["table"].shape, first["index"].dtype) == ((4, 8), np.int32)
    assert first["mask"].all()
    assert set(draw_inputs(signature, sizes)["index"]) == {1}
    with pytest.raises(DiagnosticError, match="cannot be drawn below"):
        draw_inputs(signature, sizes, below={"index": 2**31 + 1})


def test_run_draws_what_no_file_gives(cli):
    """The sizes are those of the inputs that are given."""
    np.save("index.npy", np.int32([1, 0, 1, 1, 0]))
    words = ["run", "rows.tpb", "--input", "index=index.npy", "--json"]
    found = [json.loads(cli(*words, "--random", "--seed", seed)[1]) for seed in (3, 3, 4)]
    first, same, other = (each["outputs"]["picked"] for each in found)

    assert first["shape"] == [5, 8]
    assert first == same != other
    assert cli(*words)[0] == 1
    code, _, err = cli("run", "rows.tpb", "--shapes", "B=2")
    assert (code, "add `--random`" in err) == (2, True)
