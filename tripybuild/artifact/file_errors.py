"""Diagnostics for rejected files: an invalid executable, or an error of the operating system."""

import errno
from pathlib import Path

from tripybuild.artifact.manifest import FORMAT
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

_SAYS = {
    "truncated": "is incomplete",
    "altered": "was altered after it was compiled",
    "not-recognized": "is not an executable of tripybuild",
}
_HINTS = {
    "truncated": "copy the file again, or compile the model again",
    "altered": "do not run it; get the file from its source again, or compile the model again",
    "not-recognized": "make one with `tripybuild compile`",
}


def container_error(path: Path, what: str, found: str) -> DiagnosticError:
    """A file that is truncated, altered or not recognized, with what was found in it."""
    message = f"`{path}` {_SAYS[what]}: {found}"
    return DiagnosticError(Diagnostic(f"executable-{what}", message, hint=_HINTS[what]))


def other_format_error(path: Path, found: int) -> DiagnosticError:
    """A file in the format of another version."""
    message = f"`{path}` has format {found}, and this version reads format {FORMAT}"
    code, hint = "executable-version", "compile the model again with this version"
    if found > FORMAT:
        code, hint = "executable-too-new", f"upgrade tripybuild, or {hint}"
    return DiagnosticError(Diagnostic(code, message, hint=hint))


def unreadable_error(path: Path | str, error: OSError) -> DiagnosticError:
    """A file that the system does not let us read."""
    message = f"`{path}` cannot be read: {error.strerror or error}"
    return DiagnosticError(Diagnostic("file-unreadable", message))


def refuse_pipe(path: Path) -> None:
    """Refuse what would be waited for without end; a file is read from more than one place.

    Raises:
        OSError: It is a pipe, or the system does not tell.
    """
    if path.is_fifo():
        raise OSError(errno.ESPIPE, "it is a pipe")
