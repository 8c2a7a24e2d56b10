"""The command line: how commands end, what they print where, and what they leave behind."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest
from safetensors.numpy import load_file

import tripybuild
from tripybuild.cli.command import CommandResult, conclude
from tripybuild.cli.commands import gen
from tripybuild.cli.console import DiagnosticFormat
from tripybuild.cli.main import main
from tripybuild.cli.options import setting, shape
from tripybuild.codegen.package.sync import FileDifference
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.process import paths

COMMAND = [sys.executable, "-c", "from tripybuild.cli.main import main; main()"]
DOUBLE = """\
tripybuild: 1
model: double
inputs:
  x: T[2, 3]
outputs:
  y: x + x
"""


@pytest.fixture
def folder(tmp_path, shared_cache, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
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


def test_help_loads_nothing_heavy():
    """`--help` needs neither the schema's libraries nor an engine's."""
    heavy = ["numpy", "pydantic", "yaml", "jaxlib", "rich", "xdsl", "tripybuild.schema"]
    code = f"import tripybuild.cli.main, sys; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_every_command_speaks_json(cli):
    """`--json` gives one document on stdout, for answers and for problems."""
    code, out, _ = cli("explain", "duplicate-key", "--json")
    data = json.loads(out)
    assert (code, data["code"], data["diagnostics"]) == (0, "duplicate-key", [])

    for words in (
        ["gen", "--registry", "none", "--package", "mine"],
        ["new", "op", "Bad"],
        ["new", "model", "Bad"],
        ["explain", "nothing-like-it"],
        ["compile", "none.yaml"],
        ["run", "none.tpb"],
        ["inspect", "none.tpb"],
        ["trace", "none.py:main"],
    ):
        code, out, _ = cli(*words, "--json")
        assert code == 1
        assert json.loads(out)["diagnostics"][0]["message"]


def test_an_interrupt_ends_without_a_traceback(capfd):
    """Ctrl-C gives the exit code that shells expect, and no text."""

    def work():
        raise KeyboardInterrupt

    assert conclude(work, json=False, form=DiagnosticFormat.FULL) == 130
    assert capfd.readouterr() == ("", "")


def test_a_bug_is_said_in_words(capfd, monkeypatch):
    """An unexpected exception is `internal`; its traceback is for those who ask."""

    def work():
        raise RuntimeError("first line\nsecond line")

    monkeypatch.delenv("TRIPYBUILD_TRACEBACK", raising=False)
    assert conclude(work, json=False, form=DiagnosticFormat.FULL) == 1
    text = capfd.readouterr().err
    assert text.startswith("error[internal]: tripybuild itself failed: RuntimeError: first line\n")
    assert "Traceback" not in text

    monkeypatch.setenv("TRIPYBUILD_TRACEBACK", "1")
    assert conclude(work, json=False, form=DiagnosticFormat.FULL) == 1
    assert "Traceback" in capfd.readouterr().err


def test_problems_are_in_the_order_of_the_file(capfd):
    """Diagnostics are sorted by place; equal ones are shown once."""

    def work():
        places = [Span("b", 1, 1, 1, 2), None, Span("a", 12, 1, 12, 2), Span("a", 2, 1, 2, 2)]
        problems = [Diagnostic("a-code", f"at {place}", place) for place in places]
        raise DiagnosticError(*problems, problems[0])

    assert conclude(work, json=False, form=DiagnosticFormat.CONCISE) == 1
    lines = capfd.readouterr().err.splitlines()
    assert [line.partition("at ")[2] for line in lines] == ["a:2:1", "a:12:1", "b:1:1", "None"]


def test_color_is_for_terminals_that_want_it(capfd, monkeypatch):
    """Nothing is coloured in a pipe, or with NO_COLOR; FORCE_COLOR colours a pipe."""

    def work():
        raise DiagnosticError(Diagnostic("a-code", "a message"))

    for variables, colored in (({}, False), ({"FORCE_COLOR": "1"}, True)):
        monkeypatch.delenv("NO_COLOR", raising=False)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        conclude(work, json=False, form=DiagnosticFormat.FULL)
        assert ("\x1b[" in capfd.readouterr().err) == colored

    monkeypatch.setenv("NO_COLOR", "1")
    conclude(work, json=False, form=DiagnosticFormat.FULL)
    assert "\x1b[" not in capfd.readouterr().err


def test_control_sequences_of_a_name_do_not_reach_the_terminal(capfd):
    """What a file or a flag names is shown, not obeyed."""
    answer = CommandResult(text="a\x1b[2Jb", remark="c\x1b]0;d\x07")
    assert conclude(lambda: answer, json=False, form=DiagnosticFormat.FULL) == 0
    assert capfd.readouterr() == ("a\ufffd[2Jb\n", "c\ufffd]0;d\ufffd\n")


@pytest.mark.skipif(os.name == "nt", reason="this system has no pipes of Unix")
def test_a_closed_pipe_is_quiet():
    """`tripybuild explain ... | head -0` prints no traceback."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, "explain", "duplicate-key"], stdout=writing, stderr=subprocess.PIPE, check=False
    )
    os.close(writing)

    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("words", [["explain", "duplicate-key"], ["--version"], ["--help"]])
