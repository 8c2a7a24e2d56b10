"""Where the files and folders are that a model's file names.

Law: they are in its own folder or below. Nothing that a file says leads anywhere else, and no link.
"""

from pathlib import Path

from tripybuild.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.source import Document


def located(document: Document, name: str, span: Span, *, folder: bool = False) -> Path:
    """The path of a file or of a folder.

    Raises:
        DiagnosticError: It leads out of the folder of the file that names it, or is not there.
    """
    home = Path(document.path).parent
    path, given = home / name, Path(name)
    if given.is_absolute() or ".." in given.parts:
        message = f"`{name}` leads out of the folder of this file"
        raise DiagnosticError(outside(message, span, folder=folder))
    try:
        inside = path.resolve().is_relative_to(home.resolve())
        there = path.is_dir() if folder else path.is_file()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name that cannot be one
        inside, there = True, False
    if not inside:
        message = f"`{name}` is a link that leads out of the folder of this file"
        raise DiagnosticError(outside(message, span, folder=folder))
    if not there:
        message = f"there is no {'folder' if folder else 'file'} `{name}`"
        raise DiagnosticError(Diagnostic("file-not-found", message, span))
    return path


def outside(message: str, span: Span, *, folder: bool = False) -> Diagnostic:
    """What is said of a name or a link that leads out."""
    what = "the folder beside this file" if folder else "the file beside this one"
    hint = f"put {what}, or in a folder below"
    return Diagnostic("outside-folder", message, span, hint=hint)
