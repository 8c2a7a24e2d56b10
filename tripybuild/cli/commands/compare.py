"""`tripybuild compare`: holds the outputs of two programs beside each other."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tripybuild.cli.command import FAILED, CommandResult, command
from tripybuild.cli.console import json_text, write_note
from tripybuild.cli.interrupts import native_call
from tripybuild.cli.number_table import number_table
from tripybuild.cli.options import (
    Below,
    ConfigFile,
    Registries,
    Seed,
    SizeSetting,
    SizeSettings,
    WeightsPath,
    setting,
)
from tripybuild.cli.sources import (
    Absolute,
    Entry,
    InputValues,
    Relative,
    Shapes,
    SourceOptions,
    Target,
    function_inputs,
    open_source,
    pair_sources,
    read_arrays,
    split_source,
)
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.output_files import check_overwrite
from tripybuild.targets.table import DEFAULT

if TYPE_CHECKING:
    from tripybuild.schema.files import ToleranceEntry
    from tripybuild.workbench.comparison import CallDifference, CallInputs, InputChoice
    from tripybuild.workbench.differences import ArrayDifference
    from tripybuild.workbench.programs import Program

CUTS = 100  # for --steps; each is compiled twice
SOURCE = "SPEC|EXE|FILE.py:f|torch:FILE.py:f|onnx:FILE, with @TARGET behind it or without"
First = Annotated[str, typer.Argument(metavar="A", help=f"{SOURCE}.")]
Second = Annotated[
    str | None,
    typer.Argument(
        metavar="B",
        help="The same, and what A is compared with. `@TARGET` alone is A by that target; "
        "by default it is `@reference`.",
    ),
]
SecondSettings = Annotated[
    list[SizeSetting] | None,
    typer.Option(
        "--set-b", metavar="NAME=VALUE", parser=setting, help="As --set, for B alone: F=float16."
    ),
]


class PairOptions(NamedTuple):
    """What `compare` and `bisect` take: how two programs are opened, called and compared."""

    target: Target = DEFAULT
    shapes: Shapes = None
    seed: Seed = 0
    below: Below = None
    inputs: InputValues = None
    atol: Absolute = None
    rtol: Relative = None
    entry: Entry = None
    sizes: SizeSettings = None
    sizes_b: SecondSettings = None
    weights: WeightsPath = None
    config: ConfigFile = None
    registry: Registries = None

    def source_options(self, *, second: bool = False) -> SourceOptions:
        """How A is opened, or B, which has settings of its own."""
        own = [*(self.sizes or []), *((self.sizes_b or []) if second else [])]
        return SourceOptions(
            target=self.target,
            entry=self.entry,
            sizes={each.name: each.value for each in own},
            weights=self.weights,
            config=self.config,
            registry=self.registry,
            inputs=function_inputs(self.inputs or []),
            seed=self.seed,
        )


@command
def compare_programs(
    first: First,
    second: Second = None,
    *,
    pair: PairOptions,
    corners: Annotated[
        bool,
        typer.Option("--corners", help="Also call with the least and the largest of all ranges."),
    ] = False,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many seeds to draw inputs by.")
    ] = 1,
    steps: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="Write the difference of each step of A, for `graph` and `view --overlay`.",
        ),
    ] = None,
    cuts: Annotated[
        int, typer.Option(metavar="N", min=1, help="At most so many compilations for --steps.")
    ] = CUTS,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document on stdout.")
    ] = False,
) -> CommandResult:
    """Compare the outputs of two programs on the same inputs."""
    from tripybuild.workbench.comparison import (  # noqa: PLC0415
        compare_call,
        draw_calls,
        pair_tolerance,
    )

    if steps is not None:
        check_overwrite(steps, _is_overlay, "a file of differences", "--steps")
    sides = open_pair(first, second, pair)
    choice = input_choice(pair, range(pair.seed, pair.seed + seeds), corners=corners)
    within = pair_tolerance(*sides, pair.atol, pair.rtol)
    with native_call():
        found = [compare_call(*sides, call, within) for call in draw_calls(*sides, choice)]
        tell = (lambda _: None) if json else write_note
        call, entry = found[0].call, pair.entry
        overlay = steps and _write_steps(steps, sides, call, within, cuts, entry, tell)
    lines = [*head_lines(sides, within), *_lines(found)]
    agrees = all(each.agrees for each in found)
    lines += ["", "A and B agree" if agrees else "A and B differ beyond the tolerance"]
    lines += _steps_lines(overlay) if overlay else []
    data = {
        **sides_data(sides, within),
        "agrees": agrees,
        "calls": [_call_data(each) for each in found],
        "steps": overlay or None,
    }
    return CommandResult("\n".join(lines), data=data, code=0 if agrees else FAILED)


def _write_steps(
    path: Path,
    pair: "tuple[Program, Program]",
    call: "CallInputs",
    within: "ToleranceEntry",
    limit: int,
    entry: str | None,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Write the differences of steps, and say what was written."""
    from tripybuild.process.atomic_write import atomic_write  # noqa: PLC0415
    from tripybuild.workbench.drawing.overlays import NodeValues, overlay_data  # noqa: PLC0415
    from tripybuild.workbench.step_differences import find_step_differences  # noqa: PLC0415

    found = find_step_differences(*pair, call, within, limit, entry=entry or "", tell=tell)
    overlay = overlay_data(NodeValues("difference", found.values, adds=False))
    with atomic_write(path) as stream:
        stream.write(f"{json_text(overlay)}\n".encode())
    return {"file": path.as_posix(), **asdict(found)}


