"""`tripybuild fmt`: formatter for declarations, with one canonical form.

Invariant: a file is replaced as a whole or not at all, and what is read from it stays the same.
"""

import os
import stat
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tripybuild.cli.command import CommandResult, command
from tripybuild.cli.console import STDIN, count_files, read_stdin
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.process import paths
from tripybuild.process.atomic_write import atomic_write, write_error
from tripybuild.process.paths import display_path

if TYPE_CHECKING:
    from tripybuild.documents.document import Document

SPECS = "specs"
HEADER = "tripybuild:"
DIFFERENT, FAILED = 1, 2
DID = ("reformatted", "left unchanged")
WOULD = ("would be reformatted", "already formatted")


@dataclass(frozen=True, slots=True)
class _File:
    """A file that was read: its text, and the text in the one form."""

    path: str
    before: str
    after: str

    @property
    def differs(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        before, after = (text.splitlines(keepends=True) for text in (self.before, self.after))
        return "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in unified_diff(before, after, self.path, self.path)
        )


@command
def format_files(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE|DIR",
            help="Declarations and models, or folders of them; - is stdin. "
            "Without any, the registry and `specs` of a checkout, else the current folder.",
        ),
    ] = None,
    *,
    check: Annotated[
        bool,
        typer.Option("--check", help="Write nothing; exit with status 1 if a file would change."),
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Like --check, and print a diff.")] = False,
) -> CommandResult:
    """Format declarations and models: canonical key order and quoting."""
    found: list[_File] = []
    problems: list[Diagnostic] = []
    for path, is_named in _places(files or _default(), problems).items():
        try:
            file = _format_file(path, is_named=is_named)
            if file is not None:
                found.append(file)
                if file.differs and path != STDIN and not (check or diff):
                    _write(Path(path), file.after)
        except DiagnosticError as error:
            problems += error.diagnostics
    return _answer(found, problems, check=check, diff=diff)


def _default() -> list[str]:
    registry = display_path(paths.registry())
    if paths.in_installed_package():
        return ["."]
    return [str(each) for each in (registry, registry.parent / SPECS) if each.is_dir()]


def _places(named: list[str], problems: list[Diagnostic]) -> dict[str, bool]:
    """The files at and below the paths, and whether one was named itself."""
    folders = [path for path in named if Path(path).is_dir()]
    found = {Path(path).as_posix(): True for path in named if path not in folders}
    for folder in folders:
        for path in paths.list_files(Path(folder), ".yaml"):
            if not any(part.startswith(".") for part in path.split("/")):
                found.setdefault((Path(folder) / path).as_posix(), False)
    if not found:
        message = f"there are no YAML files below {', '.join(f'`{path}`' for path in named)}"
        problems.append(Diagnostic("file-not-found", message))
    return found


def _format_file(path: str, *, is_named: bool) -> _File | None:
    """Read a file; None where it is no file of tripybuild's, and was not named.

    Raises:
        DiagnosticError: It cannot be read, or was named and is nothing that tripybuild reads.
    """
    from tripybuild.documents.document import LARGEST_FILE, parse, read_text  # noqa: PLC0415
    from tripybuild.schema.formatting import format_document  # noqa: PLC0415

    text = read_stdin() if path == STDIN else read_text(Path(path), LARGEST_FILE)
    document, found = parse(text, path)
    if not is_named and not _is_ours(document, text):
        return None
    if document is None or found:
        raise DiagnosticError(*found)
    after = format_document(document)
    if after is None:
        message = (
            "a file declares one `op:`, `family:`, `module:`, `targets:`, `model:` or `define:`"
        )
        raise DiagnosticError(Diagnostic("wrong-type", message, Span(path, 1, 1, 1, 1)))
    return _File(path, text, text[: len(text) - len(document.text)] + after)  # with its BOM


def _is_ours(document: "Document | None", text: str) -> bool:
    if document is not None and isinstance(document.data, dict):
        return HEADER.removesuffix(":") in document.data
    return document is None and HEADER in text


def _write(path: Path, text: str) -> None:
    """Replace a writable file, preserving its permissions."""
    try:
        with path.open("r+b") as file:  # what is read-only stays
            mode = os.fstat(file.fileno()).st_mode
    except OSError as error:
        raise DiagnosticError(write_error(path, error)) from error
    with atomic_write(path) as stream:
        Path(stream.name).chmod(stat.S_IMODE(mode))
        stream.write(text.encode())


def _answer(
    found: list[_File], problems: list[Diagnostic], *, check: bool, diff: bool
) -> CommandResult:
    changed = [file for file in found if file.differs]
    data: dict[str, object] = {"files": len(found), "changed": [file.path for file in changed]}
    code = FAILED if problems else DIFFERENT if (check or diff) and changed else 0
    if diff:
        text = "".join(file.diff() for file in changed)
    elif check:
        text = "\n".join(f"Would reformat: {file.path}" for file in changed)
    else:
        text = "".join(file.after for file in found if file.path == STDIN)
        data |= {"text": text} if text else {}
        found = [file for file in found if file.path != STDIN]
    verbs = WOULD if check or diff else DID
    return CommandResult(
        text.removesuffix("\n"), _summary(found, verbs), data, tuple(problems), code
    )


def _summary(found: list[_File], verbs: tuple[str, str]) -> str:
    """What was done, as ruff says it: `1 file reformatted, 210 files left unchanged`."""
    changed = sum(file.differs for file in found)
    counts = zip((changed, len(found) - changed), verbs, strict=True)
    return ", ".join(f"{count_files(count)} {verb}" for count, verb in counts if count)
