"""Native work: its number of threads, and a thread in which the caller need not await its end.

Native code lets Python raise nothing until it returns. So a thread does it, and the thread that
asked for it waits, which a limit of time or Ctrl-C ends. Nothing can end the other one: it goes on,
and what it finds is dropped.

Invariant: what the work needs of locks, the waiting thread does not hold.
"""

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import WeakSet

Made = TypeVar("Made")


class OvertimeError(Exception):
    """The work was not done in its time."""


class _Work(threading.Thread, Generic[Made]):
    """A thread that does something once, and keeps what came of it."""

    def __init__(self, work: Callable[[], Made]) -> None:
        super().__init__(name="native work", daemon=True)
        self._work = work
        self._done = threading.Event()
        self._found: list[Made] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        """Do the work; whatever it raises is for the thread that waits."""
        try:
            self._found.append(self._work())
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            self._error = error
        finally:
            del self._work
            self._done.set()

    def wait(self, seconds: float | None) -> Made:
        """What the work gives, or raises."""
        if not self._done.wait(seconds):
            raise OvertimeError
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # whose traceback has this frame
        return self._found.pop()


# Those that nothing waits for any more.
_left: WeakSet[threading.Thread] = WeakSet()


def run_native(work: Callable[[], Made], seconds: float | None = None) -> Made:
    """Do native work in the time that it may take; by default, in any.

    Raises:
        OvertimeError: It takes longer, and goes on.
        Exception: What the work raises.
    """
    thread = _Work(work)
    thread.start()
    try:
        return thread.wait(seconds)
    except BaseException:
        _left.add(thread)
        raise


def is_work_left() -> bool:
    """Whether work goes on that nothing waits for.

    Python's own end takes libraries apart in which it still computes, which may crash.
    """
    return any(each.is_alive() for each in list(_left))


def default_threads() -> int:
    """A thread for each processor that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
