"""The journey of a user's registry: its operators are those of the product everywhere."""

import json
import shutil
import subprocess
import sys
import textwrap
from importlib import import_module

import numpy as np
import pytest
from own_registry import CUT, ROOT, ROWS

import tripyapi as tp
import tripybuild
from tripybuild.cli.main import main
from tripybuild.errors.diagnostics import DiagnosticError


@pytest.fixture(scope="module")
def my_ops(own):
    """The generated package."""
    assert "my_ops" in own.said
    return import_module("my_ops")


@pytest.fixture(scope="module")
def saved(own):
    """An executable for `cpu` of the specification that names the registry."""
    path = own.folder / "edges.tpb"
    tripybuild.compile(own.spec, output=path)
    return path


@pytest.fixture
def cli(own, monkeypatch, capfd):
    """Runs a command in the registry's folder, and gives its exit code and what it printed."""
    monkeypatch.chdir(own.folder)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["tripybuild", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code or 0, "".join(capfd.readouterr())

    return run


def process(code, folder, *paths):
    """What another process prints, in which only the product, and these paths, can be imported."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, paths)],
        cwd=folder, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- Python ---


def test_eager(my_ops):
    """Operators and modules compute, and refuse what breaks their laws."""
    x = tp.Tensor([[1.0, 0.25, -2.0, 0.5]])
    gate = my_ops.Gate(4)
    gate.load_state_dict({"weight": tp.Tensor([2.0, 1.0, 1.0, 1.0])})

    assert my_ops.hard_shrink(x).tolist() == [[1.0, 0.0, -2.0, 0.0]]
    assert my_ops.patches(x, 2).tolist() == [[[1.0, 0.25], [-2.0, 0.5]]]
    assert my_ops.shrunk_patches(x, 2).tolist() == [[[0.0, 0.0], [-2.0, 0.0]]]
    assert gate(x).tolist() == [[2.0, 0.0, -2.0, 0.0]]
    with pytest.raises(DiagnosticError, match="shrunk_patches/whole-patches"):
        my_ops.shrunk_patches(x, 3)


def test_sizes_that_were_not_compiled_ahead(my_ops):
    """`tp.compile` compiles them from the operators; a law that sizes decide is asked of each."""
    info = tp.InputInfo([(1, 2, 8), (2, 4, 16)], tp.float32)
    compiled = tp.compile(lambda rows: my_ops.shrunk_patches(rows, 2), args=[info])

    found = compiled(tp.Tensor(ROWS.tolist()))

    wanted = np.where(np.abs(ROWS) <= 1, 0, ROWS).reshape(3, 3, 2)
    assert found.tolist() == wanted.tolist()
    with pytest.raises(DiagnosticError, match="whole-patches"):
        compiled(tp.Tensor([[1.0, 2.0, 3.0]]))


# --- specifications ---


@pytest.mark.parametrize("target", ["cpu", "cpu:onnxruntime", "reference"])
def test_a_specification_calls_them(own, target):
    """At the sizes that were compiled ahead, and at others; `cpu` needs no registry for those."""
    made = tripybuild.compile(own.spec, target=target)

    if target == "cpu":
        assert made.target.name == "cpu:xla"
        assert "is an operator of `my_registry`" in made.manifest["engine"]["because"]

    assert made(rows=ROWS[:2, :4])["cut"].tolist() == CUT[:2, :2].tolist()
    assert made(rows=ROWS)["cut"].tolist() == CUT.tolist()


def test_an_engine_of_them(own):
    """TensorRT builds it for all sizes; nothing has to be compiled for more."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")

    made = tripybuild.compile(own.spec, target="tensorrt-rtx:sm89")

    assert made.outputs["cut"]["shape"] == ["B", "N // 2", 2]


