"""Member contents: bytes in memory or a file, read in chunks."""

import contextlib
import errno
import os
import stat
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tripybuild.artifact.file_errors import unreadable_error
from tripybuild.artifact.manifest import MemberRecord
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.file_access import READ_FLAGS, read_at
from tripybuild.process.hashing import ALGORITHMS, LARGE, algorithm

PIECE = 1 << 20
STRETCH = 1 << 24  # what is copied before the disk begins with it


class NotRegularError(OSError):
    """What is there is no file: a folder, or a pipe or a device, whose reading may never end."""


class OpenFile:
    """Reference-counted file handle: open while it is referenced.

    Args:
        path: The file.
        spare: Whether only a part of it is read, so that the first reader may write around that
            part.

    Raises:
        OSError: It cannot be opened, or is no regular file (`NotRegularError`).
    """

    def __init__(self, path: Path, *, spare: bool = False) -> None:
        self.name = str(path)
        self._descriptor = os.open(path, READ_FLAGS)
        if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
            raise NotRegularError(errno.EINVAL, "it is not a regular file")
        self._spare = spare

    def fileno(self) -> int:
        """Its descriptor."""
        return self._descriptor

    def rename(self, path: Path) -> None:
        """Give the file another name instead of its own."""
        Path(self.name).replace(path)
        self.name = str(path)

    def link_to(self, path: Path) -> bool:
        """Hard-link the file to another name; False if the system refuses.

        Invariant: it is given once, so that no two write into it.
        """
        spare, self._spare = self._spare, False
        if not spare:
            return False
        try:
            os.link(self.name, path)
        except OSError:  # another disk, or the name is gone
            return False
        if os.path.samestat(path.stat(), os.fstat(self._descriptor)):
            return True
        path.unlink()
        return False

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            os.close(self._descriptor)


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of an open file: it stays readable when others remove the file's name."""

    file: OpenFile
    offset: int
    size: int

    def __str__(self) -> str:
        return self.file.name


Content = bytes | memoryview | FilePart


def measure(content: Content) -> MemberRecord:
    """What must be true of a content: its size and its digests."""
    checksum = size = 0
    expected = content.size if isinstance(content, FilePart) else memoryview(content).nbytes
    digest = ALGORITHMS[algorithm(expected)]()
    if not isinstance(content, FilePart) and expected >= LARGE:
        with ThreadPoolExecutor(1) as worker:  # both go through all of the memory
            other = worker.submit(zlib.crc32, content)
            digest.update(content)
            return MemberRecord(expected, digest.hexdigest(), other.result())
    for piece in pieces(content):
        digest.update(piece)
        checksum = zlib.crc32(piece, checksum)
        size += len(piece)
    if size != expected:
        raise changed_error(content)
    return MemberRecord(size, digest.hexdigest(), checksum)


def changed_error(content: Content) -> DiagnosticError:
    """Error for a file that was modified while it was read."""
    message = f"`{content!s}` changed while it was read"
    return DiagnosticError(Diagnostic("file-unreadable", message))


def pieces(content: Content) -> Iterator[memoryview]:
    """Read a content piece by piece."""
    if not isinstance(content, FilePart):
        view = memoryview(content).cast("B")
        yield from (view[start : start + PIECE] for start in range(0, len(view), PIECE))
        return
    end = content.offset + content.size
    try:
        for position in range(content.offset, end, PIECE):
            piece = read_at(content.file.fileno(), min(PIECE, end - position), position)
            yield memoryview(piece)
    except OSError as error:
        raise unreadable_error(str(content), error) from error


def read_content(content: Content) -> memoryview:
    """Give a content as memory, at an address that is a multiple of 64 where it is read now."""
    if isinstance(content, bytes | memoryview):
        return memoryview(content)
    from tripybuild.artifact.array_bytes import aligned_buffer  # noqa: PLC0415  # loads NumPy, which `gen` lacks

    space = aligned_buffer(content.size).data
    position = 0
    for piece in pieces(content):
        space[position : position + len(piece)] = piece
        position += len(piece)
    if position != len(space):
        raise changed_error(content)
    return space.toreadonly()


def copy_range(content: FilePart, stream: BinaryIO) -> bool:
    """Let the system copy a part of a file; False where it cannot, and nothing was copied.

    The disk begins with each piece while the next one is copied: to wait for all of it afterwards
    would take as long again.
    """
    if not hasattr(os, "copy_file_range"):
        return False
    stream.flush()
    source, left, target = content.offset, content.size, stream.fileno()
    with ThreadPoolExecutor(1) as disk:
        while left:
            try:
                count = os.copy_file_range(
                    content.file.fileno(), target, min(left, STRETCH), offset_src=source
                )
            except OSError:
                if left == content.size:
                    return False
                raise
            if count == 0:
                raise changed_error(content)
            disk.submit(_start_writeback, target, os.lseek(target, 0, os.SEEK_CUR) - count, count)
            source, left = source + count, left - count
    stream.seek(0, os.SEEK_END)
    return True


def _start_writeback(descriptor: int, offset: int, size: int) -> None:
    """Start writeback of a file range by dropping it from the page cache."""
    with contextlib.suppress(OSError):
        os.posix_fadvise(descriptor, offset, size, os.POSIX_FADV_DONTNEED)
