"""`tripybuild bisect`: finds the first step at which two programs part, or lose their numbers."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli.command import FAILED, CommandResult, command
from tripybuild.cli.commands.compare import (
    First,
    PairOptions,
    Second,
    difference_table,
    differences_data,
    head_lines,
    input_choice,
    open_pair,
    sides_data,
    witness_lines,
)
from tripybuild.cli.console import write_note
from tripybuild.cli.interrupts import native_call
from tripybuild.cli.sources import open_source
from tripybuild.cli.usage_errors import conflict
from tripybuild.errors.diagnostics import text_of

if TYPE_CHECKING:
    from tripybuild.workbench.bisection import NumberLoss, Parting, StepReport
    from tripybuild.workbench.comparison import CallInputs
    from tripybuild.workbench.programs import Program

VERDICTS = {
    "weights": "It reads another weight or constant in B: that is what differs",
    "amplifies": "On A's inputs alone both agree: the step amplifies a difference that it is given",
    "computes": "On A's inputs alone it differs, too: the step itself computes something else",
    "operands": "In a cut of its own what it reads differs, too: the cut changed what is fused",
    "vanishes": "In a cut of its own the step agrees: what it is fused with makes the difference",
}


@command
def bisect_programs(
    first: First,
    second: Second = None,
    *,
    nan: Annotated[
        bool, typer.Option("--nan", help="Find where NaN or infinity begins in A; there is no B.")
    ] = False,
    pair: PairOptions,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on stdout.")
    ] = False,
) -> CommandResult:
    """Find the first step at which two programs part."""
    choice = input_choice(pair, [pair.seed])
    tell = (lambda _: None) if json else write_note
    if nan:
        if second is not None or pair.sizes_b:
            raise conflict("`--nan` looks at one program", "leave out B", "--nan")
        program = open_source(first, pair.source_options())
        with native_call():
            return _find_losses(program, choice, tell)
    from tripybuild.workbench.bisection import find_parting  # noqa: PLC0415
    from tripybuild.workbench.comparison import draw_calls, pair_tolerance  # noqa: PLC0415

    sides = open_pair(first, second, pair)
    within = pair_tolerance(*sides, pair.atol, pair.rtol)
    with native_call():
        call = next(iter(draw_calls(*sides, choice)))
        whole, found = find_parting(*sides, call, within, tell)
    lines = [*head_lines(sides, within), "", _sizes_line(call)]
    lines += [*difference_table(whole.outputs), ""]
    data = {**sides_data(sides, within), "sizes": dict(call.sizes), "seed": call.seed}
    data |= {"outputs": differences_data(whole.outputs), "parting": None, "losses": []}
    if found is None:
        lines.append("A and B agree: there is nothing to find")
        if any(each.nans[0] or each.infinities[0] for each in whole.outputs):
            lines.append("Both have elements that are no finite numbers: `--nan` finds where")
        return CommandResult("\n".join(lines), data=data)
    lines += _parting_lines(found)
    data["parting"] = _parting_data(found)
    return CommandResult("\n".join(lines), data=data, code=FAILED)


def _find_losses(program: "Program", choice: Any, tell: Any) -> CommandResult:
    from tripybuild.workbench.bisection import find_loss  # noqa: PLC0415
    from tripybuild.workbench.comparison import draw_calls, pair_tolerance  # noqa: PLC0415

    pair = program, program
    call = next(iter(draw_calls(*pair, choice)))
    found = find_loss(program, call, tell)
    data: dict[str, Any] = {**sides_data(pair, pair_tolerance(*pair)), "sizes": dict(call.sizes)}
    data |= {"seed": call.seed, "outputs": [], "parting": None}
    data["losses"] = [_loss_data(each) for each in found]
    lines = [head_lines(pair, pair_tolerance(*pair))[0], _sizes_line(call)]
    if not found:
        lines += ["", "All outputs are finite numbers"]
    for each in found:
        lines += ["", *_loss_lines(each)]
    return CommandResult("\n".join(lines), data=data, code=FAILED if found else 0)


def _sizes_line(call: "CallInputs") -> str:
    from tripybuild.compiler.lowering.specialize import sizes_name  # noqa: PLC0415

    return f"{sizes_name(call.sizes)}, seed {call.seed}"


def _parting_lines(found: "Parting") -> Iterator[str]:
    yield f"They part at {_step_title(found.step)}"
    yield from _place_lines(found.step)
    yield "  it reads"
    yield from (f"  {line}" for line in difference_table([*found.operands, *found.known]))
    yield "  and gives"
    yield from (f"  {line}" for line in difference_table(found.results))
    for each in (*found.operands, *found.known, *found.results):
        yield from (f"    {line}" for line in witness_lines(each))
    if found.alone:
        yield "  on A's inputs alone it gives"
        yield from (f"  {line}" for line in difference_table(found.alone))
    yield VERDICTS[found.verdict]


def _step_title(step: "StepReport") -> str:
    part = f" of the part `{step.part}`" if step.part else ""
    label = step.operation.location.label.rpartition(".")[2]
    kind = "function" if step.is_python else "step"
    where = f"the operator `{step.operation.operator}` of the {kind} `{label}`{part}"
    cuts = "1 cut" if step.cuts == 1 else f"{step.cuts} cuts"
    return f"{where}: operation {step.position} of {step.count}, found in {cuts}"


def _place_lines(step: "StepReport") -> Iterator[str]:
    span = step.operation.location.span()
    yield f"  --> {span.path}:{span.line}:{span.column}"
    text = text_of(span.path)
    lines = [] if text is None else text.splitlines()
    if 0 < span.line <= len(lines):
        yield f"  {span.line} | {lines[span.line - 1]}"


def _loss_lines(found: "NumberLoss") -> Iterator[str]:
    yield f"{found.kind} begins at {_step_title(found.step)}"
    yield from _place_lines(found.step)
    place = f"[{', '.join(map(str, found.index))}]"
    yield f"  first at {place}: {found.value:g}"
    for name, least, most, lost, there in found.operands:
        here = "" if there is None else f", {there:.9g} there"
        others = f", {lost} elements are no finite numbers" if lost else ""
        yield f"  it reads `{name}`: {least:.9g} to {most:.9g}{here}{others}"


def _step_data(step: "StepReport") -> dict[str, Any]:
    span = step.operation.location.span()
    return {
        "step": step.operation.location.label,
        "part": step.part,
        "operator": step.operation.operator,
        "path": span.path,
        "line": span.line,
        "column": span.column,
        "position": step.position,
        "count": step.count,
        "cuts": step.cuts,
    }


def _parting_data(found: "Parting") -> Mapping[str, Any]:
    return {
        **_step_data(found.step),
        "verdict": found.verdict,
        "operands": differences_data([*found.operands, *found.known]),
        "results": differences_data(found.results),
        "alone": differences_data(found.alone),
    }


def _loss_data(found: "NumberLoss") -> Mapping[str, Any]:
    return {
        **_step_data(found.step),
        "kind": found.kind,
        "index": list(found.index),
        "value": str(found.value),
        "operands": [
            {"name": n, "least": low, "most": high, "lost": lost, "there": _number(there)}
            for n, low, high, lost, there in found.operands
        ],
    }


def _number(value: float | None) -> float | str | None:
    return value if value is None or value - value == 0 else str(value)