def test_the_command_line(own, cli, tmp_path):
    """`--registry` adds what a specification does not name; `--emit` knows it, too."""
    text = own.spec.read_text().replace("registry: my_registry\n", "")
    (own.folder / "plain.yaml").write_text(text)
    np.save(tmp_path / "rows.npy", ROWS)
    given = ("--registry", "my_registry")

    code, said = cli("compile", "plain.yaml")
    assert (code, "error[unbound-name]: `Gate` is not defined" in said) == (1, True)
    code, said = cli("compile", "plain.yaml", *given, "-o", tmp_path / "plain.tpb")
    assert code == 0, said
    code, said = cli("compile", "plain.yaml", *given, "--emit", "trace")
    assert (code, "shrunk_patches(%0" in said) == (0, True)
    code, said = cli(
        "run", tmp_path / "plain.tpb", "--input", f"rows={tmp_path}/rows.npy", *given, "--json"
    )
    assert code == 0, said
    assert json.loads(said)["outputs"]["cut"]["shape"] == list(CUT.shape)
    code, said = cli("compile", "some.py:function", *given)
    assert (code, "takes no `--registry`" in said) == (2, True)
    code, said = cli("explain", "patches", *given, "--package", "my_ops")
    assert (code, "\n  my_ops/ops/nn/patches.py\n" in said) == (0, True)


def test_the_same_bytes_wherever_it_was_compiled(own, saved, tmp_path):
    """Neither a path of this machine nor the name that a process gives the package is in it."""
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(own.folder, elsewhere, ignore=shutil.ignore_patterns("generated"))

    tripybuild.compile(elsewhere / "edges.yaml", output=elsewhere / "again.tpb")

    assert (elsewhere / "again.tpb").read_bytes() == saved.read_bytes()


def test_a_registry_that_changes_in_one_process(own, tmp_path):
    """What was compiled before keeps its operators, also at new sizes."""
    folder = tmp_path / "changing"
    shutil.copytree(own.folder, folder, ignore=shutil.ignore_patterns("generated"))
    before = tripybuild.compile(folder / "edges.yaml", target="reference")
    file = folder / "my_registry/nn/shrunk_patches.yaml"
    file.write_text(file.read_text().replace("size), 1.0)", "size), 3.0)"))

    after = tripybuild.compile(folder / "edges.yaml", target="reference")

    assert before(rows=ROWS[:1])["cut"].tolist() == CUT[:1].tolist()
    assert after(rows=ROWS[:1])["cut"].tolist() == [[[0, 0], [0, 8], [0, -12]]]


# --- other processes ---


def test_loaded_where_the_package_is_not_known(own, saved, tmp_path):
    """Sizes compiled ahead run; others say what is missing, until the same operators are there."""
    changed = tmp_path / "my_registry"
    shutil.copytree(own.registry, changed)
    file = changed / "nn/patches.yaml"
    file.write_text(file.read_text().replace("Cut rows", "Cut long rows"))
    code = """
    import sys
    import numpy as np
    import tripybuild
    saved, changed, registry = sys.argv[1:]
    ahead, new = np.ones((2, 4), np.float32), np.ones((1, 2), np.float32)
    made = tripybuild.load(saved)
    print(made(rows=ahead)["cut"].shape)
    for each in (None, changed):
        try:
            tripybuild.load(saved, registry=each)(rows=new)
        except tripybuild.errors.diagnostics.DiagnosticError as error:
            print(error.diagnostics[0].code, "`my_registry`" in str(error))
    print(tripybuild.load(saved, registry=registry)(rows=new)["cut"].tolist())
    """

    said = process(code, tmp_path, saved, changed, own.registry)

    assert said.splitlines() == [
        "(2, 2, 2)", "missing-package True", "package-changed True", "[[[0.0, 0.0]]]",
    ]  # fmt: skip


def test_loaded_where_the_package_is_imported(own, saved, tmp_path):
    """A registry and the package that `gen` made of it are the same operators."""
    code = """
    import sys
    import numpy as np
    sys.path.append(sys.argv[2])
    import my_ops, tripybuild
    rows = np.full((1, 2), 2, np.float32)
    print(tripybuild.load(sys.argv[1])(rows=rows)["cut"].tolist())
    """

    assert process(code, tmp_path, saved, own.generated) == "[[[2.0, 4.0]]]\n"


# --- what `gen` leaves ---


def test_the_code_is_clean(own):
    """By this repository's linter and formatter, in a separate project."""
    pytest.importorskip("ruff")
    shutil.copy(ROOT / "pyproject.toml", own.folder)
    for words in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "-q", "generated"],
            cwd=own.folder, check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout


def test_the_code_is_typed(own):
    """Strictly, without exceptions for generated code."""
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", own.generated / "my_ops"],
        cwd=ROOT, check=False, capture_output=True, text=True,
        env={"MYPYPATH": str(own.generated)},
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (0, "")