def test_a_full_disk_is_said(words):
    """An output that cannot be written is a problem, not a success."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, check=False)

    assert done.returncode == 1
    assert done.stderr.startswith(b"error[output-unwritable]: ")


def test_settings_have_the_types_that_they_look_like():
    """`--set` takes numbers, booleans and texts; `--shapes` takes sizes."""
    texts = ["a=2", "a=-3", "a=1e-5", "a=true", "a=gelu", "a=x=y", "a=inf"]
    assert [setting(text).value for text in texts] == [2, -3, 1e-5, True, "gelu", "x=y", "inf"]
    assert shape("B=1,S=128").sizes == {"B": 1, "S": 128}


def test_gen_writes_only_what_differs_and_removes_what_is_stale(cli, folder, monkeypatch):
    """A second `gen` changes nothing, `--check` notices each change, and `gen` mends it."""
    (folder / "ops_registry").mkdir()
    shutil.copy(paths.registry() / "targets.yaml", folder / "ops_registry")
    monkeypatch.setattr(paths, "registry", lambda: folder / "ops_registry")
    cli("new", "op", "double")
    cli("new", "op", "twice", "--folder", "nn/more")
    assert cli("gen")[0] == 0
    place = folder / "generated/tripyapi/ops/math/double.py"
    text, written = place.read_text(), place.stat().st_mtime_ns
    assert "Up to date" in cli("gen")[2]
    assert cli("gen", "--check")[0] == 0
    assert place.stat().st_mtime_ns == written

    place.write_text(text.replace("def double", "def doubled"))
    (folder / "ops_registry/nn/more/twice.yaml").unlink()
    own = folder / "generated/tripyapi/notes.txt"
    own.write_text("somebody's own")
    code, _, problems = cli("gen", "--check")
    assert code == 1
    assert "generated/tripyapi/ops/math/double.py:" in problems
    assert "`generated/tripyapi/ops/nn/more/twice.py` is left over" in problems

    assert cli("gen")[0] == 0
    assert place.read_text() == text
    assert not (folder / "generated/tripyapi/ops/nn").exists()
    assert own.read_text() == "somebody's own"
    assert cli("gen", "--check")[0] == 0


def test_gen_writes_nothing_where_a_declaration_is_wrong(cli, folder):
    """One problem in one file, and all files stay as they are."""
    cli("new", "op", "double", "--registry", "mine")
    file = folder / "mine/math/double.yaml"
    file.write_text(file.read_text().replace("input + input", "input + nothing"))
    code, _, problems = cli("gen", "--registry", "mine", "--package", "mine")

    assert code == 1
    assert "error[unbound-name]" in problems
    assert not (folder / "generated").exists()


def test_gen_writes_the_built_in_package_into_the_checkout_alone(cli, folder, monkeypatch):
    """Wherever it is called; a package that is installed is not written anywhere unasked."""
    checkout = folder / "checkout"
    (checkout / "ops_registry").mkdir(parents=True)
    shutil.copy(paths.registry() / "targets.yaml", checkout / "ops_registry")
    monkeypatch.setattr(paths, "registry", lambda: checkout / "ops_registry")
    cli("new", "op", "double")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    assert cli("gen")[0] == 0
    assert (checkout / "generated/tripyapi/ops/math/double.py").is_file()
    assert f"of `{checkout / 'generated'}` in" in cli("gen")[2]

    monkeypatch.setattr(paths, "in_installed_package", lambda: True)
    code, _, problems = cli("gen")
    assert (code, "error[registry-read-only]" in problems) == (1, True)
    assert "hint: name a registry of yours" in problems
    assert not list((folder / "elsewhere").iterdir())
    assert cli("gen", "--out", "here")[0] == 0
    assert (folder / "elsewhere/here/tripyapi/ops/math/double.py").is_file()


def test_files_of_a_registry_have_names_of_text_and_are_files(cli, folder):
    """A name that is no UTF-8 cannot be written into code, and a pipe may say nothing for ever."""
    cli("new", "op", "double", "--registry", "mine")
    os.mkfifo(folder / "mine/math/waits.yaml")
    code, _, problems = cli("gen", "--registry", "mine", "--package", "mine")
    assert (code, "`mine/math/waits.yaml` is a device, not a file" in problems) == (1, True)
    (folder / "mine/math").rename(folder / "mine/m\udcff")
    code, _, problems = cli("gen", "--registry", "mine", "--package", "mine")
    assert (code, "error[bad-name]: the name of the file `mine/m\\xff" in problems) == (1, True)


def test_packages_do_not_share_a_folder(cli, folder):
    """A second package in the folder of another would take its suites away."""
    cli("new", "op", "double", "--registry", "mine")
    cli("gen", "--registry", "mine", "--package", "one")
    before = sorted(folder.rglob("*.py"))
    code, _, problems = cli("gen", "--registry", "mine", "--package", "two")

    assert (code, sorted(folder.rglob("*.py"))) == (1, before)
    assert "error[not-generated]" in problems


MODULES = {
    "modules/doubled": """\
        tripybuild: 1
        module: Doubled
        doc: A layer, and twice what it gives.
        sizes:
          width:
            doc: The size of the last dimension.
        inputs:
          x: F[N, width]
        parts:
          layer: Linear(width, width)
        outputs:
          out: double(layer(x))
        sample: {N: 2, width: 3}
        """,
    "modules/below/pair": """\
        tripybuild: 1
        module: Pair
        doc: Two layers, one after the other.
        inputs:
          x: F[N, 3]
        parts:
          first: Doubled(3)
          second: Doubled(3)
        outputs:
          out: second(first(x))
        sample: {N: 2}
        """,
}


def test_new_operators_and_modules_pass_their_suites(cli, folder):
    """`new op`, `gen` and the suites, in a user's registry and package.

    The modules are made of operators and modules of both registries. The suites run from any
    folder: the package is beside them.
    """
    code, _, text = cli("new", "op", "double", "--registry", "mine")
    assert (code, "`tripybuild gen --registry mine" in text) == (0, True)
    written = (folder / "mine/math/double.yaml").read_text()
    assert written.startswith("tripybuild: 1\n"), "a schema's path is that of one machine"
    for name, text in MODULES.items():
        path = folder / f"mine/{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")

    code, _, said = cli("gen", "--registry", "mine", "--package", "my_operators")
    assert (code, "`python -m pytest generated/suites` proves it" in said) == (0, True)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    suites = folder / "generated/suites"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-n0", "-p", "no:cacheprovider", suites],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout
    passed = {line.partition("::")[0] for line in done.stdout.splitlines() if "PASSED" in line}
    assert {Path(each).name for each in passed} == {
        *("test_double.py", "test_module_doubled.py", "test_module_pair.py")
    }


def test_a_new_model_compiles_and_runs(cli, folder):
    """`new model`, `compile`, `inspect` and `run`, with all kinds of output."""
    assert cli("new", "model", "chances")[0] == 0
    assert cli("compile", "specs/chances.yaml", "--shapes", "B=3")[0] == 0
    assert (folder / "chances.tpb").exists()
    code, out, _ = cli("inspect", "chances.tpb", "--json")
    manifest = json.loads(out)
    assert (code, manifest["model"], manifest["target"]) == (0, "chances", "cpu:onnxruntime")
    assert manifest["entries"][0]["inputs"] == [
        {"name": "scores", "dtype": "float32", "shape": ["B", 10]}
    ]
    assert "float32[B, 10]" in cli("inspect", "chances.tpb")[1]

    scores = np.log(np.arange(1, 31, dtype=np.float32).reshape(3, 10))
    np.save("scores.npy", scores)
    wanted = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    code, out, _ = cli("run", "chances.tpb", "--input", "scores=scores.npy")
    assert (code, out[:28]) == (0, "probabilities  float32[3, 10")
    for output in ("out.npz", "out", "out.safetensors"):
        assert cli("run", "chances.tpb", "--input", "scores=scores.npy", "--output", output)[0] == 0
    with np.load("out.npz") as found:
        np.testing.assert_allclose(found["probabilities"], wanted, rtol=1e-5)
    np.testing.assert_array_equal(
        np.load("out/probabilities.npy"), load_file("out.safetensors")["probabilities"]
    )


def test_emit_prints_the_texts_on_the_way(cli, folder):
    """`--emit` gives the trace, StableHLO and TensorRT's layers on stdout or in a file."""
    cli("new", "model", "chances")
    for kind, part in (("trace", "exp("), ("stablehlo", "stablehlo.exp"), ("tensorrt", "kEXP")):
        code, out, _ = cli("compile", "specs/chances.yaml", "--emit", kind)
        assert (code, part in out) == (0, True), out
    cli("compile", "specs/chances.yaml", "--emit", "tensorrt", "-o", "layers.txt")
    assert (folder / "layers.txt").read_text().strip() == out.strip()
    assert not (folder / "chances.tpb").exists()


