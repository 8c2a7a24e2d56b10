"""`tripybuild compile`: compiles a model spec or a module into one executable file."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli import options
from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.commands.cache import explained
from tripybuild.cli.function_reference import FunctionReference, program, record_program
from tripybuild.cli.options import (
    ArgumentSpec,
    BucketSizes,
    ConfigFile,
    Duration,
    Inputs,
    Registries,
    SizeAssignment,
    SizeSettings,
    WeightsPath,
    seconds,
    shape,
)
from tripybuild.cli.usage_errors import conflict
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, render, text_of
from tripybuild.process.memory import format_bytes
from tripybuild.process.output_files import check_overwrite
from tripybuild.process.phases import begin_phase
from tripybuild.targets.table import DEFAULT, SUFFIX, TARGETS, forms, is_mlir, usual_engine

if TYPE_CHECKING:
    from tripybuild.artifact.draft import Draft
    from tripybuild.compiler.executable import Executable

FORMS = f"[{'|'.join(forms())}]"
PORTABLE = ", ".join(name for name, entry in TARGETS.items() if entry.portable)
TARGET = (
    f"The target: {', '.join(TARGETS)}. `:sm86,sm89` behind {PORTABLE} builds for those GPUs "
    "only; `,OPTION=VALUE` behind any sets an option. `tripybuild doctor` lists the targets that "
    "work here."
)
BUCKETS = (
    "Pad a dynamic size to the next of these, for each of which cpu:xla compiles one program; "
    "S=powers are those of two."
)
EMIT = (
    "Print an intermediate form instead; -o writes it. For a spec, the text before any pass; for "
    "an .mlir file, after all passes."
)


def form(text: str) -> str:
    """Read the name of a form; errors are those of usage."""
    if text not in forms():
        raise typer.BadParameter(f"`{text}` is not one of {', '.join(forms())}")
    return text


@command
def compile_model(
    spec: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC",
            help="The model's YAML file; a module of the tensorrt dialect: .mlir; or a function of "
            "a Python file, model.py:forward, which runs that file.",
        ),
    ],
    *,
    target: Annotated[str, typer.Option(help=TARGET)] = DEFAULT,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The executable; the spec's name + .tpb."
        ),
    ] = None,
    sizes: SizeSettings = None,
    shapes: Annotated[
        list[SizeAssignment] | None,
        typer.Option(metavar="B=1,S=128", parser=shape, help="Compile for these sizes, too."),
    ] = None,
    buckets: Annotated[
        list[BucketSizes] | None,
        typer.Option(metavar="S=16,64,256", parser=options.buckets, help=BUCKETS),
    ] = None,
    function: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Compile only this function of a module."),
    ] = None,
    inputs: Inputs = None,
    registry: Registries = None,
    weights: WeightsPath = None,
    config: ConfigFile = None,
    emit: Annotated[str | None, typer.Option(parser=form, metavar=FORMS, help=EMIT)] = None,
    entry: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The entry that --emit prints, where there are several."),
    ] = None,
    timeout: Annotated[
        Duration | None,
        typer.Option(
            metavar="SECONDS", parser=seconds, help="Time limit of a compiler: 1800 by default."
        ),
    ] = None,
    explain_cache: Annotated[
        bool,
        typer.Option("--explain-cache", help="Say what the cache had, and why it lacked the rest."),
    ] = False,
) -> CommandResult:
    """Compile a model to one executable file.

    It is a spec, a module of the tensorrt dialect, or a function of a Python file.
    """
    chosen = {each.name: each.value for each in sizes or []}
    wanted = [each.sizes for each in shapes or []]
    asked = program(spec)
    if asked is not None:
        own = {"sizes": sizes, "function": function, "registry": registry, "buckets": buckets}
        reject_spec_flags(spec, **own, weights=weights, config=config, entry=entry)
    elif inputs:
        message = f"`{spec}` declares its inputs itself"
        hint = "`--input` is for functions of Python files"
        raise conflict(message, hint, "--input")
    path = output or Path(f"{spec.stem if asked is None else asked.name}{SUFFIX}")
    if output is not None or emit is None:
        _check_output_differs(path, spec)
    if emit is not None:
        if weights is not None:
            message = "`--emit` prints a form that holds no weights"
            raise conflict(message, "leave out `--weights`", "--weights")
        if explain_cache:
            message = "`--emit` prints what is compiled, and compiles nothing"
            raise conflict(message, "leave out `--explain-cache`", "--explain-cache")
        if buckets:
            message = "`--emit` prints what is compiled for one set of sizes"
            raise conflict(message, "leave out `--buckets`", "--buckets")
        how: dict[str, Any] = {"sizes": chosen, "config": config, "entry": entry}
        if asked is not None:
            text = _emit_function(asked, inputs or [], emit, wanted)
        else:
            text = _emit_spec(spec, registry, emit, shapes=wanted, **how)
        return write_stage_text(text, emit, output)
    if entry is not None:
        message, hint = "an executable has all entries of its spec", "`--entry` is for `--emit`"
        raise conflict(message, hint, "--entry")
    how = {"shapes": wanted, "timeout": None if timeout is None else timeout.number}
    if asked is not None:
        make = partial(_from_python, asked, inputs or [], **how)
        return explained(partial(_save_executable, spec, path, target, make), explain_cache)
    how |= {"sizes": chosen, "function": function, "weights": weights, "config": config}
    how["buckets"] = {each.name: each.sizes for each in buckets or []}
    make = partial(_from_spec, spec, registry, **how)
    return explained(partial(_save_executable, spec, path, target, make), explain_cache)


def _emit_function(
    asked: FunctionReference, inputs: Sequence[ArgumentSpec], emit: str, shapes: Any
) -> str:
    from tripybuild.compiler import session  # noqa: PLC0415

    return session.emit_graph(record_program(asked, inputs).compiler_input, emit, shapes)


def _emit_spec(spec: Path, added: list[Path] | None, emit: str, **how: Any) -> str:
    from tripybuild.compiler import session  # noqa: PLC0415
    from tripybuild.packages.libraries import model_libraries  # noqa: PLC0415

    return session.emit(spec, emit, homes=model_libraries(added, spec), **how)


def _from_spec(
    spec: Path, added: list[Path] | None, target: str, draft: "Draft", **how: Any
) -> "Executable":
    from tripybuild.cache.records import entry_origin  # noqa: PLC0415
    from tripybuild.compiler import session  # noqa: PLC0415
    from tripybuild.compiler.entry_facts import registry_facts  # noqa: PLC0415
    from tripybuild.packages.libraries import model_libraries  # noqa: PLC0415

    own = model_libraries(added, spec)
    with entry_origin(registry_facts(added or [])):
        return session.compile_spec(spec, target=target, homes=own, draft=draft, **how)


def _from_python(
    asked: FunctionReference,
    inputs: Sequence[ArgumentSpec],
    target: str,
    draft: "Draft",
    **how: Any,
) -> "Executable":
    from tripybuild.eager.compile.compile import compile_function  # noqa: PLC0415

    del draft  # what calls the function in Python has no file
    begin_phase("record the function")
    return compile_function(record_program(asked, inputs), target, **how).program


def reject_spec_flags(spec: Path, **given: object) -> None:
    """Refuse flags that are for specs and modules."""
    sized = "`--input x=float32[2,3]` declares an input"
    imported = "`tripybuild gen --registry DIR --package NAME` makes what its file can import"
    flags = {
        "sizes": ("--set", sized),
        "function": ("--function", sized),
        "registry": ("--registry", imported),
        "weights": ("--weights", "it has its weights itself"),
        "config": ("--config", "it has its sizes itself"),
        "buckets": ("--buckets", sized),
        "entry": ("--entry", "it is one function"),
    }
    for name, (flag, hint) in flags.items():
        if given.get(name):
            message = f"`{spec}` is a Python function, and takes no `{flag}`"
            raise conflict(message, hint, flag)


def _check_output_differs(path: Path, spec: Path) -> None:
    try:
        itself = path.samefile(spec)
    except (OSError, ValueError):  # one of them is not there, or cannot be: others say so
        return
    if itself:
        kind = "module" if is_mlir(spec) else "spec"
        message = f"`{path}` is the {kind} itself"
        hint = "name another file with `-o`"
        raise DiagnosticError(Diagnostic("output-unwritable", message, hint=hint))


def _save_executable(
    spec: Path, path: Path, target: str, make: Callable[[str, "Draft"], "Executable"]
) -> CommandResult:
    from tripybuild.artifact.container import looks_like_container  # noqa: PLC0415
    from tripybuild.artifact.draft import Draft  # noqa: PLC0415

    check_overwrite(path, looks_like_container, "an executable")
    start = time.perf_counter()
    with Draft(path) as draft:
        executable = make(target, draft)
        begin_phase("write the executable")
        executable.save(path, draft)
    took, size = time.perf_counter() - start, path.stat().st_size
    choice = executable.manifest.get("engine", {})
    target = str(executable.target) if choice else target
    text = f"Compiled `{spec}` for `{target}` into `{path}` ({format_bytes(size)}) in {took:.2f}s"
    if choice and executable.target.name != usual_engine(choice["chosen_by"]):
        text += f"\nChose `{target}`: {choice['because']}{_seen(choice)}"
    data = {"path": path.as_posix(), "target": target, "bytes": size, "seconds": round(took, 3)}
    data |= {"engine": choice} if choice else {}
    warnings = [render(each, text_of, kind="warning") for each in executable.warnings]
    return CommandResult(remark="\n".join([*warnings, text]), data=data)


def _seen(choice: Mapping[str, Any]) -> str:
    """What was measured of each engine, and what the others said."""
    rows = [f"`{name}` {took} ms" for name, took in choice.get("measured", {}).items()]
    rows += [f"`{name}`: {words}" for name, words in choice.get("refused", {}).items()]
    return f" ({', '.join(rows)})" if rows else ""


def write_stage_text(text: str, emit: str, output: Path | None) -> CommandResult:
    """A text on the way, printed or written."""
    if output is None:
        return CommandResult(text.rstrip("\n"), data={"emit": emit, "text": text})
    from tripybuild.process.atomic_write import atomic_write  # noqa: PLC0415

    with atomic_write(output) as stream:
        stream.write(text.encode())
    data = {"emit": emit, "path": output.as_posix()}
    return CommandResult(remark=f"Wrote `{output}`", data=data)
