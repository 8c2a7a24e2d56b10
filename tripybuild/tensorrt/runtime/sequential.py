"""Sequential file writer: direct I/O past the page cache for large files.

The pages in which a system keeps what is to be written cost as much time as an engine's
serialization, and would have to be on the disk anyway before an executable is published.
"""

import fcntl
import mmap
import os
from pathlib import Path
from typing import Any, Self

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
                count = os.pwrite(self._descriptor, self._stretch[: self._filled], self._position)
            except OSError:
                if not self._direct:
                    raise
                self._disable_direct_io()  # not every file system can
                continue
            self._position += count
            if count < self._filled:  # the disk is nearly full, or somebody sent a signal
                self._disable_direct_io()
                self._stretch[: self._filled - count] = self._stretch[count : self._filled]
            self._filled -= count

    def _open(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
        self._descriptor = os.open(self._path, flags, 0o666)
        if self._direct:
            self._set_flags(DIRECT)

    def _disable_direct_io(self) -> None:
        if self._direct and self._descriptor >= 0:
            self._set_flags(0)
        self._direct = False

    def _set_flags(self, flag: int) -> None:
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
