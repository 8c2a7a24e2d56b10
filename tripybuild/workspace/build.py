"""Builds: the jobs of a plan that have to be done, each when what it needs is done.

A job that is done is remembered at once, so that a build that is ended goes on where it was.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.hashing import file_digest
from tripybuild.workspace.inputs import InputFiles
from tripybuild.workspace.jobs import Executor, JobResult, RunningJob
from tripybuild.workspace.matrix import needed_builds
from tripybuild.workspace.plan import PlannedJob
from tripybuild.workspace.shared_outputs import SharedOutputs
from tripybuild.workspace.state import WorkspaceState
from tripybuild.workspace.workspace_file import BuildWorkspace

LOOK = 0.2  # seconds between two looks at what runs


def _ignore(*_: object) -> None:
    """What most callers do about it."""


@dataclass(frozen=True, slots=True)
class BuildStatus:
    """What a build has come to, for a reader.

    Args:
        finished: Jobs that have a result.
        total: Jobs that have to be done.
        running: Those that are being done.
    """

    finished: int
    total: int
    running: Sequence[RunningJob]


@dataclass
class Build:
    """The work of one build.

    Args:
        workspace: The workspace.
        jobs: The plan, in its order.
        state: Where what is done is remembered.
        files: The workspace's files, as the plan saw them.
        keeps_going: Whether others are done where one fails.
        finish: Told each result as it comes.
        look: Told now and then how far the build is.
        results: The results so far.
        failed: The builds that have a job which is not done.
    """

    workspace: BuildWorkspace
    jobs: Sequence[PlannedJob]
    state: WorkspaceState
    files: InputFiles
    keeps_going: bool = False
    finish: Callable[[PlannedJob, JobResult], None] = _ignore
    look: Callable[[BuildStatus], None] = _ignore
    results: dict[str, JobResult] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    def restore(self, shared: SharedOutputs) -> bool:
        """Take from the cache that machines share what another one has built.

        Returns:
            Whether that was all that has to be done.

        Raises:
            DiagnosticError: What is done cannot be remembered.
        """
        stale = [each for each in self.jobs if not each.is_current]
        for planned in stale if shared.is_there else ():
            job = planned.job
            with contextlib.suppress(DiagnosticError):  # the job says what is wrong
                if job.output and shared.restore(job):
                    found = file_digest(self.workspace.root / job.output)
                    result = JobResult(job.name, job.key, "done", found.digest, found.size)
                    self._finish(planned, replace(result, warnings=tuple(shared.warnings)))
                    shared.warnings = []
        return len(self.results) == len(stale)

    def run(self, executor: Executor) -> dict[str, JobResult]:
        """Do what has to be done, and give the result of each such job by its name.

        Args:
            executor: Has jobs done.

        Raises:
            DiagnosticError: What is done cannot be remembered, or the executor is gone.
        """
        stale = {each.job.name: each for each in self.jobs if not each.is_current}
        waiting = {name: each for name, each in stale.items() if name not in self.results}
        submitted: dict[str, PlannedJob] = {}
        is_ending = False
        while waiting or submitted:
            for planned in [] if is_ending else list(self._ready(waiting, submitted)):
                del waiting[planned.job.name]
                submitted[planned.job.name] = planned
                executor.submit(planned.job)
            for result in executor.completed(LOOK) if submitted else ():
                planned = submitted.pop(result.job)
                self._finish(planned, result)
                if result.outcome != "done" and not self.keeps_going and not is_ending:
                    is_ending = True
                    executor.cancel()
            self._leave_out(waiting, everything=is_ending)
            running = executor.running()
            self.look(BuildStatus(len(self.results), len(stale), running))
        return self.results

    def _ready(
        self, waiting: dict[str, PlannedJob], submitted: dict[str, PlannedJob]
    ) -> Iterator[PlannedJob]:
        """The jobs whose builds need nothing that is not done."""
        open_builds = {e.combination.build for e in (*waiting.values(), *submitted.values())}
        for planned in waiting.values():
            needed = needed_builds(self.workspace, planned.combination.build)
            if not open_builds.intersection(needed):
                yield planned

    def _finish(self, planned: PlannedJob, result: JobResult) -> None:
        if result.outcome == "done":
            result = self._checked(planned, result)
        self.results[result.job] = result
        if result.outcome != "done":
            self.failed.add(planned.combination.build)
        if result.outcome == "done":
            measured = {"digest": result.digest, "size": result.size, "report": result.report}
            measured |= {"seconds": result.seconds, "peak": result.peak}
            self.state.append(planned.record(**measured))
        self.finish(planned, result)

    def _checked(self, planned: PlannedJob, result: JobResult) -> JobResult:
        """The result, or a failure where a file is not any more what the key says that was read."""
        for each in planned.job.files:
            self.files.forget(each.path)
            found = self.files.look(each.path)
            if (found.digest if found else "") != each.digest:
                message = f"`{each.path}` changed while `{result.job}` was done"
                hint = "run the same command again when nothing writes to the file"
                changed = Diagnostic("inputs-changed", message, hint=hint)
                return replace(result, outcome="failed", diagnostics=(changed,))
        return result

    def _leave_out(self, waiting: dict[str, PlannedJob], *, everything: bool) -> None:
        """Give up what waits for a build that failed, or all of it."""
        for name, planned in list(waiting.items()):
            needed = needed_builds(self.workspace, planned.combination.build)
            lost = [each for each in needed if each in self.failed]
            if not everything and not lost:
                continue
            why = f"the build `{lost[0]}`, which it needs, failed" if lost else "another job failed"
            hint = None if lost else "`--keep-going` does all that can be done"
            span = planned.combination.span
            found = Diagnostic("job-canceled", f"`{name}` was left out: {why}", span, hint=hint)
            del waiting[name]
            self._finish(
                planned, JobResult(name, planned.job.key, "canceled", diagnostics=(found,))
            )


def remember_inputs(state: WorkspaceState, files: InputFiles) -> None:
    """Keep what was found of inputs, if that is new."""
    if files.changed:
        state.keep_inputs(files.remembered())
