"""Forked work: part of a command runs in a second process if a processor is free."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, TypeVar

Own = TypeVar("Own")

THREADS = Path("/proc/self/task")  # of this process, those that Python knows nothing of included


def run_in_fork(other: Callable[[], bytes], own: Callable[[], Own]) -> tuple[bytes, Own] | None:
    """Give what both give; `other` runs in a copy of this process.

    None where nothing can run beside it, or where the other one failed: who asks does all the work
    by himself then, and meets what is wrong.
    """
    if not _can_fork():
        return None
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _write_result(other, os.fdopen(writing, "wb"))
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        try:
            result = own()
            content = pipe.read()
        finally:
            pipe.close()  # so that the child ends, which may be writing still
            _, status = os.waitpid(child, 0)
    return None if status else (content, result)


def _can_fork() -> bool:
    """Whether there is a second processor, and no thread that a copy would not have."""
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) == 1:
        return False
    try:
        return len(list(THREADS.iterdir())) == 1
    except OSError:
        return False


def _write_result(other: Callable[[], bytes], pipe: BinaryIO) -> None:
    """Give the answer and end, without what a process does when it ends: that is its parent's."""
    code = 1
    try:
        pipe.write(other())
        pipe.flush()
        code = 0
    finally:
        os._exit(code)
