"""What all commands share: `--json`, `--format`, and one way to end.

Law: a command ends with an answer or with diagnostics, never with a traceback.
"""

import errno
import functools
import inspect
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from tripybuild.cli.answer import Answer
from tripybuild.cli.console import Form, remark, report, say, say_json
from tripybuild.cli.interrupts import INTERRUPTED
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.memory import is_exhaustion, refuse

TRACEBACK = "TRIPYBUILD_TRACEBACK"
FAILED, CLOSED = 1, 141

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout.")]
Format = Annotated[Form, typer.Option("--format", help="How problems are written.")]


def command(work: Callable[..., Answer]) -> Callable[..., None]:
    """Make a function that answers a command of Typer."""
    own = inspect.signature(work)
    shared = {"json": (Json, False), "form": (Format, Form.FULL)}

    @functools.wraps(work)
    def run(*, json: bool, form: Form, **options: Any) -> None:
        code = conclude(lambda: work(**options), json=json, form=form)
        if code:
            raise typer.Exit(code)

    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=type)
        for name, (type, default) in shared.items()
    ]
    signature = own.replace(parameters=[*own.parameters.values(), *added], return_annotation=None)
    run.__signature__ = signature  # type: ignore[attr-defined]
    run.__annotations__ = {name: each.annotation for name, each in signature.parameters.items()}
    return run


def conclude(work: Callable[[], Answer], *, json: bool, form: Form) -> int:
    """Do the work, show what came of it, and give the exit code."""
    try:
        return _show(_answer(work), json=json, form=form)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        return unwritten(error)


def _answer(work: Callable[[], Answer]) -> Answer:
    try:
        return work()
    except DiagnosticError as error:
        return Answer(diagnostics=error.diagnostics)
    except Exception as error:  # noqa: BLE001  # the last place that can say it in words
        if os.environ.get(TRACEBACK):
            import traceback  # noqa: PLC0415

            traceback.print_exc()
        if is_exhaustion(error):
            found = refuse("the command needs more memory than there is", (), error)
            return Answer(diagnostics=found.diagnostics)
        return Answer(diagnostics=(_internal(error),))


def _show(answer: Answer, *, json: bool, form: Form) -> int:
    if json:
        say_json(answer.data, answer.diagnostics)
    else:
        say(answer.text)
        report(answer.diagnostics, form)
    remark(answer.remark)
    return (FAILED if answer.diagnostics else 0) if answer.code is None else answer.code


def _internal(error: Exception) -> Diagnostic:
    lines = str(error).splitlines()
    return Diagnostic(
        "internal",
        f"tripybuild itself failed: {type(error).__name__}{f': {lines[0]}' if lines else ''}",
        hint=f"please report it with the command, the file and what `{TRACEBACK}=1` prints",
    )


def unwritten(error: OSError) -> int:
    """End quietly where nobody reads any more, and with a word where the disk is full."""
    closed = error.errno in {errno.EPIPE, errno.EINVAL}
    with open(os.devnull, "w", encoding="utf-8") as nowhere:  # noqa: PTH123
        for stream in (sys.stdout, sys.stderr) if closed else (sys.stdout,):
            if stream is not None:
                os.dup2(nowhere.fileno(), stream.fileno())
    if not closed:
        remark(f"error[output-unwritable]: the output cannot be written: {error.strerror}")
    return CLOSED if closed else FAILED
