"""What needs more memory than there is: a diagnostic with sizes, before and during a call."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tripyapi as tp
import tripybuild
from tripybuild.cli.command import conclude
from tripybuild.cli.console import DiagnosticFormat
from tripybuild.compiler.executable import ExecutableEntry
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process import memory
from tripybuild.process.memory import MemoryLimit
from tripybuild.worker import failures

HEAD = "tripybuild: 1\nmodel: m\ninputs:\n  x: float32[4]\noutputs:\n  y: "
SUM = "x + max(cumsum(ones([10**11]) * x[0], 0))\n"  # 400 GB in between
GROWING = """\
tripybuild: 1
model: growing
inputs:
  x: float32[N]
ranges:
  N: {min: 1, opt: 2, max: 4000000}
outputs:
  y: max(max(cumsum(x * ones([N, 1]), 0), 0), 0)
"""


def only(error):
    """The one diagnostic of an error."""
    (found,) = error.value.diagnostics
    return found


@pytest.fixture
def small(monkeypatch):
    """A machine with half a gigabyte."""
    monkeypatch.setattr(memory, "limit", lambda: MemoryLimit(1 << 29, "this machine has 536.9 MB"))


def spec(folder, text):
    """A file of a model."""
    path = folder / "m.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_an_output_that_no_memory_holds_is_refused_before_compiling(target, tmp_path):
    """With its name, type, size and place."""
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(spec(tmp_path, HEAD + "ones([10**13]) * x[0]\n"), target=target)

    found = only(raised)
    assert found.code == "out-of-memory"
    assert "tensor<10000000000000xf32>, which takes 40.0 TB" in found.message
    assert found.span is not None
    assert any("memory" in note for note in found.notes)


def test_what_is_large_in_between_is_a_warning(tmp_path):
    """A compiler may not hold it as a whole; if it does, the program is refused at its call."""
    made = tripybuild.compile(spec(tmp_path, HEAD + SUM), target="cpu:xla")
    assert [each.code for each in made.warnings] == ["out-of-memory"]
    assert "400.0 GB" in made.warnings[0].message

    with pytest.raises(DiagnosticError) as raised:
        made(x=np.ones(4, np.float32))

    found = only(raised)
    assert found.code == "out-of-memory"
    assert "800.0 GB" in found.message
    assert "it takes float32[4] and returns float32[4]" in found.notes


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_what_holds_each_result(target, tmp_path):
    """So what is too large for it is refused at once, and nothing else is asked."""
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(spec(tmp_path, HEAD + SUM), target=target)
    assert only(raised).code == "out-of-memory"


@pytest.mark.parametrize("target", ["cpu", "cpu:xla", "reference"])
@pytest.mark.usefixtures("small")
def test_sizes_that_a_call_decides(target, tmp_path):
    """Nothing is said before; a call of another size is another program."""
    made = tripybuild.compile(spec(tmp_path, GROWING), target=target)
    assert made.warnings == []
    assert made(x=np.ones(3, np.float32))["y"] == 3.0

    with pytest.raises(DiagnosticError) as raised:
        made(x=np.ones(50_000, np.float32))

    assert only(raised).code == "out-of-memory"


@pytest.mark.parametrize(
    "make",
    [
        lambda: tp.arange(10**12).eval(),
        lambda: np.asarray(tp.ones((10**6, 10**6))),
        lambda: tp.Tensor(range(10**12)),
        lambda: repr(tp.ones((10**12,)) + 1.0),
    ],
)
def test_tensors_that_are_looked_at(make):
    """Refused before anything is allocated."""
    with pytest.raises(DiagnosticError) as raised:
        make()
    assert only(raised).code == "out-of-memory"


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 400000000000 bytes."),
        RuntimeError("INTERNAL: YNNPACK: out of memory"),
        MemoryError("Unable to allocate 745. GiB"),
    ],
)
def test_native_code_that_runs_out_of_memory(error, tmp_path, monkeypatch):
    """The words of XLA and of NumPy are notes."""
    made = tripybuild.compile(spec(tmp_path, HEAD + "x + 1.0\n"), target="cpu:xla")
    x = np.ones(4, np.float32)
    made(x=x)
    (run,) = made.entry()._prepared.values()
    loaded = run.program

    def fail(_):
        raise error

    monkeypatch.setattr(loaded, "_execute", fail)
    with pytest.raises(DiagnosticError) as raised:
        made(x=x)

    found = only(raised)
    assert found.code == "out-of-memory"
    assert str(error) in found.notes


def test_other_errors_of_native_code_are_not_taken_for_it(tmp_path, monkeypatch):
    """A fault keeps its own words."""
    made = tripybuild.compile(spec(tmp_path, HEAD + "x + 1.0\n"))
    made(x=np.ones(4, np.float32))

    def fail(*_):
        raise RuntimeError("INTERNAL: something else")

    monkeypatch.setattr(ExecutableEntry, "_prepare", fail)
    made.entry()._prepared.clear()
    with pytest.raises(RuntimeError, match="something else"):
        made(x=np.ones(4, np.float32))


def test_a_command_that_runs_out_of_memory_is_no_fault_of_ours(capsys):
    """Also where a library cannot be loaded."""

    def work():
        raise ImportError("libx.so: failed to map segment from shared object")

    assert conclude(work, json=False, form=DiagnosticFormat.FULL) == 1
    assert "error[out-of-memory]" in capsys.readouterr().err


def test_a_compiler_that_aborts_for_memory():
    """XLA ends its process where a thread cannot be started."""
    notes = ("terminate called after throwing an instance of 'std::bad_alloc'",)
    assert failures.crash_diagnostic("cpu", -6, notes).code == "compiler-out-of-memory"


@pytest.mark.skipif(sys.platform != "linux", reason="this system has no limit of addresses")
@pytest.mark.parametrize("limit", [300, 600])
def test_little_address_space(limit, tmp_path):
    """Neither a failed import nor a signal."""
    made = tripybuild.compile(spec(tmp_path, HEAD + "x + 1.0\n"), target="cpu:xla")
    made.save(tmp_path / "m.tpb")
    np.save(tmp_path / "x.npy", np.ones(4, np.float32))
    program = (
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit << 20},) * 2)\n"
        "import sys; sys.argv = ['tripybuild', 'run', 'm.tpb', '--input', 'x=x.npy']\n"
        "from tripybuild.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        timeout=60,
    )
    assert done.returncode == 1, done.stderr
    assert "error[out-of-memory]" in done.stderr
    assert "ulimit -v" in done.stderr


def test_limits_of_control_groups(tmp_path, monkeypatch):
    """The group's own, and those of the groups that it is in."""
    process, groups = tmp_path / "proc", tmp_path / "cgroup"
    (process / "self").mkdir(parents=True)
    (process / "meminfo").write_text("MemTotal: 1000 kB\nSwapTotal: 24 kB\n", encoding="utf-8")
    (process / "self/cgroup").write_text("0::/outer/inner\n", encoding="utf-8")
    (groups / "outer/inner").mkdir(parents=True)
    (groups / "outer/inner/memory.max").write_text("max\n", encoding="utf-8")
    (groups / "outer/memory.max").write_text("4096\n", encoding="utf-8")
    monkeypatch.setattr(memory, "PROCESS", process)
    monkeypatch.setattr(memory, "GROUPS", groups)

    assert memory.limit().size == 4096

    (groups / "outer/memory.max").unlink()
    assert memory.limit().size == 1024 << 10
    assert memory.format_bytes(1024 << 10) == "1.0 MB"
