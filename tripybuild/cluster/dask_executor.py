"""Jobs on the workers of a Dask cluster.

A worker that shares the workspace's folder works there. To another one, files go through Dask, once
each: the first job is sent without any, and the worker says what it lacks.

Invariant: each job that was submitted has one result, whatever becomes of workers; an output gets
its name when all of it is there and has the digest that the result says.
"""

import contextlib
import queue
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tripybuild.cluster import dask_client
from tripybuild.cluster.dask_client import MEMORY, Cluster
from tripybuild.cluster.job_calls import JobCall, JobReply, versions_differ
from tripybuild.cluster.transfer import await_output, read_pieces, write_output
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.workspace.jobs import Job, JobResult, RunningJob, canceled

if TYPE_CHECKING:
    from distributed import Future

MOST_TRIES = 3
LOOK = 2.0  # seconds between two looks at which workers there are
LOST = 15.0  # seconds without the scheduler


@dataclass
class _Sent:
    """A job that was submitted.

    Args:
        job: The job.
        tries: How often it was sent for a reason that another worker may not have.
        ships: Whether files go with it.
        future: What Dask knows of it.
        excluded: Workers that cannot do it, with the reason of each.
        able: The workers that it was sent to, one of which does it.
        worker: The worker that said last that it does it.
        phase: What it does there.
        began: When it was sent, or when a worker began.
    """

    job: Job
    tries: int = 0
    ships: bool = False
    future: "Future | None" = None
    excluded: dict[str, str] = field(default_factory=dict)
    able: Sequence[str] = ()
    worker: str = ""
    phase: str = ""
    began: float = 0.0


