"""Native work in a thread: what it gives and raises, its time, and Ctrl-C."""

import os
import signal
import threading
import time

import pytest

from tripybuild.process.native_work import OvertimeError, is_work_left, run_native


@pytest.fixture
def endless():
    """Work that ends when the test does."""
    end = threading.Event()
    yield end.wait
    end.set()


def test_what_it_gives_and_raises():
    """As if it were called here."""
    assert run_native(lambda: 3, 10) == 3
    with pytest.raises(ZeroDivisionError):
        run_native(lambda: 1 // 0)
    assert not is_work_left()


def test_it_takes_too_long(endless):
    """The caller goes on, and knows that the work does, too."""
    with pytest.raises(OvertimeError):
        run_native(endless, 0.01)
    assert is_work_left()
    assert run_native(lambda: 3) == 3


@pytest.mark.skipif(os.name != "posix", reason="this system has no signals")
def test_ctrl_c_ends_the_wait(endless):
    """Whatever the work does; a shell that starts the tests behind itself has them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    press = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    press.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_native(endless, 60)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - began < 30
