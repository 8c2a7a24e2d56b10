"""Hints within the text: the types of steps and parts behind their keys, and colors of names."""

from collections.abc import Iterator, Sequence

from lsprotocol.types import InlayHint, InlayHintKind, SemanticTokens

from tripybuild.documents.composer import Location
from tripybuild.language_server.names import Occurrence, Symbol
from tripybuild.language_server.workspace import EditedFile, catalog_for

HINTED = frozenset(
    {"step", "output", "part", "constant", "prepared weight", "size", "state", "input"}
)
TOKENS = (
    *("variable", "parameter", "property", "function", "class", "type", "namespace"),
    *("enumMember", "method"),
)
_OF_KIND = {
    "input": "parameter",
    "part": "property",
    "weight": "property",
    "state": "property",
    "definition": "class",
    "used definition": "class",
    "size": "enumMember",
    "dtype": "type",
    "dynamic size": "enumMember",
    "attribute": "parameter",
    "prepared weight": "property",
}
_WORDS = {"np", "trt", "hlo", "onnx", "next", "config"}


def inlay_hints(file: EditedFile, first: int, last: int) -> Iterator[InlayHint]:
    """The types of steps, parts and constants between two lines, and numbers of computed sizes."""
    analysis = file.analysis
    for symbol in dict.fromkeys(analysis.names.symbols.values()):
        for location in _keys(symbol):
            span = analysis.document.span(location, key=True)
            if not first <= span.line - 1 <= last:
                continue
            text = _hint_text(file, symbol, location)
            if text:
                place = analysis.source.position(span.end_line - 1, span.end_column - 1)
                yield InlayHint(
                    place,
                    f": {text}" if symbol.kind != "size" else f" = {text}",
                    kind=InlayHintKind.Type,
                    tooltip=None,
                    padding_left=False,
                    data={"uri": file.uri, "key": list(map(str, location))},
                )


def _keys(symbol: Symbol) -> Iterator[Location]:
    """The keys of a symbol that have a type of their own: a state has one below `next:`, too."""
    if symbol.kind not in HINTED or not isinstance(symbol.key[-1], str):
        return
    names = [each.strip() for each in symbol.key[-1].split(",")]
    if names[0] == symbol.name:  # of a step with several names, one hint says all
        yield symbol.key
    if symbol.kind == "state":
        yield (*symbol.owner, "next", symbol.name)


def _hint_text(file: EditedFile, symbol: Symbol, location: Location) -> str:
    """What stands behind a key: what the text itself does not say."""
    types = file.types(location)
    written = str(file.analysis.document.at(location)).strip()
    if symbol.kind == "size":
        computed = not written.replace(".", "").replace("e-", "").replace("-", "").isalnum()
        return types[0] if len(types) == 1 and computed and types[0] != written else ""
    if symbol.kind == "input":
        return types[0] if len(types) == 1 and symbol.owner and types[0] != written else ""
    if symbol.kind == "part":
        return f"-> {join_types(types)}" if types else ""
    return join_types(types)


def join_types(types: Sequence[str]) -> str:
    """Types of several uses as one: sizes that differ stand beside each other."""
    if len(types) < 2:
        return next(iter(types), "")
    rows = [each.rstrip("]").partition("[") for each in types]
    sizes = [row[2].split(", ") for row in rows]
    alike = len({row[0] for row in rows}) == 1 and len({*map(len, sizes)}) == 1
    if not alike or any("(" in each for each in types):
        return " | ".join(types[:2]) + (" | ..." if len(types) > 2 else "")
    columns = [list(dict.fromkeys(each)) for each in zip(*sizes, strict=True)]
    shown = ["|".join(each[:3]) + ("|..." if len(each) > 3 else "") for each in columns]
    return f"{rows[0][0]}[{', '.join(shown)}]"


def semantic_tokens(file: EditedFile) -> SemanticTokens:
    """The names of snippets by what they are, in the protocol's differences."""
    catalog = catalog_for(file.analysis)
    source = file.analysis.source
    found = sorted(
        {(o.span.line, o.span.column): o for o in file.analysis.names.occurrences}.items()
    )
    data: list[int] = []
    line, start = 0, 0
    for _, each in found:
        kind = _token(each, catalog.operators, catalog.modules)
        if kind is None:
            continue
        place = source.range(each.span)
        row, column = place.start.line, place.start.character
        start = start if row == line else 0
        length = place.end.character - column
        modifiers = 1 if each.is_declaration else 0
        data += [row - line, column - start, length, TOKENS.index(kind), modifiers]
        line, start = row, column
    return SemanticTokens(data)


def _token(each: Occurrence, operators: frozenset[str], modules: frozenset[str]) -> str | None:
    if each.symbol is not None:
        return _OF_KIND.get(each.symbol.kind, "variable")
    if each.is_word:
        return "parameter"
    if each.name in _WORDS:
        return "namespace"
    if each.name in modules:
        return "class"
    return "function" if each.is_call or each.name in operators else None