class DaskExecutor:
    """Has jobs done by the workers of a cluster.

    A job that needs more memory than each worker declares gets all that one has. A capability, such
    as `tensorrt-rtx` or `gpu:sm89`, is a resource of that name; that the library of a target is
    there is also asked.

    Args:
        root: The workspace's folder.
        cluster: The cluster, which is left when the executor is closed.
    """

    def __init__(self, root: Path, cluster: Cluster) -> None:
        self.root, self.cluster = root.absolute(), cluster
        self.build = f"tripybuild-{secrets.token_hex(8)}"
        self._token = self._root_token()
        self._sent: dict[str, _Sent] = {}
        self._contents: dict[str, list[Future]] = {}  # by digest
        self._arrived: queue.SimpleQueue[tuple[str, Future]] = queue.SimpleQueue()
        self._finished: list[JobResult] = []
        self._known: Mapping[str, Mapping[str, Any]] = {}
        self._looked = -LOOK
        self._lost_since: float | None = None
        self._empty_since: float | None = None
        self._is_canceled = False
        cluster.client.subscribe_topic(self.build, self._hear)

    def submit(self, job: Job) -> None:
        """Take a job, and send it; one that no worker can do has a result that says so."""
        sent = _Sent(job, began=time.perf_counter())
        self._sent[job.name] = sent
        self._send(sent)

    def completed(self, timeout: float) -> Sequence[JobResult]:
        """The results since the last call; see `Executor`."""
        end = time.perf_counter() + timeout
        while not self._finished:
            left = end - time.perf_counter()
            try:
                name, future = self._arrived.get(timeout=max(left, 0.001))
            except queue.Empty:
                self._look_after()
                if left <= 0:
                    break
                continue
            sent = self._sent.get(name)
            if sent is not None and sent.future is future:
                self._take(sent, future)
        found, self._finished = self._finished, []
        return found

    def running(self) -> Sequence[RunningJob]:
        """What is being done now, as workers say."""
        now = time.perf_counter()
        return [
            RunningJob(each.job.name, each.phase, now - each.began, each.worker)
            for each in self._sent.values()
            if each.worker
        ]

    def cancel(self) -> None:
        """End all that runs or waits."""
        from tripybuild.cluster.worker_service import cancel_build  # noqa: PLC0415 - Dask

        self._is_canceled = True
        with contextlib.suppress(OSError, TimeoutError):
            self.cluster.client.run(cancel_build, self.build, on_error="ignore")
        for sent in list(self._sent.values()):
            if sent.future is not None:
                sent.future.cancel()
            self._finish(sent, canceled(sent.job))

    def close(self) -> None:
        """Leave the cluster; what still runs there is ended."""
        if self._sent and not self.cluster.is_lost():
            self.cancel()
        if self._token:
            with contextlib.suppress(OSError):
                (self.root / self._token).unlink()
        self._contents.clear()
        self.cluster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _root_token(self) -> str:
        """Write the file by which a worker knows the workspace's folder; none where it cannot."""
        name = f".{self.build}"
        try:
            (self.root / name).touch(mode=0o600, exist_ok=False)
        except OSError:
            return name
        return name

    def _hear(self, event: tuple[float, Any]) -> None:
        """Take what a worker says of a job; Dask calls it in a thread of its own."""
        _, message = event
        sent = self._sent.get(message.get("job", ""))
        if sent is None:
            return
        if not sent.worker:
            sent.began = time.perf_counter()
        sent.worker, sent.phase = message["worker"], message["phase"]

    def _send(self, sent: _Sent) -> None:
        """Send a job to the workers that can do it."""
        from tripybuild.cluster.worker_service import do_job  # noqa: PLC0415 - Dask

        able = sent.able = self._able(sent)
        if not self._known:  # `_look_after` sends it when there is one
            return
        if not able:
            self._finish(sent, _failed(sent.job, self._unable(sent)))
            return
        try:
            pieces = self._pieces(sent.job) if sent.ships else {}
        except DiagnosticError as error:
            self._finish(sent, _failed(sent.job, *error.diagnostics))
            return
        sent.worker = sent.phase = ""
        call = JobCall(self.build, sent.job.to_json(), str(self.root), self._token)
        number = f"{sent.tries}{'-ships' if sent.ships else ''}-{secrets.token_hex(4)}"
        future = self.cluster.client.submit(
            do_job,
            call,
            pieces,
            key=f"{self.build}-{sent.job.key}-{number}",
            workers=able,
            resources=self._resources(sent.job, able),
            retries=0,
            pure=False,
        )
        sent.future = future
        name = sent.job.name
        future.add_done_callback(lambda done: self._arrived.put((name, done)))

    def _able(self, sent: _Sent) -> list[str]:
        """The workers that can do a job."""
        self._look()
        wanted = sent.job.needs.capabilities
        found = []
        facts = self.cluster.facts(list(self._known), sent.job.target, sent.job.action)
        for address, own in facts.items():
            reason = own.unable or versions_differ(sent.job.versions, own.versions)
            resources = self._known.get(address, {}).get("resources", {})
            missing = [each for each in wanted if each not in own.has and not resources.get(each)]
            if missing and not reason:
                reason = f"it has no {', '.join(f'`{each}`' for each in missing)}"
            if reason:
                sent.excluded[address] = reason
            elif address not in sent.excluded:
                found.append(address)
        return found

    def _look(self) -> None:
        """Learn which workers there are, now and then."""
        now = time.perf_counter()
        if now - self._looked < LOOK and self._known:
            return
        known = self.cluster.workers()
        for address in self._known.keys() - known.keys():
            self.cluster.forget(address)
        self._known, self._looked = known, now

    def _unable(self, sent: _Sent) -> Diagnostic:
        """Why no worker can do a job."""
        reasons: dict[str, list[str]] = {}
        for address, reason in sent.excluded.items():
            reasons.setdefault(reason, []).append(f"`{address}`")
        notes = tuple(f"{', '.join(places)}: {why}" for why, places in reasons.items())
        message = f"No worker of the cluster can do `{sent.job.name}`"
        hint = "workers need the versions of this machine, and what the target needs"
        return Diagnostic("cluster-unable", message, notes=notes, hint=hint)

    def _resources(self, job: Job, able: Sequence[str]) -> dict[str, float] | None:
        """What a job takes of its worker, of what all that can do it declare."""
        declared = [self._known[each].get("resources", {}) for each in able]
        wanted: dict[str, float] = dict.fromkeys(job.needs.capabilities, 1.0)
        most = max((each.get(MEMORY, 0.0) for each in declared), default=0.0)
        wanted[MEMORY] = min(float(job.needs.memory), most)
        return {n: v for n, v in wanted.items() if v and all(n in e for e in declared)} or None

    def _pieces(self, job: Job) -> dict[str, list["Future"]]:
        """The contents of a job's files, each sent to the cluster once while a job needs it.

        Raises:
            DiagnosticError: A file is not what it was when the build began.
        """
        found = {}
        for each in job.files:
            if not each.digest or Path(each.path).is_absolute():
                continue
            if each.digest not in self._contents:
                pieces = read_pieces(self.root / each.path, each.digest)
                stem = f"{self.build}-{each.digest}-{secrets.token_hex(4)}"
                names = [f"{stem}-{number}" for number in range(len(pieces))]
                data = self.cluster.client.scatter(dict(zip(names, pieces, strict=True)))
                self._contents[each.digest] = [data[name] for name in names]
            found[each.digest] = self._contents[each.digest]
        return found

    def _take(self, sent: _Sent, future: "Future") -> None:
        """Take what became of a job that was sent."""
        sent.future = None
        try:
            reply = future.result(timeout=LOST)
        except Exception as error:  # whatever a worker or Dask raised
            if self.cluster.is_lost():
                raise DiagnosticError(self.cluster.lost(str(error))) from error
            # What a worker held of files is gone with it, and no other job can have it from there.
            for each in sent.job.files:
                self._contents.pop(each.digest, None)
            self._try_again(sent, f"{type(error).__name__}: {error}")
            return
        if not isinstance(reply, JobReply):
            self._try_again(sent, "a worker answered what is no reply")
        elif reply.lacks:
            sent.ships = True
            self._send(sent)
        elif reply.unable:
            sent.excluded |= {reply.worker: reply.unable}
            self._send(sent)
        else:
            result = self._result(sent.job, reply)
            if result.is_retryable and sent.tries + 1 < MOST_TRIES:
                self._try_again(sent, "", result)
            else:
                self._finish(sent, result)

    def _try_again(self, sent: _Sent, reason: str, result: JobResult | None = None) -> None:
        """Send a job again whose worker ended; not without end."""
        sent.tries += 1
        if sent.tries < MOST_TRIES and not self._is_canceled:
            self._send(sent)
            return
        message = f"`{sent.job.name}` was not done: {MOST_TRIES} workers ended while they did it"
        hint = "run the same command again: what is done is kept"
        found = Diagnostic("job-crashed", message, notes=(reason,), hint=hint)
        lost = JobResult(sent.job.name, sent.job.key, "crashed", diagnostics=(found,))
        self._finish(sent, result or lost)

    def _result(self, job: Job, reply: JobReply) -> JobResult:
        """The result of a reply, with its output in its place."""
        try:
            result = JobResult.from_json(reply.result or {})
        except (TypeError, KeyError, ValueError):
            return _failed(job, _malformed(job))
        if (result.job, result.key) != (job.name, job.key):
            return _failed(job, _malformed(job))
        if result.outcome != "done" or not job.output:
            return result
        try:
            if reply.output is not None:
                write_output(self.root, job, reply.output, result)
            else:
                await_output(self.root / job.output, result)
        except DiagnosticError as error:
            return _failed(job, *error.diagnostics)
        return result

    def _finish(self, sent: _Sent, result: JobResult) -> None:
        self._sent.pop(sent.job.name, None)
        sent.future = None
        self._finished.append(result)
        needed = {each.digest for one in self._sent.values() for each in one.job.files}
        for digest in self._contents.keys() - needed:
            del self._contents[digest]  # which lets the workers forget it

    def _look_after(self) -> None:
        """Send jobs again whose workers are all gone; new ones may have come.

        Raises:
            DiagnosticError: The scheduler is gone, or has no workers, for long.
        """
        now = time.perf_counter()
        if self.cluster.is_lost():
            self._lost_since = self._lost_since or now
            if now - self._lost_since > LOST:
                raise DiagnosticError(self.cluster.lost())
            return
        self._lost_since = None
        self._look()
        if self._known:
            self._empty_since = None
        elif self._sent:
            self._empty_since = self._empty_since or now
            if now - self._empty_since > dask_client.EMPTY:
                raise DiagnosticError(self.cluster.empty())
        for sent in list(self._sent.values()):
            if self._known and not self._known.keys() & set(sent.able):
                if sent.future is not None:
                    sent.future.cancel()
                self._send(sent)


def _failed(job: Job, *found: Diagnostic) -> JobResult:
    return JobResult(job.name, job.key, "failed", diagnostics=found)


def _malformed(job: Job) -> Diagnostic:
    message = f"A worker answered for `{job.name}` what is no result of it"
    return Diagnostic("cluster-file", message, hint="run it again")
