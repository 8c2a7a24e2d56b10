"""`tripybuild export`: writes a model as files of ONNX."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.commands.compile import reject_spec_flags
from tripybuild.cli.function_reference import FunctionReference, program, record_program
from tripybuild.cli.options import (
    ArgumentSpec,
    ConfigFile,
    Inputs,
    Registries,
    SizeSettings,
    WeightsPath,
)
from tripybuild.cli.usage_errors import conflict
from tripybuild.errors.diagnostics import render, text_of
from tripybuild.onnx.model import DEFAULT_OPSET, OPSETS
from tripybuild.process.memory import format_bytes
from tripybuild.process.phases import begin_phase

if TYPE_CHECKING:
    from tripybuild.compiler.export.export import ExportRequest, ExportResult


ONNX = ".onnx"


@command
def export_model(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC|EXE|FILE.py:f",
            help="The model's YAML file; an executable, of which its graph is taken; or a function "
            "of a Python file, model.py:forward, which runs that file.",
        ),
    ],
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="The file; the source's name + .onnx. Several entries are FILE.ENTRY.onnx.",
        ),
    ] = None,
    opset: Annotated[
        int,
        typer.Option(metavar=f"{OPSETS[0]}..{OPSETS[-1]}", help="The version of ONNX's operators."),
    ] = DEFAULT_OPSET,
    entry: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The only entry to write, where there are several."),
    ] = None,
    embed: Annotated[
        bool,
        typer.Option("--embed", help="Put the weights into the file, instead of naming theirs."),
    ] = False,
    sizes: SizeSettings = None,
    inputs: Inputs = None,
    registry: Registries = None,
    weights: WeightsPath = None,
    config: ConfigFile = None,
) -> CommandResult:
    """Export a model as a file of ONNX.

    It is a spec, an executable, or a function of a Python file.
    """
    from tripybuild.compiler.executable import is_executable  # noqa: PLC0415
    from tripybuild.compiler.export.export import ExportRequest  # noqa: PLC0415

    start = time.perf_counter()
    asked = program(source)
    name = source.stem if asked is None else asked.name
    request = ExportRequest(output or Path(f"{name}{ONNX}"), opset, entry, embed)
    own: dict[str, Any] = {"sizes": sizes, "weights": weights, "config": config}
    begin_phase("export the model")
    if asked is not None:
        reject_spec_flags(source, **own, function=None, registry=registry, entry=entry)
        result = _export_function(asked, inputs or [], request)
    elif inputs:
        message = f"`{source}` declares its inputs itself"
        hint = "`--input` is for functions of Python files"
        raise conflict(message, hint, "--input")
    elif is_executable(source):
        result = _export_executable(source, request, registry, **own)
    else:
        chosen = {each.name: each.value for each in sizes or []}
        result = _export_spec(source, registry, request, **{**own, "sizes": chosen})
    return _report(source, result, opset, time.perf_counter() - start)


def _export_spec(
    spec: Path, added: list[Path] | None, request: "ExportRequest", **how: Any
) -> "ExportResult":
    from tripybuild.compiler.export.export import export_spec  # noqa: PLC0415
    from tripybuild.packages.libraries import model_libraries  # noqa: PLC0415

    return export_spec(spec, request, homes=model_libraries(added, spec), **how)


def _export_function(
    asked: FunctionReference, inputs: Sequence[ArgumentSpec], request: "ExportRequest"
) -> "ExportResult":
    from tripybuild.compiler.export.export import export_graphs  # noqa: PLC0415
    from tripybuild.eager.compile.compile import read_parameters  # noqa: PLC0415

    found = record_program(asked, inputs)
    return export_graphs(found.compiler_input, read_parameters(found), request)


def _export_executable(
    path: Path, request: "ExportRequest", registry: list[Path] | None, **given: object
) -> "ExportResult":
    from tripybuild.compiler.export.export import export_executable  # noqa: PLC0415

    flags = {"sizes": "--set", "weights": "--weights", "config": "--config"}
    options = {flag: given[name] for name, flag in flags.items()}
    if registry:
        from tripybuild.packages.libraries import register_packages  # noqa: PLC0415

        register_packages(registry)
    return export_executable(path, request, options)


def _report(source: Path, result: "ExportResult", opset: int, seconds: float) -> CommandResult:
    paths = [*result.models.values(), *([result.data] if result.data else [])]
    sizes = {path: path.stat().st_size for path in paths}
    written = ", ".join(f"`{path}` ({format_bytes(size)})" for path, size in sizes.items())
    text = f"Exported `{source}` for opset {opset} into {written} in {seconds:.2f}s"
    if result.weights:
        named = ", ".join(f"`{path}`" for path in result.weights)
        text += f"; its weights stay in {named}"
    warnings = [render(each, text_of, kind="warning") for each in result.warnings]
    data = {
        "models": {name: path.as_posix() for name, path in result.models.items()},
        "data": result.data and result.data.as_posix(),
        "weights": [path.as_posix() for path in result.weights],
        "opset": opset,
        "bytes": {path.as_posix(): size for path, size in sizes.items()},
        "seconds": round(seconds, 3),
    }
    return CommandResult(remark="\n".join([*warnings, text]), data=data)
