"""What goes between a build and the workers of a cluster: plain data, and bytes of files.

A worker answers in one of three ways: with the job's result, with the digests of files that it
lacks, or with why it cannot do the job.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PIECE = 32 << 20  # bytes: a file travels in pieces, which workers can put on their disk


@dataclass(frozen=True, slots=True)
class JobCall:
    """A job for a worker.

    Args:
        build: The build that it is of, a name that no other build has.
        job: `Job.to_json`.
        root: The workspace's folder on the machine that builds.
        token: The name of a file in it. A worker that sees it has the same folder, and works there.
    """

    build: str
    job: Mapping[str, Any]
    root: str
    token: str


@dataclass(frozen=True, slots=True)
class JobReply:
    """What a worker answers; exactly one of the first three is given.

    Args:
        result: `JobResult.to_json`.
        lacks: Digests of files that the worker does not have.
        unable: Why this worker cannot do the job.
        output: The executable in pieces, where the workers' folder is another one.
        worker: The worker's address.
    """

    result: Mapping[str, Any] | None = None
    lacks: Sequence[str] = ()
    unable: str = ""
    output: Sequence[bytes] | None = None
    worker: str = ""


@dataclass(frozen=True, slots=True)
class MachineFacts:
    """What a worker says of its machine, for a target.

    Args:
        versions: Of packages that an output for the target depends on, as `Job.versions`.
        unable: Why it cannot compile for the target; empty where it can.
        has: Names of targets whose libraries are there.
    """

    versions: Mapping[str, str]
    unable: str = ""
    has: Sequence[str] = ()


def versions_differ(wanted: Mapping[str, str], found: Mapping[str, str]) -> str:
    """What differs between two sets of versions, for a reader; nothing where they are equal."""
    names = sorted(wanted.keys() | found.keys())
    said = [
        f"`{name}` is `{found.get(name, 'none')}` there, and `{wanted.get(name, 'none')}` here"
        for name in names
        if wanted.get(name) != found.get(name)
    ]
    return "; ".join(said)
