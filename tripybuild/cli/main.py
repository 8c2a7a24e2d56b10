"""Command table of `tripybuild`.

Invariant: `--help` loads neither the schema, nor an engine, nor NumPy. A command loads what it
needs.
"""

import contextlib
import sys
from typing import Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, conclude, handle_output_error
from tripybuild.cli.command_line import PROGRAM, CommandLine
from tripybuild.cli.commands.bench import bench_models
from tripybuild.cli.commands.bisect import bisect_programs
from tripybuild.cli.commands.check import check_model
from tripybuild.cli.commands.compare import compare_programs
from tripybuild.cli.commands.compile import compile_model
from tripybuild.cli.commands.doctor import doctor
from tripybuild.cli.commands.explain import explain, show_schemas
from tripybuild.cli.commands.export import export_model
from tripybuild.cli.commands.fmt import format_files
from tripybuild.cli.commands.gen import generate
from tripybuild.cli.commands.generate import generate_tokens
from tripybuild.cli.commands.graph import draw_model
from tripybuild.cli.commands.import_model import import_model
from tripybuild.cli.commands.inspect import inspect_executable
from tripybuild.cli.commands.lsp import serve_editor
from tripybuild.cli.commands.new import new_model, new_operator
from tripybuild.cli.commands.opt import optimize
from tripybuild.cli.commands.profile import profile_model
from tripybuild.cli.commands.run import run_executable
from tripybuild.cli.commands.trace import trace_function
from tripybuild.cli.commands.view import view_model
from tripybuild.cli.console import DiagnosticFormat
from tripybuild.cli.interrupts import INTERRUPTED
from tripybuild.cli.usage_errors import USAGE, set_command_line, usage_diagnostics

# Typer exports no other name of it, and newer versions have their own copy of click.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    help="Declare operators and models in YAML; compile them to executables.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
new = typer.Typer(
    help="Scaffold an operator or a model that works.", rich_markup_mode=None, no_args_is_help=True
)
app.command("gen")(generate)
app.command("fmt")(format_files)
app.add_typer(new, name="new")
new.command("op")(new_operator)
new.command("model")(new_model)
app.command("explain")(explain)
app.command("schema")(show_schemas)
app.command("check")(check_model)
app.command("compile")(compile_model)
app.command("import")(import_model)
app.command("export")(export_model)
app.command("trace")(trace_function)
app.command("run")(run_executable)
app.command("generate")(generate_tokens)
app.command("bench")(bench_models)
app.command("profile")(profile_model)
app.command("compare")(compare_programs)
app.command("bisect")(bisect_programs)
app.command("inspect")(inspect_executable)
app.command("graph")(draw_model)
app.command("view")(view_model)
app.command("opt")(optimize)
app.command("lsp")(serve_editor)
app.command("doctor")(doctor)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415

        print(f"tripybuild {version('tripybuild')}")  # noqa: T201
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Declare operators and models in YAML; compile them to executables."""


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # it is closed, or a test's
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    line, root = CommandLine(sys.argv[1:]), typer.main.get_command(app)
    set_command_line(line, root)
    try:
        code = root.main(prog_name=PROGRAM, standalone_mode=False)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except OSError as error:  # `--version` and `--help` print by themselves
        sys.exit(handle_output_error(error))
    except UsageError as error:
        sys.exit(_refuse(error, line, root))
    sys.exit(code or 0)


def _refuse(error: Any, line: CommandLine, root: Any) -> int:
    """Say what is wrong with the command line, in the form that it asks for."""
    is_json = line.has("--json")
    if not line.words or (type(error).__name__ == "NoArgsIsHelpError" and not is_json):
        error.show()
        return USAGE
    found = usage_diagnostics(error, line, root)
    form = DiagnosticFormat.CONCISE if "concise" in line.words else DiagnosticFormat.FULL
    return conclude(lambda: CommandResult(diagnostics=found), json=is_json, form=form)
