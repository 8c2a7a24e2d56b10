"""Streamed plan file: written and hashed in chunks while TensorRT serializes.

TensorRT hands out an engine in pieces as it serializes it. To hold all of it in memory first, and
to write and measure it afterwards, took a quarter of the time in which one of 650 MB is built.
"""

import mmap
import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.file_access import WRITE_FLAGS, write_at
from tripybuild.process.hashing import ContentDigest, StreamingDigest

STRETCH = 1 << 24  # bytes that are written at once
PAGE = mmap.PAGESIZE
# Not every system has the flag; one that changes nothing does for the others.
DIRECT: int = getattr(os, "O_DIRECT", 0)


class SequentialFile:
    """A file that grows from an offset on; it is opened when there is something to write.

    Args:
        path: The file; what is in it before `start` stays.
        start: The offset of the first byte that is written.
    """

    def __init__(self, path: Path, start: int) -> None:
        self._path, self._position = path, start
        self._descriptor = -1
        self._direct = bool(DIRECT) and start % PAGE == 0
        # Whole pages at an address that is one's: only such may go past the system's memory.
        self._stretch = memoryview(mmap.mmap(-1, STRETCH))
        self._filled = 0

    def write(self, piece: Any) -> None:
        """Write the next bytes, in whole stretches; the rest waits."""
        left = memoryview(piece).cast("B")
        while left:
            count = min(len(left), STRETCH - self._filled)
            self._stretch[self._filled : self._filled + count] = left[:count]
            self._filled, left = self._filled + count, left[count:]
            if self._filled == STRETCH:
                self._flush()

    def end(self) -> None:
        """Write what waits: it need not be whole pages."""
        self._disable_direct_io()
        self._flush()

    def _flush(self) -> None:
        if self._descriptor < 0:
            self._open()
        while self._filled:
            try:
                count = write_at(self._descriptor, self._stretch[: self._filled], self._position)
            except OSError:
                if not self._direct:
                    raise
                self._disable_direct_io()  # not every file system can
                continue
            self._position += count
            if count < self._filled:  # the disk is nearly full, or a signal came
                self._disable_direct_io()
                self._stretch[: self._filled - count] = self._stretch[count : self._filled]
            self._filled -= count

    def _open(self) -> None:
        self._descriptor = os.open(self._path, WRITE_FLAGS, 0o666)
        if self._direct:
            self._set_flags(DIRECT)

    def _disable_direct_io(self) -> None:
        if self._direct and self._descriptor >= 0:
            self._set_flags(0)
        self._direct = False

    def _set_flags(self, flag: int) -> None:
        import fcntl  # noqa: PLC0415 - where there is `O_DIRECT`

        try:
            fcntl.fcntl(self._descriptor, fcntl.F_SETFL, flag)
        except OSError:
            self._direct = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stretch.release()
        if self._descriptor >= 0:
            os.close(self._descriptor)


AHEAD = 2  # pieces that wait while one is written; TensorRT's have 64 MiB


class PlanFile:
    """A file that takes the pieces of an engine, and says in the end what was measured.

    Two threads go on with a piece while TensorRT makes the next one: one writes, one measures, and
    both let go of Python's lock.

    Args:
        path: The file; what is in it before `start` stays.
        start: The offset of the engine.
    """

    def __init__(self, path: Path, start: int) -> None:
        self._path, self._file = path, SequentialFile(path, start)
        self._measurement = StreamingDigest()
        self._pending: deque[tuple[Future[None], Future[None]]] = deque()
        self._failure: OSError | None = None

    def take(self, piece: Any) -> bool:
        """Take the next piece, whose bytes must not change; False asks for no more."""
        self._settle(AHEAD)
        if self._failure is None:
            measuring = self._measurer.submit(self._measurement.update, piece)
            self._pending.append((self._writer.submit(self._file.write, piece), measuring))
        return self._failure is None

    def finish(self) -> ContentDigest:
        """Wait for what is left.

        Raises:
            DiagnosticError: The file could not be written.
        """
        ending = self._writer.submit(self._file.end)
        self._pending.append((ending, self._measurer.submit(self._measurement.update, b"")))
        self._settle(0)
        self.check()
        return self._measurement.result()

    def check(self) -> None:
        """Raise a diagnostic if the file could not be written so far."""
        if self._failure is not None:
            message = f"The engine cannot be written to `{self._path}`: {self._failure.strerror}"
            raise DiagnosticError(Diagnostic("output-unwritable", message)) from self._failure

    def _settle(self, most: int) -> None:
        """Wait until no more than so many pieces are left to be written and measured."""
        while len(self._pending) > most:
            writing, measuring = self._pending.popleft()
            measuring.result()
            try:
                writing.result()
            except OSError as error:
                self._failure = self._failure or error

    def __enter__(self) -> Self:
        with ExitStack() as opened:
            opened.enter_context(self._file)
            self._writer, self._measurer = (
                opened.enter_context(ThreadPoolExecutor(1)) for _ in range(2)
            )
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()


class PlanInMemory:
    """Chunks of an engine that is not written to a file."""

    def __init__(self) -> None:
        self._pieces: list[Any] = []

    def take(self, piece: Any) -> bool:
        """Take the next piece."""
        self._pieces.append(piece)
        return True

    def __bytes__(self) -> bytes:
        return b"".join(self._pieces)
