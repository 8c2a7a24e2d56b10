"""Ctrl-C ends a command with status 130, silently, whatever it is doing."""

import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="this system has no signals")

# The process sends the signals to itself, so that they arrive at the moment that is meant.
PROGRAM = """
    import os
    import signal
    import sys
    import threading

    def press(times=5):
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)

    class Finder:
        def find_spec(self, name, path, target=None):
            if name == moment:
                press()

    moment, *words = sys.argv[1:]
    sys.meta_path.insert(0, Finder())
    sys.argv = ["tripybuild", *words]
    if moment == "compiler":
        from tripybuild.worker.compiler_process import CompilerProcess
        before = CompilerProcess._exchange
        CompilerProcess._exchange = lambda *given: [press(), before(*given)][1]
    if moment == "call":
        from tripybuild.targets.xla.loaded_program import LoadedProgram
        call = LoadedProgram.__call__
        def slow(*given):
            threading.Timer(0.2, press).start()
            return call(*given)
        LoadedProgram.__call__ = slow
    if moment == "exit":
        import atexit
        atexit.register(press)
    from tripybuild.cli.entry import main
    main()
"""
LOOP = """\
tripybuild: 1
model: loop
inputs:
  x: float32[4]
steps:
  last: while_loop(is_low, opposite, [x])
outputs:
  last: last
define:
  is_low:
    inputs:
      x: float32[4]
    outputs:
      y: max(x, 0) < 5.0
  opposite:
    inputs:
      x: float32[4]
    outputs:
      y: x * -1.0
"""


@pytest.fixture
def press(tmp_path):
    """Run a command that interrupts itself at a moment."""
    (tmp_path / "loop.yaml").write_text(LOOP, encoding="utf-8")
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    environment = {**os.environ, "TRIPYBUILD_CACHE_DIR": str(tmp_path / "cache")}

    def run(moment, *words):
        return subprocess.run(
            [sys.executable, program, moment, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=environment,
            timeout=60,
        )

    return run


@pytest.mark.parametrize(
    "moment",
    ["typer", "tripybuild.cli.command", "tripybuild.compiler.session", "numpy", "compiler"],
)
def test_five_in_a_row_end_a_compile(moment, press, tmp_path):
    """While modules are loaded, and while the compiler is at work."""
    done = press(moment, "compile", "loop.yaml", "-o", "loop.tpb")

    said = r"Interrupted after [\d.]+s of: compile static\n" if moment == "compiler" else ""
    assert (done.returncode, done.stdout) == (130, "")
    assert re.fullmatch(said, done.stderr)
    assert not [each.name for each in tmp_path.iterdir() if "tpb" in each.name]


def test_when_the_work_is_done(press):
    """What a process does at its end is not interrupted with a traceback."""
    done = press("exit", "--version")

    assert done.returncode in {0, 130}
    assert done.stderr == ""


def test_a_loop_that_never_ends(press, tmp_path):
    """Native code does not look at signals."""
    made = press("never", "compile", "loop.yaml", "-o", "loop.tpb")
    assert made.returncode == 0, made.stderr
    np.save(tmp_path / "x.npy", np.ones(4, np.float32))

    done = press("call", "run", "loop.tpb", "--input", "x=x.npy")

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
