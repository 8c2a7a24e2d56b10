"""Streamed plan file: written and hashed in chunks while TensorRT serializes.

TensorRT hands out an engine in pieces as it serializes it. To hold all of it in memory first, and
to write and measure it afterwards, took a quarter of the time in which one of 650 MB is built.
"""

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.hashing import ContentDigest, StreamingDigest
from tripybuild.tensorrt.runtime.sequential import SequentialFile

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
