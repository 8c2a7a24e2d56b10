"""The contents of an executable's members: bytes in memory or a file, read in pieces."""

import zlib
from collections.abc import Iterator
from pathlib import Path

from tripybuild.build.digests import ALGORITHMS, algorithm
from tripybuild.build.manifest import Member
from tripybuild.build.refusals import unreadable
from tripybuild.diagnostics import Diagnostic, DiagnosticError

PIECE = 1 << 20

Content = bytes | memoryview | Path


def measure(content: Content) -> Member:
    """What must be true of a content: its size and its digests."""
    checksum = size = 0
    expected = _size(content)
    digest = ALGORITHMS[algorithm(expected)]()
    for piece in pieces(content):
        digest.update(piece)
        checksum = zlib.crc32(piece, checksum)
        size += len(piece)
    if size != expected:
        raise changed(content)
    return Member(size, digest.hexdigest(), checksum)


def _size(content: Content) -> int:
    if not isinstance(content, Path):
        return memoryview(content).nbytes
    try:
        return content.stat().st_size
    except OSError as error:
        raise unreadable(content, error) from error


def changed(content: Content) -> DiagnosticError:
    """A file that somebody writes while it is read."""
    message = f"`{content!s}` changed while it was read"
    return DiagnosticError(Diagnostic("file-unreadable", message))


def pieces(content: Content) -> Iterator[memoryview]:
    """Read a content piece by piece."""
    if not isinstance(content, Path):
        view = memoryview(content).cast("B")
        yield from (view[start : start + PIECE] for start in range(0, len(view), PIECE))
        return
    try:
        with content.open("rb") as file:
            while piece := file.read(PIECE):
                yield memoryview(piece)
    except OSError as error:
        raise unreadable(content, error) from error
