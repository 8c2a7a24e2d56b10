"""`tripybuild check`: checks a model without a compiler, and says what it costs."""

import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, Format, Json, command, conclude
from tripybuild.cli.commands.compile import reject_spec_flags
from tripybuild.cli.console import DiagnosticFormat, count_files, write_note
from tripybuild.cli.function_reference import FunctionReference, program, record_program
from tripybuild.cli.options import (
    ConfigFile,
    Inputs,
    Registries,
    SizeAssignment,
    SizeSettings,
    WeightsPath,
    shape,
)
from tripybuild.cli.usage_errors import conflict
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, render, text_of

if TYPE_CHECKING:
    from tripybuild.compiler.check.check import ModelCheck

_KINDS = re.compile(r"^(op|family|module|foreign|define|targets)[ ]*:", re.MULTILINE)
_MODEL = re.compile(r"^(model|inputs|outputs|entries)[ ]*:", re.MULTILINE)
PAUSE = 0.2  # seconds between two looks at the files
DEPTH = 3


@command
def check_model(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC|FILE.py:f",
            help="The model's YAML file, or one of a registry; or a function of a Python file, "
            "model.py:forward, which runs that file.",
        ),
    ],
    *,
    on: Annotated[
        str,
        typer.Option("--on", metavar="DEVICE", help="What times are of: cpu, h200, l4, rtx4090."),
    ] = "cpu",
    shapes: Annotated[
        SizeAssignment | None,
        typer.Option(
            "--shapes",
            metavar="B=1,S=128",
            parser=shape,
            help="Sizes that numbers are for, instead of the `opt` of each range.",
        ),
    ] = None,
    depth: Annotated[
        int, typer.Option(metavar="N", min=0, help="How deep the table of parts goes.")
    ] = DEPTH,
    sizes: SizeSettings = None,
    weights: WeightsPath = None,
    config: ConfigFile = None,
    inputs: Inputs = None,
    registry: Registries = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again whenever a file is saved, until Ctrl-C.")
    ] = False,
    json: Json = False,
    form: Format = DiagnosticFormat.FULL,
) -> CommandResult:
    """Check a model without a compiler: shapes, laws, weights, costs."""
    asked = program(source)
    if asked is not None:
        own = {"sizes": sizes, "registry": registry, "weights": weights, "config": config}
        reject_spec_flags(source, **own)
    elif inputs:
        message = f"`{source}` declares its inputs itself"
        hint = "`--input` is for functions of Python files"
        raise conflict(message, hint, "--input")
    if json and watch:
        message = "`--json` is one document, and `--watch` has no end"
        raise conflict(message, "leave out one of them", "--watch")
    seen: set[Path] = {source if asked is None else asked.file}
    how: dict[str, Any] = {"on": on, "at": shapes.sizes if shapes else {}, "depth": depth}

    def once() -> CommandResult:
        try:
            if asked is not None:
                return _check_function(asked, inputs or [], seen, **how)
            chosen = {each.name: each.value for each in sizes or []}
            given = {"sizes": chosen, "weights": weights, "config": config}
            if (kind := _declaration_kind(source)) is not None:
                return _check_declaration(source, kind, {**given, "shapes": shapes})
            return _check_spec(source, registry, seen, **{**given, **how})
        except DiagnosticError as error:
            seen.update(Path(each.span.path) for each in error.diagnostics if each.span)
            raise

    if not watch:
        return once()
    _watch(once, seen, form, None if asked is None else asked.file)
    raise AssertionError("it ends by an interrupt")


def _check_spec(
    path: Path,
    added: list[Path] | None,
    seen: set[Path],
    *,
    on: str,
    at: Mapping[str, int],
    depth: int,
    **how: Any,
) -> CommandResult:
    from tripybuild.compiler.check.check import check_spec  # noqa: PLC0415
    from tripybuild.compiler.check.devices import find_device  # noqa: PLC0415
    from tripybuild.packages.libraries import model_libraries  # noqa: PLC0415

    device, began = find_device(on), time.perf_counter()
    found = check_spec(path, device, at=at, homes=model_libraries(added, path), **how)
    seen.update(_files(found))
    return _result(path, found, depth, time.perf_counter() - began)


def _declaration_kind(path: Path) -> str | None:
    """What a file of a registry, or of definitions, declares; None of all others."""
    from tripybuild.documents.document import LARGEST_FILE, read_text  # noqa: PLC0415
    from tripybuild.schema.kinds import REGISTRY_KINDS  # noqa: PLC0415

    try:
        text = read_text(path, LARGEST_FILE)
    except DiagnosticError:  # said where the model is read
        return None
    kinds, keys = set(_KINDS.findall(text)), set(_MODEL.findall(text))
    if "model" in keys or (keys and not kinds - {"define", "targets"}):
        return None
    return next((each for each in REGISTRY_KINDS if each in kinds), "define" if kinds else None)


