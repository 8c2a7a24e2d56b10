"""`tripybuild trace` and `compile` on functions of Python files: what is shown, run and refused."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer

from tripybuild.cli.function_reference import FunctionReference, program
from tripybuild.cli.main import main
from tripybuild.cli.options import ArgumentSpec, SizeSpec, TensorSpec, argument
from tripybuild.types.size_range import SizeRange

FILE = """\
import tripyapi as tp
from near import scale

print("the file runs")
args = [tp.InputInfo((2, 3), tp.float32)]


def plain(x):
    y = x * scale
    y.name = "y"
    return tp.softmax(y, 1)


def noted(x: "float32[2, N=1:2:4]", n: tp.DimensionInputInfo((1, 2, 3)), p=0.5):
    return x * p, tp.ones([n])


def failing(x):
    return deeper(x)


def deeper(x):
    return [1][x.rank]


def wrong(x):
    return tp.softmax(x, 5)


def several(*tensors, third):
    return tensors[0] + third


def leaving(x):
    raise SystemExit(3)


def scaled(x):
    return x * 2.0


def endless(x):
    return endless(x)


def first(*xs):
    return xs[0]


def open(first, second, *, third):
    return first + second


class Kind(tp.Module):
    def __init__(self):
        self.linear = tp.Linear(3, 4)
        self.linear.initialize_dummy_parameters()

    def forward(self, x):
        return self.linear(x)

    def other(self, x):
        return self.linear(x) * 2.0


class Called(Kind):
    def __call__(self, x):
        return self.other(x)


model, caller = Kind(), Called()
empty = tp.Linear(3, 4)
number = 3
"""


@pytest.fixture
def cli(tmp_path, shared_cache, monkeypatch, capfd):
    """Runs a command beside the file, and gives its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "file.py").write_text(FILE)
    (tmp_path / "near.py").write_text("scale = 2.0\n")
    (tmp_path / "broken.py").write_text("x = 1\ny = = 2\n")

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tripybuild", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, *capfd.readouterr()

    yield run
    for name in ("near", "_program_file", "_program_broken"):
        sys.modules.pop(name, None)


def test_the_trace_of_a_function(cli):
    """With the names that it gives; what the file prints stays apart from the answer."""
    code, out, err = cli("trace", "file.py:plain")
    assert (code, err) == (0, "the file runs\n")
    assert out.startswith("def plain(\n    x : tensor<2x3xf32>,\n):\n")
    assert "    y = mul(x : tensor<2x3xf32>, " in out
    code, out, _ = cli("trace", "file.py:plain", "--json")
    assert json.loads(out)["text"].startswith("def plain(")


@pytest.mark.parametrize(
    ("kind", "says"), [("stablehlo", "stablehlo.exponential"), ("tensorrt", "tensorrt.softmax")]
)
def test_what_compilers_are_given(cli, kind, says, tmp_path):
    """In either dialect, printed or written."""
    code, out, _ = cli("trace", "file.py:plain", "--emit", kind)
    assert code == 0
    assert says in out
    assert cli("trace", "file.py:plain", "--emit", kind, "-o", "text.mlir")[0] == 0
    assert (tmp_path / "text.mlir").read_text() == out


def test_inputs_are_said_by_flags_annotations_and_the_file(cli):
    """Flags come first, and add to the others."""
    code, out, _ = cli("trace", "file.py:noted")
    assert code == 0
    assert "x : tensor<2xNxf32>,\n    n : tensor<n_valuexi32>,\n" in out
    assert "constant(0.5)" in out
    code, out, _ = cli("trace", "file.py:noted", "--input", "x=int32[3:4:5]", "--input", "p=2")
    assert code == 0
    assert "x : tensor<x_0xi32>,\n" in out
    assert "constant(2)" in out
    code, out, _ = cli("trace", "file.py:several", "--input", "third=float32[3]")
    assert code == 0
    assert "tensors_0 : tensor<2x3xf32>,\n    third : tensor<3xf32>,\n" in out


def test_modules_and_their_methods(cli):
    """Parameters are weights."""
    for path in ("model", "model.forward", "model.other", "caller"):
        code, out, _ = cli("trace", f"file.py:{path}")
        assert code == 0
        assert "(\n    x : tensor<2x3xf32>,\n" in out
        assert "    linear.weight : tensor<4x3xf32>,\n" in out


