"""`tripybuild test`: runs the `test:` sections of a workspace's specs on their targets."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripybuild.cli.command import CommandResult, Json, command
from tripybuild.cli.console import line_guard
from tripybuild.cli.job_options import DryRun, Folder, Jobs, Memory, On, Shard, job_executor
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from tripybuild.workspace.session import BuildRun
    from tripybuild.workspace.workspace_file import BuildWorkspace


@command
def run_workspace_tests(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Entries of `tests:`, specs or tests of the workspace; `*` stands for any "
            "letters. Without, all.",
        ),
    ] = None,
    *,
    folder: Folder = Path(),
    dry_run: DryRun = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Run also what passed before with the same inputs.")
    ] = False,
    jobs: Jobs = None,
    memory: Memory = None,
    on: On = None,
    shard: Shard = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE.xml", help="Write the results as JUnit XML.")
    ] = None,
    json: Json = False,
) -> CommandResult:
    """Run the tests of a workspace's specs.

    A `test:` says a small model and its inputs. Each target is compared with the references.
    """
    from tripybuild.cli.job_lines import show_results  # noqa: PLC0415
    from tripybuild.cli.job_report import build_result, plan_result  # noqa: PLC0415
    from tripybuild.workspace import session  # noqa: PLC0415

    began = time.perf_counter()
    if junit is not None:
        _check_junit(junit)
    workspace = session.open_workspace(folder)
    every = session.find_tests(workspace)
    if not every:
        message = "no spec of the workspace has a `test:`"
        hint = "say in a spec what it is tested by; docs/specs.md has the keys"
        span = workspace.document.span(("specs",))
        raise DiagnosticError(Diagnostic("unknown-build", message, span, hint=hint))
    made = session.Selection(names or (), shard).of(every, workspace)
    if dry_run:
        planned = session.make_plan(workspace, made)
        return plan_result(session.BuildRun(planned, {}), time.perf_counter() - began)
    run = session.run_jobs(
        workspace,
        made,
        lambda: job_executor(workspace.root, on, jobs, memory),
        keeps_going=True,
        fresh=fresh,
        watch=partial(show_results, silent=json or line_guard.quiet),
    )
    if junit is not None:
        _write_junit(junit, run, workspace)
    return build_result(run, workspace.root, time.perf_counter() - began)


def _check_junit(path: Path) -> None:
    from tripybuild.process.output_files import check_overwrite  # noqa: PLC0415
    from tripybuild.workspace.junit import is_own_results  # noqa: PLC0415

    check_overwrite(path, is_own_results, "results of `tripybuild test`", "--junit")


def _write_junit(path: Path, run: "BuildRun", workspace: "BuildWorkspace") -> None:
    from tripybuild.process.atomic_write import atomic_write  # noqa: PLC0415
    from tripybuild.workspace.junit import junit_xml  # noqa: PLC0415
    from tripybuild.workspace.session import merge_diagnostics, state_of  # noqa: PLC0415

    root = workspace.root
    found = {n: merge_diagnostics({n: each}, root) for n, each in run.results.items()}
    records = state_of(workspace).records()
    with atomic_write(path) as stream:
        stream.write(junit_xml(run.jobs, run.results, records, found))
