"""Names in snippets: what each one means where it is read.

A walk follows the scopes of the language: lines of a snippet, functions, and what follows a `for`.
What is left is looked up in the file, and behind dots in the definitions that parts are made of.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from tripybuild.documents.composer import Location
from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Span

Owner = Location  # the location of the part that a name is of
FILE: Owner = ("",)  # of what all parts of a file see
MADE = frozenset(
    (each,) for each in ("parts", "inputs", "weights", "state", "sizes", "requires", "ranges")
)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name that a file declares.

    Args:
        kind: What it is, as messages say it.
        name: The name.
        owner: The part that has it.
        key: Where it is declared.
    """

    kind: str
    name: str
    owner: Owner
    key: Location


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A name where it is written.

    Args:
        name: The name.
        span: Its place.
        symbol: What it means; None where the file does not declare it.
        snippet: The location of the snippet or the key that it stands in.
        is_declaration: Whether it is declared here.
        space: What stands before the dot in `trt.add`; empty without one.
        is_call: Whether it is called.
        is_word: Whether it is a keyword of a call, which no vocabulary knows.
        is_open: Whether it stands behind a dot of what only a build knows.
    """

    name: str
    span: Span
    symbol: Symbol | None
    snippet: Location
    is_declaration: bool = False
    space: str = ""
    is_call: bool = False
    is_word: bool = False
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class SnippetText:
    """An expression or a type of a file: where it stands, and the part whose names it reads."""

    location: Location
    text: str
    owner: Owner
    origin: tuple[int, int] | None = None
    """Its line and column, from zero, where the text is that of the file and no scalar's."""

    @property
    def is_made(self) -> bool:
        """Whether it is read when a part is made, which sees no inputs, parts and steps."""
        at = self.location[len(self.owner) :] if self.owner != FILE else self.location
        return at[:1] in MADE


