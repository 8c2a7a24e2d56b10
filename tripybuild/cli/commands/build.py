"""`tripybuild build`: builds what is out of date of a workspace."""

import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from tripybuild.cli.command import CommandResult, Json, command
from tripybuild.cli.console import line_guard
from tripybuild.cli.job_options import (
    DryRun,
    Folder,
    Jobs,
    KeepGoing,
    Memory,
    On,
    Shard,
    job_executor,
)


@command
def build_workspace(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Builds, specs or executables of the workspace; `*` stands for any letters. "
            "Without, all.",
        ),
    ] = None,
    *,
    folder: Folder = Path(),
    dry_run: DryRun = False,
    keep_going: KeepGoing = False,
    jobs: Jobs = None,
    memory: Memory = None,
    on: On = None,
    shard: Shard = None,
    json: Json = False,
) -> CommandResult:
    """Build what is out of date of a workspace.

    `tripybuild.yaml` declares it: specs, sizes, dtypes, targets and builds of them.
    """
    from tripybuild.cli.job_lines import show_results  # noqa: PLC0415
    from tripybuild.cli.job_report import build_result, plan_result  # noqa: PLC0415
    from tripybuild.workspace import matrix, session  # noqa: PLC0415

    began = time.perf_counter()
    workspace = session.open_workspace(folder)
    selection = session.Selection(names or (), shard)
    made = selection.of(matrix.all_builds(workspace), workspace)
    if dry_run:
        planned = session.make_plan(workspace, made)
        run = session.BuildRun(planned, {})
        return plan_result(run, time.perf_counter() - began)

    run = session.run_jobs(
        workspace,
        made,
        lambda: job_executor(workspace.root, on, jobs, memory),
        keeps_going=keep_going,
        watch=partial(show_results, silent=json or line_guard.quiet),
    )
    return build_result(run, workspace.root, time.perf_counter() - began)
