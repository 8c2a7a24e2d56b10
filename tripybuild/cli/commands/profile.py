"""`tripybuild profile`: says where the time of a call goes, by parts, operators and lines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.console import terminal_width
from tripybuild.cli.interrupts import native_call
from tripybuild.cli.options import (
    Below,
    ConfigFile,
    Registries,
    Seed,
    SizeAssignment,
    SizeSettings,
    WeightsPath,
    shape,
)
from tripybuild.cli.sources import (
    Entry,
    InputValues,
    RandomWeights,
    SourceOptions,
    Target,
    function_inputs,
    hint_random,
    open_source,
    read_arrays,
)
from tripybuild.cli.usage_errors import wrong_argument
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.quantities import format_seconds
from tripybuild.targets.table import DEFAULT

if TYPE_CHECKING:
    from tripybuild.workbench.profiles.operation_times import OperationTimes

TOP, ROUNDS, DEPTH = 10, 20, 2
LONGEST = 72  # columns of a kernel's contents


@command
def profile_model(
    source: Annotated[
        str,
        typer.Argument(
            metavar="EXE|SPEC|FILE.py:f",
            help="An executable, or a spec or a Python function, which is compiled for --target; "
            "each may have @TARGET behind it.",
        ),
    ],
    *,
    target: Target = DEFAULT,
    rounds: Annotated[int, typer.Option(metavar="N", min=1, help="How many calls.")] = ROUNDS,
    shapes: Annotated[
        SizeAssignment | None,
        typer.Option(
            metavar="B=1,S=128",
            parser=shape,
            help="Sizes of the call, instead of the `opt` of each range.",
        ),
    ] = None,
    entry: Entry = None,
    top: Annotated[int, typer.Option(metavar="N", min=1, help="Rows of each table.")] = TOP,
    depth: Annotated[
        int, typer.Option(metavar="N", min=0, help="How deep the table of parts goes.")
    ] = DEPTH,
    flame: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Draw a flame graph, too.")
    ] = None,
    random: RandomWeights = False,
    seed: Seed = 0,
    below: Below = None,
    inputs: InputValues = None,
    sizes: SizeSettings = None,
    weights: WeightsPath = None,
    config: ConfigFile = None,
    registry: Registries = None,
) -> CommandResult:
    """Say where the time of a call goes."""
    from tripybuild.process.atomic_write import atomic_write  # noqa: PLC0415
    from tripybuild.process.output_files import check_picture  # noqa: PLC0415

    if flame is not None:
        check_picture(flame, [".svg"], "--flame")
    how = SourceOptions(
        target=target,
        entry=entry,
        sizes={each.name: each.value for each in sizes or []},
        weights=weights,
        config=config,
        registry=registry,
        inputs=function_inputs(inputs or []),
        seed=seed if random else None,
    )
    bounds = {name: bound for each in below or [] for name, bound in each.sizes.items()}
    asked = shapes.sizes if shapes else {}
    given = read_arrays(inputs or [])
    times, name = _measure(source, how, rounds, asked, {"seed": seed, "below": bounds}, given)
    remark = ""
    if flame is not None:
        from tripybuild.workbench.profiles.flame_graph import flame_svg  # noqa: PLC0415

        title = f"{times.drawing.label} by {name}: {format_seconds(times.total)} in kernels"
        with atomic_write(flame) as stream:
            stream.write(flame_svg(times, title).encode())
        remark = f"Wrote the flame graph to `{flame}`"
    text = "\n".join(_lines(times, name, top, depth))
    return CommandResult(text, remark, _data(source, times, name, rounds))


def _measure(
    source: str,
    how: SourceOptions,
    rounds: int,
    asked: Mapping[str, int],
    drawn: Mapping[str, Any],
    given: Mapping[str, Any],
) -> "tuple[OperationTimes, str]":
    """Compile what is named for the sizes of a call, and measure it."""
    from tripybuild.targets.drawn_inputs import call_sizes, draw_inputs  # noqa: PLC0415
    from tripybuild.workbench.drawing.drawing import draw_graph  # noqa: PLC0415
    from tripybuild.workbench.profiles.operation_times import measure_operations  # noqa: PLC0415

    try:
        opened = open_source(source, how)
    except DiagnosticError as error:
        raise DiagnosticError(*map(hint_random, error.diagnostics)) from error
    if opened.source is None:
        message = f"`{source}` has no graph of ours to profile"
        raise wrong_argument(message, "name a spec, or an executable that was compiled of one")
    built, graph = opened.source.built, opened.source.entry.graph
    sizes = call_sizes(opened.source.signature, asked, given)
    arrays = {**draw_inputs(opened.source.signature, sizes, **drawn), **given}
    named = graph.name.removeprefix(built.name).lstrip(".")
    drawing = draw_graph(built.name, named, graph, opened.source.entry.states, sizes)
    compiled = opened.source.compile(sizes)
    with native_call():
        found = measure_operations(compiled, drawing, opened.arguments(arrays), rounds)
    return found, str(compiled.model.target)


def _lines(times: "OperationTimes", target: str, top: int, depth: int) -> Iterator[str]:
    """What a reader wants to know, in that order."""
    from tripybuild.compiler.lowering.specialize import sizes_name  # noqa: PLC0415
    from tripybuild.workbench.drawing.terminal_text import share_table  # noqa: PLC0415

    drawing = times.drawing
    at = f", {sizes_name(drawing.sizes)}" if drawing.sizes else ""
    yield f"{drawing.label}  {target}{at}"
    yield ""
    whole = {"a call": times.call, "while measured": times.measured, "in kernels": times.total}
    if times.own:
        whole["the engine's own"] = times.own
    for title, seconds in whole.items():
        of_call = f"{seconds / times.call:7.1%} of a call" if times.call else ""
        yield f"  {title:16}  {format_seconds(seconds):>8}  {of_call}".rstrip()
    if max(times.measured, times.total) > times.call:
        yield "  counters take time, too: the tables show parts of what is in kernels"
    kinds = {
        "part": times.by(lambda node: _part_name(node.part, depth)),
        "operator": times.by(lambda node: node.label),
        "line": times.by(lambda node: node.place),
    }
    for title, rows in kinds.items():
        yield ""
        yield from share_table(title, rows, times.total, top, terminal_width())
    yield ""
    yield from share_table("kernel", _kernel_rows(times), times.total, top, terminal_width())
    if times.note:
        yield f"\n{times.note}"


def _part_name(part: Sequence[str], depth: int) -> str:
    """A part so deep, with `*` for indices: indices count for no depth."""
    names: list[str] = []
    left = depth
    for each in part:
        if not each.isdigit():
            if not left:
                break
            left -= 1
        names.append("*" if each.isdigit() else each)
    return ".".join(names) or "(model)"


def _kernel_rows(times: "OperationTimes") -> list[tuple[str, float, int]]:
    """The kernels, where those on the same operations of equal parts are one row."""
    found: dict[str, tuple[float, int]] = {}
    for each in times.kernels:
        inside = [re.sub(r"(?<![^.])\d+(?=\.)", "*", name) for name in each.operations]
        name = f"{each.kind}  {' + '.join(dict.fromkeys(inside))}".rstrip()
        name = name if len(name) <= LONGEST else f"{name[: LONGEST - 3]}..."
        seconds, count = found.get(name, (0.0, 0))
        found[name] = seconds + each.seconds, count + 1
    rows = [(name, seconds, count) for name, (seconds, count) in found.items()]
    return sorted(rows, key=lambda row: -row[1])


def _data(source: str, times: "OperationTimes", target: str, rounds: int) -> dict[str, Any]:
    """The answer for programs; `graph --times` reads it."""
    return {
        "path": source,
        "target": target,
        "entry": times.drawing.entry,
        "sizes": dict(times.drawing.sizes),
        "rounds": rounds,
        "call": times.call,
        "measured": times.measured,
        "total": times.total,
        "own": times.own,
        "note": times.note,
        "kernels": [
            {
                "name": each.name,
                "kind": each.kind,
                "seconds": each.seconds,
                "operations": list(each.operations),
            }
            for each in times.kernels
        ],
        "operations": [
            {
                "id": node.id,
                "part": ".".join(node.part),
                "operator": node.label,
                "line": node.place,
                "seconds": times.seconds[node.id],
            }
            for node in times.drawing.operations
            if node.id in times.seconds
        ],
    }