def test_a_module_without_weights(cli):
    """What it becomes needs none of them; what runs it does."""
    asked = ("file.py:empty", "--input", "x=float32[2,3]")
    code, out, _ = cli("trace", *asked)
    assert code == 0
    assert "    weight : tensor<4x3xf32>,\n    bias : tensor<4xf32>,\n" in out
    code, _, err = cli("compile", *asked)
    assert code == 1
    assert [f"the parameter `{name}`" in err for name in ("weight", "bias")] == [True, True]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.py:plain"], "file-not-found: there is no file `none.py`"),
        (["file.py:plane"], "function-not-found: `file.py` has no `plane`"),
        (["file.py"], "name a function of it: `file.py:plain`"),
        (["file.py:model.no"], "function-not-found: `file.py` has no `model.no`"),
        (
            ["file.py:number"],
            "wrong-type: `number` of `file.py` is of the type `int`, not a function",
        ),
        (["file.py:Kind"], "make an object of it in the file, and name that"),
        (["broken.py:x"], "program-failed: invalid syntax\n  --> "),
        (["file.py:failing"], "program-failed: IndexError: list index out of range\n  --> "),
        (["file.py:endless"], "program-failed: RecursionError: maximum recursion depth exceeded"),
        (
            ["file.py:first", "--input", "x=float32[2]"],
            "`first` takes no `x`\nhint: the arguments of `*xs` ",
        ),
        (["file.py:scaled", "--input", "x=float32"], "`x=float32` is a string; a tensor of one"),
        (["file.py:leaving"], "program-failed: SystemExit: 3"),
        (["file.py:wrong"], "softmax/dim: `dim` of `softmax` must be between -2 and 1"),
        (["model.yaml"], "argument-value: `model.yaml` names no function of a Python file"),
        (["file.py:plain", "--input", "y=float32[2]"], "unknown-input: `plain` takes no `y`"),
        (["file.py:plain", "--input", "x=flot32[2]"], "did you mean `float32`?"),
        (["file.py:plain", "--input", "x=float32[N]"], "unknown-size: the size `N` has no range"),
    ],
)
def test_what_goes_wrong_is_said(cli, words, message):
    """In words, with the user's line where it has one, and never with a traceback."""
    code, out, err = cli("trace", *words)
    text = err.replace("error[", "").replace("]: ", ": ")
    assert (code, out) == (2 if message.startswith("argument-value") else 1, "")
    assert message in text
    assert "Traceback" not in err


def test_the_line_that_failed_is_shown(cli, tmp_path):
    """The innermost one, and who called it."""
    line = FILE[: FILE.index("return [1]")].count("\n") + 1
    _, _, err = cli("trace", "file.py:failing")
    assert f"--> {tmp_path / 'file.py'}:{line}:12" in err
    assert f"{line} |     return [1][x.rank]\n   |            ^^^^^^^^^^^ raised here\n" in err
    assert f"note: called at {tmp_path / 'file.py'}:{line - 4}\n" in err
    _, _, err = cli("trace", "file.py:endless")
    assert re.search(rf"note: called at {tmp_path / 'file.py'}:{line + 20} \(\d+ times\)\n", err)
    assert err.count("note") == 1


def test_what_is_not_written_in_the_file_is_made_there(cli, tmp_path):
    """A module of ours is placed where the program makes it."""
    (tmp_path / "made.py").write_text(
        "import tripyapi as tp\n\nchain = tp.Sequential(tp.relu)\nlinear = tp.Linear(2, 3)\n"
    )
    _, _, err = cli("trace", "made.py:chain")
    assert (
        "missing-input]: no input is declared for the parameter `input` of `chain`\n  --> "
        "made.py:3:1\n" in err
    )
    assert "   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n" in err


def test_all_that_nobody_says_is_said(cli):
    """In one report."""
    code, _, err = cli("trace", "file.py:open")
    assert code == 1
    assert err.count("error[missing-input]") == 2  # the file's `args` say the first
    assert "hint: give `--input 'third=float32[2,3]'`" in err


