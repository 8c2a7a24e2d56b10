"""Tests of the compiler process: whatever becomes of the child, the session gets a diagnostic."""

import io
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets.xla import pjrt
from tripybuild.worker import compiler_process, protocol

DOUBLE = (
    "module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {"
    " %0 = stablehlo.add %a, %a : tensor<4xf32>\n return %0 : tensor<4xf32> } }"
)
# 2**64 elements: the native compiler checks that this cannot be, and aborts.
ABORTS = (
    "module { func.func public @main(%a: tensor<f32>) -> tensor<4611686018427387904x4xf32> {"
    " %0 = stablehlo.broadcast_in_dim %a, dims = [] :"
    " (tensor<f32>) -> tensor<4611686018427387904x4xf32>\n"
    " return %0 : tensor<4611686018427387904x4xf32> } }"
)


def refusal(process, module=DOUBLE, target="cpu"):
    """Return the one diagnostic that a compile ends in."""
    with pytest.raises(DiagnosticError) as caught:
        process.compile(target, module)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic


def stub(code, **options):
    """Return a process whose child runs this code instead of a compiler."""
    return compiler_process.CompilerProcess(command=[sys.executable, "-c", code], **options)


def test_a_payload_of_the_child_runs_here():
    """What the child compiles, this process loads; text and bytes alike."""
    with compiler_process.CompilerProcess() as process:
        for module in (DOUBLE, DOUBLE.encode()):
            (got,) = pjrt.load(process.compile("cpu", module))(np.ones(4, np.float32))
            assert got.tolist() == [2.0] * 4


def test_the_child_survives_what_the_compiler_refuses():
    """A refused module keeps the compiler's words and the child."""
    with compiler_process.CompilerProcess() as process:
        diagnostic = refusal(process, "module { nonsense }")
        assert diagnostic.code == "compiler-failed"
        assert "nonsense" in diagnostic.notes[0]
        first = process._child.pid
        assert refusal(process, target="abacus").code == "compiler-failed"
        assert process.compile("cpu", DOUBLE)
        assert process._child.pid == first


def test_an_abort_is_reported_and_the_next_compile_works():
    """A real abort of the native compiler ends one request only."""
    with compiler_process.CompilerProcess() as process:
        diagnostic = refusal(process, ABORTS)
        assert diagnostic.code == "compiler-crashed"
        assert "SIGABRT" in diagnostic.message
        assert any("Overflow" in note or "overflow" in note for note in diagnostic.notes)
        assert process.compile("cpu", DOUBLE)


def test_a_header_names_each_of_very_many_weights():
    """A large model has tens of thousands."""
    stream = io.BytesIO()
    header = {"weights": {f"blocks.{i}.attention.query.weight": [i, i] for i in range(50_000)}}
    protocol.send(stream, header, b"body")
    stream.seek(0)
    assert protocol.receive(stream) == (header, b"body")


SPEAKS = "import sys; from tripybuild.worker import protocol as frames; out = sys.stdout.buffer;"
TOO_LONG = SPEAKS + "out.write(frames.START.pack(frames.MAGIC, 1 << 31, 0)); out.flush(); input()"
ANOTHER = SPEAKS + "frames.send(out, {'outcome': 'done', 'id': 99}); input()"
BROKEN = SPEAKS + "out.write(frames.START.pack(frames.MAGIC, 2, 9) + b'[]'); out.flush()"
STARVED = SPEAKS + "frames.send(out, {'outcome': 'out-of-memory', 'id': 1}); input()"


@pytest.mark.parametrize(
    ("code", "expected", "says"),
    [
        ("import os; os.kill(os.getpid(), 9)", "compiler-out-of-memory", "memory"),
        ("import os; os.kill(os.getpid(), 11)", "compiler-crashed", "SIGSEGV"),
        ("import sys; print('why', file=sys.stderr); sys.exit(3)", "compiler-crashed", "status 3"),
        ("pass", "compiler-crashed", "malformed"),
        ("print('x' * 100); input()", "compiler-crashed", "malformed"),
        (TOO_LONG, "compiler-crashed", "malformed"),
        (ANOTHER, "compiler-crashed", "malformed"),
        (BROKEN, "compiler-crashed", "malformed"),
        (STARVED, "compiler-out-of-memory", "memory"),
    ],
)
def test_every_end_of_the_child_has_its_diagnostic(code, expected, says, monkeypatch):
    """A killed, crashed, silent or babbling child is told apart."""
    monkeypatch.setattr(compiler_process, "GRACE", 0.1)
    with stub(code) as process:
        diagnostic = refusal(process)
    assert diagnostic.code == expected
    assert says in diagnostic.message
    if "why" in code:
        assert diagnostic.notes == ("why",)


def test_a_child_that_hangs_is_ended():
    """The time limit holds, also where the child never reads its request."""
    with stub("import time; time.sleep(60)", timeout=0.3) as process:
        pid = process._child.pid
        started = time.monotonic()
        assert refusal(process, "x" * 1_000_000).code == "compiler-timeout"
        assert time.monotonic() - started < 5
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_child_that_cannot_be_started_is_reported():
    """A missing interpreter is a diagnostic."""
    process = compiler_process.CompilerProcess(command=["/no/such/program"])
    assert refusal(process).code == "compiler-crashed"


def test_a_module_as_large_as_a_pipe_passes():
    """A module larger than any buffer goes through whole."""
    echo = (
        SPEAKS + "h, b = frames.receive(sys.stdin.buffer);"
        "frames.send(out, {'outcome': 'done', 'id': h['id']}, b[::-1])"
    )
    with stub(echo) as process:
        assert process.compile("cpu", b"ab" * 3_000_000) == b"ba" * 3_000_000


def test_the_child_ends_with_its_parent():
    """A parent that is killed leaves no process behind."""
    code = (
        "import sys; from tripybuild.worker import compiler_process as child\n"
        "process = child.CompilerProcess(); process.start()\n"
        "print(process._child.pid, flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdin.close()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and running(pid):
        time.sleep(0.02)
    assert not running(pid)


def running(pid):
    """Tell whether a process exists and is not a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False
    return state.rsplit(")", 1)[1].split()[0] != "Z"


def test_an_interrupt_ends_the_child(monkeypatch):
    """Ctrl-C while the child compiles reaches this process alone, which ends the child."""

    def interrupted(_):
        # Raised here, and not by a signal: a test runner's worker has a main thread of its own.
        raise KeyboardInterrupt

    with stub("import time; time.sleep(60)") as process:
        pid = process._child.pid
        monkeypatch.setattr(protocol, "receive", interrupted)
        with pytest.raises(KeyboardInterrupt):
            process.compile("cpu", DOUBLE)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