def _is_overlay(path: Path) -> bool:
    """Whether a file has numbers by the ids of operations."""
    from tripybuild.documents.plain_json import read_object  # noqa: PLC0415

    try:
        return read_object(path)[0].keys() >= {"name", "values", "adds"}
    except DiagnosticError:
        return False


def _steps_lines(found: Mapping[str, Any]) -> Iterator[str]:
    many, all_of_them = len(found["values"]), found["count"]
    yield f"Wrote the differences of {many} of {all_of_them} steps to `{found['file']}`"
    if found["cuts"] < found["needed"]:
        yield f"  `--cuts {found['needed']}` shows all steps, in as many cuts"


def open_pair(first: str, second: str | None, pair: PairOptions) -> "tuple[Program, Program]":
    """Open both sides. With settings for B alone, B is A with those, if nothing else is said."""
    if second is None and pair.sizes_b:
        second = first
    one, other = pair_sources(first, second)
    return (
        open_source(one, pair.source_options()),
        open_source(other, pair.source_options(second=True)),
    )


def input_choice(
    pair: PairOptions, seeds: Sequence[int], *, corners: bool = False
) -> "InputChoice":
    """The inputs that options ask for."""
    from tripybuild.workbench.comparison import InputChoice  # noqa: PLC0415

    return InputChoice(
        shapes=[each.sizes for each in pair.shapes or []] or [{}],
        corners=corners,
        seeds=seeds,
        below={name: bound for each in pair.below or [] for name, bound in each.sizes.items()},
        given=read_arrays(pair.inputs or []),
    )


def side_title(side: "Program") -> str:
    """A side as the user called it, with its target."""
    _, target = split_source(side.name)
    kind = f" by `{side.target}`" if side.target != target and side.signature else ""
    return f"{side.name}{kind}{f', {side.note}' if side.note else ''}"


def head_lines(pair: "tuple[Program, Program]", within: "ToleranceEntry") -> list[str]:
    """What is compared, and within which tolerance."""
    limit = f"{within.absolute:g} + {within.relative:g} * max(|b|, rms)"
    return [f"A: {side_title(pair[0])}", f"B: {side_title(pair[1])}", f"tolerance: {limit}"]