def test_a_function_is_compiled(cli, tmp_path):
    """The executable is that of `tp.compile`, and is run as any other."""
    asked = ("file.py:model", "--input", "x=float32[N=1:2:4,3]", "--shapes", "N=4")
    assert cli("compile", *asked)[0] == 0
    np.save(tmp_path / "x.npy", np.ones((4, 3), np.float32))
    code, out, _ = cli("run", "model.tpb", "--input", "x=x.npy")
    assert code == 0
    assert out.startswith("output  float32[4, 4]  4, 4")
    code, out, _ = cli("inspect", "model.tpb", "--json")
    (entry,) = json.loads(out)["entries"]
    assert entry["shapes"] == [{"N": 2}, {"N": 4}]
    for words, message in (
        ((*asked, "--set", "a=1"), "takes no `--set`"),
        ((*asked, "--function", "main"), "takes no `--function`"),
        (("file.py:model", "--shapes", "M=4"), "has no dynamic size `M`"),
        (("model.yaml", "--input", "x=float32[3]"), "`model.yaml` declares its inputs itself"),
    ):
        code, _, err = cli("compile", *words)
        assert code == (2 if "error[conflicting-options]" in err else 1)
        assert message in err


def test_help_says_that_the_file_is_run(cli):
    """Before anybody runs what somebody else wrote."""
    said = " ".join(cli("trace", "--help")[1].split())
    assert "This runs the Python file, with all that it does" in said
    assert "which runs that file" in " ".join(cli("compile", "--help")[1].split())


def test_no_specification_runs_a_file(cli, tmp_path):
    """Whatever it names: only the words of a command lead to Python."""
    (tmp_path / "trap.py").write_text("open('sprung', 'w')\n")
    head = "tripybuild: 1\nmodel: m\n"
    body = "inputs: {x: 'float32[2]'}\noutputs: {y: x}\n"
    for use, code in (
        ("use: [trap.py]\n", 1),
        ("use: ['trap.py:open']\n", 1),
        ("weights: trap.py\n", 0),  # the model has no weights, so none are read
        ("weights: {file: 'trap.py:open'}\n", 0),
    ):
        (tmp_path / "m.yaml").write_text(head + use + body)
        for words in (["compile", "m.yaml"], ["compile", "m.yaml", "--emit", "trace"]):
            assert cli(*words)[0] == code
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "x=float32[2,3]",
            TensorSpec(
                "float32", (SizeSpec(None, SizeRange(2, 2, 2)), SizeSpec(None, SizeRange(3, 3, 3)))
            ),
        ),
        (
            "x=int8[1:2:4, N]",
            TensorSpec("int8", (SizeSpec(None, SizeRange(1, 2, 4)), SizeSpec("N", None))),
        ),
        ("x=bool[N=1:2:4]", TensorSpec("bool", (SizeSpec("N", SizeRange(1, 2, 4)),))),
        ("x=float32[]", TensorSpec("float32", ())),
        ("x=float32[()]", TensorSpec("float32", ())),
        ("x=1:2:4", SizeSpec(None, SizeRange(1, 2, 4))),
        ("x=2", 2),
        ("x=0.5", 0.5),
        ("x=true", True),
        ("x=mean", "mean"),
    ],
)
def test_what_inputs_are(text, what):
    """A tensor, a size, or a constant."""
    assert argument(text) == ArgumentSpec("x", what)


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "x=",
        "=float32[2]",
        "x=float32[2,]",
        "x=float32[-1]",
        "x=f[1:2]",
        "x=f[N=M]",
        "x=f[3:2:1]",
        "x=3:2:1",
    ],
)
def test_what_inputs_are_not(text):
    """An error of usage."""
    with pytest.raises(typer.BadParameter):
        argument(text)


def test_what_names_a_python_file():
    """Its ending does."""
    assert program("a/b.py:c.d") == FunctionReference(program("a/b.py").file, "c.d")
    assert program("b.py").path == ""
    assert program("b.yaml") is None
    assert program("b.py/c.yaml") is None


@pytest.mark.parametrize(
    "begin",
    [["-m", "tripybuild"], [Path(sys.executable).with_name("tripybuild")]],
    ids=["module", "script"],
)
def test_what_begins_the_command_is_no_caller(begin, tmp_path):
    """`python -m tripybuild`, or the script that pip installs."""
    (tmp_path / "user.py").write_text("def f(x):\n    return x.tolist()\n")
    done = subprocess.run(
        [sys.executable, *begin, "trace", "user.py:f", "--input", "x=float32[2]"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert "error[not-known-yet]" in done.stderr
    assert "called at" not in done.stderr
