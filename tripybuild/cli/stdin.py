"""Standard input in place of a file: a pipe, or a terminal."""

import linecache
import sys

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span

STDIN = "-"


def read_stdin() -> str:
    """Read all of stdin with its line breaks; problems can then show lines of it.

    Raises:
        DiagnosticError: It is not UTF-8.
    """
    content = b"" if sys.stdin is None else sys.stdin.buffer.read()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        found = Diagnostic("not-utf8", "standard input is not UTF-8 text", Span(STDIN, 1, 1, 1, 1))
        raise DiagnosticError(found) from error
    linecache.cache[STDIN] = (len(text), None, text.splitlines(keepends=True), STDIN)
    return text
