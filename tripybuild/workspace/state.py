"""What a workspace remembers between builds, in `.tripybuild` of its folder of outputs.

- `log.jsonl` has one line for each job that was done, the last of which counts. A line is appended
  whole; one that a killed process left torn is passed over, so that the job is done again.
- `inputs.json` has digests of large files and the files that each spec reads. It is written in one
  piece, and what is not in it is found again.

Invariant: what is remembered makes a build faster and never another one. Without the folder,
everything is built again.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import atomic_write, write_error
from tripybuild.process.phases import begin_phase

FOLDER, LOG, INPUTS, LOCK, HOLDER = ".tripybuild", "log.jsonl", "inputs.json", "lock", "lock.holder"
FORMAT = 1
LARGEST = 1 << 28  # bytes of a file that is read
MOST_LINES = 4  # for each job, before the log is written anew


@dataclass(frozen=True, slots=True)
class JobRecord:
    """A job that was done.

    Args:
        name: Its name.
        key: Its key.
        parts: What the key was of, by names for a reader.
        digest: That of the output.
        size: Bytes of the output.
        seconds: How long it took.
        peak: Bytes of memory at the peak.
        report: What a test found.
    """

    name: str
    key: str
    parts: Mapping[str, str]
    digest: str = ""
    size: int = 0
    seconds: float = 0.0
    peak: int = 0
    report: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, line: bytes) -> Self | None:
        """The record of a line; None where it is none."""
        try:
            found = cls(**json.loads(line))
        except (ValueError, TypeError, RecursionError):
            return None
        texts = (found.name, found.key, found.digest)
        numbers = (found.size, found.seconds, found.peak)
        is_whole = all(isinstance(e, str) for e in texts) and isinstance(found.parts, dict)
        return found if is_whole and all(isinstance(e, int | float) for e in numbers) else None


class WorkspaceState:
    """The folder of what is remembered."""

    def __init__(self, outputs: Path) -> None:
        self.outputs, self.folder = outputs, outputs / FOLDER

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the workspace alone; another build is waited for, as a phase says.

        Raises:
            DiagnosticError: The folder cannot be written.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415 - a dry run needs none

        holder = self.folder / HOLDER
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / LOCK)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                begin_phase(f"wait for another build of this workspace{_named(holder)}")
                lock.acquire()
        except OSError as error:
            raise DiagnosticError(_unwritable(self.outputs, error)) from error
        try:
            with contextlib.suppress(OSError):  # it is for readers alone
                holder.write_text(str(os.getpid()), encoding="ascii")
            yield
        finally:
            with contextlib.suppress(OSError):
                holder.unlink()
            lock.release()

    def records(self) -> dict[str, JobRecord]:
        """The last record of each job."""
        found: dict[str, JobRecord] = {}
        content = _read(self.folder / LOG)
        for line in content.splitlines():
            record = JobRecord.read(line)
            if record is not None:
                found[record.name] = record
        return found

    def append(self, record: JobRecord) -> None:
        """Remember a job that was done.

        Raises:
            DiagnosticError: It cannot be written.
        """
        line = json.dumps(asdict(record), separators=(",", ":")).encode()
        place = self.folder / LOG
        try:
            with place.open("ab", buffering=0) as file:
                # What a killed process left without an end is a line of its own.
                file.write(b"\n" + line + b"\n")
        except OSError as error:
            raise DiagnosticError(write_error(place, error)) from error

    def compact(self, records: Mapping[str, JobRecord]) -> None:
        """Write the log anew where most of it counts no more."""
        content = _read(self.folder / LOG)
        if content.count(b"\n{") <= MOST_LINES * max(len(records), 25):
            return
        lines = [json.dumps(asdict(each), separators=(",", ":")) for each in records.values()]
        with contextlib.suppress(DiagnosticError), atomic_write(self.folder / LOG) as file:
            file.write("".join(f"{line}\n" for line in lines).encode())

    def inputs(self) -> dict[str, Any]:
        """What is remembered of inputs; empty where that is not what `keep_inputs` wrote."""
        try:
            found = json.loads(_read(self.folder / INPUTS) or b"{}")
        except (ValueError, RecursionError):
            return {}
        is_ours = isinstance(found, dict) and found.get("format") == FORMAT
        return found if is_ours else {}

    def keep_inputs(self, inputs: Mapping[str, Any]) -> None:
        """Remember inputs; where they cannot be written, they are found again next time."""
        content = json.dumps({"format": FORMAT, **inputs}, separators=(",", ":")).encode()
        with (
            contextlib.suppress(DiagnosticError, OSError),
            atomic_write(self.folder / INPUTS, durable=False) as file,
        ):
            file.write(content)


def _read(path: Path) -> bytes:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return b""
        return path.read_bytes()
    except OSError:
        return b""


def _named(holder: Path) -> str:
    """The process that holds the lock, if it says."""
    number = _read(holder).decode(errors="replace").strip()
    return f", process {number}" if number.isdigit() else ""


def _unwritable(outputs: Path, error: OSError) -> Diagnostic:
    found = write_error(outputs, error)
    hint = found.hint or "write to a folder that you may write to: `outputs:` names another"
    return Diagnostic(found.code, found.message, hint=hint)
