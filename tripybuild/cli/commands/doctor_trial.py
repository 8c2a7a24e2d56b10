"""Subprocess body of `tripybuild doctor`: isolates crashes of native libraries.

`python -m tripybuild.cli.commands.doctor_trial` is a worker whose targets are trials: each answers
with `facts` in JSON, and `diagnostics` where there is something in the way. A target is tried by
compiling a model, and running it where that needs no GPU; nothing is taken from the cache.
"""

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.targets.protocol import Facts
from tripybuild.targets.table import TARGETS, find_target
from tripybuild.worker import diagnostics_json
from tripybuild.worker.main import Compile, serve

if TYPE_CHECKING:
    from tripybuild.compiler.executable import Executable

MODEL = """\
tripybuild: 1
model: trial
inputs:
  x: float32[4]
outputs:
  y: x + x
"""
GIVEN, EXPECTED = [1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0]
ENGINES = "engines"


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


def _engines(folder: Path) -> Facts:
    """Whether an engine runs: a driver, a GPU, what talks to it, and a library that builds."""
    from tripybuild.tensorrt.runtime import gpu  # noqa: PLC0415 - heavy
    from tripybuild.tensorrt.runtime.cuda import Cuda  # noqa: PLC0415

    found = gpu.find_gpu()
    if isinstance(found, gpu.Absence):
        message = f"this machine has {found.what}"
        raise DiagnosticError(Diagnostic("no-gpu", message, notes=(found.note,)))
    facts: Facts = {"gpu": found.name, "capability": found.capability}
    try:
        Cuda.find()
        facts["cuda-bindings"] = version("cuda-bindings")
        DoctorTrial(_available_target(), folder).run()
    except DiagnosticError as error:
        raise _TrialError(facts, error) from error
    return facts


def _available_target() -> str:
    """The first target whose library is there."""
    from tripybuild.tensorrt.translation.library import MODULES  # noqa: PLC0415 - heavy

    there = (target for target, module in MODULES.items() if find_spec(module) is not None)
    return next(there, next(iter(MODULES)))


class _TrialError(Exception):
    """What is in the way, and what is known all the same."""

    def __init__(self, facts: Facts, error: DiagnosticError) -> None:
        super().__init__(str(error))
        self.facts, self.diagnostics = facts, error.diagnostics


def _facts(name: str, folder: Path) -> Facts:
    return (
        _engines(folder) if name == ENGINES else find_target(name).works(DoctorTrial(name, folder))
    )


def run_trial(name: str, _body: bytes = b"", _options: Mapping[str, Any] | None = None) -> bytes:
    """Try one thing, and answer in JSON; other failures are the worker's to report."""
    diagnostics: Sequence[Diagnostic] = ()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRIPYBUILD_CACHE_DIR"] = folder
        try:
            facts = _facts(name, Path(folder))
        except _TrialError as error:
            facts, diagnostics = error.facts, error.diagnostics
    said = diagnostics_json.to_json(diagnostics)
    return json.dumps({"facts": facts, "diagnostics": said}).encode()


def workers() -> Mapping[str, Callable[[], Compile]]:
    """The table of this worker: a trial in the place of a compiler."""
    return {name: partial(_prepare, name) for name in (*TARGETS, ENGINES)}


def _prepare(name: str) -> Compile:
    return partial(run_trial, name)


if __name__ == "__main__":
    serve(workers())
