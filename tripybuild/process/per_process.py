"""Per-process memoization: thread-safe, fork-aware singletons, created on first use.

Two threads that ask a `functools.cache` at the same time make two, and XLA ends a process that
mixes what two of its clients have made. A process that was forked has none of the threads that the
things of the first one need, so it makes its own.
"""

import os
from collections.abc import Callable
from functools import update_wrapper
from threading import RLock
from typing import Generic, ParamSpec, TypeVar

Taken = ParamSpec("Taken")
Made = TypeVar("Made")


class PerProcess(Generic[Taken, Made]):
    """A function that is called once for the same arguments, which can be keys.

    Concurrent callers wait for the first. After a failure the next call tries again.
    """

    def __init__(self, make: Callable[Taken, Made]) -> None:
        self._make = make
        self._known: dict[object, Made] = {}
        self._lock = RLock()
        update_wrapper(self, make)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        """Begin anew, without taking apart what the parent made: that would wait for threads."""
        from ctypes import py_object, pythonapi  # noqa: PLC0415 - few programs fork

        pythonapi.Py_IncRef(py_object(self._known))
        self._known, self._lock = {}, RLock()

    def __call__(self, *arguments: Taken.args, **named: Taken.kwargs) -> Made:
        """What was made, or is made now."""
        key = arguments, tuple(named.items())
        with self._lock:
            if key not in self._known:
                self._known[key] = self._make(*arguments, **named)
            return self._known[key]

    def cache_clear(self) -> None:
        """Forget what was made."""
        with self._lock:
            self._known.clear()


class ProcessIdentity:
    """The identity of this process: `mark` is another object after a fork."""

    def __init__(self) -> None:
        self.mark = object()
        self.forked = False
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self.mark, self.forked = object(), True


process = ProcessIdentity()


def per_process(make: Callable[Taken, Made]) -> PerProcess[Taken, Made]:
    """Let a function make what it makes once, whichever threads ask for it."""
    return PerProcess(make)


@per_process
def process_lock(what: str) -> RLock:
    """A lock of a name; in a process that was forked it is free, whichever threads held it."""
    del what  # each name has one
    return RLock()
