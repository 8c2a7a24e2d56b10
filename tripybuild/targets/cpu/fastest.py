"""The target `cpu:fastest`: each engine compiles the model, and the one that was fastest is taken.

It measures, so that it may choose another engine on another day or machine: the file names what it
chose, and what it saw.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from time import perf_counter
from types import MappingProxyType
from typing import Any

from tripybuild.artifact.call_signature import Array
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, one_line
from tripybuild.process.memory import memory_error
from tripybuild.process.native_work import OvertimeError, run_native
from tripybuild.targets.compiled_model import CompiledModel
from tripybuild.targets.cpu.target import compile_by
from tripybuild.targets.cpu.xla import Xla
from tripybuild.targets.drawn_inputs import draw_inputs
from tripybuild.targets.protocol import CompileRequest, Facts, Trial
from tripybuild.targets.table import engines, find_target

SECONDS, ROUNDS = 1.0, 100  # of measuring at most, the seconds for each engine
LONGEST = 60.0  # seconds of a call, which may never end
FASTEST = "it was the fastest"

Call = Callable[[], Any]
# The inputs of each entry for each of its sizes, which are the same for all engines.
Drawn = dict[tuple[str, int], list[Array]]


class Fastest(Xla):
    """The engine that is fastest at the sizes of a request, on this machine, now."""

    takes_buckets = False

    def compile(self, request: CompileRequest) -> CompiledModel:
        """Compile for each engine, measure those that can run the model, and keep the fastest."""
        models: dict[str, CompiledModel] = {}
        calls: dict[str, list[Call]] = {}
        refused: dict[str, DiagnosticError] = {}
        drawn: Drawn = {}
        limit = LONGEST if request.timeout is None else request.timeout
        for name in engines(self.name):
            try:
                _check_installed(name)
                models[name] = compile_by(self, request, name, FASTEST)
                calls[name] = list(_calls(models[name], drawn, limit))
            except DiagnosticError as error:
                refused[name] = error
        if not calls:
            raise DiagnosticError(*_problems(refused.values()))
        request.tell("measure")
        best = run_native(partial(_measure, calls))  # Ctrl-C ends the wait
        took = {name: round(each, 3) for name, each in best.items()}
        model = models[min(took, key=lambda name: took[name])]
        engine = {**model.manifest["engine"], "measured": took}
        if refused:
            engine["refused"] = {name: _words(each) for name, each in refused.items()}
        model.manifest = MappingProxyType({**model.manifest, "engine": engine})
        return model

    def works(self, trial: Trial) -> Facts:
        """The version of each engine that is installed."""
        trial.run()
        found = [find_target(name) for name in engines(self.name)]
        return {
            each.distribution: version(each.distribution) for each in found if each.is_installed
        }


def _check_installed(name: str) -> None:
    target = find_target(name)
    if not target.is_installed:
        message = f"`{target.distribution}` is not installed"
        raise DiagnosticError(Diagnostic("target-unavailable", message))


def _calls(model: CompiledModel, drawn: Drawn, limit: float) -> Iterator[Call]:
    """A call of each entry for each of its sizes; each was made once, which is its warm-up.

    Args:
        model: What an engine compiled.
        drawn: The inputs, as far as they are drawn; others are added.
        limit: Seconds that a call may take.

    Raises:
        DiagnosticError: The engine cannot run the model, or not in that time.
    """
    for entry in model.entries.values():
        load = model.target.load(entry)
        for number, sizes in enumerate(entry.manifest["shapes"]):
            key = entry.name, number
            try:
                if key not in drawn:
                    drawn[key] = entry.signature.arrays(draw_inputs(entry.signature, sizes))
                call = partial(load(sizes), drawn[key])
                run_native(call, limit)
            except OvertimeError as error:
                raise DiagnosticError(_overtime(model.target.name, limit)) from error
            except MemoryError as error:
                message = "the inputs that are drawn to measure need more memory than available"
                found = memory_error(message, (), error)
                raise DiagnosticError(
                    *(replace(e, hint=LESS) for e in found.diagnostics)
                ) from error
            yield call


LESS = "give the sizes a smaller `opt`, or name an engine: `--target cpu` measures nothing"


def _overtime(name: str, limit: float) -> Diagnostic:
    message = f"a call by `{name}` took longer than {limit:g} seconds"
    hint = f"a loop may never end with inputs that are drawn; allow more by `--timeout`, or {LESS}"
    return Diagnostic("compiler-timeout", message, hint=hint)


def _measure(calls: Mapping[str, list[Call]]) -> dict[str, float]:
    """The milliseconds of all calls of each engine, whose rounds alternate; the best of each."""
    best = {name: [float("inf")] * len(each) for name, each in calls.items()}
    end = perf_counter() + SECONDS * len(calls)
    for _ in range(ROUNDS):
        for name, each in calls.items():
            for number, call in enumerate(each):
                began = perf_counter()
                call()
                best[name][number] = min(best[name][number], perf_counter() - began)
        if perf_counter() >= end:
            break
    return {name: 1000 * sum(each) for name, each in best.items()}


def _problems(errors: Iterable[DiagnosticError]) -> Iterator[Diagnostic]:
    """What is wrong, each thing once; an engine that is not there is none."""
    found = dict.fromkeys(each for error in errors for each in error.diagnostics)
    yield from [each for each in found if each.code != "target-unavailable"] or found


def _words(error: DiagnosticError) -> str:
    return one_line(error.diagnostics[0].message)
