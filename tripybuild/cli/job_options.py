"""Options of commands that do the jobs of a workspace."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from tripybuild.cli.usage_errors import conflict

if TYPE_CHECKING:
    from tripybuild.workspace.jobs import Executor

MOST_PARTS = 100_000
PART = re.compile(r"(\d{1,6})/(\d{1,6})", re.ASCII)


class MatrixPart(NamedTuple):
    """One of so many parts."""

    number: int
    of: int


def part(text: str) -> MatrixPart:
    """Read `2/4`."""
    match = PART.fullmatch(text)
    found = MatrixPart(*map(int, match.groups())) if match else MatrixPart(0, 0)
    if not 1 <= found.number <= found.of <= MOST_PARTS:
        raise typer.BadParameter(f"`{text}` is not of the form `2/4`, the second of four parts")
    return found


Folder = Annotated[
    Path,
    typer.Option(
        "-C",
        "--workspace",
        metavar="DIR",
        help="The folder of `tripybuild.yaml`, or one below it; the current one by default.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "-j", "--jobs", metavar="N", min=1, help="Processes at a time; as many as there are cores."
    ),
]
Memory = Annotated[
    int | None,
    typer.Option(
        metavar="BYTES",
        min=1,
        help="Memory that jobs have together; 9/10 of what is available by default.",
    ),
]
KeepGoing = Annotated[
    bool, typer.Option("-k", "--keep-going", help="Do all that can be done where a job fails.")
]
DryRun = Annotated[
    bool, typer.Option("-n", "--dry-run", help="Say what would be done, and why; do nothing.")
]
Shard = Annotated[
    MatrixPart | None,
    typer.Option(
        metavar="I/N",
        parser=part,
        help="Only the I-th of N parts of the matrix, which are the same on each machine.",
    ),
]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="CLUSTER",
        help="Have the jobs done by a Dask cluster: `dask://HOST:PORT`, its scheduler's file "
        "`FILE.json`, or `local:N` workers of this machine.",
    ),
]


def job_executor(root: Path, on: str | None, jobs: int | None, memory: int | None) -> "Executor":
    """What has the jobs of a workspace done.

    Raises:
        DiagnosticError: Options do not go together, or the cluster cannot be reached.
    """
    if on is None:
        from tripybuild.workspace.local_executor import LocalExecutor  # noqa: PLC0415

        return LocalExecutor(root, most=jobs, size=memory)
    if jobs is not None or memory is not None:
        flag = "--jobs" if jobs is not None else "--memory"
        hint = "workers say what they have: `dask worker --nthreads 2 --resources memory=8e9`"
        message = f"`{flag}` is for processes of this machine, and `--on` for those of a cluster"
        raise conflict(message, hint, flag)
    from tripybuild.cluster.addresses import parse_address  # noqa: PLC0415
    from tripybuild.cluster.dask_client import Cluster  # noqa: PLC0415
    from tripybuild.cluster.dask_executor import DaskExecutor  # noqa: PLC0415

    return DaskExecutor(root, Cluster(parse_address(on)))