def test_outputs_that_numpy_lacks_are_named(cli, folder):
    """A bfloat16 is raw bytes in `.npy`, and whole in safetensors; the user is told."""
    (folder / "double.yaml").write_text(DOUBLE.replace("T[", "bfloat16["))
    np.save("x.npy", np.zeros((2, 3), "V2"))
    cli("compile", "double.yaml", "--target", "reference")
    code, out, _ = cli("run", "double.tpb", "--input", "x=x.npy")
    assert (code, out) == (0, "y  bfloat16[2, 3]  0, 0, 0, 0, 0, 0\n")
    text = cli("run", "double.tpb", "--input", "x=x.npy", "--output", "out")[2]
    assert "`y` (bfloat16)" in text
    assert "hint: a .safetensors file" in text
    for output in ("y.bin", "y.npy", "double.yaml"):
        code, _, err = cli("run", "double.tpb", "--input", "x=x.npy", "--output", output)
        assert (code, "name a file that ends in .npz or .safetensors" in err) == (1, True), err
        assert (folder / output).is_file() == (output == "double.yaml")


def test_values_that_json_lacks_are_texts(cli, folder):
    """Infinities and NaN do not make a document that others cannot read."""
    (folder / "double.yaml").write_text(DOUBLE.replace("T[", "float32["))
    np.save("x.npy", np.array([[1, np.inf, -np.inf], [np.nan, 0.1, 3e38]], np.float32))
    cli("compile", "double.yaml", "--target", "reference")
    _, out, _ = cli("run", "double.tpb", "--input", "x=x.npy", "--json")
    document = json.loads(out, parse_constant=pytest.fail)
    assert document["outputs"]["y"]["first"] == [2.0, "inf", "-inf", "nan", 0.2, "inf"]