def _check_declaration(path: Path, kind: str, flags: Mapping[str, object]) -> CommandResult:
    """A file alone, with the families that it refines: milliseconds, where `gen` reads them all."""
    from tripybuild.language_server.analysis import Analysis  # noqa: PLC0415
    from tripybuild.language_server.findings import find  # noqa: PLC0415

    for name, given in flags.items():
        if given:
            flag = f"--{name.replace('sizes', 'set')}"
            raise conflict(f"`{path}` is no model, and takes no `{flag}`", None, flag)
    began = time.perf_counter()
    whole = path.resolve()
    found = find(Analysis(whole, path.read_text(encoding="utf-8")), {}).diagnostics
    if found:
        raise DiagnosticError(*(_shown_at(each, whole, path) for each in found))
    seconds = time.perf_counter() - began
    hint = "`tripybuild gen` reads it with all others" if kind != "define" else "no model uses it"
    data = {"path": str(path), "kind": kind, "warnings": [], "seconds": seconds}
    return CommandResult(f"Checked `{path}` in {seconds:.2f}s; {hint}", data=data)


def _shown_at(problem: Diagnostic, whole: Path, path: Path) -> Diagnostic:
    """A problem with the path as it was typed."""
    span = problem.span
    if span is None or span.path != whole.as_posix():
        return problem
    return replace(problem, span=replace(span, path=path.as_posix()))


def _check_function(
    asked: FunctionReference,
    inputs: Sequence[Any],
    seen: set[Path],
    *,
    on: str,
    at: Mapping[str, int],
    depth: int,
) -> CommandResult:
    from tripybuild.compiler.check.check import check_graphs  # noqa: PLC0415
    from tripybuild.compiler.check.devices import find_device  # noqa: PLC0415

    device, began = find_device(on), time.perf_counter()
    try:
        found = check_graphs(record_program(asked, inputs).compiler_input, device, at)
    finally:
        seen.update(Path(name) for name in _own_modules(asked.file).values())
    path = Path(f"{asked.file}:{asked.path}")
    return _result(path, found, depth, time.perf_counter() - began)


def _result(path: Path, found: "ModelCheck", depth: int, seconds: float) -> CommandResult:
    from tripybuild.cli.commands.check_report import answer, report_lines  # noqa: PLC0415

    warnings = [render(each, text_of, kind="warning") for each in found.warnings]
    text = f"Checked `{path}` in {seconds:.2f}s"
    data = answer(path, found, seconds).model_dump(exclude={"kind"})
    lines = report_lines(path, found, depth)
    return CommandResult("\n".join(lines), "\n\n".join([*warnings, text]), data)


def _files(found: "ModelCheck") -> Iterable[Path]:
    """The files that a model was read from."""
    built = found.built
    yield from (Path(each.path) for each in (built.document, *built.used))
    if built.config is not None and built.config.path:
        yield Path(built.config.path)
    if found.weights is not None:
        yield from found.weights.paths


def _own_modules(file: Path) -> dict[str, str]:
    """The modules in the folder of a program and below, by name, with their files."""
    folder = file.resolve().parent
    named = {n: getattr(m, "__file__", None) for n, m in sys.modules.items() if n != "__main__"}
    own = {n: f for n, f in named.items() if f and Path(f).is_relative_to(folder)}
    return {n: f for n, f in own.items() if not n.startswith(("tripybuild", "tripyapi"))}


def _watch(
    once: Callable[[], CommandResult], seen: set[Path], form: DiagnosticFormat, file: Path | None
) -> None:
    """Check now, and again whenever one of the files is another one than before."""
    while True:
        before = _states(seen)
        conclude(once, json=False, form=form)
        before = {path: before.get(path, state) for path, state in _states(seen).items()}
        write_note(f"Watching {count_files(len(before))}; Ctrl-C ends")
        while _states(seen) == before:
            time.sleep(PAUSE)
        time.sleep(PAUSE / 4)  # an editor may write in several steps
        write_note("")
        for name in _own_modules(file) if file is not None else ():
            del sys.modules[name]


def _states(files: Iterable[Path]) -> dict[Path, tuple[int, int, int] | None]:
    """What tells a file from the one that was there before; None where there is none."""
    found: dict[Path, tuple[int, int, int] | None] = {}
    for path in files:
        try:
            state = path.stat()
        except (OSError, ValueError):
            found[path] = None
        else:
            found[path] = (state.st_mtime_ns, state.st_size, state.st_ino)
    return found
