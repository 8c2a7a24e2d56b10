"""Drafts: the large member of an executable, on its way to the disk while the model is compiled.

To write weights, and to wait until the disk has them, takes as long as ONNX Runtime takes to load
them. So a thread begins as soon as they are read, beside the place of the executable, where they
lie as they will in it; what is written around them makes the draft the executable.

Invariant: a draft decides nothing. What goes wrong with it is found again, and said, where the
executable is written from memory.
"""

import contextlib
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tripybuild.artifact.members import Content, FilePart, OpenFile
from tripybuild.artifact.zip_layout import ALIGNMENT
from tripybuild.process.atomic_write import temporary_path
from tripybuild.process.hashing import LARGE

STRETCH = 1 << 24  # bytes that are written before the thread looks whether they are still wanted


class Draft:
    """A file that may become an executable; within its `with` block it is, and then it is gone.

    Args:
        path: The executable's place.
    """

    def __init__(self, path: Path) -> None:
        self._place = Path(os.path.realpath(path))
        self._partial: Path | None = None
        self._content: memoryview | None = None
        self._writer: threading.Thread | None = None
        self._file: OpenFile | None = None
        self._unwanted = threading.Event()

    def begin(self, content: memoryview) -> None:
        """Write a content that will not change, if it is large; the one before is dropped."""
        self.close()
        if content.nbytes < LARGE:
            return
        self._partial = temporary_path(self._place.parent, self._place.name)
        self._content, self._unwanted = content, threading.Event()
        given = self._partial, content, self._unwanted
        self._writer = threading.Thread(target=self._write, args=given, name="draft", daemon=True)
        self._writer.start()

    def members(self, members: Mapping[str, Content]) -> dict[str, Content]:
        """The members, of which the one that is written is the part of a file."""
        if self._writer is not None:
            self._writer.join()
        found = dict(members)
        name = next((name for name, each in found.items() if each is self._content), None)
        if name is None or self._file is None or self._content is None or not self._can_link():
            self.close()  # there may be room for one file only
        else:
            found[name] = FilePart(self._file, ALIGNMENT, self._content.nbytes)
        return found

    def close(self) -> None:
        """Write no more, and remove the file unless it has become the executable."""
        self._unwanted.set()
        if self._writer is not None:
            self._writer.join()
        if self._partial is not None:
            with contextlib.suppress(OSError):
                self._partial.unlink()
        self._partial = self._content = self._writer = self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _can_link(self) -> bool:
        """Whether the file can become the executable, and need not be copied."""
        assert self._partial is not None
        other = temporary_path(self._place.parent, self._place.name)
        try:
            os.link(self._partial, other)
        except OSError:
            return False
        other.unlink()
        return True

    def _write(self, partial: Path, content: memoryview, unwanted: threading.Event) -> None:
        """Write the content to its place, and let the disk have it."""
        octets = content.cast("B")
        with contextlib.suppress(OSError):  # it is said where the executable is written
            with partial.open("xb", buffering=0) as stream:
                stream.seek(ALIGNMENT)
                while octets and not unwanted.is_set():
                    octets = octets[stream.write(octets[:STRETCH]) :]
                if octets:
                    return
                os.fsync(stream.fileno())
            self._file = OpenFile(partial, spare=True)
