"""`tripybuild opt`: an mlir-opt for the tensorrt dialect, with mlir-opt's options."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.console import STDIN, read_stdin
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span

if TYPE_CHECKING:
    from tripybuild.cli.commands.opt_run import OptOptions


@command
def optimize(
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="an MLIR file; - is stdin.")
    ] = STDIN,
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Output file.")
    ] = None,
    passes: Annotated[
        list[str] | None,
        typer.Option("-p", "--passes", metavar="PASS,PASS", help="Passes to run, in order."),
    ] = None,
    pipeline: Annotated[
        str | None,
        typer.Option("--pass-pipeline", metavar="TEXT", help="The same: builtin.module(PASS,...)."),
    ] = None,
    split: Annotated[
        bool,
        typer.Option("--split-input-file", help="Process the parts between `// -----` separately."),
    ] = False,
    expect: Annotated[
        bool,
        typer.Option(
            "--verify-diagnostics", help="Compare diagnostics with expected-error comments."
        ),
    ] = False,
    generic: Annotated[
        bool,
        typer.Option("--print-generic", "--mlir-print-op-generic", help="Print the generic form."),
    ] = False,
    locations: Annotated[
        bool, typer.Option("--mlir-print-debuginfo", help="Print locations.")
    ] = False,
    unregistered: Annotated[
        bool, typer.Option("--allow-unregistered-dialect", help="Accept unregistered operations.")
    ] = False,
    elide: Annotated[
        bool, typer.Option("--elide-resources", help="Omit the data of resources.")
    ] = False,
    plugins: Annotated[
        Path | None,
        typer.Option("--plugins", metavar="FILE", help="Run a Python file that registers plugins."),
    ] = None,
    unverified: Annotated[bool, typer.Option("--no-verify", help="Skip verification.")] = False,
    listed: Annotated[bool, typer.Option("--list-passes", help="List the passes.")] = False,
) -> CommandResult:
    """Parse, verify, transform and print MLIR of the tensorrt dialect."""
    from tripybuild.cli.commands import opt_run  # noqa: PLC0415  # xDSL takes a while

    if listed:
        return _passes()
    if plugins is not None:
        from tripybuild.cli.function_reference import run_file  # noqa: PLC0415

        run_file(plugins)
    wishes = opt_run.OptOptions(
        steps=opt_run.steps(passes or [], pipeline),
        split=split,
        expect=expect,
        generic=generic,
        locations=locations,
        unregistered=unregistered,
        data=not elide,
        verify=not unverified,
    )
    return _answer(wishes, _text(file), file, output)


def _answer(wishes: "OptOptions", text: str, path: str, output: Path | None) -> CommandResult:
    from tripybuild.cli.commands import opt_run  # noqa: PLC0415

    outcome = opt_run.run(text, path, wishes)
    reports, problems = "\n".join(outcome.reports), tuple(outcome.diagnostics)
    if wishes.expect:
        return CommandResult(remark=reports, diagnostics=problems)
    found = {"reports": outcome.reports} if reports else {}
    if output is None or problems:
        printed = "" if output else outcome.text.rstrip("\n")
        return CommandResult(printed, reports, {"text": printed, **found}, problems)
    from tripybuild.process.atomic_write import atomic_write  # noqa: PLC0415

    with atomic_write(output) as stream:
        stream.write(outcome.text.encode())
    return CommandResult(remark=reports, data={"path": output.as_posix(), **found})


def _text(file: str) -> str:
    """Read a file, or stdin; what is typed there can be shown in problems."""
    try:
        if file != STDIN:
            return Path(file).read_text(encoding="utf-8")
        return read_stdin()
    except UnicodeDecodeError as error:
        raise _unreadable("not-utf8", "the file is not UTF-8 text", file) from error
    except FileNotFoundError as error:
        raise DiagnosticError(Diagnostic("file-not-found", f"there is no file `{file}`")) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        message = f"the file cannot be read: {reason}"
        raise _unreadable("file-unreadable", message, file) from error


def _unreadable(code: str, message: str, file: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic(code, message, Span(file, 1, 1, 1, 1)))


def _passes() -> CommandResult:
    from tripybuild.tensorrt.passes.pipeline import PASSES  # noqa: PLC0415

    width = max(map(len, PASSES))
    lines, data = [], {}
    for name, entry in PASSES.items():
        lines.append(f"{name:{width}}  {entry.why}")
        lines.extend(
            f"{'':{width}}    {option.name}={option.default}: {option.why}"
            for option in entry.options
        )
        data[name] = {option.name: option.default for option in entry.options}
    return CommandResult("\n".join(lines), data={"passes": data})
