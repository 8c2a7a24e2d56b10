"""How long a compiler may take, where what is said is no stretch of time."""

import os
import subprocess
import sys
import threading
import time

import pytest
import written

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets.cpu import compile_module
from tripybuild.targets.cpu.compile_clock import CompileClock
from tripybuild.targets.onnx_runtime import session as session_module
from tripybuild.targets.openvino import program as program_module
from tripybuild.worker import compiler_process
from tripybuild.worker.failures import MOST_SECONDS, TIMEOUT_VARIABLE

TEXT = """
inputs:
  x: float32[2]
outputs:
  y: x
"""
MANY = [{"B": size} for size in range(2, 20)]
WRONG = ["inf", "-inf", "nan", "0", "-1", "1e30", "1000001", "soon", "5 s", "0x10"]


@pytest.mark.parametrize("value", WRONG)
@pytest.mark.parametrize("target", ["cpu", "tensorrt-rtx"])
def test_the_variable_is_named(tmp_path, monkeypatch, value, target):
    """Before anything is compiled or found in a cache, and no thread dies of it."""
    monkeypatch.setenv(TIMEOUT_VARIABLE, value)
    with pytest.raises(DiagnosticError) as caught:
        tripybuild.compile(written.write(tmp_path, TEXT), target=target)
    (found,) = caught.value.diagnostics
    assert found.code == "wrong-value"
    assert found.message.startswith(f"`{TIMEOUT_VARIABLE}` is '{value}'")


@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan"), 1e30, 10**400, "soon"])
def test_the_argument_is_named(tmp_path, value):
    """Zero is no default."""
    with pytest.raises(DiagnosticError, match=r"`timeout` is .* not a valid number of seconds"):
        tripybuild.compile(written.write(tmp_path, TEXT), timeout=value)
    with (
        compiler_process.CompilerProcess() as process,
        pytest.raises(DiagnosticError, match="`timeout` is"),
    ):
        process.compile("cpu", "", timeout=value)


@pytest.mark.parametrize(("value", "seconds"), [("", 1800), ("0.5", 0.5), ("1e6", MOST_SECONDS)])
def test_what_is_a_number_holds(monkeypatch, value, seconds):
    """An empty variable says nothing."""
    monkeypatch.setenv(TIMEOUT_VARIABLE, value)
    assert compiler_process.default_timeout() == seconds


SLOW = """
import sys, time
from tripybuild.worker import protocol
out = sys.stdout.buffer
while True:
    header, _ = protocol.receive(sys.stdin.buffer)
    time.sleep(0.3)
    protocol.send(out, {"outcome": "done", "id": header["id"]}, b"program")
"""


@pytest.fixture
def slow_compiler(tmp_path, monkeypatch):
    """A compiler that takes 0.3 seconds for each program."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    command = [sys.executable, "-c", SLOW]
    with compiler_process.CompilerProcess(command=command) as process:
        process.compile("cpu", "")  # it has started
        monkeypatch.setattr(compiler_process, "session", lambda target="cpu": process)
        yield process


def test_the_time_is_for_all_sizes_of_a_model(tmp_path, slow_compiler):
    """A file of many sizes does not take as many times what is allowed."""
    text = "inputs: {x: 'F[B]'}\nranges: {B: {opt: 1, max: 20}}\noutputs: {y: x + x}\n"
    path = written.write(tmp_path, text)
    began = time.monotonic()

    with pytest.raises(DiagnosticError, match=r"not finish within 0\.9 seconds"):
        tripybuild.compile(path, target="cpu:xla", shapes=MANY, timeout=0.9)

    assert time.monotonic() - began < 3
    assert tripybuild.compile(path, target="cpu:xla", shapes=MANY[:1], timeout=60).entry()


def test_the_time_is_for_all_programs_of_a_graph(slow_compiler):
    """Repeated blocks are programs of their own; those of the cache take none of it."""
    programs = tuple((name, name) for name in (b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"))
    lowered = compile_module.LoweredModule(b"", programs, None, ())

    with pytest.raises(DiagnosticError, match=r"not finish within 0\.9 seconds"):
        compile_module.compile_lowered(lowered, CompileClock(0.9))

    few = compile_module.LoweredModule(b"", programs[:2], None, ())
    clock = CompileClock(0.1)
    assert compile_module.compile_lowered(few, clock) == (b"program", ())
    assert clock.spent == 0


FOLDED = """
inputs: {x: "float32[3]"}
steps: {a: "ones([5000, 5000])", b: "a @ a @ a @ a @ a @ a"}
outputs: {y: x + sum(b)}
"""
ENDLESS = """
inputs: {x: "float32[3]"}
outputs: {y: "while_loop(loud, opposite, [x])"}
define:
  loud:
    inputs: {x: "float32[3]"}
    outputs: {go: max(x) > -100.0}
  opposite:
    inputs: {x: "float32[3]"}
    outputs: {next: x * -1.0}
"""


def command_errors(folder, text, *words):
    """What a command says that fails while native threads compute; it ends in spite of them."""
    written.write(folder, text)
    done = subprocess.run(
        [sys.executable, "-m", "tripybuild", "compile", "tiny.yaml", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "TRIPYBUILD_CACHE_DIR": str(folder / "cache")},
        timeout=60,
    )
    assert done.returncode == 1, done.stderr
    assert [each.name for each in folder.iterdir() if "tpb" in each.name] == []
    return [line for line in done.stderr.splitlines() if line]


def test_a_library_that_computes_constants_for_minutes(tmp_path):
    """Native code does not look at the time."""
    words = ["--target", "cpu:onnxruntime", "--timeout", "0.3"]
    first, hint = command_errors(tmp_path, FOLDED, *words)
    says = "The `cpu:onnxruntime` compiler did not finish within 0.3 seconds"
    assert first == f"error[compiler-timeout]: {says}"
    assert hint.startswith("hint: allow more seconds")


def test_a_loop_that_never_ends_is_not_measured(tmp_path):
    """A call may take as long as a compiler."""
    found = command_errors(tmp_path, ENDLESS, "--target", "cpu:fastest", "--timeout", "1.5")
    errors = [line for line in found if line.startswith("error[")]
    took = "error[compiler-timeout]: a call by `cpu:onnxruntime` took longer than 1.5 seconds"
    assert took in errors
    assert {line.partition(":")[0] for line in errors} == {"error[compiler-timeout]"}


@pytest.mark.parametrize(
    ("target", "native"),
    [("cpu:onnxruntime", session_module), ("cpu:openvino", program_module)],
)
def test_a_library_in_this_process(tmp_path, monkeypatch, target, native):
    """The limit is that of the call, or of the environment; without one it compiles as ever."""
    path = written.write(tmp_path, TEXT)
    end = threading.Event()
    name = "_initialized" if native is session_module else "compile_model"
    with monkeypatch.context() as slow:
        slow.setattr(native, name, lambda *_: end.wait())
        for limit in (0.1, None):
            slow.setenv(TIMEOUT_VARIABLE, "0.2")
            with pytest.raises(DiagnosticError, match="did not finish within") as caught:
                tripybuild.compile(path, target=target, timeout=limit)
            (found,) = caught.value.diagnostics
            assert found.code == "compiler-timeout"
            assert f"`{target}` compiler did not finish within {limit or 0.2} s" in found.message
        end.set()
    assert tripybuild.compile(path, target=target, timeout=60).entry()