def sides_data(pair: "tuple[Program, Program]", within: "ToleranceEntry") -> dict[str, Any]:
    """The same in JSON."""
    return {
        "sides": [{"name": each.name, "target": each.target} for each in pair],
        "tolerance": {"absolute": within.absolute, "relative": within.relative},
    }


def _lines(found: "Sequence[CallDifference]") -> Iterator[str]:
    from tripybuild.compiler.lowering.specialize import sizes_name  # noqa: PLC0415

    for each in found:
        yield ""
        yield f"{sizes_name(each.call.sizes)}, seed {each.call.seed}"
        yield from difference_table(each.outputs)
        if not each.by_name:
            yield "  outputs are matched by their order: their names differ"
        for output in each.outputs:
            yield from (f"  {line}" for line in witness_lines(output))


def difference_table(found: "Sequence[ArrayDifference]") -> Iterator[str]:
    """A row for each array, below the heads of the columns."""
    head = (
        "",
        "type",
        "max",
        "average",
        "relative",
        "of rms",
        "cosine",
        "ulps",
        "unequal",
        "outside",
    )
    yield from number_table(head, [_cells(each) for each in found])


def _cells(each: "ArrayDifference") -> tuple[str, ...]:
    numbers = (f"{n:.2g}" for n in (each.greatest, each.average, each.relative, each.scaled))
    cosine = "" if each.cosine is None else f"{each.cosine:.9g}"
    ulps = "" if each.ulps is None else str(each.ulps)
    return (each.name, _type(each), *numbers, cosine, ulps, str(each.unequal), str(each.outside))


def _type(each: "ArrayDifference") -> str:
    texts = [
        f"{kind}[{', '.join(map(str, shape)) or '()'}]"
        for kind, shape in zip(each.dtypes, each.shapes, strict=True)
    ]
    return " / ".join(dict.fromkeys(texts))


def witness_lines(each: "ArrayDifference") -> Iterator[str]:
    """Where an array is beyond the tolerance, and where it is no number."""
    if each.shapes[0] != each.shapes[1]:
        yield f"`{each.name}` has another shape in A than in B"
    for (one, other), what in ((each.nans, "NaN"), (each.infinities, "infinite")):
        if one or other:
            yield f"`{each.name}`: {one} elements are {what} in A, and {other} in B"
    if (seen := each.witness) is not None:
        place = f"[{', '.join(map(str, seen.index))}]"
        values = f"{seen.one:.9g} in A, {seen.other:.9g} in B"
        yield f"`{each.name}` differs first at {place}: {values}"


def _call_data(each: "CallDifference") -> dict[str, Any]:
    return {
        "sizes": dict(each.call.sizes),
        "seed": each.call.seed,
        "agrees": each.agrees,
        "matched_by": "name" if each.by_name else "order",
        "outputs": differences_data(each.outputs),
    }


def differences_data(found: "Iterable[ArrayDifference]") -> list[dict[str, Any]]:
    """Differences in JSON, which has no infinities: such a value is a string."""
    return [
        {
            "name": each.name,
            "shapes": [list(shape) for shape in each.shapes],
            "dtypes": list(each.dtypes),
            "agrees": each.agrees,
            "largest": each.greatest,
            "average": each.average,
            "relative": each.relative,
            "of_rms": each.scaled,
            "cosine": each.cosine,
            "ulps": each.ulps,
            "unequal": each.unequal,
            "outside": each.outside,
            "nan": list(each.nans),
            "infinite": list(each.infinities),
            "first": None if each.witness is None else _witness(each.witness),
        }
        for each in found
    ]


def _witness(seen: Any) -> dict[str, Any]:
    # JSON has truths that are no numbers, and no infinities.
    values = (+each if each - each == 0 else str(each) for each in (seen.one, seen.other))
    return {"index": list(seen.index), "values": list(values)}
