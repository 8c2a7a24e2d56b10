"""Driver of `tripybuild opt`: splits, parses, verifies, rewrites and prints MLIR.

Invariant: a part that fails does not keep the others from being looked at. Places are those in the
whole text, whichever part they are in. Where problems are expected, those count that MLIR would
show.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.mlir import verifier
from tripybuild.tensorrt.mlir.context import new_context
from tripybuild.tensorrt.mlir.reading import parser
from tripybuild.tensorrt.mlir.reading.expectations import expectations, mismatches
from tripybuild.tensorrt.mlir.writing import printer
from tripybuild.tensorrt.passes.pipeline_text import PassStep, steps as pipeline_steps

SEPARATOR = "// -----"
_SPLIT = re.compile(r"^[ \t]*// -----[^\n]*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptOptions:
    """What a user asks of a run."""

    steps: Sequence[PassStep] = ()
    split: bool = False
    expect: bool = False
    generic: bool = False
    locations: bool = False
    unregistered: bool = False
    data: bool = True
    verify: bool = True


@dataclass(slots=True)
class OptResult:
    """The text that was printed, the reports of analyses, and all that was wrong."""

    text: str = ""
    reports: list[str] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def steps(passes: Sequence[str], pipeline: str | None) -> list[PassStep]:
    """Give the passes of `-p`, then those of a pipeline's text."""
    texts = [*passes, *([] if pipeline is None else [pipeline])]
    return [step for text in texts if text.strip() for step in pipeline_steps(text)]


def run(text: str, path: str, wishes: OptOptions) -> OptResult:
    """Run all requested stages on a file."""
    outcome, printed = OptResult(), []
    for part in parts(text) if wishes.split else [text]:
        try:
            printed.append(_run_passes(part, path, wishes, outcome.reports))
        except DiagnosticError as error:
            printed.append("")
            outcome.diagnostics.extend(error.diagnostics)
    if wishes.expect:
        outcome.diagnostics = mismatches(expectations(text, path), outcome.diagnostics)
    outcome.text = f"{SEPARATOR}\n".join(printed)
    return outcome


def parts(text: str) -> Iterator[str]:
    """Give the parts of a text, each behind as many empty lines as stand before it."""
    position, lines = 0, 0
    for mark in [*_SPLIT.finditer(text), None]:
        end = len(text) if mark is None else mark.start()
        yield "\n" * lines + text[position:end]
        if mark is not None:
            lines += text.count("\n", position, mark.end())
            position = mark.end()


def _run_passes(text: str, path: str, wishes: OptOptions, reports: list[str]) -> str:
    module = parser.parse(text, path, new_context(allow_unregistered=wishes.unregistered))
    problems = verifier.first_problems if wishes.expect else verifier.problems
    if wishes.verify:
        _refuse(problems(module))
    for step in wishes.steps:
        found = step.entry.run(module, **step.entry.keywords(step.options))
        if isinstance(found, str):
            reports.append(found)
        if wishes.verify:
            note = f"after the pass `{step.entry.name}`, a bug of the pass, not of the input"
            _refuse([replace(e, notes=(*e.notes, note)) for e in problems(module)])
    return printer.text(
        module, generic=wishes.generic, locations=wishes.locations, data=wishes.data
    )


def _refuse(problems: list[Diagnostic]) -> None:
    if problems:
        raise DiagnosticError(*problems)
