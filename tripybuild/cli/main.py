"""Command table of `tripybuild`.

Invariant: `--help` loads neither the schema, nor an engine, nor NumPy. A command loads what it
needs.
"""

import contextlib
import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer

from tripybuild.cli.command import CommandResult, conclude, handle_output_error
from tripybuild.cli.command_line import COMPLETION, PROGRAM, CommandLine
from tripybuild.cli.console import DiagnosticFormat
from tripybuild.cli.help_texts import command_sections, environment, examples
from tripybuild.cli.interrupts import INTERRUPTED
from tripybuild.cli.usage_errors import (
    USAGE,
    empty_values,
    set_command_line,
    usage_diagnostics,
)
from tripybuild.errors.diagnostics import Diagnostic

# Typer exports no other name of it, and newer versions have their own copy of click.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

COMMANDS = {
    "gen": "gen:generate",
    "fmt": "fmt:format_files",
    "new op": "new:new_operator",
    "new model": "new:new_model",
    "explain": "explain:explain",
    "schema": "explain:show_schemas",
    "check": "check:check_model",
    "compile": "compile:compile_model",
    "build": "build:build_workspace",
    "test": "workspace_tests:run_workspace_tests",
    "import": "import_model:import_model",
    "export": "export:export_model",
    "trace": "trace:trace_function",
    "run": "run:run_executable",
    "generate": "generate:generate_tokens",
    "bench": "bench:bench_models",
    "compare": "compare:compare_programs",
    "bisect": "bisect:bisect_programs",
    "reduce": "reduce:reduce_spec",
    "inspect": "inspect:inspect_executable",
    "sign": "sign:sign_executable",
    "verify": "sign:verify_executable",
    "graph": "graph:draw_model",
    "view": "view:view_model",
    "profile": "profile:profile_model",
    "opt": "opt:optimize",
    "cache path": "cache:show_cache",
    "cache list": "cache:list_entries",
    "cache show": "cache:show_entry",
    "cache verify": "cache:verify_cache",
    "cache prune": "cache:prune_cache",
    "cache clear": "cache:clear_cache",
    "cache export": "cache:export_cache",
    "cache import": "cache:import_cache",
    "lsp": "lsp:serve_editor",
    "doctor": "doctor:doctor",
}
"""The commands by name, in the order of the help: a module of `cli.commands`, and its function."""
GROUPS = {
    "new": "Scaffold an operator or a model that works.",
    "cache": "Look at what was compiled before, check it, move it, remove it.",
}
WIDEST = 100  # columns of a help


class CommandGroup(typer.core.TyperGroup):
    """The program, whose help has its commands by what they are for, each on one line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands."""
        del ctx  # they need none
        width = max(map(len, self.commands))
        for title, names in command_sections(self.commands):
            with formatter.section(title):
                rows = [(name.ljust(width), self._summary(name, formatter)) for name in names]
                formatter.write_dl(rows)

    def _summary(self, name: str, formatter: Any) -> str:
        return self.commands[name].get_short_help_str(formatter.width)


app = typer.Typer(
    cls=CommandGroup,
    help="Declare operators and models in YAML; compile them to executables.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    epilog=environment(),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
)
groups = {
    name: typer.Typer(help=text, rich_markup_mode=None, no_args_is_help=True, epilog=examples(name))
    for name, text in GROUPS.items()
}
for words, place in COMMANDS.items():
    group, _, name = words.rpartition(" ")
    module, _, function = place.partition(":")
    work = getattr(import_module(f"tripybuild.cli.commands.{module}"), function)
    (groups[group] if group else app).command(name, epilog=examples(words))(work)
for name, commands in groups.items():
    app.add_typer(commands, name=name)


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


def _name_arguments(command: Any) -> None:
    """Have the help show what stands for an argument, without the type that Python has for it."""
    for param in command.params:
        if param.param_type_name == "argument" and param.metavar:
            param.display_type_rich = lambda ctx: None  # noqa: ARG005 - typer names it
    for each in getattr(command, "commands", {}).values():
        _name_arguments(each)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):  # it is closed, or a test's
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    line, root = CommandLine(sys.argv[1:]), typer.main.get_command(app)
    set_command_line(line, root)
    _name_arguments(root)
    if COMPLETION in os.environ:
        from tripybuild.cli.completion import complete  # noqa: PLC0415 - a shell asks

        sys.exit(complete(root))
    if found := empty_values(line, root):
        sys.exit(_report(found, line))
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
    is_help = type(error).__name__ == "NoArgsIsHelpError" and not line.has("--json")
    if not line.words or is_help:
        error.show()
        return USAGE
    return _report(usage_diagnostics(error, line, root), line)


def _report(found: tuple[Diagnostic, ...], line: CommandLine) -> int:
    form = DiagnosticFormat.CONCISE if "concise" in line.words else DiagnosticFormat.FULL
    return conclude(lambda: CommandResult(diagnostics=found), json=line.has("--json"), form=form)
