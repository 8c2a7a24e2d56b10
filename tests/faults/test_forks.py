"""What a process loaded works in the processes that are forked from it.

A forked process has none of its parent's threads. A program that waits for one never returns, so
each test has a limit of time.
"""

import os
import subprocess
import sys
import textwrap

import pytest

# XLA computes products of this size in threads of its client.
FORKS = """
    import multiprocessing
    import os
    import signal
    import sys

    import numpy as np
    import tripybuild
    import tripyapi as tp

    SIZE = 1200
    signal.alarm(100)
    x = np.full((SIZE, SIZE), 1 / SIZE, np.float32)
    weight = tp.Tensor(x)
    info = tp.InputInfo((SIZE, SIZE), tp.float32)
    run = tp.compile(lambda x: tp.tanh(x @ weight) @ x, args=[info])
    run.save("run.tpb")
    loaded = tripybuild.load("run.tpb")

    def eager():
        a = tp.Tensor(x)
        return np.asarray(tp.tanh(a @ a) @ a)

    def answers():
        return [np.asarray(run(x)), next(iter(loaded(x=x).values())), eager()]

    def right(_):
        signal.alarm(20)
        found = answers()
        return all(np.array_equal(each, other) for each, other in zip(found, expected))

    expected = answers()
    for _ in range(3):
        child = os.fork()
        if child == 0:
            os._exit(0 if right(0) else 1)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code:
            sys.exit(f"a forked process ended with {code}")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        if pool.map(right, range(4)) != [True] * 4:
            sys.exit("a pool computed something else")
    if not right(0):
        sys.exit("the parent computes something else afterwards")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_what_the_parent_loaded_runs_in_forked_processes(tmp_path):
    """Compiled functions, files and eager programs, in children and in a pool."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(FORKS), encoding="utf-8")
    words = [sys.executable, program]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=110, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
