"""Trials of `tripybuild doctor`, each in a subprocess; every exit status has a meaning."""

import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.worker import diagnostics_json
from tripybuild.worker.compiler_process import CompilerProcess

COMMAND = (sys.executable, "-P", "-m", "tripybuild.cli.commands.doctor_trial")
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
    facts: dict[str, Any] = {}
    try:
        with closing(CompilerProcess(timeout=limit, command=COMMAND)) as process:
            answer = json.loads(process.compile(name, b""))
        facts, problems = answer["facts"], answer["diagnostics"]
    except DiagnosticError as error:
        problems = diagnostics_json.to_json(error.diagnostics)
    took = round(time.perf_counter() - began, 2)
    return {"works": not problems, "seconds": took, "facts": facts, "problems": problems}
