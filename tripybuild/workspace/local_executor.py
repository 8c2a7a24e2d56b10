"""Jobs on this machine, by as many processes as its cores and its memory allow."""

import os
import queue
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.process import memory
from tripybuild.workspace.capabilities import missing_capability
from tripybuild.workspace.job_process import JobProcess
from tripybuild.workspace.jobs import Job, JobResult, RunningJob, canceled

SHARE = 0.9  # of the memory that is available: what runs besides needs some
NEAR = 200  # jobs that wait and are looked at, so that very many cost no more
UNKNOWN = 4 << 30  # bytes of a machine that does not tell


class _Slot:
    """A process, its thread, and the job that it does."""

    def __init__(self, number: int, root: Path, results: "queue.SimpleQueue[JobResult]") -> None:
        self.process = JobProcess(root)
        self.job: Job | None = None
        self.phase, self.began, self.number = "", 0.0, number
        self._orders: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._results = results
        self._thread = threading.Thread(target=self._work, name=f"job {number}", daemon=True)
        self._thread.start()

    def begin(self, job: Job) -> None:
        self.job, self.phase, self.began = job, "", time.perf_counter()
        self.process.start()
        self._orders.put(job)

    def end(self) -> None:
        """End the process, and the thread with it."""
        self._orders.put(None)
        self.process.kill()
        self._thread.join()
        self.process.close()

    def _work(self) -> None:
        while (job := self._orders.get()) is not None:
            self._results.put(self.process.run(job, self._tell))

    def _tell(self, phase: str) -> None:
        self.phase = phase


class LocalExecutor:
    """Has jobs done by processes of this machine.

    Those that wait are begun in their order, but one that shares the model that a free process has
    read is preferred, and one for which there is no memory now waits for the next result. A job
    that needs more than there is runs alone. One whose process ended is tried once more, alone and
    when nothing else waits: what ends a process is most often that others took its memory.

    Args:
        root: The workspace's folder.
        most: How many processes there are.
        cores: Cores that jobs have together.
        size: Bytes of memory that they have together.
    """

    def __init__(
        self, root: Path, most: int | None = None, cores: int | None = None, size: int | None = None
    ) -> None:
        self.cores = cores or usable_cores()
        self.most = most or self.cores
        self.memory = size or int((memory.available() or UNKNOWN) * SHARE)
        self._root = root
        self._waiting: list[Job] = []
        self._slots: list[_Slot] = []
        self._results: queue.SimpleQueue[JobResult] = queue.SimpleQueue()
        self._known: list[JobResult] = []
        self._retries: list[Job] = []  # that wait until they are alone
        self._crashes: dict[str, JobResult] = {}  # of first tries
        self._unwanted: set[str] = set()

    def submit(self, job: Job) -> None:
        """Take a job; it begins at once if there is room, and fails where that cannot be here."""
        lacking = missing_capability(job.needs.capabilities)
        if lacking is not None:
            message = f"`{job.name}` requires {lacking}"
            hint = "build it on a machine that has it; `--keep-going` does the others"
            found = Diagnostic("capability-missing", message, hint=hint)
            self._known.append(JobResult(job.name, job.key, "failed", diagnostics=(found,)))
            return
        self._waiting.append(job)
        self._begin()

    def completed(self, timeout: float) -> Sequence[JobResult]:
        """The results since the last call; see `Executor`."""
        found, self._known = self._known, []
        found += self._taken(0.0 if found else timeout)
        self._begin()
        return found

    def running(self) -> Sequence[RunningJob]:
        """What is being done now."""
        now = time.perf_counter()
        return [
            RunningJob(each.job.name, each.phase, now - each.began, f"process {each.number}")
            for each in self._slots
            if each.job is not None
        ]

    def cancel(self) -> None:
        """End all that runs or waits."""
        waiting = [*self._waiting, *self._retries]
        self._waiting, self._retries = [], []
        self._known += map(canceled, waiting)
        for slot in self._slots:
            if slot.job is not None:
                self._unwanted.add(slot.job.name)
                slot.process.kill()

    def close(self) -> None:
        """End the processes."""
        slots, self._slots = self._slots, []
        for each in slots:
            each.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _taken(self, timeout: float) -> Iterator[JobResult]:
        """Results that are there, or that come in time; what did them is free then."""
        while True:
            try:
                result = self._results.get(timeout=timeout) if timeout else self._results.get(False)
            except queue.Empty:
                return
            timeout = 0.0
            slot = next(e for e in self._slots if e.job is not None and e.job.name == result.job)
            job, slot.job = slot.job, None
            first = self._crashes.get(result.job)
            if job is None or not (result.is_retryable or first):
                yield result
            elif result.is_retryable and job.name in self._unwanted:
                yield canceled(job)
            elif first is not None:
                yield _with_first_try(result, first)
            else:
                self._crashes[result.job] = result
                self._retries.append(job)

    def _begin(self) -> None:
        """Begin what there is room for."""
        while self._waiting or self._retries:
            busy = [each.job for each in self._slots if each.job is not None]
            free = [each for each in self._slots if each.job is None]
            if len(busy) >= self.most or any(each.name in self._crashes for each in busy):
                return
            if not self._waiting:
                if not busy:
                    self._begin_alone(self._retries.pop(0))
                return
            size = self.memory - sum(each.needs.memory for each in busy)
            cores = self.cores - sum(each.needs.cores for each in busy)
            read = {each.process.model: each for each in free}
            job = next(self._able(size, cores, read, is_idle=not busy), None)
            if job is None:
                return
            slot = read.get(job.model) or (free[0] if free else self._added())
            self._waiting.remove(job)
            slot.begin(job)

    def _begin_alone(self, job: Job) -> None:
        """Begin a job in the first process; the others end, since they hold what they have read."""
        for each in self._slots:
            each.process.close()
        self._slots[0].begin(job)

    def _able(
        self, size: int, cores: int, read: Mapping[str, _Slot], *, is_idle: bool
    ) -> Iterator[Job]:
        """The first of those jobs for which there is room, those first whose model was read."""
        near = self._waiting[:NEAR]
        fits = [
            each
            for each in near
            if is_idle or (each.needs.memory <= size and each.needs.cores <= cores)
        ]
        yield from (each for each in fits if each.model in read)
        yield from fits

    def _added(self) -> _Slot:
        self._slots.append(_Slot(len(self._slots) + 1, self._root, self._results))
        return self._slots[-1]


def _with_first_try(result: JobResult, first: JobResult) -> JobResult:
    """The result of a second try, which says what became of the first one."""
    if result.outcome != "done":
        note = "it was tried twice, the second time alone with all memory"
        noted = (replace(each, notes=(*each.notes, note)) for each in result.diagnostics)
        return replace(result, diagnostics=tuple(noted))
    message = f"`{result.job}` was done by a second try, alone: the process of the first one ended"
    notes = first.diagnostics[0].notes
    hint = "`--jobs` and `--memory` bound what runs at once"
    found = Diagnostic("job-crashed", message, notes=notes, hint=hint)
    return replace(result, warnings=(*result.warnings, found))


def usable_cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
