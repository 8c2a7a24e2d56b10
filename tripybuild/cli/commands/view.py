"""`tripybuild view`: shows a model in Model Explorer, on this machine alone."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.commands.graph import (
    Entry,
    Overlays,
    Part,
    Sizes,
    Times,
    choose_drawings,
    open_drawings,
    read_columns,
)
from tripybuild.cli.console import count_files, write_note
from tripybuild.cli.options import (
    ConfigFile,
    Inputs,
    Registries,
    SizeSettings,
    WeightsPath,
)
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError


@command
def view_model(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SPEC|EXE|FILE.py:f",
            help="The model's YAML file, an executable, or a function of a Python file, "
            "model.py:forward, which runs that file.",
        ),
    ],
    *,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Where to listen; 0 is any port.")
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
    export: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the page as a folder, and serve nothing."),
    ] = None,
    part: Part = None,
    entry: Entry = None,
    shapes: Sizes = None,
    times: Times = None,
    overlays: Overlays = None,
    sizes: SizeSettings = None,
    weights: WeightsPath = None,
    config: ConfigFile = None,
    inputs: Inputs = None,
    registry: Registries = None,
) -> CommandResult:
    """Show a model in Model Explorer, on this machine alone."""
    from tripybuild.workbench.viewer.page_files import page_files  # noqa: PLC0415

    given = {"sizes": sizes, "registry": registry, "weights": weights, "config": config}
    several = open_drawings(source, shapes.sizes if shapes else {}, inputs, given)
    chosen = choose_drawings(several, entry, part, source)
    columns = {each.label: read_columns(each, times, overlays) for each in chosen}
    files = page_files(chosen, columns)
    if export is not None:
        return _export(source, export, files)
    _serve(source, files, port, browser=browser)
    raise AssertionError("it ends by an interrupt")


def _export(source: Path, folder: Path, files: dict[str, bytes]) -> CommandResult:
    """Write the page into a folder that is new or empty."""
    from tripybuild.process.atomic_write import atomic_write_tree  # noqa: PLC0415

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = f"`{folder}` already exists, and is not an empty folder"
        hint = "name another folder, or remove it first"
        raise DiagnosticError(Diagnostic("output-unwritable", message, hint=hint))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"`{folder}` cannot be made: {error.strerror}"
        raise DiagnosticError(Diagnostic("output-unwritable", message)) from error
    atomic_write_tree(folder, files)
    shown = f"`python -m http.server -d {folder}` shows it"
    text = f"Wrote the page of `{source}` into `{folder}` ({count_files(len(files))}); {shown}"
    return CommandResult(remark=text, data={"folder": folder.as_posix(), "files": sorted(files)})


def _serve(source: Path, files: dict[str, bytes], port: int, *, browser: bool) -> None:
    """Serve the page until the user ends it."""
    from tripybuild.workbench.viewer.local_server import LocalServer  # noqa: PLC0415

    with LocalServer(files, port) as server:
        write_note(f"`{source}` is shown at {server.url} until Ctrl-C")
        if browser:
            webbrowser.open(server.url)
        server.serve_forever(poll_interval=0.2)
