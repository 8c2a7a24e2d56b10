"""The contract of a reader of files, and who watches it.

Whatever the bytes are: only diagnostics leave, within `SECONDS` of processor time and `MEMORY`
more than there was, and what is accepted means what a second reader says it means. Everything else
is a finding.
"""

import random
import resource
import signal
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzzing.edits import mutate, spliced
from tripybuild.errors.diagnostics import DiagnosticError

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
SECONDS = 5.0  # of processor time
MEMORY = 1 << 30  # bytes more than the process has had before


class Disagreement(Exception):
    """What was accepted means something else to another reader, or when it is read again."""


class _TooLong(BaseException):
    """An input has had its time."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an input.

    Attributes:
        kind: `accepted`, `refused`, or what must not be: `raised`, `hung`, `greedy`.
        detail: The codes of the diagnostics, or what was raised, and where.
        seconds: Processor time.
        memory: Bytes that the peak grew by.
    """

    kind: str
    detail: str
    seconds: float
    memory: int

    @property
    def is_finding(self) -> bool:
        """Whether the contract is broken."""
        return self.kind not in {"accepted", "refused"}


@dataclass(frozen=True, kw_only=True)
class Target:
    """A kind of file that strangers write.

    Attributes:
        name: Its name, and that of its folder in the corpus.
        suffix: How its files end.
        read: Reads bytes as the product would read a file, and says what kind of thing it was; it
            raises `DiagnosticError`, one of `refusals`, or `Disagreement`.
        made: Seeds that are made, by name, beside those of the corpus.
        words: Words of its language.
        structured: An edit that keeps the form of the file, such as right digests around it.
        refusals: What it may raise beside diagnostics, where it stands below the file's reader.
    """

    name: str
    suffix: str
    read: Callable[[bytes], str]
    made: Mapping[str, bytes]
    words: Sequence[bytes] = ()
    structured: Callable[[bytes, random.Random], bytes] | None = None
    refusals: tuple[type[Exception], ...] = ()

    def seeds(self) -> dict[str, bytes]:
        """Where a fuzzer begins: what is made, and the corpus."""
        kept = sorted((CORPUS / self.name).glob("*"))
        return {**self.made, **{path.name: path.read_bytes() for path in kept}}

    def mutate(self, data: bytes, other: bytes, pick: random.Random) -> bytes:
        """A file that is like one, or like two."""
        if self.structured is not None and pick.random() < 0.6:
            return self.structured(data, pick)
        if pick.random() < 0.1:
            return spliced(data, other, pick)
        return mutate(data, pick, self.words)


def check(target: Target, data: bytes, seconds: float = SECONDS) -> Verdict:
    """Hold a target to its contract for one input."""
    before, start = _peak(), time.process_time()
    try:
        with _limit(seconds):
            kind, detail = "accepted", target.read(data)
    except DiagnosticError as error:
        kind, detail = "refused", " ".join(sorted({each.code for each in error.diagnostics}))
    except target.refusals as error:
        kind, detail = "refused", type(error).__name__
    except _TooLong as error:
        kind, detail = "hung", _place(error)
    except MemoryError as error:
        kind, detail = "greedy", _place(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is no diagnostic
        kind, detail = "raised", f"{type(error).__name__} {_place(error)}: {str(error)[:200]}"
    taken, grown = time.process_time() - start, _peak() - before
    if grown > MEMORY and kind in {"accepted", "refused"}:
        kind = "greedy"
    return Verdict(kind, detail, taken, grown)


def file_name(data: bytes) -> str:
    """A name for the file of an input."""
    return f"{zlib.crc32(data):08x}"


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def _limit(seconds: float) -> Any:
    def stop(*_: object) -> None:
        raise _TooLong

    old = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.5)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)


def _place(error: BaseException) -> str:
    """The innermost line of the product that an error came through."""
    trace, found = error.__traceback__, "?"
    while trace is not None:
        path = Path(trace.tb_frame.f_code.co_filename)
        if "tripybuild" in path.parts or "fuzzing" in path.parts:
            found = f"{path.parent.name}/{path.name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found
