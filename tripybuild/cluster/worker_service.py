"""What runs on a worker of a cluster, in the threads of Dask: each job in a process of its own.

Dask calls `do_job`, `describe_machine` and `cancel_build` by their names, so that a worker needs
nothing but tripybuild installed.

Invariant: a job is done only by a machine whose versions are those of its key, or not at all.
"""

import contextlib
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from distributed import Worker, get_worker

from tripybuild.cluster.file_store import FileStore
from tripybuild.cluster.job_calls import (
    PIECE,
    JobCall,
    JobReply,
    MachineFacts,
    versions_differ,
)
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.hashing import file_digest
from tripybuild.process.per_process import per_process
from tripybuild.targets.table import parse_target
from tripybuild.workspace.job_process import JobProcess
from tripybuild.workspace.jobs import Action, Job, JobFile, JobResult
from tripybuild.workspace.versions import job_versions

FOLDER = "tripybuild"  # in the worker's own
PACKAGES = ("site-packages", "dist-packages")


class JobService:
    """The processes and the files of a worker; its threads share it.

    Args:
        folder: Where files of jobs are kept.
    """

    def __init__(self, folder: Path) -> None:
        self.files = FileStore(folder)
        self._lock = threading.Lock()
        self._idle: list[JobProcess] = []
        self._busy: dict[JobProcess, str] = {}
        self._canceled: set[str] = set()

    def run(self, build: str, job: Job, root: Path, tell: Callable[[str], None]) -> JobResult:
        """Do a job below a folder, in a process that is kept for the next one."""
        process = self._begin(build, root)
        if process is None:
            return JobResult(job.name, job.key, "canceled")
        try:
            return process.run(job, tell)
        finally:
            with self._lock:
                del self._busy[process]
                self._idle.append(process)

    def cancel(self, build: str) -> None:
        """End all jobs of a build, those that come later as well."""
        with self._lock:
            self._canceled.add(build)
            for process, one in self._busy.items():
                if one == build:
                    process.kill()

    def _begin(self, build: str, root: Path) -> JobProcess | None:
        """A process for a job; None where the build does not want it any more."""
        with self._lock:
            if build in self._canceled:
                return None
            process = self._idle.pop() if self._idle else JobProcess(root)
            process.root = root
            process.start()
            self._busy[process] = build
            return process


@per_process
def job_service(folder: Path) -> JobService:
    """The service of a worker, by its folder."""
    return JobService(folder)


def describe_machine(target: str, action: Action) -> MachineFacts:
    """The versions that decide what this machine makes of a job, and what it has."""
    try:
        versions = job_versions(target, action)
    except DiagnosticError as error:
        return MachineFacts({}, error.diagnostics[0].message)
    return MachineFacts(versions, has=(parse_target(target).name,))


def cancel_build(build: str, dask_worker: Worker) -> None:
    """End all jobs of a build on this worker."""
    job_service(_folder(dask_worker)).cancel(build)


def do_job(call: JobCall, pieces: Mapping[str, Sequence[bytes]]) -> JobReply:
    """Do a job, or say why not.

    Args:
        call: The job.
        pieces: Contents of files that workers lacked, by digest.
    """
    worker, job = get_worker(), Job.from_json(call.job)
    facts = describe_machine(job.target, job.action)
    if unable := facts.unable or versions_differ(job.versions, facts.versions):
        return JobReply(unable=unable, worker=worker.address)
    service = job_service(_folder(worker))

    def tell(phase: str) -> None:
        message = {"job": job.name, "phase": phase, "worker": worker.address}
        worker.log_event(call.build, message)

    if (Path(call.root) / call.token).is_file():
        return JobReply(service.run(call.build, job, Path(call.root), tell).to_json())
    own: list[JobFile] = []
    for each in job.files:
        if not Path(each.path).is_absolute():
            own += [each] if each.digest else []
        elif not _is_installed(each):
            missing = f"`{_package_path(each.path)}` is not installed there as here"
            return JobReply(unable=missing, worker=worker.address)
    for digest, content in pieces.items():
        service.files.add(digest, content)
    if lacks := service.files.lacks(own):
        return JobReply(lacks=lacks)
    with service.files.job_folder(own) as root:
        result = service.run(call.build, job, root, tell)
        output = _pieces(root / job.output) if result.outcome == "done" and job.output else None
        return JobReply(result.to_json(), output=output)


def _folder(worker: Worker) -> Path:
    return Path(worker.local_directory) / FOLDER


def _pieces(path: Path) -> list[bytes]:
    with path.open("rb") as stream:
        return list(iter(lambda: stream.read(PIECE), b""))


def _package_path(path: str) -> str:
    """The path of a package's file below the folder of packages."""
    parts = Path(path).parts
    places = [number for number, each in enumerate(parts) if each in PACKAGES]
    return Path(*parts[places[-1] + 1 :]).as_posix() if places else path


def _is_installed(file: JobFile) -> bool:
    """Whether a package's file is here, too, with the same content."""
    own = _package_path(file.path)
    for each in [file.path, *(str(Path(folder) / own) for folder in sys.path)]:
        with contextlib.suppress(OSError):
            place = Path(each)
            if place.is_file() and _digest(place, place.stat().st_mtime_ns) == file.digest:
                return True
    return False


@per_process
def _digest(path: Path, modified: int) -> str:
    """The digest of a file that does not change while it is not written."""
    del modified  # another time is another content
    return file_digest(path).digest
