"""Module inheritance: `extends: Conv` takes the entries of another module.

An entry of the module's own takes the place of the inherited one of that name, where that stands.
Examples add up; in those of the other module, its name stands for the own one.
"""

from collections.abc import Iterable, Iterator, Mapping, Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from tripybuild.documents.composer import Location
from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic, Span, suggest
from tripybuild.schema.files import ModuleFile
from tripybuild.schema.size_entries import SizeEntry

MERGED = (
    *("sizes", "types", "requires", "inputs", "parts", "weights", "steps", "outputs"),
    "sample",
)

Declared = tuple[Document, ModuleFile]


@dataclass(frozen=True)
class ExtendedDocument(Document):
    """A module's file, with the files of the entries that it inherits, eldest first."""

    inherited: Mapping[Location, Document]
    bases: tuple[tuple[str, Document], ...]

    def origin(self, location: Location) -> Document:
        """The file that an entry stands in."""
        return self.inherited.get(location[:2], self)

    def span(self, location: Location, *, key: bool = False) -> Span:
        """Give the place of a value in the file that it stands in."""
        origin = self.origin(location)
        return super().span(location, key=key) if origin is self else origin.span(location, key=key)


def extend(
    document: Document,
    file: ModuleFile,
    modules: Mapping[str, Declared],
    unread: AbstractSet[str] = frozenset(),
) -> tuple[Document, ModuleFile, list[Diagnostic]]:
    """A module with what it inherits, and what is wrong with that.

    What is wrong with a module that it extends is reported for that one alone.

    Args:
        document: The module's file.
        file: Its keys, validated.
        modules: What `extends:` can name.
        unread: Names of files with problems of their own, none of which is in `modules`.
    """
    chain, span = [(document, file)], document.span(("extends",))
    while (name := chain[-1][1].extends) is not None:
        names, found = [each.module for _, each in chain], list[Diagnostic]()
        if name in names:
            message = f"the module `{name}` extends itself: {' -> '.join([*names, name])}"
            if name == file.module:
                found = [Diagnostic("cyclic-family", message, chain[-1][0].span(("extends",)))]
            return document, file, found
        if name not in modules:
            near = suggest(name, modules)
            hint = f"did you mean `{near}`?" if near else None
            if len(chain) == 1 and not unread & {name, name.lower()}:
                message = f"no module is called `{name}`"
                found = [Diagnostic("unknown-family", message, span, hint=hint)]
            return document, file, found
        chain.append(modules[name])
    base, found = chain.pop(), list[Diagnostic]()
    while chain:
        own = chain.pop()
        found = _repeats(base[1], own)
        base = _merge(base, own)
    return *base, found


def note_heir(document: Document, name: str, found: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Problems of a module, which say whose they are where they are shown in a file it extends."""
    bases = {each.path: base for base, each in bases_of(document)}
    for each in found:
        base = bases.get(each.span.path) if each.span else None
        note = () if base is None else (f"in `{name}`, which extends `{base}`",)
        yield replace(each, notes=(*each.notes, *note))


def _merge(base: Declared, own: Declared) -> Declared:
    (base_document, base_file), (document, file) = base, own
    update: dict[str, Any] = {}
    inherited: dict[Location, Document] = {}
    for key in MERGED:
        before, after = _entries(base_file, key), _entries(file, key)
        update[key] = {**before, **after}
        rest = before.keys() - after.keys()
        inherited |= {(key, name): base_document.origin((key, name)) for name in rest}
    start = f"{base_file.module}("
    update["examples"] = [
        *file.examples,
        *(
            each.model_copy(update={"call": f"{file.module}({each.call.removeprefix(start)}"})
            for each in base_file.examples
        ),
    ]
    bases = (*bases_of(base_document), (base_file.module, base_document))
    place = document.path, document.text, document.data, document._tree  # noqa: SLF001 - a copy
    return ExtendedDocument(*place, inherited, bases), file.model_copy(update=update)


def bases_of(document: Document) -> tuple[tuple[str, Document], ...]:
    """The modules that a module extends, with their files, eldest first."""
    return document.bases if isinstance(document, ExtendedDocument) else ()


def _entries(file: ModuleFile, key: str) -> Mapping[str, Any]:
    entries = getattr(file, key)
    if isinstance(entries, list):  # names of integers
        return {name: SizeEntry.model_construct(doc="") for name in entries}
    return dict(entries)


def _repeats(base: ModuleFile, own: Declared) -> list[Diagnostic]:
    """What a module says as the one that it extends does: to refine is to differ."""
    document, file = own
    return [
        Diagnostic(
            "given-twice",
            f"the module `{base.module}` gives `{key}.{name}` already",
            document.span((key, name), key=True),
            hint="remove it here, or write another value to override it",
        )
        for key in MERGED
        for name, value in _entries(file, key).items()
        if _entries(base, key).get(name) == value and name in _entries(base, key)
    ]
