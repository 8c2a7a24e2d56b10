"""Base of all commands: a result as data, `--json`, `--format`, and one exit path.

Invariant: a command ends with an answer or with diagnostics, never with a traceback.
"""

import errno
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, get_type_hints

import typer

from tripybuild.cli.console import (
    DiagnosticFormat,
    GuardedStream,
    OutputError,
    line_guard,
    report,
    write_data,
    write_json,
    write_note,
    write_problem,
)
from tripybuild.cli.interrupts import INTERRUPTED
from tripybuild.cli.progress import show_progress
from tripybuild.cli.usage_errors import CODES as USAGE_CODES, USAGE, conflict
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.errors.logger import logger
from tripybuild.process.memory import is_out_of_memory, memory_error

TRACEBACK = "TRIPYBUILD_TRACEBACK"
FAILED, CLOSED = 1, 141

VERBOSE = ("verbose", "timing")

Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Say what takes how long, and what the cache had.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors and answers.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Format = Annotated[DiagnosticFormat, typer.Option("--format", help="Output format of diagnostics.")]


@dataclass(frozen=True)
class CommandResult:
    """The result of a command; with diagnostics it is a failure. `code` is another exit code."""

    text: str = ""  # for stdout: what was asked for
    remark: str = ""  # for stderr: what was done
    data: Mapping[str, object] = field(default_factory=dict)  # for `--json`
    diagnostics: tuple[Diagnostic, ...] = ()
    code: int | None = None


def command(work: Callable[..., CommandResult]) -> Callable[..., None]:
    """Make a function that answers a command of Typer.

    One that prints while it works takes `json` itself, to be silent then, and `form`, to show
    diagnostics. A parameter that is a `NamedTuple` is options that several commands have.
    """
    groups = {
        name: each.annotation
        for name, each in inspect.signature(work).parameters.items()
        if hasattr(each.annotation, "_fields")
    }
    own = _ungrouped(work, groups)
    shared = {
        "verbose": (Verbose, False),
        "quiet": (Quiet, False),
        "json": (Json, False),
        "form": (Format, DiagnosticFormat.FULL),
    }

    @functools.wraps(work)
    def run(*, json: bool, form: DiagnosticFormat, **options: Any) -> None:
        verbose, quiet = options.pop("verbose"), options.pop("quiet")
        shown = {"json": json, "form": form}
        options |= {name: each for name, each in shown.items() if name in own.parameters}

        def shown_work() -> CommandResult:
            with _levels(verbose=verbose, quiet=quiet, json=json):
                silent = quiet or json
                how = {"silent": silent, "verbose": verbose}
                with show_progress(work.__name__, options, **how):
                    return work(**_grouped(options, groups))

        line_guard.quiet = quiet
        code = conclude(shown_work, json=json, form=form)
        if code:
            raise typer.Exit(code)

    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=type)
        for name, (type, default) in shared.items()
        if name not in own.parameters
    ]
    signature = own.replace(parameters=[*own.parameters.values(), *added], return_annotation=None)
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
    return run


def _ungrouped(work: Callable[..., Any], groups: Mapping[str, Any]) -> inspect.Signature:
    """The signature of a function, with the fields of groups in the place of these."""
    own = inspect.signature(work)
    parameters: list[inspect.Parameter] = []
    for name, each in own.parameters.items():
        parameters += _fields(groups[name]) if name in groups else [each]
    return own.replace(parameters=parameters)


def _fields(kind: Any) -> Iterator[inspect.Parameter]:
    """The fields of a group as options."""
    for name, annotation in get_type_hints(kind, include_extras=True).items():
        how = {"default": kind._field_defaults[name], "annotation": annotation}
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, **how)


def _grouped(options: Mapping[str, Any], groups: Mapping[str, Any]) -> dict[str, Any]:
    """Options, of which some are fields of groups."""
    left = dict(options)
    made = {
        name: kind(**{field: left.pop(field) for field in kind._fields})
        for name, kind in groups.items()
    }
    return left | made


@contextmanager
def _levels(*, verbose: bool, quiet: bool, json: bool) -> Iterator[None]:
    """Let the logger say more or less inside of a `with` block."""
    if verbose and (quiet or json):
        message = f"`-v` says more, and `{'-q' if quiet else '--json'}` less"
        raise conflict(message, "leave out one of them", "-v")
    before, output = logger.verbosity, logger.output
    if verbose:
        named = {path: {*levels, *VERBOSE} for path, levels in before.items()}
        logger.verbosity = named
    elif quiet:
        logger.verbosity = "error"
    if output == "stderr":
        logger.output = GuardedStream()  # type: ignore[assignment] # it writes, as a file does
    try:
        yield
    finally:
        logger.verbosity, logger.output = before, output


def conclude(work: Callable[[], CommandResult], *, json: bool, form: DiagnosticFormat) -> int:
    """Do the work, show what came of it, and give the exit code."""
    try:
        return _show(_answer(work), json=json, form=form)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        return handle_output_error(error)


def _answer(work: Callable[[], CommandResult]) -> CommandResult:
    try:
        return work()
    except DiagnosticError as error:
        return CommandResult(diagnostics=error.diagnostics)
    except OutputError:
        raise
    except Exception as error:  # noqa: BLE001  # the last place that can say it in words
        if os.environ.get(TRACEBACK):
            import traceback  # noqa: PLC0415

            traceback.print_exc()
        if is_out_of_memory(error):
            found = memory_error("the command needs more memory than available", (), error)
            return CommandResult(diagnostics=found.diagnostics)
        return CommandResult(diagnostics=(_internal(error),))


def _show(answer: CommandResult, *, json: bool, form: DiagnosticFormat) -> int:
    if json:
        write_json(answer.data, answer.diagnostics)
    else:
        write_data(answer.text)
        report(answer.diagnostics, form)
    write_note(answer.remark)
    if answer.code is not None:
        return answer.code
    misused = any(each.code in USAGE_CODES for each in answer.diagnostics)
    return USAGE if misused else FAILED if answer.diagnostics else 0


def _internal(error: Exception) -> Diagnostic:
    lines = str(error).splitlines()
    return Diagnostic(
        "internal",
        f"tripybuild itself failed: {type(error).__name__}{f': {lines[0]}' if lines else ''}",
        hint=f"please report it with the command, the file and what `{TRACEBACK}=1` prints",
    )


def handle_output_error(error: OSError) -> int:
    """Exit quietly on a closed pipe, with a message on a full disk."""
    closed = error.errno in {errno.EPIPE, errno.EINVAL}
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        for stream in (sys.stdout, sys.stderr) if closed else (sys.stdout,):
            if stream is not None:
                os.dup2(nowhere.fileno(), stream.fileno())
    if not closed:
        write_problem(f"error[output-unwritable]: the output cannot be written: {error.strerror}")
    return CLOSED if closed else FAILED
