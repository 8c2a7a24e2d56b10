"""Outputs of jobs in the cache that machines share: what one of them built, no other builds again.

It is used where a remote cache is named: on one machine alone, the workspace's own records say what
is there, and a second copy of each executable would be for nothing.

Invariant: a job's key says what its files held when it was planned. They are measured again before
an output is kept under that key, so that a file that changed meanwhile misleads no other machine.
"""

from pathlib import Path

from tripybuild.artifact.container import looks_like_container
from tripybuild.cache.keys import KIND, CacheKey, key
from tripybuild.cache.outputs import OutputCache
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import write_error
from tripybuild.process.hashing import file_digest
from tripybuild.process.output_files import check_overwrite
from tripybuild.workspace.jobs import Job, JobFile

WHAT = "executable"


class SharedOutputs:
    """The outputs of all machines that share a cache; none where the environment names no remote.

    Args:
        root: The workspace's folder.

    Raises:
        DiagnosticError: The environment names one that cannot be.
    """

    def __init__(self, root: Path = Path()) -> None:
        self._root, self._cache = root, OutputCache(shared=True)
        self.warnings: list[Diagnostic] = []

    @property
    def is_there(self) -> bool:
        """Whether the environment names a remote cache."""
        return self._cache.remote is not None

    def restore(self, job: Job) -> bool:
        """Write the output of a job to its place, if a machine has made it before.

        Raises:
            DiagnosticError: The place cannot be written, or holds something else.
        """
        if not self.is_there:
            return False
        found = self._cache.restore(_key(job), output_place(self._root, job))
        self.warnings += found.warnings
        return found.is_there

    def keep(self, job: Job, seconds: float) -> None:
        """Let other machines have the output of a job, unless its files have changed meanwhile."""
        if not self.is_there or not all(map(self._is_as_planned, job.files)):
            return
        origin = {"spec": Path(job.spec).name, "output": Path(job.output).name}
        self.warnings += self._cache.keep(_key(job), self._root / job.output, seconds, origin)

    def _is_as_planned(self, file: JobFile) -> bool:
        try:
            return file_digest(self._root / file.path).digest == file.digest
        except OSError:
            return False


def output_place(root: Path, job: Job) -> Path:
    """Where the output of a job goes, in a folder that is there.

    Raises:
        DiagnosticError: The folder cannot be made, or something else is in its place.
    """
    path = root / job.output
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DiagnosticError(write_error(path, error)) from error
    check_overwrite(path, looks_like_container, "an executable", "output:")
    return path


def _key(job: Job) -> CacheKey:
    return key({KIND: WHAT, "target": job.target, "job": job.key})
