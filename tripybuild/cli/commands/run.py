"""`tripybuild run`: runs an executable on input files."""

import math
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.commands.run_state import check_files, session_of_file
from tripybuild.cli.interrupts import native_call
from tripybuild.cli.options import (
    Below,
    InputFile,
    Rebuild,
    Registries,
    Seed,
    SizeAssignment,
    shape,
    source,
)
from tripybuild.cli.usage_errors import conflict
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, suggest
from tripybuild.process.phases import begin_phase

if TYPE_CHECKING:
    from tripybuild.artifact.array_bytes import Array
    from tripybuild.compiler.executable import ExecutableEntry

FIRST = 6  # values of an output that are shown


@command
def run_executable(
    executable: Annotated[Path, typer.Argument(metavar="EXE", help="An executable.")],
    *,
    inputs: Annotated[
        list[InputFile] | None,
        typer.Option(
            "--input",
            metavar="NAME=FILE",
            parser=source,
            help="An input, as .npy, .npz or .safetensors.",
        ),
    ] = None,
    entry: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The entry to run, where there are several."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="DIR|FILE", help="Output: a folder, .npz or .safetensors."),
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The state of the model, as .npz or .safetensors: read where the file exists, "
            "and written after the run.",
        ),
    ] = None,
    random: Annotated[
        bool,
        typer.Option("--random", help="Draw the inputs that no file gives: integers are 1."),
    ] = False,
    seed: Seed = 0,
    below: Below = None,
    shapes: Annotated[
        SizeAssignment | None,
        typer.Option(
            "--shapes",
            metavar="B=1,S=128",
            parser=shape,
            help="Sizes of drawn inputs, instead of the `opt` of each range.",
        ),
    ] = None,
    registry: Registries = None,
    rebuild: Rebuild = False,
    verify: Annotated[
        Path | None,
        typer.Option(
            metavar="PEM",
            help="Run it only if the signature beside it, EXE.sig, holds for this public key "
            "or root certificate.",
        ),
    ] = None,
) -> CommandResult:
    """Run an executable on inputs from files, or on random ones."""
    from tripybuild.compiler.executable import load  # noqa: PLC0415

    if registry:
        from tripybuild.packages.libraries import register_packages  # noqa: PLC0415

        register_packages(registry)
    check_files(state, output)
    begin_phase("load the executable")
    loaded = load(executable, rebuild=rebuild, verify=verify)
    chosen = loaded.entry(entry)
    given, asked = read_inputs(inputs or [], chosen), shapes.sizes if shapes else {}
    if random:
        drawn = _draw_rest(chosen, given, asked, seed, below)
        own = chosen.states if state is not None else ()
        given = {name: array for name, array in drawn.items() if name not in own} | given
    elif asked or below:
        message = "`--shapes` and `--below` are for inputs that are drawn"
        raise conflict(message, "add `--random`", "--shapes" if asked else "--below")
    kept = None if state is None else session_of_file(state, loaded, chosen, given)
    call = chosen if kept is None else kept.entry(chosen.name)
    begin_phase("run")
    start = time.perf_counter()
    with native_call():
        results = call(**given)
    seconds = time.perf_counter() - start
    shown = {name: _array_summary(array) for name, array in results.items()}
    data: dict[str, object] = {"outputs": shown, "seconds": round(seconds, 6)}
    warnings = "\n".join(f"warning: {each.message}" for each in loaded.warnings)
    from tripybuild.weights.array_files import write  # noqa: PLC0415

    raw = () if output is None else write(output, results)
    if state is not None and kept is not None:  # last: what fails before leaves it as it was
        write(state, kept.state)
        data["state"] = state.as_posix()
    if output is None:
        return CommandResult("\n".join(_lines(shown)), warnings, data)
    data["path"] = output.as_posix()
    text = "\n".join(filter(None, (warnings, _output_message(output, shown, raw))))
    return CommandResult(remark=text, data=data)


def read_inputs(sources: Sequence[InputFile], entry: "ExecutableEntry") -> dict[str, "Array"]:
    """Read each input as the dtype that it is declared to have."""
    from tripybuild.types.dtypes import BY_NAME  # noqa: PLC0415
    from tripybuild.weights.array_files import read  # noqa: PLC0415

    problems, arrays, declared = [], {}, entry.inputs
    for each in sources:
        if each.name not in declared:
            problems.append(_unknown(each.name, entry))
        elif each.name in arrays:
            problems.append(
                Diagnostic("input-twice", f"the input `{each.name}` is specified twice")
            )
        else:
            dtype = BY_NAME[declared[each.name]["dtype"]].numpy
            try:
                arrays[each.name] = read(each.path, each.name, dtype)
            except DiagnosticError as error:
                problems += error.diagnostics
    if problems:
        raise DiagnosticError(*problems)
    return arrays


def _draw_rest(
    entry: "ExecutableEntry",
    given: Mapping[str, "Array"],
    asked: Mapping[str, int],
    seed: int,
    below: Sequence[SizeAssignment] | None,
) -> dict[str, "Array"]:
    """Inputs for the sizes of those that are given."""
    from tripybuild.targets.drawn_inputs import call_sizes, draw_inputs  # noqa: PLC0415

    sizes = call_sizes(entry.signature, asked, given)
    bounds = {name: bound for each in below or [] for name, bound in each.sizes.items()}
    return draw_inputs(entry.signature, sizes, seed, bounds)


def _unknown(name: str, entry: "ExecutableEntry") -> Diagnostic:
    near = suggest(name, entry.inputs)
    known = ", ".join(f"`{each}`" for each in entry.inputs)
    hint = f"did you mean `{near}`?" if near else f"the inputs are {known}"
    owner = f"the entry `{entry.name}`" if entry.name else "the executable"
    return Diagnostic("unknown-input", f"{owner} has no input `{name}`", hint=hint)


def _array_summary(array: "Array") -> dict[str, object]:
    first = array.ravel()[:FIRST]
    values = [_number(value) for value in first.tolist()]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "first": values}


def _number(value: object) -> object:
    """JSON has no infinities: such a value is written as text."""
    if isinstance(value, bool | int):
        return value
    number = float(value)  # type: ignore[arg-type]
    finite = number - number == 0
    return float(f"{number:.6g}") if finite else str(number)


def _lines(shown: Mapping[str, Mapping[str, Any]]) -> list[str]:
    types = {name: f"{each['dtype']}{each['shape']}" for name, each in shown.items()}
    names, widest = max(map(len, types), default=0), max(map(len, types.values()), default=0)
    lines = []
    for name, each in shown.items():
        values = ", ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in each["first"])
        more = ", ..." if math.prod(each["shape"]) > FIRST else ""
        lines.append(f"{name.ljust(names)}  {types[name].ljust(widest)}  {values}{more}".rstrip())
    return lines


def _output_message(
    output: Path, shown: Mapping[str, Mapping[str, Any]], raw: Sequence[str]
) -> str:
    names = ", ".join(f"`{name}`" for name in shown)
    text = f"Wrote {names} to `{output}`"
    if raw:
        kinds = ", ".join(f"`{name}` ({shown[name]['dtype']})" for name in raw)
        text += f"\nnote: NumPy's formats lack the dtype of {kinds}: these are raw bytes"
        text += "\nhint: a .safetensors file keeps all dtypes"
    return text
