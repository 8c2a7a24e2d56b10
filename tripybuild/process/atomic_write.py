"""Atomic writes: a file appears complete or not at all.

A file is written beside its final place, forced to the disk and renamed. Whatever goes wrong, what
stood there before stands there still. Where many files are published, all are written before the
first of them takes its place.
"""

import contextlib
import errno
import os
import secrets
import shutil
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

SUFFIX = ".part"
STAGE = ".stage"
STALE_AFTER = 24 * 3600.0  # seconds; nothing is written for so long
HINTS = {
    errno.ENOSPC: "free some space on the disk, or write to another one",
    errno.EDQUOT: "free some of your quota, or write elsewhere",
    errno.EROFS: "write to a folder on a disk that is not read-only",
    errno.EACCES: "write to a folder that you may write to",
    errno.ENOENT: "create the folder first",
    errno.EEXIST: "name a folder: a file has this name",
    errno.ENOTDIR: "name another folder: one above it is a file",
}


@contextlib.contextmanager
def atomic_write(
    path: Path,
    *,
    durable: bool = True,
    given: Callable[[Path], bool] = lambda _: False,
    folder: Path | None = None,
) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its place when the block ends without an exception.

    Args:
        path: Its place; a link is followed.
        durable: Whether to wait until the disk has it, so that it survives a power cut.
        given: Gives a file that has content already the name of the new one, or says False; the
            new one is empty then.
        folder: Where it is written until it is complete, on the same disk; beside its place by
            default.

    Raises:
        DiagnosticError: The operating system does not let the file be written.
    """
    place = Path(os.path.realpath(path))
    partial = temporary_path(folder or place.parent, place.name)
    try:
        _refuse_special(place, path)
        sweep_temporaries(partial.parent)
        with _remove_on_failure(partial):
            with _open_partial(partial, given) as stream:
                yield stream
                stream.flush()
                if durable:
                    os.fsync(stream.fileno())
            partial.replace(place)
        if durable:
            _sync_folder(place.parent)
    except OSError as error:
        raise DiagnosticError(write_error(path, error)) from error


def temporary_path(folder: Path, name: str) -> Path:
    """A new name in a folder, for a file that gets its own when it is complete."""
    return folder / f".{name[:100]}.{secrets.token_hex(8)}{SUFFIX}"


def atomic_write_tree(root: Path, files: Mapping[str, bytes]) -> None:
    """Give files below a folder their contents, by their paths in it.

    Missing folders are created. The caller holds a lock on the folder, and has checked that none of
    the paths is a link, or below one.

    Raises:
        DiagnosticError: The operating system does not let a file be written. If it is the contents
            for which there is no room, nothing has changed.
    """
    stage = root / f"{STAGE}.{secrets.token_hex(8)}{SUFFIX}"
    path = ""
    try:
        stage.mkdir()
        with _remove_on_failure(stage):
            staged = {path: str(stage / str(index)) for index, path in enumerate(files)}
            for path, content in files.items():
                with open(staged[path], "xb", buffering=0) as stream:  # noqa: PTH123 - thousands
                    _write_tree(stream, content)
            for folder in dict.fromkeys(path.rpartition("/")[0] for path in files):
                path = folder
                (root / folder).mkdir(parents=True, exist_ok=True)
            for path, place in staged.items():
                os.replace(place, f"{root}/{path}")  # noqa: PTH105 - thousands
            stage.rmdir()
    except OSError as error:
        raise DiagnosticError(write_error(root / path, error)) from error


def leftover_stages(root: Path) -> list[Path]:
    """What `publish_all` has left in a folder where it was killed."""
    found = root.glob(f"{STAGE}.????????????????{SUFFIX}")
    return [each for each in found if each.is_dir() and not each.is_symlink()]


def _write_tree(stream: FileIO, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[stream.write(left) :]


def _open_partial(partial: Path, given: Callable[[Path], bool]) -> BinaryIO:
    stream = partial.open("xb")
    beside = partial.with_name(f"{partial.name}{SUFFIX}")
    if not given(beside):
        return stream
    with stream:
        beside.chmod(stat.S_IMODE(os.fstat(stream.fileno()).st_mode))  # what the user's files have
    beside.replace(partial)
    return partial.open("r+b")


def _refuse_special(place: Path, path: Path) -> None:
    """Refuse to replace what is no file: as root, that would be the end of `/dev/null`."""
    try:
        mode = place.stat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        message = f"`{path}` cannot be written: it is not a regular file"
        raise DiagnosticError(Diagnostic("output-unwritable", message))


@contextlib.contextmanager
def _remove_on_failure(partial: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            if partial.is_dir():
                shutil.rmtree(partial)
            else:
                partial.unlink()
        raise


def sweep_temporaries(folder: Path) -> int:
    """Remove temporaries of processes that were killed long ago; return the size of the others."""
    limit, left = time.time() - STALE_AFTER, 0
    for partial in folder.glob(f".*.????????????????{SUFFIX}"):
        with contextlib.suppress(OSError):
            status = partial.lstat()
            if status.st_mtime < limit:
                partial.unlink()
            else:
                left += status.st_size
    return left


def _sync_folder(folder: Path) -> None:
    # Not every file system can: the rename has happened all the same.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_error(path: Path, error: OSError) -> Diagnostic:
    """Error for a rejected write."""
    message = f"`{path}` cannot be written: {error.strerror or error}"
    hint = HINTS.get(error.errno) if error.errno is not None else None
    return Diagnostic("output-unwritable", message, hint=hint)
