"""Includes: a model's file with the files it uses, each read once with its own namespace.

Invariant: a file is used from its own folder or from below. Nothing that a file says, and no link,
leads anywhere else.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tripybuild.documents.document import Document, Reader, read
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span, suggest
from tripybuild.schema.files import DefinitionsFile, ModelFile
from tripybuild.schema.model.entry_checks import missing_keys
from tripybuild.schema.model.file_references import is_inside, outside_diagnostic, resolve_path
from tripybuild.schema.model.model import (
    Definitions,
    Model,
    elaborate_bound,
    elaborate_definitions,
    elaborate_model,
)
from tripybuild.schema.operator.operator import Location, Snippet
from tripybuild.schema.operator.part import Part
from tripybuild.schema.registry_folders import sources
from tripybuild.schema.size_entries import UseEntry
from tripybuild.schema.validate import validate

MOST_FILES = 100


def load_model(path: Path, reader: Reader = read) -> tuple[Model | None, list[Diagnostic]]:
    """Read a model's file, and the files that it uses.

    Args:
        path: The file.
        reader: Gives the document of each file.

    Returns:
        The model, or None where it cannot be used, and all that is wrong with it.
    """
    document, found = reader(path)
    if document is None or found:
        return None, found
    file, problems = validate(document, ModelFile)
    found = [*missing_keys(document), *problems]
    if file is None or found:
        return None, found
    model, found = elaborate_model(document, file)
    used = _IncludedFiles(found, reader)
    with used.reading(path.resolve(), document.span(())):
        define = {**model.define, **used.parts(document, file)}
    model = replace(
        model,
        define=define,
        files=tuple(filter(None, used.files.values())),
        registries=tuple(dict.fromkeys(used.registries)),
    )
    return (None if used.found else model), used.found


@dataclass
class _IncludedFiles:
    """The files that have been read, and those that are being read, with where each is used."""

    found: list[Diagnostic]
    reader: Reader = read
    files: dict[tuple[Path, object], Definitions | None] = field(default_factory=dict)
    open: dict[Path, Span] = field(default_factory=dict)
    registries: list[Path] = field(default_factory=list)

    @contextmanager
    def reading(self, path: Path, span: Span) -> Iterator[None]:
        self.open[path] = span
        yield
        del self.open[path]

    def parts(self, document: Document, file: ModelFile | DefinitionsFile) -> dict[str, Part]:
        """The definitions that a file takes from others; what is wrong is kept."""
        if isinstance(file, ModelFile):
            folders, problems = registries(document, file)
            self.registries += folders
            self.found += problems
        parts: dict[str, Part] = {}
        given = {name: document.span(("define", name), key=True) for name in file.define}
        for name, entry in file.use.items():
            span = document.span(("use", name), key=True)
            bound = {} if isinstance(entry, list) else self._bound(document, name, entry)
            try:
                definitions = self._file(document, name, span, bound)
            except DiagnosticError as error:
                self.found += error.diagnostics
                continue
            at: Location = ("use", name) if isinstance(entry, list) else ("use", name, "take")
            for index, each in enumerate(entry if isinstance(entry, list) else entry.take):
                place = document.span((*at, index))
                if each in given:
                    message, notes = f"`{each}` is given already", (f"first by {given[each]}",)
                    self.found.append(Diagnostic("given-twice", message, place, notes=notes))
                given.setdefault(each, place)
                if definitions is not None and each in definitions.define:
                    parts[each] = definitions.define[each]
                elif definitions is not None:
                    self.found.append(_undefined_name(each, name, definitions, place))
        return parts

    def _bound(self, document: Document, name: str, entry: UseEntry) -> dict[str, Snippet]:
        """What is handed over to a file."""
        bound, problems = elaborate_bound(document, entry.bound, ("use", name, "with"))
        self.found += problems
        return bound

    def _file(
        self, document: Document, name: str, span: Span, bound: Mapping[str, Snippet]
    ) -> Definitions | None:
        """Definitions of an included file, or None after a reported failure.

        One that is handed something over is another file for each use.
        """
        path = resolve_path(document, name, span)
        real = path.resolve()
        if real in self.open:
            raise DiagnosticError(_cycle(name, span, self._way(real)))
        key = (real, (id(document), name) if bound else None)
        if key not in self.files:
            if len(self.files) >= MOST_FILES:
                message = f"a model uses at most {MOST_FILES} files"
                raise DiagnosticError(Diagnostic("yaml-too-large", message, span))
            self.files[key] = None
            with self.reading(real, span):
                found = self._read(path, span)
            if found is not None and bound:
                found = replace(found, bound=bound, user=document, use=("use", name))
            self.files[key] = found
        return self.files[key]

    def _way(self, path: Path) -> list[Span]:
        """Where the files after a path are used that lead back to it."""
        paths = list(self.open)
        return [self.open[each] for each in paths[paths.index(path) + 1 :]]

    def _read(self, path: Path, span: Span) -> Definitions | None:
        document, problems = self.reader(path)
        if document is None or problems:
            self._keep(problems, span)
            return None
        is_model = isinstance(document.data, dict) and "model" in document.data
        file, problems = validate(document, ModelFile if is_model else DefinitionsFile)
        self._keep([*missing_keys(document), *problems], span)
        if file is None:
            return None
        assert isinstance(file, (ModelFile, DefinitionsFile))
        own, problems = elaborate_definitions(document, file)
        self._keep(problems, span)
        return replace(own, includes=self.parts(document, file))

    def _keep(self, problems: list[Diagnostic], span: Span) -> None:
        """Record diagnostics of an included file, with the include's location."""
        self.found += [replace(d, notes=(*d.notes, f"used by {span}")) for d in problems]


def _cycle(name: str, span: Span, way: list[Span]) -> Diagnostic:
    message = f"`{name}` leads back to itself" if way else "a file cannot use itself"
    notes = tuple(f"by way of {each}" for each in way)
    hint = "put what both need into a file of its own"
    return Diagnostic("cyclic-use", message, span, notes=notes, hint=hint if way else None)


def _undefined_name(name: str, path: str, definitions: Definitions, span: Span) -> Diagnostic:
    near = suggest(name, definitions.define)
    place = definitions.document.span(("define",), key=True)
    return Diagnostic(
        "unbound-name",
        f"`{path}` does not define `{name}`",
        span,
        notes=(f"what it defines is at {place}",),
        hint=f"did you mean `{near}`?" if near else None,
    )


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
