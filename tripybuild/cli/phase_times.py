"""Times of phases, kept from run to run in the cache's folder, so that a reader can foresee them.

Invariant: they never decide whether a command succeeds. What is damaged, or cannot be written, is
as if it were not there.
"""

import contextlib
import json
import math
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from tripybuild.errors.diagnostics import DiagnosticError

FILE = "phases.json"
MOST_RUNS, MOST_PHASES, LARGEST = 200, 50, 1 << 20
WORTH_KEEPING = 0.5  # seconds of the longest phase
# Options that change nothing about how long a command takes.
IDLE = frozenset({"json", "form", "verbose", "quiet", "output"})


class PhaseTimes:
    """What the phases of a command took when it was called with the same options."""

    def __init__(self, command: str, options: Mapping[str, object]) -> None:
        self._command, self._options = command, options

    @cached_property
    def _key(self) -> str:
        said = [f"{n}={_text(v)}" for n, v in sorted(self._options.items()) if n not in IDLE and v]
        return sha256("\n".join([self._command, *said]).encode(errors="replace")).hexdigest()[:16]

    @cached_property
    def _known(self) -> dict[str, dict[str, float]]:
        return _read(_place())

    def last(self, phase: str) -> float | None:
        """The seconds of a phase in the last run, or None."""
        return self._known.get(self._key, {}).get(phase)

    def store(self, taken: Mapping[str, float]) -> None:
        """Keep what this run took, where that is worth it."""
        if max(taken.values(), default=0.0) < WORTH_KEEPING:
            return
        from tripybuild.process.atomic_write import atomic_write  # noqa: PLC0415 - seldom

        with contextlib.suppress(OSError, DiagnosticError):  # a cache that is not writable
            found = _read(_place())
            found.pop(self._key, None)  # the last one stands last
            found[self._key] = dict(list(taken.items())[:MOST_PHASES])
            kept = dict(list(found.items())[-MOST_RUNS:])
            _place().parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with atomic_write(_place(), durable=False) as stream:
                stream.write(json.dumps(kept).encode())


def _place() -> Path:
    from tripybuild.process.paths import cache_folder  # noqa: PLC0415 - seldom

    return cache_folder() / FILE


def _read(path: Path) -> dict[str, dict[str, float]]:
    """The runs in a file; none where it is not what this module writes."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return {}
        found: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: run for key, run in found.items() if isinstance(run, dict) and _are_times(run)}


def _are_times(run: Mapping[str, object]) -> bool:
    return all(
        isinstance(each, int | float) and math.isfinite(each) and each >= 0 for each in run.values()
    )


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    return str(value.absolute()) if isinstance(value, Path) else str(value)