@lru_cache(maxsize=8192)
def syntax_tree(text: str) -> ast.Module | None:
    """The syntax of a snippet, or None where it has none."""
    try:
        return ast.parse(text.lstrip(" "))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def entries(data: object, *keys: str | int) -> Mapping[Any, Any]:
    """The mapping below some keys; empty where there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


class DeclaredNames(Protocol):
    """The names of a file, as a walk needs them."""

    document: Document

    def lookup(self, owner: Owner, name: str, *, made: bool = False) -> Symbol | None:
        """What a name means in a part, or where it is made."""

    def member(self, owner: Owner, name: str) -> Symbol | None:
        """What a part itself has under a name."""

    def definitions_of(self, symbol: Symbol) -> Sequence[Owner]:
        """The definitions of this file that a part is made of."""


class SnippetWalk:
    """Finds the names of one snippet.

    Args:
        index: The names of its file.
        snippet: The snippet.
    """

    def __init__(self, index: DeclaredNames, snippet: SnippetText) -> None:
        self.index, self.snippet = index, snippet
        self.found: list[Occurrence] = []
        self.unplaced: set[Symbol] = set()
        self.local: list[set[str]] = []
        self.shift = len(snippet.text) - len(snippet.text.lstrip(" "))
        self.rows = snippet.text.split("\n")

    def run(self) -> "SnippetWalk":
        """Walk all of it; what does not parse has no names."""
        tree = syntax_tree(self.snippet.text)
        if tree is not None:
            stored = {
                node.id
                for line in tree.body
                if isinstance(line, ast.Assign)
                for target in line.targets
                for node in ast.walk(target)
                if isinstance(node, ast.Name)
            }
            self.local.append(stored)
            for line in tree.body:
                self.visit(line)
        return self

    def visit(self, node: ast.AST) -> None:
        """Walk a node and what is below it."""
        match node:
            case ast.Name():
                self._name(node, is_call=False)
            case ast.Attribute():
                self._attribute(node, is_call=False)
            case ast.Call():
                self._call(node)
            case ast.FunctionDef():
                self._function(node)
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                self._comprehension(node)
            case _:
                for each in ast.iter_child_nodes(node):
                    self.visit(each)

    def _function(self, node: ast.FunctionDef) -> None:
        self.local[0].add(node.name)
        self.local.append({each.arg for each in node.args.args})
        for line in node.body:
            self.visit(line)
        self.local.pop()

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp) -> None:
        targets = {
            n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)
        }
        self.visit(node.generators[0].iter)  # which is outside
        self.local.append(targets)
        for each in ast.iter_child_nodes(node):
            if each is not node.generators[0]:
                self.visit(each)
        for condition in node.generators[0].ifs:
            self.visit(condition)
        self.local.pop()

    def _name(self, node: ast.Name, *, is_call: bool) -> None:
        if not any(node.id in names for names in self.local):
            symbol = self._lookup(node.id)
            self._add(node.id, node.lineno, node.col_offset, symbol, is_call=is_call)

    def _attribute(self, node: ast.Attribute, *, is_call: bool) -> None:
        self.visit(node.value)
        line, column = node.end_lineno or node.lineno, (node.end_col_offset or 0) - len(node.attr)
        space = node.value.id if isinstance(node.value, ast.Name) else "."
        symbol = next(iter(self._members(node)), None)
        is_open = symbol is None and not self._members(node.value)
        self._add(node.attr, line, column, symbol, space=space, is_call=is_call, is_open=is_open)

    def _lookup(self, name: str) -> Symbol | None:
        return self.index.lookup(self.snippet.owner, name, made=self.snippet.is_made)

    def _members(self, node: ast.expr) -> list[Symbol]:
        """The declared names that an expression of names and dots can mean."""
        index = self.index
        match node:
            case ast.Name(id=name):
                found = self._lookup(name)
                return [found] if found else []
            case ast.Subscript(value=value):
                return self._members(value)
            case ast.Attribute(value=ast.Name(id="next"), attr=name):
                found = index.lookup(self.snippet.owner, name)
                return [found] if found else []
            case ast.Attribute(value=value, attr=name):
                parts = (d for part in self._members(value) for d in index.definitions_of(part))
                members = (index.member(part, name) for part in parts)
                return [each for each in members if each is not None]
        return []

    def _call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Name():
                self._name(node.func, is_call=True)
            case ast.Attribute():
                self._attribute(node.func, is_call=True)
            case _:
                self.visit(node.func)
        called = [d for s in self._members(node.func) for d in self.index.definitions_of(s)]
        for argument in node.args:
            self.visit(argument)
        for keyword in node.keywords:
            if keyword.arg is not None:
                taken = (self.index.member(part, keyword.arg) for part in called)
                symbol = next(filter(None, taken), None)
                at = keyword.lineno, keyword.col_offset
                self._add(keyword.arg, *at, symbol, is_word=True)
            self.visit(keyword.value)

    def _add(
        self,
        name: str,
        line: int,
        column: int,
        symbol: Symbol | None,
        *,
        space: str = "",
        is_call: bool = False,
        is_word: bool = False,
        is_open: bool = False,
    ) -> None:
        row = self.rows[line - 1] if line <= len(self.rows) else ""
        column += self.shift if line == 1 else 0
        if not row.isascii():
            column = len(row.encode()[:column].decode(errors="replace"))
        at, origin = self.snippet.location, self.snippet.origin
        document = self.index.document
        if origin is None:
            span = document.snippet_span(at, line, column, line, column + len(name))
        else:
            number, start = origin[0] + line, column + (origin[1] if line == 1 else 0) + 1
            span = Span(document.path, number, start, number, start + len(name))
        if span.line == span.end_line and span.end_column - span.column == len(name):
            self.found.append(
                Occurrence(name, span, symbol, at, False, space, is_call, is_word, is_open)
            )
        elif symbol is not None:
            self.unplaced.add(symbol)
