"""Options of commands that do the jobs of a workspace."""

import re
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

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
