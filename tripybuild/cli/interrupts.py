"""SIGINT handling: a command ends with status 130 and without a traceback at any moment."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from tripybuild.cli.console import line_guard
from tripybuild.process.native_work import is_work_left

INTERRUPTED = 130  # 128 and the number of the signal, as shells have it
GRACE = 0.5  # seconds in which Python must have seen the signal
CLEANUP = 2.0  # seconds that a command has for ending by itself


class Interrupts:
    """What the signal does to this process.

    While modules are loaded, and when the work is done, it ends the process at once. While a
    command works, Python raises KeyboardInterrupt, so that temporary files and compilers are
    cleaned up; more signals change nothing, and an alarm ends what takes too long.
    """

    def __init__(self) -> None:
        self.working = False  # whether there is anything to clean up
        self.seen = False

    def install(self) -> None:
        """Answer the signal from now on."""
        signal.signal(signal.SIGINT, self._handle)
        sys.unraisablehook = _unraisable

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del number
        if not self.working or _loads(frame):
            leave()
        if not self.seen:
            self.seen = True
            if hasattr(signal, "SIGALRM"):
                signal.signal(signal.SIGALRM, lambda *_: leave())
                signal.setitimer(signal.ITIMER_REAL, CLEANUP)
            raise KeyboardInterrupt


def leave() -> None:
    """End the process at once; no changing line stays on the terminal."""
    line_guard.erase_now()
    os._exit(INTERRUPTED)


def _loads(frame: FrameType | None) -> bool:
    """Whether a module is being loaded: some say then that they are broken, and not interrupted."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _unraisable(found: Any) -> None:
    """End where the interrupt was raised in a destructor or a callback, which go on without it."""
    if isinstance(found.exc_value, KeyboardInterrupt):
        leave()
    sys.__unraisablehook__(found)


@contextmanager
def native_call() -> Iterator[None]:
    """Let the signal end native code, which does not let Python raise anything.

    A loop on `cpu` may never end. A thread that the signal wakes ends the process, unless the main
    thread leaves the `with` block first.
    """
    if os.name != "posix" or threading.current_thread() is not threading.main_thread():
        yield
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    left = threading.Event()
    watch = threading.Thread(target=_watch, args=(reader, left), daemon=True)
    before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    watch.start()
    try:
        yield
    finally:
        left.set()
        signal.set_wakeup_fd(before)
        os.close(writer)
        watch.join()
        os.close(reader)


def _watch(reader: int, left: threading.Event) -> None:
    """Wait for the signal, or for the end of the block, which closes the pipe."""
    while number := os.read(reader, 1):
        if number[0] == signal.SIGINT and not left.wait(GRACE):
            leave()


def end_amid_work(status: object) -> None:
    """End the process at once where native work goes on that took too long, or return.

    Args:
        status: What `SystemExit` says.
    """
    if is_work_left():
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, OSError, ValueError):  # it is closed
                stream.flush()
        os._exit(status if isinstance(status, int) else int(status is not None))
