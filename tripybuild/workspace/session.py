"""A build from its workspace's file to its results: what `tripybuild build` and `test` share."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.process.phases import begin_phase, end_phase
from tripybuild.workspace.build import Build, BuildStatus, remember_inputs
from tripybuild.workspace.inputs import InputFiles
from tripybuild.workspace.jobs import Executor, JobResult
from tripybuild.workspace.matrix import Combination, all_tests, select, shard
from tripybuild.workspace.plan import PlannedJob, plan
from tripybuild.workspace.shared_outputs import SharedOutputs
from tripybuild.workspace.state import WorkspaceState
from tripybuild.workspace.workspace_file import (
    BuildWorkspace,
    find_workspace,
    has_test,
    read_workspace,
)

ASKED = "it is asked for"
Look = Callable[[BuildStatus], None]
Finish = Callable[[PlannedJob, JobResult], None]


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a workspace a user wants.

    Args:
        names: Words for builds, specs and jobs; without, all.
        part: Which part of how many; without, all of them.
    """

    names: Sequence[str] = ()
    part: tuple[int, int] | None = None

    def of(self, made: Sequence[Combination], workspace: BuildWorkspace) -> list[Combination]:
        """Those of some combinations that are wanted.

        Raises:
            DiagnosticError: A name is of none.
        """
        chosen = select(made, self.names, workspace)
        return chosen if self.part is None else shard(chosen, *self.part)


def open_workspace(start: Path) -> BuildWorkspace:
    """The workspace of a folder, or of a file.

    Raises:
        DiagnosticError: There is none, or something is wrong with it.
    """
    begin_phase("read the workspace")
    return read_workspace(find_workspace(start))


def state_of(workspace: BuildWorkspace) -> WorkspaceState:
    """What a workspace remembers."""
    return WorkspaceState(workspace.root / workspace.file.outputs)


def make_plan(workspace: BuildWorkspace, made: Sequence[Combination]) -> list[PlannedJob]:
    """The jobs of some combinations, and why each has to be done; nothing is written.

    Args:
        workspace: The workspace.
        made: The combinations.
    """
    begin_phase("compare with what was built")
    state = state_of(workspace)
    found = plan(workspace, made, _files(workspace, state), state.records())
    end_phase()
    return found


def _files(workspace: BuildWorkspace, state: WorkspaceState) -> InputFiles:
    return InputFiles(workspace.root, state.inputs())


@dataclass(frozen=True, slots=True)
class BuildRun:
    """The plan of a build, and the results of what had to be done."""

    jobs: Sequence[PlannedJob]
    results: Mapping[str, JobResult]


def find_tests(workspace: BuildWorkspace) -> list[Combination]:
    """What a workspace tests: its specs that have a `test:`.

    Raises:
        DiagnosticError: With all names that are unknown.
    """
    tested = [n for n, each in workspace.specs.items() if has_test(workspace.root / each.path)]
    return all_tests(workspace, tested)


def run_jobs(
    workspace: BuildWorkspace,
    made: Sequence[Combination],
    executor: Callable[[], contextlib.AbstractContextManager[Executor]],
    *,
    keeps_going: bool = False,
    fresh: bool = False,
    watch: Callable[[Sequence[PlannedJob]], contextlib.AbstractContextManager[tuple[Finish, Look]]],
) -> BuildRun:
    """Do the jobs that are out of date.

    Args:
        workspace: The workspace.
        made: What of it is wanted.
        executor: Makes what has jobs done, if there are any.
        keeps_going: Whether others are done where one fails.
        fresh: Whether all are done, out of date or not.
        watch: Gives what is told of results and of progress, for a plan.

    Raises:
        DiagnosticError: The workspace is wrong, or its outputs cannot be written.
    """
    state = state_of(workspace)
    with state.lock():
        begin_phase("compare with what was built")
        files = _files(workspace, state)
        jobs = plan(workspace, made, files, state.records())
        remember_inputs(state, files)
        end_phase()
        if fresh:
            jobs = [replace(each, reasons=each.reasons or (ASKED,)) for each in jobs]
        if all(each.is_current for each in jobs):
            return BuildRun(jobs, {})
        state.compact(state.records())
        with watch(jobs) as (finish, look):
            build = Build(workspace, jobs, state, files, keeps_going, finish, look)
            if not build.restore(SharedOutputs(workspace.root)):
                with executor() as does:
                    build.run(does)
            return BuildRun(jobs, build.results)


def merge_diagnostics(
    results: Mapping[str, JobResult], root: Path, *, of: str = "diagnostics"
) -> list[Diagnostic]:
    """What jobs say, each once, with the jobs that say it, and places as a user names them."""
    said: dict[Diagnostic, list[str]] = {}
    for name, result in results.items():
        for each in getattr(result, of):
            said.setdefault(_relocate(each, root), []).append(name)
    return [
        replace(each, notes=(*each.notes, f"for {_listed(names)}")) for each, names in said.items()
    ]


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{each}`" for each in names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"


def _relocate(found: Diagnostic, root: Path) -> Diagnostic:
    """A diagnostic whose places are below the current folder, and not below the workspace's."""

    def moved(path: str) -> str:
        return path if path.startswith("<") else (root / path).as_posix()

    span = found.span and replace(found.span, path=moved(found.span.path))
    related = tuple(
        replace(e, span=replace(e.span, path=moved(e.span.path))) for e in found.related
    )
    return replace(found, span=span, related=related)
