"""Output files: what may stand in their place, told before the work begins."""

from collections.abc import Callable, Iterable
from pathlib import Path

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError

MARK = "drawn by tripybuild"  # stands in each picture that is written
MOST = 1 << 24  # bytes of a picture that are searched for it


def is_own_picture(path: Path) -> bool:
    """Whether a picture says that it was written here; a person's drawing does not."""
    with path.open("rb") as stream:
        return MARK.encode() in stream.read(MOST)


def check_picture(path: Path, suffixes: Iterable[str], option: str) -> None:
    """A picture has a suffix that says its form, and takes the place of none but ours.

    Args:
        path: What is to be drawn.
        suffixes: Those that there are.
        option: By which the user names it.

    Raises:
        DiagnosticError: The suffix is another one, or something else stands there.
    """
    if path.suffix not in suffixes:
        message = f"`{path}` is not the name of a picture"
        known = ", ".join(f"`{each}`" for each in suffixes)
        hint = f"name a file with the suffix {known}"
        raise DiagnosticError(Diagnostic("output-unwritable", message, hint=hint))
    check_overwrite(path, is_own_picture, "a picture of tripybuild", option)


def check_overwrite(
    path: Path, is_own: Callable[[Path], bool], kind: str, option: str = "-o"
) -> None:
    """A file of this kind may be replaced; weights, or whatever else stands there, may not.

    Args:
        path: What is to be written.
        is_own: Whether a file is of this kind.
        kind: What messages call it: `an executable`.
        option: By which the user names it.

    Raises:
        DiagnosticError: It is a folder, a file of another kind, or in a folder that is not there.
    """
    try:
        _check_folder(path)
        if path.is_dir():
            message = f"`{path}` cannot be written: it is a folder"
            raise DiagnosticError(
                Diagnostic("output-unwritable", message, hint="name a file in it")
            )
        other = path.is_file() and not is_own(path)
    except (OSError, ValueError):  # the write reports it
        other = False
    if other:
        message = f"`{path}` already exists, and is not {kind}"
        hint = f"name another file with `{option}`, or remove it first"
        raise DiagnosticError(Diagnostic("output-unwritable", message, hint=hint))


def _check_folder(path: Path) -> None:
    try:
        path.parent.stat()
    except FileNotFoundError as error:
        message = f"`{path}` cannot be written: there is no folder `{path.parent}`"
        hint = "create the folder first"
        raise DiagnosticError(Diagnostic("output-unwritable", message, hint=hint)) from error
