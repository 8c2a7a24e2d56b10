"""Files of jobs on a worker's disk, by the digest of their content.

A job finds its files in a folder of its own, as hard links at the paths that it names. The store
belongs to the worker: Dask removes it when that ends.

Invariant: what lies under a digest has it; a file gets its name when all of it was measured.
"""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import temporary_path
from tripybuild.process.hashing import file_digest
from tripybuild.workspace.jobs import JobFile

LIMIT = 32 << 30  # bytes of all files


class FileStore:
    """A folder of files by their digests.

    Args:
        folder: Where it is; made when needed.
        limit: The most bytes that it keeps when a job is done.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder, self.limit = folder, limit
        self._files, self._jobs = folder / "files", folder / "jobs"

    def lacks(self, files: Iterable[JobFile]) -> list[str]:
        """The digests of those that are not here."""
        wanted = {each.digest for each in files}
        return sorted(each for each in wanted if not self._place(each).is_file())

    def add(self, digest: str, pieces: Sequence[bytes]) -> None:
        """Keep a content.

        Raises:
            DiagnosticError: It does not have the digest.
            OSError: It cannot be written.
        """
        place = self._place(digest)
        if place.is_file():
            return
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = temporary_path(place.parent, digest)
        try:
            with partial.open("xb") as stream:
                for each in pieces:
                    stream.write(each)
            if file_digest(partial).digest != digest:
                message = f"A file came as another one than `{digest}`"
                raise DiagnosticError(Diagnostic("cluster-file", message))
            partial.chmod(0o400)  # jobs read it through links, each of which could change it
            partial.replace(place)
        finally:
            with contextlib.suppress(OSError):
                partial.unlink()

    @contextlib.contextmanager
    def job_folder(self, files: Sequence[JobFile]) -> Iterator[Path]:
        """A folder with the files of a job, which must be here, and nothing else.

        Raises:
            OSError: It cannot be made.
        """
        self._jobs.mkdir(mode=0o700, parents=True, exist_ok=True)
        root = Path(tempfile.mkdtemp(dir=self._jobs))
        try:
            for each in files:
                place = root / contained(each.path)
                place.parent.mkdir(parents=True, exist_ok=True)
                source = self._place(each.digest)
                os.utime(source)  # what was used last is kept
                os.link(source, place)
            yield root
        finally:
            shutil.rmtree(root, ignore_errors=True)
            self._prune()

    def _prune(self) -> None:
        """Remove what was not used for longest, where there is too much."""
        found: list[tuple[int, int, Path]] = []
        with contextlib.suppress(OSError):
            for each in os.scandir(self._files):
                with contextlib.suppress(OSError):  # another thread may have removed it
                    status = each.stat()
                    found.append((status.st_mtime_ns, status.st_size, Path(each.path)))
        total = sum(size for _, size, _ in found)
        for _, size, place in sorted(found):
            if total <= self.limit:
                return
            with contextlib.suppress(OSError):
                place.unlink()
                total -= size

    def _place(self, digest: str) -> Path:
        if not digest.isalnum():  # so that it cannot lead out of the folder
            raise ValueError(f"`{digest}` is no digest")
        return self._files / digest


def contained(path: str) -> PurePosixPath:
    """A path below a folder.

    Raises:
        ValueError: It leads out of the folder.
    """
    found = PurePosixPath(path)
    if found.is_absolute() or ".." in found.parts or not found.parts:
        raise ValueError(f"`{path}` is not below the workspace's folder")
    return found
