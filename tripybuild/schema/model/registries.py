"""Registry references: the registries that a model's file names, in its folder or below.

Invariant: neither the name of a folder nor a link in it leads out of the folder of the model's
file.
"""

from collections.abc import Iterator
from pathlib import Path

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.schema.files import ModelFile
from tripybuild.schema.model.file_references import is_inside, outside_diagnostic, resolve_path
from tripybuild.schema.registry_folders import sources


def registries(document: Document, file: ModelFile) -> tuple[list[Path], list[Diagnostic]]:
    """The folders, and what is wrong with them."""
    listed = [file.registry] if isinstance(file.registry, str) else file.registry
    folders: list[Path] = []
    found: list[Diagnostic] = []
    for index, name in enumerate(listed):
        place = ("registry",) if isinstance(file.registry, str) else ("registry", index)
        span = document.span(place)
        try:
            folder = resolve_path(document, name, span, folder=True)
        except DiagnosticError as error:
            found += error.diagnostics
            continue
        problems = list(_outside_links(document, name, folder, span))
        found += problems
        folders += [] if problems else [folder]
    return folders, found


def _outside_links(document: Document, name: str, folder: Path, span: Span) -> Iterator[Diagnostic]:
    """The files of a registry that are links to somewhere else."""
    allowed = Path(document.path).parent
    for path in sources(folder).values():
        if not is_inside(path, allowed):
            shown = f"{name}/{path.relative_to(folder).as_posix()}"
            yield outside_diagnostic(
                f"`{shown}` is a link that leads out of the folder of this file", span
            )
