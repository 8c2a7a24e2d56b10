"""Trials of `tripybuild doctor`, each in a subprocess; every exit status has a meaning."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tripybuild.worker.compiler_process import environment

COMMAND = (sys.executable, "-P", "-m", "tripybuild.cli.commands.doctor_trial")
MOST_LINES = 3
Found = dict[str, Any]


def run_trials(names: Sequence[str], limit: float) -> dict[str, Found]:
    """Try several things at once.

    Args:
        names: Targets, or `engines`.
        limit: Seconds that each may take.
    """
    with ThreadPoolExecutor(len(names)) as workers:
        return dict(
            zip(names, workers.map(lambda name: run_trial(name, limit), names), strict=True)
        )


def run_trial(name: str, limit: float) -> Found:
    """Try one thing: whether it works, what is known of it, and what is in the way."""
    began = time.perf_counter()
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            [*COMMAND, name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
            check=False,
            env=environment(),
        )
        answer = _answer(done.returncode, done.stdout, done.stderr)
    except subprocess.TimeoutExpired:
        answer = _failure("compiler-timeout", f"the trial did not end within {limit:g} seconds")
    except OSError as error:
        answer = _failure("compiler-crashed", f"the trial cannot be started: {error.strerror}")
    problems = answer["diagnostics"]
    took = round(time.perf_counter() - began, 2)
    facts = answer["facts"]
    return {"works": not problems, "seconds": took, "facts": facts, "problems": problems}


def _answer(status: int, said: bytes, errors: bytes) -> Found:
    try:
        found = json.loads(said)
    except ValueError:
        found = None
    if status == 0 and isinstance(found, dict):
        return found
    last = [line for line in errors.decode(errors="replace").splitlines() if line.strip()]
    return _failure("compiler-crashed", f"the trial {_end(status)}", last[-MOST_LINES:])


def _end(status: int) -> str:
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"crashed with {signal.Signals(-status).name}"
    except ValueError:
        return f"crashed with signal {-status}"


def _failure(code: str, message: str, notes: Sequence[str] = ()) -> Found:
    problem = {"code": code, "message": message, "notes": list(notes), "hint": None}
    return {"facts": {}, "diagnostics": [problem]}
