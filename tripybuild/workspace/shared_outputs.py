"""Outputs of jobs in the cache that machines share: what one of them built, no other builds again.

It is used where a remote cache is named: on one machine alone, the workspace's own records say what
is there, and a second copy of each executable would be for nothing.

Invariant: a job's key says what its files held when it was planned. They are measured again before
an output is kept under that key, so that a file that changed meanwhile misleads no other machine.
"""

from pathlib import Path

from tripybuild.cache.keys import KIND, CacheKey, key
from tripybuild.cache.outputs import OutputCache
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.process.hashing import file_digest
from tripybuild.workspace.jobs import Job, JobFile

WHAT = "executable"


class SharedOutputs:
    """The outputs of all machines that share a cache; none where the environment names no remote.

    Raises:
        DiagnosticError: The environment names one that cannot be.
    """

    def __init__(self) -> None:
        self._cache = OutputCache(shared=True)
        self.warnings: list[Diagnostic] = []

    def restore(self, job: Job) -> bool:
        """Write the output of a job to its place, if a machine has made it before.

        Raises:
            DiagnosticError: The place cannot be written.
        """
        if self._cache.remote is None:
            return False
        found = self._cache.restore(_key(job), Path(job.output))
        self.warnings += found.warnings
        return found.is_there

    def keep(self, job: Job, seconds: float) -> None:
        """Let other machines have the output of a job, unless its files have changed meanwhile."""
        if self._cache.remote is None or not all(map(_is_as_planned, job.files)):
            return
        origin = {"spec": Path(job.spec).name, "output": Path(job.output).name}
        self.warnings += self._cache.keep(_key(job), Path(job.output), seconds, origin)


def _key(job: Job) -> CacheKey:
    return key({KIND: WHAT, "target": job.target, "job": job.key})


def _is_as_planned(file: JobFile) -> bool:
    try:
        return file_digest(Path(file.path)).digest == file.digest
    except OSError:
        return False
