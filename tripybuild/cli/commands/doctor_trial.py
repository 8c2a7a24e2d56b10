"""Trials of `tripybuild doctor`, each in a subprocess, since native libraries crash.

`run_trials` starts them; every exit status has a meaning. `python -m` of this module is a worker
whose targets are trials: each answers with `facts` in JSON, and `diagnostics` where there is
something in the way. A target is tried by compiling a model, and running it where that needs no
GPU; nothing is taken from the cache.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.targets.table import TARGETS, Compile, find_target
from tripybuild.worker import diagnostics_json
from tripybuild.worker.compiler_process import CompilerProcess
from tripybuild.worker.main import serve

if TYPE_CHECKING:
    from tripybuild.compiler.executable import Executable
    from tripybuild.targets.protocol import Facts

MODEL = """\
tripybuild: 1
model: trial
inputs:
  x: float32[4]
outputs:
  y: x + x
"""
GIVEN, EXPECTED = [1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0]
ENGINES = "engines"  # no target: whether what is built for a GPU runs on the one of this machine
COMMAND = (sys.executable, "-P", "-m", "tripybuild.cli.commands.doctor_trial")
Outcome = dict[str, Any]


def run_trials(names: Sequence[str], limit: float) -> dict[str, Outcome]:
    """Try several things at once.

    Args:
        names: Targets, or `engines`.
        limit: Seconds that each may take.
    """
    with ThreadPoolExecutor(len(names)) as workers:
        return dict(
            zip(names, workers.map(lambda name: run_trial(name, limit), names), strict=True)
        )


def run_trial(name: str, limit: float) -> Outcome:
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


class DoctorTrial:
    """The model, compiled for a target in a folder.

    Args:
        target: What it is compiled for.
        folder: Where its file is written.
    """

    def __init__(self, target: str, folder: Path) -> None:
        self._target, self._folder = target, folder

    def compile(self) -> "Executable":
        """Compile the model; nothing is taken from the cache."""
        from tripybuild.compiler.session import compile_spec  # noqa: PLC0415 - heavy

        spec = self._folder / "trial.yaml"
        spec.write_text(MODEL, encoding="utf-8")
        return compile_spec(spec, target=self._target)

    def run(self) -> None:
        """Compile and run it, and compare what it computes.

        Raises:
            DiagnosticError: It computes something else.
        """
        import numpy as np  # noqa: PLC0415

        found = self.compile()(x=np.array(GIVEN, np.float32))["y"].tolist()
        if found != EXPECTED:
            message = f"it computes {found}, and not {EXPECTED}"
            raise DiagnosticError(Diagnostic("compiler-failed", message))


def _try_target(name: str, folder: Path, facts: "Facts") -> None:
    if name != ENGINES:
        facts |= find_target(name).works(DoctorTrial(name, folder))
        return
    targets = [find_target(name) for name, entry in TARGETS.items() if entry.gpu]
    chosen = next((each for each in targets if each.is_installed), targets[0])
    chosen.check_gpu(DoctorTrial(chosen.name, folder), facts)


def answer_trial(name: str, _body: bytes = b"", _options: Mapping[str, Any] | None = None) -> bytes:
    """Try one thing, and answer in JSON; other failures are the worker's to report."""
    diagnostics: Sequence[Diagnostic] = ()
    facts: Facts = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRIPYBUILD_CACHE_DIR"] = folder
        try:
            _try_target(name, Path(folder), facts)
        except DiagnosticError as error:
            diagnostics = error.diagnostics
    said = diagnostics_json.to_json(diagnostics)
    return json.dumps({"facts": facts, "diagnostics": said}).encode()


def workers() -> Mapping[str, Callable[[], Compile]]:
    """The table of this worker: a trial in the place of a compiler."""
    return {name: partial(_prepare, name) for name in (*TARGETS, ENGINES)}


def _prepare(name: str) -> Compile:
    return partial(answer_trial, name)


if __name__ == "__main__":
    serve(workers())
