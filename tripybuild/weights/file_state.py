"""File state: detects modification by other processes while a file is in use."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, Self

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span


class FileState(NamedTuple):
    """Identity of a file's content: inode, length, modification time."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """The state that the system tells of."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def changed_error(path: Path, span: Span | None = None) -> DiagnosticError:
    """Error for a file that was modified after it was checked against the model."""
    message = f"the weights in `{path}` changed while the model was compiled"
    hint = "compile again when nothing writes to the file"
    return DiagnosticError(Diagnostic("weights-changed", message, span, hint=hint))


@contextlib.contextmanager
def guard_file_state(path: Path, file: BinaryIO, state: FileState | None) -> Iterator[None]:
    """Refuse a file that is not in a state, or leaves it while it is read."""
    if state is None:
        yield
        return
    if FileState.of(os.fstat(file.fileno())) != state:
        raise changed_error(path)
    yield
    if FileState.of(os.fstat(file.fileno())) != state:
        raise changed_error(path)
