"""Files on their way between a build and its workers, measured on both ends."""

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from tripybuild.cluster.job_calls import PIECE
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import atomic_write
from tripybuild.process.hashing import StreamingDigest, file_digest
from tripybuild.workspace.jobs import Job, JobResult
from tripybuild.workspace.shared_outputs import output_place

SEEN = 5.0  # seconds until a file that another machine wrote is seen here


def read_pieces(path: Path, digest: str) -> list[bytes]:
    """The content of a file, as it was when its digest was taken.

    Raises:
        DiagnosticError: It changed, or cannot be read.
    """
    measured, pieces = StreamingDigest(), []
    with contextlib.suppress(OSError), path.open("rb") as stream:
        while piece := stream.read(PIECE):
            measured.update(piece)
            pieces.append(piece)
    if measured.result().digest != digest:
        message = f"`{path}` changed while it was sent to the cluster"
        raise DiagnosticError(Diagnostic("cluster-file", message, hint="run the build again"))
    return pieces


def write_output(root: Path, job: Job, pieces: Sequence[bytes], result: JobResult) -> None:
    """Write an output that came in pieces.

    Raises:
        DiagnosticError: It is not what the result says, or cannot be written.
    """
    measured = StreamingDigest()
    for each in pieces:
        measured.update(each)
    if measured.result().digest != result.digest:
        message = f"`{result.job}` came as another file than the worker made"
        raise DiagnosticError(Diagnostic("cluster-file", message, hint="run the build again"))
    with atomic_write(output_place(root, job)) as stream:
        for each in pieces:
            stream.write(each)


def await_output(path: Path, result: JobResult) -> None:
    """Wait until an output is seen that a worker wrote into the same folder.

    One that was there before may have the same size, so that its content is asked.

    Raises:
        DiagnosticError: It is not seen, since folders of a network may show a file late.
    """
    end = time.perf_counter() + SEEN
    while True:
        with contextlib.suppress(OSError):
            if path.stat().st_size == result.size and file_digest(path).digest == result.digest:
                return
        if time.perf_counter() > end:
            message = f"`{path}` was written by a worker, and is not seen here"
            raise DiagnosticError(Diagnostic("cluster-file", message, hint="run the build again"))
        time.sleep(0.05)
