"""File references: resolution of the paths in a model's file.

Invariant: they are in its own folder or below. Nothing that a file says leads anywhere else, and no
link.
"""

from pathlib import Path

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span


def resolve_path(document: Document, name: str, span: Span, *, folder: bool = False) -> Path:
    """The path of a file or of a folder.

    Raises:
        DiagnosticError: It leads out of the folder of the file that names it, or is not there.
    """
    home = Path(document.path).parent
    if (how := escape_reason(home, name)) is not None:
        raise DiagnosticError(
            outside_diagnostic(f"`{name}` {how} the folder of this file", span, folder=folder)
        )
    if not path_exists(home / name, folder=folder):
        message = f"there is no {'folder' if folder else 'file'} `{name}`"
        raise DiagnosticError(Diagnostic("file-not-found", message, span))
    return home / name


def escape_reason(home: Path, name: str) -> str | None:
    """How a name leads out of a folder, such as `leads out of`; None where it does not."""
    given = Path(name)
    if given.is_absolute() or ".." in given.parts:
        return "leads out of"
    return None if is_inside(home / name, home) else "is a link that leads out of"


def is_inside(path: Path, home: Path) -> bool:
    """Whether a path is below a folder, also where links in it lead."""
    try:
        return path.resolve().is_relative_to(home.resolve())
    except (OSError, RuntimeError, ValueError):  # a loop, or no name: it leads nowhere
        return True


def path_exists(path: Path, *, folder: bool = False) -> bool:
    """Whether a file, or a folder, is at a path."""
    try:
        return path.is_dir() if folder else path.is_file()
    except (OSError, ValueError):  # a name that cannot be one
        return False


def outside_diagnostic(message: str, span: Span, *, folder: bool = False) -> Diagnostic:
    """Diagnostic for a name or a link that leads out of the folder."""
    what = "the folder beside this file" if folder else "the file beside this one"
    hint = f"put {what}, or in a folder below"
    return Diagnostic("outside-folder", message, span, hint=hint)
