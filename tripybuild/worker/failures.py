"""Worker failures: diagnostics for timeouts, crashes and rejections."""

import math
import os
import signal
from collections.abc import Sequence
from typing import IO

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process import memory
from tripybuild.worker import diagnostics_json, protocol

TIMEOUT_VARIABLE = "TRIPYBUILD_COMPILER_TIMEOUT"
LONGEST_TAIL = 16_384  # bytes
MOST_LINES = 20
MOST_SECONDS = 10**6  # eleven days: timers of the system take no number at all


def check_timeout(value: object, named: str) -> float:
    """A number of seconds that a compiler may take.

    Args:
        value: A number, or the text of one.
        named: Where it is set, such as an environment variable.

    Raises:
        DiagnosticError: It is no number above 0, or so large that no clock counts so far.
    """
    try:
        seconds = float(value)  # type: ignore[arg-type]
    except (ValueError, TypeError, OverflowError):
        seconds = math.nan
    if not 0 < seconds <= MOST_SECONDS:
        message = f"{named} is {value!r}, which is not a valid number of seconds"
        hint = f"set it to a number above 0 and up to {MOST_SECONDS:,}, such as 1800"
        raise DiagnosticError(Diagnostic("wrong-value", message, hint=hint))
    return seconds


def last_lines(errors: IO[bytes]) -> tuple[str, ...]:
    """What a child wrote before it ended."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - LONGEST_TAIL))
    lines = errors.read().decode(errors="replace").splitlines()
    return tuple(line.rstrip() for line in lines if line.strip())[-MOST_LINES:]


def reply_diagnostics(target: str, reply: protocol.Header) -> tuple[Diagnostic, ...]:
    """What the child says is wrong: its own diagnostics, or the compiler's words."""
    return diagnostics_json.from_json(reply.get("diagnostics")) or (
        _compiler_diagnostic(target, reply),
    )


def _compiler_diagnostic(target: str, reply: protocol.Header) -> Diagnostic:
    lines = tuple(line for line in str(reply.get("text")).splitlines() if line.strip())
    if reply.get("outcome") == "out-of-memory":
        return _memory_diagnostic(target, lines[:MOST_LINES])
    message = f"The `{target}` compiler refused the module"
    return Diagnostic("compiler-failed", message, notes=lines[:MOST_LINES])


def _memory_diagnostic(target: str, notes: tuple[str, ...]) -> Diagnostic:
    message = f"The `{target}` compiler ran out of memory"
    hint = "free some memory, or compile smaller shapes"
    return Diagnostic("compiler-out-of-memory", message, notes=notes, hint=hint)


def timeout_diagnostic(target: str, timeout: float, notes: tuple[str, ...]) -> Diagnostic:
    """It took longer than it may."""
    message = f"The `{target}` compiler did not finish within {timeout:g} seconds"
    hint = f"allow more seconds with `--timeout`, or set `{TIMEOUT_VARIABLE}`"
    return Diagnostic("compiler-timeout", message, notes=notes, hint=hint)


def crash_diagnostic(
    target: str, status: int | None, notes: tuple[str, ...], mapped: Sequence[str] = ()
) -> Diagnostic:
    """It ended with a status, or is there and talks nonsense."""
    if _ended_by(status, "SIGBUS") and mapped:
        files = ", ".join(f"`{each}`" for each in mapped)
        message = f"the weights in {files} became fewer while the model was compiled"
        hint = "compile again when nothing writes to the file"
        notes = (*notes, "the compiler's process ended with SIGBUS: it read where no file was left")
        return Diagnostic("weights-changed", message, notes=notes, hint=hint)
    if status is not None and any(map(memory.reports_out_of_memory, notes)):
        return _memory_diagnostic(target, notes)
    if is_killed(status):
        return _memory_diagnostic(target, (*notes, "the process was killed from outside"))
    reason = end_reason(status) if status else "gave a malformed reply"
    message = f"The `{target}` compiler {reason}"
    hint = "print its input with `--emit`, and report the bug to the compiler's developers"
    return Diagnostic("compiler-crashed", message, notes=notes, hint=hint)


def is_killed(status: int | None) -> bool:
    """Whether a process was killed from outside, which the system does where memory is out."""
    return _ended_by(status, "SIGKILL")


def end_reason(status: int) -> str:
    """How a process ended, for a reader."""
    if is_killed(status):
        return "was killed from outside"
    return f"crashed with {_signal(-status)}" if status < 0 else f"ended with status {status}"


def _ended_by(status: int | None, name: str) -> bool:
    """Whether a process ended by a signal, which not every system has."""
    return bool(status) and status == -getattr(signal, name, 0)


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
