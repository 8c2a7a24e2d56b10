"""Occurrences of names: what a file declares, and where its snippets read it.

The data of a file is walked as it is, valid or not, so that a file that does not fit its schema
has names, too. A name means what a part, then its model, then its file declares; what is left is
for the vocabularies.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from tripybuild.documents.composer import Location
from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import LINE_BREAK, Span
from tripybuild.language_server.names import (
    FILE,
    Occurrence,
    Owner,
    SnippetText,
    SnippetWalk,
    Symbol,
    entries,
    syntax_tree,
)
from tripybuild.schema.kinds import DEFINE

TOP: Owner = ()
STEPS = ("steps", "next", "outputs")
HELD = ("inputs", "parts", "constants", "weights", "prepared", "state", *STEPS)
COMPUTED = ("parts", "constants", "prepared", *STEPS)
KINDS = {
    "sizes": "size",
    "inputs": "input",
    "parts": "part",
    "constants": "constant",
    "weights": "weight",
    "prepared": "prepared weight",
    "state": "state",
    "steps": "step",
    "outputs": "output",
    "types": "dtype",
    "define": "definition",
    "infer": "size",
    "attributes": "attribute",
}
OF_FILES = frozenset({"size", "dynamic size", "dtype", "definition", "used definition"})
LONGEST = 20_000  # characters of a snippet that is looked at


def owner_of(path: Location) -> Owner:
    """The part that a path is in."""
    return path[:2] if path[:1] in (("define",), ("entries",)) and len(path) > 1 else TOP


@dataclass
class NameIndex:
    """The names of one file.

    Args:
        document: The file.
        kind: What it declares, a key of `schema.kinds.KINDS`.
    """

    document: Document
    kind: str
    symbols: dict[tuple[Owner, str], Symbol] = field(default_factory=dict)
    occurrences: list[Occurrence] = field(default_factory=list)
    unplaced: set[Symbol] = field(default_factory=set)
    """Those that are read where no exact place is known, as in a folded text."""

    def __post_init__(self) -> None:
        self.owners = list(self._owners())
        for owner in self.owners:
            self._declare_part(owner)
        self._declare_file()
        snippets = list(self.snippets())
        for snippet in snippets:
            self._declare_dimensions(snippet)
        for symbol in dict.fromkeys(self.symbols.values()):
            self._add_declaration(symbol)
        for snippet in snippets:
            if len(snippet.text) <= LONGEST:
                walk = SnippetWalk(self, snippet).run()
                self.occurrences += walk.found
                self.unplaced |= walk.unplaced
        for owner, location in self._references():
            self._add_key(owner, location)

    def lookup(self, owner: Owner, name: str, *, made: bool = False) -> Symbol | None:
        """What a name means in a part, or where it is made, which knows sizes and definitions."""
        around = [owner, TOP] if owner[:1] == ("entries",) else [owner]
        found = filter(None, (self.symbols.get((each, name)) for each in (*around, FILE)))
        is_known = made and self.kind in {"model", DEFINE, "module"}
        return next((each for each in found if not is_known or each.kind in OF_FILES), None)

    def member(self, owner: Owner, name: str) -> Symbol | None:
        """What a part itself has under a name."""
        return self.symbols.get((owner, name))

    def visible(self, owner: Owner) -> Iterator[Symbol]:
        """What the snippets of a part can read."""
        around = {owner, FILE} | ({TOP} if owner[:1] == ("entries",) else set())
        yield from (symbol for (each, _), symbol in self.symbols.items() if each in around)

    def at(self, line: int, column: int) -> Occurrence | None:
        """The name at a place, from zero; one that ends there counts."""
        for each in self._by_line.get(line, ()):
            if each.span.column - 1 <= column <= each.span.end_column - 1:
                return each
        return None

    def of(self, symbol: Symbol) -> list[Occurrence]:
        """All places of a name."""
        return [each for each in self.occurrences if each.symbol == symbol]

    def definitions_of(self, symbol: Symbol) -> list[Owner]:
        """The definitions of this file that a part is made of."""
        if symbol.kind == "definition":
            return [("define", symbol.name)] if ("define", symbol.name) in self.owners else []
        names = sorted(self.read_names(symbol))
        return [("define", name) for name in names if ("define", name) in self.owners]

    def read_names(self, symbol: Symbol) -> set[str]:
        """The names that the snippet of a symbol reads."""
        text = self.document.at(symbol.key)
        tree = syntax_tree(text) if isinstance(text, str) else None
        return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} if tree else set()

    @cached_property
    def _by_line(self) -> Mapping[int, list[Occurrence]]:
        found: dict[int, list[Occurrence]] = {}
        for each in self.occurrences:
            found.setdefault(each.span.line - 1, []).append(each)
        return found

    # --- declarations ---

    def _owners(self) -> Iterator[Owner]:
        yield TOP
        for key in ("define", "entries"):
            for name, value in entries(self.document.data, key).items():
                if isinstance(value, dict):
                    yield (key, str(name))

    def _declare(self, kind: str, name: object, owner: Owner, key: Location) -> None:
        if isinstance(name, str) and name.isidentifier():
            self.symbols.setdefault((owner, name), Symbol(kind, name, owner, key))

    def _declare_part(self, owner: Owner) -> None:
        for key in (*HELD, "infer", "attributes"):
            at: Location = (*owner, key)
            if owner == TOP and key == "weights" and self.kind == "model":
                at = ("weights", "tensors")
            for name in entries(self.document.data, *at):
                for target in str(name).split(","):
                    kind = KINDS.get(key, "state")
                    self._declare(kind, target.strip(), owner, (*at, name))
        if owner != TOP or self.kind == "module":
            self._declare_sizes(owner, owner)
        for name in entries(self.document.data, *owner, "types"):
            self._declare("dtype", name, FILE if owner == TOP else owner, (*owner, "types", name))

    def _declare_sizes(self, at: Owner, owner: Owner) -> None:
        sizes = self.document.at((*at, "sizes"))
        if isinstance(sizes, list):
            for index, name in enumerate(sizes):
                self._declare("size", name, owner, (*at, "sizes", index))
        for name in sizes if isinstance(sizes, dict) else ():
            self._declare("size", name, owner, (*at, "sizes", name))

    def _declare_file(self) -> None:
        data = self.document.data
        if self.kind != "module":
            self._declare_sizes(TOP, FILE)
        for name in entries(data, "ranges"):
            self._declare("dynamic size", name, FILE, ("ranges", name))
        for name in entries(data, "define"):
            self._declare("definition", name, FILE, ("define", name))
        for file, use in entries(data, "use").items():
            at: Location = ("use", file) if isinstance(use, list) else ("use", file, "take")
            taken = self.document.at(at)
            for index, name in enumerate(taken if isinstance(taken, list) else ()):
                self._declare("used definition", name, FILE, (*at, index))

    def _declare_dimensions(self, snippet: SnippetText) -> None:
        """The names that the shape of an input binds: of the file, or of the part alone."""
        at = snippet.location[len(snippet.owner) :]
        if at[:1] != ("inputs",) or snippet.location[-1:] == ("default",):
            return
        tree = syntax_tree(snippet.text)
        outermost = snippet.owner == TOP or snippet.owner[:1] == ("entries",)
        for shape in ast.walk(tree) if tree else ():
            if isinstance(shape, ast.Subscript):
                parts = shape.slice.elts if isinstance(shape.slice, ast.Tuple) else [shape.slice]
                for part in parts:
                    each = part.value if isinstance(part, ast.Starred) else part
                    if isinstance(each, ast.Name) and self._is_new(snippet.owner, each.id):
                        owner = FILE if outermost else snippet.owner
                        self._declare("dynamic size", each.id, owner, snippet.location)

    def _is_new(self, owner: Owner, name: str) -> bool:
        return self.lookup(owner, name, made=True) is None

    def _add_declaration(self, symbol: Symbol) -> None:
        key = symbol.key[-1]
        if isinstance(key, int):
            self._add_text(symbol, symbol.key, self.document.span(symbol.key), symbol.name)
        elif (
            self.document.at(symbol.key[:-1]) is not None
            and symbol.name in str(key).replace(",", " ").split()
        ):
            span = self.document.span(symbol.key, key=True)
            self._add_text(symbol, symbol.key, span, str(key))

    def _add_text(self, symbol: Symbol, at: Location, span: Span, written: str) -> None:
        """A name in a key or in an item, which may be quoted, or name several: `q, k`."""
        if span.line != span.end_line:
            return
        width = span.end_column - span.column
        shift = 1 if width == len(written) + 2 else 0
        start = 0
        for target in written.split(","):
            if target.strip() == symbol.name and width == len(written) + 2 * shift:
                column = span.column + shift + start + len(target) - len(target.lstrip())
                end = column + len(symbol.name)
                place = Span(span.path, span.line, column, span.line, end)
                self.occurrences.append(Occurrence(symbol.name, place, symbol, at, True))
            start += len(target) + 1

    def _references(self) -> Iterator[tuple[Owner, Location]]:
        """Keys and words that name what is declared elsewhere: of `next:`, and of `test:`."""
        data = self.document.data
        for owner in self.owners:
            yield from ((owner, (*owner, "next", name)) for name in entries(data, *owner, "next"))
        for at in [("test",), *(("test", "entries", e) for e in entries(data, "test", "entries"))]:
            for key in ("sizes", "inputs", "outputs"):
                yield from ((TOP, (*at, key, name)) for name in entries(data, *at, key))
            shapes = self.document.at((*at, "shapes"))
            for index, each in enumerate(shapes if isinstance(shapes, list) else ()):
                yield from ((TOP, (*at, "shapes", index, name)) for name in entries(each))

    def _add_key(self, owner: Owner, location: Location) -> None:
        name = str(location[-1])
        symbol = self.lookup(owner, name)
        if symbol is not None and symbol.key != location:
            span, before = self.document.span(location, key=True), len(self.occurrences)
            self._add_text(symbol, location, span, name)
            for index in range(before, len(self.occurrences)):
                found = self.occurrences[index]
                self.occurrences[index] = Occurrence(name, found.span, symbol, location)

    # --- snippets ---

    def snippets(self) -> Iterator[SnippetText]:
        """All expressions and types of the file."""
        for owner in self.owners:
            for key in (*HELD, "requires", "infer", "attributes", "sizes", "aliases"):
                at: Location = (*owner, key)
                of_file = key == "sizes" and owner == TOP and self.kind != "module"
                if of_file or (key == "sizes" and isinstance(self.document.at(at), list)):
                    continue
                if owner == TOP and key == "weights" and self.kind == "model":
                    at = ("weights", "tensors")
                yield from self._below(at, owner)
        for key in ("sizes", "ranges", "decompose", "reference", "lower", "cost", "shortcut"):
            if not (key == "sizes" and self.kind == "module"):
                yield from self._below((key,), TOP if key != "sizes" else FILE)
        for key in ("on_sizes", "equivalents", "targets", "sample", "defaults"):
            yield from self._below((key,), TOP)
        for file in entries(self.document.data, "use"):
            yield from self._below(("use", file, "with"), TOP)
        for name in entries(self.document.data, "test", "inputs"):
            yield from self._below(("test", "inputs", name, "below"), TOP)
        yield from self._below(("test", "along"), TOP)

    def _list_text(self, at: Location) -> str | None:
        """A list in brackets as it is written, which is one expression."""
        if not self.document.is_flow(at):
            return None
        span = self.document.span(at)
        lines = self._text_lines[span.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return "\n".join(lines)

    @cached_property
    def _text_lines(self) -> list[str]:
        return LINE_BREAK.split(self.document.text)

    def _below(self, at: Location, owner: Owner) -> Iterator[SnippetText]:
        value = self.document.at(at)
        if isinstance(value, str):
            yield SnippetText(at, value, owner)
        elif isinstance(value, dict):
            for key in value:
                if key not in {"doc", "message", "hint", "why", "says"}:
                    yield from self._below((*at, key), owner)
        elif isinstance(value, list) and (text := self._list_text(at)) is not None:
            # YAML takes `[block(i, 2) for i in range(3)]` apart at its commas.
            span = self.document.span(at)
            yield SnippetText(at, text, owner, (span.line - 1, span.column - 1))
        elif isinstance(value, list):
            for index in range(len(value)):
                yield from self._below((*at, index), owner)
