"""Tests of work in two processes: what both give is what one gives, or nothing."""

import subprocess
import sys
import textwrap

import pytest

PREPARED = """
import os
from pathlib import Path
from tripybuild.codegen.incremental import fork as module, incremental as renewed
from tripybuild.codegen.incremental import parallel as shares
from tripybuild.codegen.incremental.package_files import _digests
from tripybuild.codegen.incremental.registries import builtin_root
from tripybuild.codegen.package.package_paths import BUILT_IN

module._is_possible = lambda: True

def fail():
    raise ValueError("on purpose")

"""
MINE = """\
tripybuild: 1
op: mine
like: unary(kind="kABS", build=hlo.abs, compute=np.abs)
doc: Drop signs.
types:
  T: [float32]
sample:
  S: [2, 3]
"""
UNCLEAR = {
    "a mistake": ("mine", MINE.replace("doc", "docs")),
    "not as it looks": ("mine", MINE.replace("op:", '"op":')),
    "a name in both halves": ("softmax", MINE.replace("op: mine", "op: softmax")),
}


def run(code):
    """Run code in a process without threads, and return what it printed."""
    whole = PREPARED + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", whole], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_both_processes_answer():
    """The second process is another one, and a long answer comes whole."""
    code = """
    content, own = module.run_in_fork(lambda: str(os.getpid()).encode() + bytes(1 << 20), os.getpid)
    print(len(content) > 1 << 20, int(content.rstrip(bytes(1))) != own, own == os.getpid())
    """
    assert run(code).split() == ["True"] * 3


def test_a_failure_beside_is_no_answer():
    """A process that fails or dies gives nothing; an error of one's own is raised as it is."""
    code = """
    print(module.run_in_fork(fail, int), module.run_in_fork(lambda: os.kill(os.getpid(), 9), int))
    try:
        module.run_in_fork(lambda: bytes(1 << 20), fail)
    except ValueError as error:
        print(error)
    module._is_possible = lambda: False
    print(module.run_in_fork(bytes, fail))
    """
    assert run(code).split("\n") == ["None None", "on purpose", "None", ""]


def test_two_halves_are_the_whole():
    """What two processes make of the built-in registry is what one makes."""
    code = """
    digests = _digests([builtin_root()])
    found = shares.make_in_parallel(digests, [], BUILT_IN)
    print(len(found.fragments) > 200, found == renewed.make_serially(digests, [], BUILT_IN))
    """
    assert run(code).split() == ["True", "True"]


@pytest.mark.parametrize(("name", "text"), UNCLEAR.values(), ids=UNCLEAR)
def test_what_is_unclear_is_for_one_process(tmp_path, name, text):
    """Two halves give nothing then."""
    (tmp_path / f"{name}.yaml").write_text(text)
    code = f"""
    added = [Path({str(tmp_path)!r})]
    print(shares.make_in_parallel(_digests([builtin_root(), *added]), added, "mine"))
    """
    assert run(code) == "None\n"


def test_a_second_registry_is_shared_too(tmp_path):
    """The operators of an added registry are the package's own."""
    (tmp_path / "mine.yaml").write_text(MINE)
    code = f"""
    added = [Path({str(tmp_path)!r})]
    digests = _digests([builtin_root(), *added])
    found = shares.make_in_parallel(digests, added, "mine")
    print(found == renewed.make_serially(digests, added, "mine"))
    print([each.name for each in found.fragments if each.files])
    """
    assert run(code).split("\n") == ["True", "['mine']", ""]
