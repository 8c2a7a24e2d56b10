"""Jobs: what is built of a workspace, one executable each, and `Executor`, which has them done.

A job is data that any machine understands: it names files by their paths below the workspace's
folder and by their digests, and says what it needs. Its key is the digest of all that its output
depends on, so that two jobs with one key have the same output, whichever machine does them.

Invariant: `Job.from_json(job.to_json()) == job`, and so of results. Neither holds code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol, Self

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.worker import diagnostics_json

Action = Literal["compile", "test"]
Outcome = Literal["done", "failed", "crashed", "canceled"]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a machine must have free, or have at all, to do a job.

    Args:
        memory: Bytes at the peak, of the job's process and those that it starts: what an earlier
            run took, or else an estimate of the size of its files.
        cores: Processor cores that it keeps busy.
        capabilities: What the machine must have, such as `tensorrt-rtx`, the name of a target whose
            library has to be installed, or `gpu:sm89`.
    """

    memory: int = 0
    cores: int = 1
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobFile:
    """A file that a job reads.

    Args:
        path: Its path below the workspace's folder, with `/`; an absolute one is a file of an
            installed package, which other machines have at another place.
        digest: Of its content, as `process.hashing` has it for its size.
        size: In bytes.
    """

    path: str
    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Job:
    """One thing to do.

    Args:
        name: Unique in the workspace; that of its output without the suffix.
        key: The digest of all that the output depends on: files, options, target, versions.
        model: The digest of what is read before a target is asked. Jobs that share it can share
            the model that was read, its weights and what is computed of them.
        spec: The path of the spec below the workspace's folder.
        files: All that it reads: the spec, what that uses, configuration, registries, weights.
        target: What to compile for, as `--target` takes it.
        output: The path of the executable below the workspace's folder; of a test, none.
        action: What to do.
        sizes: Sizes and dtypes in the place of the spec's own, as `--set` takes them.
        shapes: Dynamic sizes to compile ahead, as `--shapes` takes them.
        buckets: Sizes to pad to, as `--buckets` takes them.
        weights: A file or folder in the place of what the spec names; below the folder.
        config: A file in the place of the spec's configuration; below the folder.
        registries: Folders of operators, below the folder.
        timeout: Seconds that a compiler may take.
        needs: What a machine must have.
        versions: The packages that the output depends on. A machine that has others must not do
            the job: its output would not be that of the key.
    """

    name: str
    key: str
    model: str
    spec: str
    files: tuple[JobFile, ...]
    target: str
    output: str = ""
    action: Action = "compile"
    sizes: Mapping[str, Any] = field(default_factory=dict)
    shapes: tuple[Mapping[str, int], ...] = ()
    buckets: Mapping[str, Any] = field(default_factory=dict)
    weights: str | None = None
    config: str | None = None
    registries: tuple[str, ...] = ()
    timeout: float | None = None
    needs: Needs = Needs()
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The job as JSON can say it."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The job that `to_json` gave.

        Raises:
            TypeError: It is no job.
        """
        needs = {**data["needs"], "capabilities": tuple(data["needs"]["capabilities"])}
        own = {
            **data,
            "files": tuple(JobFile(**each) for each in data["files"]),
            "shapes": tuple(data["shapes"]),
            "registries": tuple(data["registries"]),
            "needs": Needs(**needs),
        }
        return cls(**own)


@dataclass(frozen=True, slots=True)
class JobResult:
    """What became of a job.

    Args:
        job: Its name.
        key: Its key.
        outcome: `done`; `failed`, where the model or the compiler says why, and another try would
            fail as well; `crashed`, where the process that did it ended; `canceled`.
        digest: That of the output, as `process.hashing` has it.
        size: Bytes of the output.
        seconds: How long it took.
        peak: Bytes of memory at the peak; 0 where that is not known.
        diagnostics: What is wrong, for a job that is not done. Spans have paths as the job has.
        warnings: What the user should know of one that is done.
        phases: Seconds of each phase.
        report: What a test found, as plain data.
    """

    job: str
    key: str
    outcome: Outcome
    digest: str = ""
    size: int = 0
    seconds: float = 0.0
    peak: int = 0
    diagnostics: tuple[Diagnostic, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    phases: Mapping[str, float] = field(default_factory=dict)
    report: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_retryable(self) -> bool:
        """Whether the same job may be done by another try: nothing says that it is wrong."""
        return self.outcome == "crashed"

    def to_json(self) -> dict[str, Any]:
        """The result as JSON can say it; long texts of diagnostics are cut."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        texts = ("diagnostics", "warnings")
        return own | {name: diagnostics_json.to_json(own[name]) for name in texts}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The result that `to_json` gave.

        Raises:
            TypeError: It is no result.
        """
        texts = ("diagnostics", "warnings")
        return cls(**{**data, **{n: diagnostics_json.from_json(data[n]) for n in texts}})


def canceled(job: Job) -> JobResult:
    """The result of a job that was ended, or not begun, because the build ended."""
    found = Diagnostic("job-canceled", f"`{job.name}` was not done: the build was ended before")
    return JobResult(job.name, job.key, "canceled", diagnostics=(found,))


@dataclass(frozen=True, slots=True)
class RunningJob:
    """A job that is being done.

    Args:
        job: Its name.
        phase: What it does now; empty before the first phase.
        seconds: Since it began.
        worker: What does it, in a word: a process, or a machine's address.
    """

    job: str
    phase: str
    seconds: float
    worker: str = ""


class Executor(Protocol):
    """Has jobs done, by processes or by machines.

    The caller submits a job when all that it depends on is done, and takes results until there are
    as many as it submitted: each job has exactly one, whatever becomes of the process that does it.
    When to begin a job, and where, is the executor's business: it has to respect what the job
    needs, and prefers one that shares its `model` with what a process has read. An executor is used
    by one thread. It is a context manager, which closes it.
    """

    def submit(self, job: Job) -> None:
        """Take a job, to be done some time.

        Raises:
            DiagnosticError: No worker of it will ever be able to do the job.
        """
        ...

    def completed(self, timeout: float) -> Sequence[JobResult]:
        """The results since the last call, in the order in which they came.

        Waits for the first of them so many seconds; none is returned where none came.

        Raises:
            DiagnosticError: The executor itself is gone, such as a scheduler that does not answer.
        """
        ...

    def running(self) -> Sequence[RunningJob]:
        """What is being done now, for a reader."""
        ...

    def cancel(self) -> None:
        """End all that runs or waits; each such job has the result `canceled`."""
        ...

    def close(self) -> None:
        """End what the executor has started, results or not."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