def test_the_registry_of_an_installed_package_is_not_written_to(cli, monkeypatch):
    """Outside of a checkout, `new op` wants a folder of the user's own."""
    monkeypatch.setattr(paths, "in_installed_package", lambda: True)
    code, _, problems = cli("new", "op", "double")

    assert code == 1
    assert problems.startswith("error[registry-read-only]: ")


def test_a_failed_compile_leaves_the_executable_alone(cli, folder):
    """What was compiled before is still there, byte for byte."""
    (folder / "double.yaml").write_text(DOUBLE.replace("T[", "float32["))
    cli("compile", "double.yaml", "--target", "reference")
    before = (folder / "double.tpb").read_bytes()
    (folder / "double.yaml").write_text(DOUBLE.replace("T[", "float32[").replace("x + x", "x + z"))

    assert cli("compile", "double.yaml", "--target", "reference")[0] == 1
    assert (folder / "double.tpb").read_bytes() == before


def test_more_sizes_need_the_version_that_compiled(folder):
    """Another version may lower differently, so it refuses with `executable-version`."""
    (folder / "double.yaml").write_text(DOUBLE.replace("T[2", "float32[B"))
    made = tripybuild.compile(folder / "double.yaml", target="cpu:xla")
    made.manifest = {**made.manifest, "versions": {"tripybuild": "0.0.0"}}
    with pytest.raises(DiagnosticError) as caught:
        made(x=np.zeros((7, 3), np.float32))

    assert [each.code for each in caught.value.diagnostics] == ["executable-version"]


def test_summaries_count_what_they_do_not_show():
    """`gen` names a few files and counts the rest."""
    changed = [FileDifference(f"p/{at}.py", "missing") for at in range(7)]
    lines = gen._summary(Path("out"), changed, 9, 0.25).splitlines()

    assert lines[0] == "Generated 7 files of 9 in 0.25s"
    assert lines[1] == " + out/p/0.py"
    assert lines[-1] == " ... and 2 more"
