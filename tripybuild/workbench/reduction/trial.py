"""Trials: a spec is compiled, run and held beside its reference, in a process that may end.

A trial is a service of the compiler's process (`worker.main`): what ends that is an outcome, too.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.packages.libraries import model_libraries
from tripybuild.schema.files import ToleranceEntry
from tripybuild.weights.array_files import read
from tripybuild.workbench.comparison import (
    CallInputs,
    InputChoice,
    compare_results,
    draw_calls,
    pair_tolerance,
)
from tripybuild.workbench.differences import ArrayDifference
from tripybuild.workbench.programs import Program, open_spec
from tripybuild.worker.compiler_process import CompilerProcess

SERVICE = "trial"
# What can come of a trial.
AGREES, UNBUILT, REFUSED = "agrees", "unbuilt", "refused"
CRASHED, DIFFERS, LOST = "crashed", "differs", "nan"
_CRASHES = frozenset({"compiler-crashed", "compiler-timeout", "out-of-memory"})


@dataclass(frozen=True)
class TrialRequest:
    """What is tried.

    Args:
        spec: The spec's file.
        target: What it is compiled for.
        against: What it is compared with.
        entry: The entry, where there are several.
        sizes: Sizes and dtypes in the place of the spec's own.
        shapes: Dynamic sizes of the call.
        seed: By which inputs, and weights that are not there, are drawn.
        below: Inputs of integers to draw, each below a bound.
        arrays: A file with inputs, by name.
        weights: Where weights are, in the place of what the spec names.
        config: A configuration in the place of the spec's own.
        draws: Whether weights are drawn, whatever is there.
        registries: Folders of the user's operators.
        absolute: The tolerance, if not that of the dtype.
        relative: The same.
        finite: Whether NaN and infinity fail, whatever the other side gives.
    """

    spec: str
    target: str
    against: str
    entry: str | None = None
    sizes: Mapping[str, Any] = field(default_factory=dict)
    shapes: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    below: Mapping[str, int] = field(default_factory=dict)
    arrays: str | None = None
    weights: str | None = None
    config: str | None = None
    draws: bool = False
    registries: Sequence[str] = ()
    absolute: float | None = None
    relative: float | None = None
    finite: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came of a trial.

    Args:
        kind: One of the words above.
        code: The code of what refused it.
        text: What a user is told.
    """

    kind: str
    code: str = ""
    text: str = ""

    @property
    def fails(self) -> bool:
        """Whether there is something to reduce."""
        return self.kind not in (AGREES, UNBUILT)

    def is_same(self, other: "Outcome") -> bool:
        """Whether both fail in the same way; what is said may name other sizes."""
        return (self.kind, self.code) == (other.kind, other.code)


def ask(process: CompilerProcess, request: TrialRequest) -> Outcome:
    """Try a spec in another process."""
    try:
        return Outcome(**json.loads(process.compile(SERVICE, b"", asdict(request))))
    except DiagnosticError as error:
        first = error.diagnostics[0]
        text = "\n".join([first.message, *first.notes])
        kind = CRASHED if first.code in _CRASHES else UNBUILT
        return Outcome(kind, first.code, text)


def run_trial(module: bytes, options: Mapping[str, Any]) -> bytes:
    """What `ask` asks for, in this process; the module is empty."""
    del module
    return json.dumps(asdict(try_spec(TrialRequest(**options)))).encode()


def try_spec(request: TrialRequest) -> Outcome:
    """Compile, run and compare."""
    try:
        one, other = (open_side(request, each) for each in (request.target, request.against))
        call = trial_inputs(request, one, other)
    except DiagnosticError as error:
        return _refusal(UNBUILT, error)
    try:
        first = one.run(call.arrays)
    except DiagnosticError as error:
        return _refusal(REFUSED, error)
    within = pair_tolerance(one, other, request.absolute, request.relative)
    if request.finite:
        found = compare_results(call, first, first, within).outputs
        lost = [each for each in found if each.nans[0] or each.infinities[0]]
        return Outcome(LOST, text=_lost_text(lost[0])) if lost else Outcome(AGREES)
    try:
        second = other.run(call.arrays)
    except DiagnosticError as error:
        return _refusal(UNBUILT, error)
    found = compare_results(call, first, second, within).outputs
    return next((_difference(e, within) for e in found if not e.agrees), Outcome(AGREES))


def open_side(request: TrialRequest, target: str) -> Program:
    """The spec by one of the two targets."""
    path = Path(request.spec)
    return open_spec(
        path,
        target,
        entry=request.entry,
        sizes=request.sizes,
        homes=model_libraries([Path(each) for each in request.registries], path),
        weights=None if request.weights is None else Path(request.weights),
        config=None if request.config is None else Path(request.config),
        seed=request.seed,
        draws=request.draws,
    )


def trial_inputs(request: TrialRequest, one: Program, other: Program) -> CallInputs:
    """The inputs of the only call."""
    given = {}
    if request.arrays is not None and one.signature is not None:
        names = one.signature.inputs.items()
        path = Path(request.arrays)
        given = {name: read(path, name, each.dtype.numpy) for name, each in names}
    choice = InputChoice([request.shapes], seeds=[request.seed], below=request.below, given=given)
    return next(iter(draw_calls(one, other, choice)))


def _refusal(kind: str, error: DiagnosticError) -> Outcome:
    first = error.diagnostics[0]
    return Outcome(kind, first.code, first.message)


def _difference(found: ArrayDifference, within: ToleranceEntry) -> Outcome:
    """How an output differs: NaN where the other side has a number is another fault."""
    if found.nans[0] > found.nans[1]:
        return Outcome(LOST, text=_lost_text(found))
    seen = found.witness
    at = "" if seen is None else f" at {list(seen.index)}: {seen.one:.9g} and {seen.other:.9g}"
    limit = f"{within.absolute:g} + {within.relative:g} * max(|b|, rms)"
    return Outcome(DIFFERS, text=f"`{found.name}` differs{at}, beyond {limit}")


def _lost_text(found: ArrayDifference) -> str:
    count = int(np.prod(found.shapes[0]))
    return (
        f"`{found.name}` has {count} elements, of which {found.nans[0]} are NaN and "
        f"{found.infinities[0]} are infinite"
    )
