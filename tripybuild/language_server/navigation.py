"""Navigation: where names are declared and read, and the outline of a file."""

import re
from collections.abc import Iterator
from pathlib import Path

from lsprotocol.types import (
    DocumentSymbol,
    Location as FilePlace,
    Position,
    Range,
    SymbolKind,
)

from tripybuild.documents.document import read
from tripybuild.language_server.analysis import analyze
from tripybuild.language_server.descriptions import stored_weights
from tripybuild.language_server.names import Occurrence, Symbol, entries
from tripybuild.language_server.source_text import SourceText
from tripybuild.language_server.workspace import (
    EditedFile,
    Workspace,
    catalog_for,
    uri_of,
)
from tripybuild.schema.model.file_references import is_inside

NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
SYMBOLS = {
    "inputs": SymbolKind.Variable,
    "sizes": SymbolKind.Constant,
    "parts": SymbolKind.Field,
    "ranges": SymbolKind.Constant,
    "steps": SymbolKind.Variable,
    "define": SymbolKind.Class,
    "outputs": SymbolKind.Variable,
    "entries": SymbolKind.Function,
    "next": SymbolKind.Event,
    "weights": SymbolKind.Field,
    "state": SymbolKind.Field,
    "types": SymbolKind.TypeParameter,
    "attributes": SymbolKind.Property,
    "constants": SymbolKind.Constant,
    "requires": SymbolKind.Boolean,
    "infer": SymbolKind.Constant,
    "lower": SymbolKind.Module,
}


def definition(space: Workspace, file: EditedFile, line: int, column: int) -> list[FilePlace]:
    """Where what stands at a place is declared: here, or in a file that this one names."""
    analysis = file.analysis
    occurrence = analysis.names.at(line, column)
    if occurrence is not None:
        return list(_declarations(space, file, occurrence))
    place = analysis.source.outline_path(line, len(analysis.source.lines[line]))
    if place.path[:1] == ("use",) and len(place.path) > 1:
        return list(_used_file(file, str(place.path[1])))
    if place.path[:1] in (("weights",), ("config",)):
        word = analysis.source.lines[line].partition(": ")[2].strip().strip("'\"")
        return list(_beside(file, word))
    if place.path[:1] in (("like",), ("extends",)):
        word, _, _ = analysis.source.word(line, column)
        return list(_family(file, word))
    return []


def _declarations(
    space: Workspace, file: EditedFile, occurrence: Occurrence
) -> Iterator[FilePlace]:
    symbol, analysis = occurrence.symbol, file.analysis
    if symbol is None:
        found = None if occurrence.space else catalog_for(analysis).place(occurrence.name)
        if found is not None and (target := _key_place(space, *found)) is not None:
            yield target
        return
    if symbol.kind == "used definition":
        yield from _used_definition(space, file, symbol)
        return
    if symbol.kind == "weight" and occurrence.is_declaration:
        yield from _stored_weight(file, symbol)
        return
    declared = [each for each in analysis.names.of(symbol) if each.is_declaration]
    spans = [each.span for each in declared] or [analysis.document.span(symbol.key)]
    for span in spans[:1]:
        yield FilePlace(file.uri, analysis.source.range(span))


def _stored_weight(file: EditedFile, symbol: Symbol) -> Iterator[FilePlace]:
    """The files that hold a weight."""
    paths = dict.fromkeys(shard.path for shard, _ in stored_weights(file, symbol))
    yield from (FilePlace(uri_of(path), Range(Position(0, 0), Position(0, 0))) for path in paths)


def _beside(file: EditedFile, name: str) -> Iterator[FilePlace]:
    """A file beside the spec, which it names."""
    folder = file.path.parent
    is_name = bool(name) and not name.endswith(":") and is_inside(folder / name, folder)
    if is_name and (folder / name).is_file():
        yield FilePlace(uri_of(folder / name), Range(Position(0, 0), Position(0, 0)))


def _used_file(file: EditedFile, name: str) -> Iterator[FilePlace]:
    yield from _beside(file, name)


def _used_definition(space: Workspace, file: EditedFile, symbol: Symbol) -> Iterator[FilePlace]:
    path = file.path.parent / str(symbol.key[1])
    if is_inside(path, file.path.parent):
        found = _place_in(space, path, ("define", symbol.name))
        yield from [found] if found is not None else []


def _family(file: EditedFile, word: str) -> Iterator[FilePlace]:
    folder = file.path.parent
    for root in (folder, *list(folder.parents)[:2]):
        for path in sorted(root.glob(f"*/{word}.yaml")) if NAME.fullmatch(word) else ():
            yield FilePlace(uri_of(path), Range(Position(0, 0), Position(0, 0)))
            return


def _key_place(space: Workspace, path: Path, key: str) -> FilePlace | None:
    return _place_in(space, path, (key,))


def _place_in(space: Workspace, path: Path, location: tuple[str, ...]) -> FilePlace | None:
    """The place of a key in another file, as it is open or on disk."""
    text = space.texts().get(path)
    document = analyze(path, text).document if text is not None else read(path)[0]
    if document is None:
        return None
    source = SourceText(document.text, space.encoding)
    return FilePlace(uri_of(path), source.range(document.span(location, key=True)))


def references(file: EditedFile, line: int, column: int, *, declared: bool) -> list[FilePlace]:
    """All places of the name at a place, an operator's included."""
    names = file.analysis.names
    occurrence = names.at(line, column)
    if occurrence is None:
        return []
    if occurrence.symbol is not None:
        found = names.of(occurrence.symbol)
    else:
        same = occurrence.name, occurrence.space
        found = [each for each in names.occurrences if (each.name, each.space) == same]
        found = [each for each in found if each.symbol is None]
    spans = [each.span for each in found if declared or not each.is_declaration]
    return [FilePlace(file.uri, file.analysis.source.range(span)) for span in spans]


def outline(file: EditedFile) -> list[DocumentSymbol]:
    """The keys of a file and the names below them."""
    return list(_outline(file, (), 0))


def _outline(file: EditedFile, at: tuple[str, ...], depth: int) -> Iterator[DocumentSymbol]:
    document, source = file.analysis.document, file.analysis.source
    for key, value in entries(document.data, *at).items():
        location = (*at, key)
        span = document.span(location, key=True)
        whole = document.span(location)
        start, end = source.range(span), source.range(whole).end
        full = Range(start.start, max(end, start.end, key=lambda p: (p.line, p.character)))
        inner = at[-1] if at else key
        kind = SYMBOLS.get(str(inner), SymbolKind.Property if depth else SymbolKind.Namespace)
        types = file.types(location)
        detail = types[0] if types else "" if isinstance(value, (dict, list)) else str(value)
        below = list(_outline(file, location, depth + 1)) if depth < 4 else []
        name = str(key) or " "
        yield DocumentSymbol(name, kind, full, start, detail[:80].split("\n")[0], children=below)
