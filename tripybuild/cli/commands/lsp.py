"""`tripybuild lsp`: the language server of specs and declarations."""

import sys
from importlib.util import find_spec
from typing import Annotated

import typer

from tripybuild.cli.command import CommandResult, Json, command
from tripybuild.cli.usage_errors import conflict
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

LARGEST_PORT = 65_535


@command
def serve_editor(
    *,
    tcp: Annotated[
        int | None,
        typer.Option(
            "--tcp",
            metavar="PORT",
            min=0,
            max=LARGEST_PORT,
            help="Serve one client at this port of 127.0.0.1, not standard input and output.",
        ),
    ] = None,
    json: Json = False,
) -> CommandResult:
    """Serve an editor: types, problems, completion, rename.

    An editor starts it, and speaks the Language Server Protocol with it: `docs/editor.md`.
    """
    if json:
        message = "the language server speaks its protocol, and gives no answer of its own"
        raise conflict(message, "leave out `--json`", "--json")
    if find_spec("pygls") is None:
        message = "the language server needs `pygls`, which is not installed"
        hint = "`pip install 'tripybuild[editor]'`"
        raise DiagnosticError(Diagnostic("missing-package", message, hint=hint))
    from tripybuild.language_server.server import serve  # noqa: PLC0415 - see `cli.main`

    # Whatever else prints goes to standard error: only messages may stand on standard output.
    messages, sys.stdout = sys.stdout.buffer, sys.stderr
    serve(tcp, (sys.stdin.buffer, messages))
    return CommandResult()
