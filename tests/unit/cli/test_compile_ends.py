"""Whatever becomes of a compiler, `compile` says it, and loses nothing of what was there."""

import contextlib
import functools
import os
import time

import pytest
from filelock import FileLock
from typer.testing import CliRunner

from tripybuild.cli.main import app
from tripybuild.worker import compiler_process

MODEL = """\
tripybuild: 1
model: twice
inputs:
  x: float32[4]
outputs:
  y: x + x
"""
# What each target loads in the compiler's process, and nothing else does.
LOADS = {"cpu:xla": "jaxlib", "tensorrt-rtx": "tensorrt_rtx"}
KILLED = "import os\nos.kill(os.getpid(), {signal})"
ENDS = {
    "a crash": (KILLED.format(signal=11), "compiler-crashed", "crashed with SIGSEGV"),
    "an abort": ("import os\nos.abort()", "compiler-crashed", "crashed with SIGABRT"),
    "a kill for memory": (KILLED.format(signal=9), "compiler-out-of-memory", "ran out of memory"),
    "no memory": ("raise MemoryError", "compiler-out-of-memory", "ran out of memory"),
    "an exit": ("import os\nos._exit(7)", "compiler-crashed", "ended with status 7"),
    "a hang": ("import time\ntime.sleep(60)", "compiler-timeout", "not finish within 1.5 seconds"),
}
# One for each way in which this process notices: the child is gone, lives on, or was ended.
LAST = frozenset({"a crash", "no memory", "a hang"})
CASES = [(target, end) for target in LOADS for end in ENDS]


@pytest.fixture(autouse=True)
def sessions(tmp_path, monkeypatch):
    """A folder, a cache and compiler processes of a test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_COLOR", "1")
    made = []

    @functools.cache
    def session(target="cpu"):
        made.append(compiler_process.CompilerProcess(command=(*compiler_process.COMMAND, target)))
        return made[-1]

    monkeypatch.setattr(compiler_process, "session", session)
    (tmp_path / "twice.yaml").write_text(MODEL)
    yield made
    for each in made:
        each.close()


def compiled(target, *options):
    """What the command prints and ends with."""
    return CliRunner().invoke(app, ["compile", "twice.yaml", "--target", target, *options])


def skip_without(target):
    """Leave a target out whose library is not installed."""
    pytest.importorskip(LOADS[target], reason=f"{target} is not installed")


@pytest.mark.parametrize(("target", "end"), CASES)
def test_every_end_is_said_and_loses_nothing(tmp_path, monkeypatch, sessions, target, end):
    """The file that was there stays, the cache has no half of an entry, the next compile works."""
    skip_without(target)
    text, code, says = ENDS[end]
    assert compiled("reference").exit_code == 0
    old = (tmp_path / "twice.tpb").read_bytes()
    shadows = tmp_path / "shadows"
    shadows.mkdir()
    (shadows / f"{LOADS[target]}.py").write_text(text)

    with monkeypatch.context() as hidden:
        hidden.setenv("PYTHONPATH", f"{shadows}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        done = compiled(target, "--timeout", "1.5" if end == "a hang" else "60")

    assert done.exit_code == 1
    assert f"error[{code}]: The `{target.partition(':')[0]}` compiler" in done.output
    assert "hint: " in done.output
    assert says in done.output
    assert "Traceback" not in done.output
    assert (tmp_path / "twice.tpb").read_bytes() == old
    kept = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert [path for path in kept if path.suffix != ".lock"] == []
    if end not in LAST:
        return
    for each in sessions:
        each.close()  # one that had no memory lives on, and would find the same again
    again = compiled(target)
    assert again.exit_code == 0, again.output
    assert (tmp_path / "twice.tpb").read_bytes() != old


@pytest.mark.parametrize("target", LOADS)
def test_nobody_waits_longer_for_another_process_than_for_a_compiler(tmp_path, target):
    """One that makes the same, and hangs, does not keep this one from it."""
    skip_without(target)
    assert compiled(target).exit_code == 0
    entries = [path for path in (tmp_path / "cache").rglob("*") if path.suffix == ".lock"]
    for path in entries:
        path.with_suffix("").unlink(missing_ok=True)  # made before, and swept since
    with contextlib.ExitStack() as held:
        for path in entries:
            held.enter_context(FileLock(path))
        began = time.monotonic()
        done = compiled(target, "--timeout", "3")
    assert done.exit_code == 0, done.output
    assert 3 <= time.monotonic() - began < 30


@pytest.mark.parametrize("target", ["tensorrt-rtx", "tensorrt"])
def test_a_library_that_is_not_there_is_no_crash(tmp_path, monkeypatch, target):
    """What the import says is a note, and the hint how to get it."""
    module = target.replace("-", "_")
    (tmp_path / f"{module}.py").write_text("raise ImportError('it is hidden')")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    first, note, hint = compiled(target).output.splitlines()
    assert first.startswith(f"error[target-unavailable]: The target `{target}` needs a library")
    assert note == "note: it is hidden"
    assert hint.startswith(f"hint: install it with `pip install 'tripybuild[{target}]'`")


def test_what_is_wrong_with_the_cache_is_a_warning(tmp_path, monkeypatch):
    """The engine is the same, only slower the next time."""
    skip_without("tensorrt-rtx")
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "file"))
    done = compiled("tensorrt-rtx")
    assert done.exit_code == 0
    assert "warning[cache-unwritable]: The result could not be stored in the cache" in done.output


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon", "1e7"])
def test_a_limit_is_a_number_of_seconds(seconds):
    """What is none is usage."""
    done = compiled("cpu", "--timeout", seconds)
    assert done.exit_code == 2
    assert "is not a number of seconds" in done.output


def test_a_limit_that_is_kept_changes_nothing(tmp_path):
    """Nor does the reference, which compiles nothing, need one."""
    assert compiled("reference", "--timeout", "0.000001").exit_code == 0
    assert compiled("cpu").exit_code == 0
    first = (tmp_path / "twice.tpb").read_bytes()
    assert compiled("cpu", "--timeout", "100").exit_code == 0
    assert (tmp_path / "twice.tpb").read_bytes() == first
