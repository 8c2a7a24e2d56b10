"""The process of a job, parent side: a child that does one job after the other, and may end amid.

The child is the compiler's process with another service (`worker.main`), so that whatever ends it
is a result. It ends with the process that started it, also where that is killed.
"""

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.worker.compiler_process import COMMAND, CompilerProcess
from tripybuild.worker.failures import MOST_SECONDS
from tripybuild.workspace.jobs import Job, JobResult

SERVICE = "job"


class JobProcess:
    """A child that does jobs; after one that ended it, another child is started.

    Args:
        root: The folder that paths of jobs are below. The child's own folder is this one.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.model = ""  # what the child has read last
        # A compiler has limits of its own: what a job does beside that is bounded.
        self._process = CompilerProcess(timeout=MOST_SECONDS, command=COMMAND)

    def start(self) -> None:
        """Start the child if there is none, so that it can be killed from now on."""
        with contextlib.suppress(OSError):  # the job says it
            self._process.start()

    def run(self, job: Job, tell: Callable[[str], None] | None = None) -> JobResult:
        """Do a job, and tell the name of each phase; never raises for what the job does."""
        began = time.perf_counter()
        options = {"root": str(self.root.absolute()), "job": job.to_json()}
        self.model = job.model
        try:
            reply = self._process.compile(SERVICE, b"", options, tell=tell)
        except DiagnosticError as error:
            self.model = ""
            found = tuple(_crash(job, each) for each in error.diagnostics)
            seconds = time.perf_counter() - began
            return JobResult(job.name, job.key, "crashed", seconds=seconds, diagnostics=found)
        return JobResult.from_json(json.loads(reply))

    def kill(self) -> None:
        """End the child at once, from another thread than that which runs a job."""
        self._process.kill()

    def close(self) -> None:
        """End the child; a later job starts another one."""
        self.model = ""
        self._process.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _crash(job: Job, found: Diagnostic) -> Diagnostic:
    """That the process of a job ended, which says no compiler's name."""
    message = f"the process that did `{job.name}` ended before the job was done"
    hint = "run the same command again: what is done is kept"
    return Diagnostic("job-crashed", message, notes=(*found.notes, found.message), hint=hint)
