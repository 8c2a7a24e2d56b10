"""Memory limits of this process, and the diagnostic for exceeding them.

A limit is what the system promises: physical memory with swap, that of a control group, and the
address space. What other processes have of it at the moment is no limit, since it may be freed.
"""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span

CODE = "out-of-memory"
HINT = "compute less at a time, or use a machine with more memory"
PROCESS, GROUPS = Path("/proc"), Path("/sys/fs/cgroup")
# What native libraries say of memory, and of threads that have no room for a stack.
EXHAUSTED = (
    *("resource_exhausted", "out of memory", "bad_alloc", "mmap error: 12", "ynnpack"),
    "pthread_create() failed",
)
# What loaders say of a library for which there is no room.
UNMAPPED = ("failed to map segment", "cannot allocate memory", "cannot apply additional memory")


@dataclass(frozen=True)
class MemoryLimit:
    """A number of bytes, and in words what sets it."""

    size: int
    reason: str


def limit() -> MemoryLimit | None:
    """The least of the limits of this process; None where the system tells none."""
    return min(_limits(), key=lambda each: each.size, default=None)


def address_space() -> MemoryLimit | None:
    """What is left of the address space; None where that is not limited."""
    soft = _address_space_limit()
    if soft is None:
        return None
    taken = _own_bytes(0)
    if taken is None:
        return None
    left = max(0, soft - taken)
    return MemoryLimit(
        left, f"`ulimit -v` leaves {format_bytes(left)} of {format_bytes(soft)} of address space"
    )


def resident_bytes() -> int | None:
    """What this process has of the machine's memory; None where the system does not tell."""
    return _own_bytes(1)


def reset_peak() -> dict[str, int]:
    """Count peaks from now on, here and in the children; give what each has had so far.

    Where the system does not let them be reset, they stay.
    """
    found = {}
    for each in ("self", *_children("self")):
        with contextlib.suppress(OSError):
            (PROCESS / each / "clear_refs").write_text("5", encoding="ascii")
        found[each] = _peak_of(each) or 0
    return found


def peak_bytes(before: Mapping[str, int]) -> int | None:
    """The most memory that this process and its children had since `reset_peak`.

    Children that took no more than before wait for work, and are not counted. Peaks need not have
    been at the same time, so that the sum may be too large, and is never too small. None where the
    system does not tell.

    Args:
        before: What `reset_peak` gave.
    """
    own = _peak_of("self")
    peaks = {each: _peak_of(each) or 0 for each in _children("self")}
    grown = (size for each, size in peaks.items() if size > before.get(each, 0))
    return None if own is None else own + sum(grown)


def available() -> int | None:
    """The bytes that processes can have without taking them from others, within the limits."""
    try:
        lines = (PROCESS / "meminfo").read_text(encoding="ascii").splitlines()
        facts = dict(line.split(":", 1) for line in lines)
        free = int(facts["MemAvailable"].split()[0]) << 10
    except (OSError, ValueError, KeyError, IndexError):
        return None
    found = limit()
    return free if found is None else min(free, found.size)


def _children(process: str) -> Iterator[str]:
    """The processes that one has started, and those that they have."""
    for task in (PROCESS / process / "task").glob("*/children"):
        with contextlib.suppress(OSError):
            for each in task.read_text(encoding="ascii").split():
                yield each
                yield from _children(each)


def _peak_of(process: str) -> int | None:
    try:
        lines = (PROCESS / process / "status").read_text(encoding="utf-8").splitlines()
        facts = dict(line.split(":", 1) for line in lines)
        return int(facts["VmHWM"].split()[0]) << 10
    except (OSError, ValueError, KeyError, IndexError):
        return None


def _own_bytes(column: int) -> int | None:
    """A column of what the system counts in pages: address space, then resident memory."""
    try:
        pages = int((PROCESS / "self/statm").read_text(encoding="ascii").split()[column])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _limits() -> Iterator[MemoryLimit]:
    physical = _physical()
    if physical is not None:
        yield MemoryLimit(
            physical, f"this machine has {format_bytes(physical)} of memory, swap included"
        )
    for size in _group_limits():
        yield MemoryLimit(size, f"this process's control group may have {format_bytes(size)}")
    soft = _address_space_limit()
    if soft is not None:
        yield MemoryLimit(soft, f"`ulimit -v` allows {format_bytes(soft)} of address space")


def _physical() -> int | None:
    """Memory and swap, in bytes."""
    try:
        lines = (PROCESS / "meminfo").read_text(encoding="ascii").splitlines()
        facts = dict(line.split(":", 1) for line in lines)
        return sum(int(facts[name].split()[0]) << 10 for name in ("MemTotal", "SwapTotal"))
    except (OSError, ValueError, KeyError, IndexError):
        return None


def _group_limits() -> Iterator[int]:
    """The limits of the control group and of those that it is in, of both versions of Linux's."""
    try:
        entries = (PROCESS / "self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    for entry in entries:
        _, kinds, path = [*entry.split(":", 2), "", ""][:3]
        if kinds not in ("", "memory"):
            continue
        name = "memory.limit_in_bytes" if kinds else "memory.max"
        group = (GROUPS / kinds / path.lstrip("/")).resolve()
        for place in (group, *group.parents):
            if place.is_relative_to(GROUPS):
                yield from _number(place / name)


def _number(path: Path) -> Iterator[int]:
    """The number in a file; `max` is none, and so is what the first version writes for it."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return
    if text.isdigit() and int(text) < 1 << 60:
        yield int(text)


def _address_space_limit() -> int | None:
    try:
        import resource  # noqa: PLC0415 - Unix alone has it
    except ImportError:
        return None
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if soft == resource.RLIM_INFINITY else soft


def format_bytes(size: int) -> str:
    """A number of bytes for a reader: `91.7 MB`."""
    number, unit = float(size), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if number < 1000:
            break
        number, unit = number / 1000, larger
    return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"


def memory_diagnostic(
    message: str,
    notes: Iterable[str] = (),
    span: Span | None = None,
    at: MemoryLimit | None = None,
) -> Diagnostic:
    """The diagnostic of what needs more memory than there is.

    Args:
        message: What needs it, and how much if that is known.
        notes: What is known of it.
        span: Where it is asked for.
        at: The limit that it meets; the least one of the process by default.
    """
    met = at or limit()
    reasons = () if met is None else (met.reason,)
    return Diagnostic(CODE, message, span, notes=(*notes, *reasons), hint=HINT)


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether an exception, or what it came from, says that there is no memory."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        text = str(error).lower()
        if isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM:
            return True
        if isinstance(error, ImportError) and any(each in text for each in UNMAPPED):
            return True
        if isinstance(error, RuntimeError) and reports_out_of_memory(text):
            return True
        error = error.__cause__ or error.__context__
    return False


def reports_out_of_memory(text: str) -> bool:
    """Whether native code says that there is no memory."""
    return any(each in text.lower() for each in EXHAUSTED)


def memory_error(
    message: str, notes: Iterable[str], error: BaseException, span: Span | None = None
) -> DiagnosticError:
    """The error for an exception that says that there is no memory, with its own words."""
    words = str(error).strip().splitlines()[:1]
    return DiagnosticError(memory_diagnostic(message, [*notes, *words], span))
