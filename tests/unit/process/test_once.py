"""What a process has one of, however many threads ask for it first."""

import subprocess
import sys
import textwrap
import threading
import time

import pytest

from tripybuild.process.per_process import per_process

THREADS = """
    import sys
    import threading
    import traceback

    import numpy as np
    import tripyapi as tp

    sys.setswitchinterval(1e-6)
    faults = []

    class Network(tp.Module):
        def __init__(self):
            self.linear, self.norm = tp.Linear(4, 4), tp.LayerNorm(4)

        def forward(self, x):
            return tp.softmax(self.norm(self.linear(x)), 1)

    def work():
        try:
            network = Network()
            network.initialize_dummy_parameters()
            info = tp.InputInfo(((1, 2, 8), 4), tp.float32)
            run = tp.compile(network, args=[info])
            x = tp.Tensor(np.ones((3, 4), np.float32)).eval()
            np.testing.assert_allclose(np.asarray(run(x)), np.asarray(network(x)), atol=1e-5)
            large = tp.Tensor(np.ones((400, 400), np.float32))
            assert (np.asarray(large + shared) == 2).all()
        except Exception:
            faults.append(traceback.format_exc())

    shared = tp.ones((400, 1))
    threads = [threading.Thread(target=work) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    sys.exit("\\n".join(faults) or 0)
"""

FORKED = """
    import os
    import sys

    import numpy as np
    import tripyapi as tp

    def work(size):
        x = tp.Tensor(np.ones((size, size), np.float32))
        assert (np.asarray(tp.matmul(x, x) + 1.0) == size + 1).all()
        assert float(tp.Tensor(1.0) + 1.0) == 2.0

    run = tp.compile(lambda x: x * 2.0, args=[tp.InputInfo((400, 400), tp.float32)])
    x = tp.ones((400, 400)).eval()
    work(300)
    child = os.fork()
    work(300)
    work(400 if child else 500)
    assert (np.asarray(run(x)) == 2).all()
    if child:
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_it_is_made_once():
    """Threads that ask meanwhile wait for it; other arguments are another one."""
    made = []

    @per_process
    def maker(name="it"):
        """Say what is made."""
        time.sleep(0.01)
        made.append(name)
        return object()

    found = []
    threads = [threading.Thread(target=lambda: found.append(maker())) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert made == ["it"]
    assert len(set(found)) == 1
    assert maker(name="other") is not maker()
    assert maker.__doc__ == "Say what is made."
    maker.cache_clear()
    maker()
    assert made == ["it", "other", "it"]


def test_what_fails_is_tried_again():
    """A failure is nobody's one thing."""
    asked = []

    @per_process
    def maker():
        asked.append(1)
        if len(asked) == 1:
            raise ValueError("not yet")
        return asked

    with pytest.raises(ValueError, match="not yet"):
        maker()
    assert maker() is maker()
    assert len(asked) == 2


@pytest.mark.parametrize("text", [THREADS, FORKED], ids=["threads", "forked"])
def test_programs_of_several_threads_and_processes(text, tmp_path):
    """XLA ends a process with two of its clients, and waits for threads that a fork left behind."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(text), encoding="utf-8")
    words = [sys.executable, program]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
