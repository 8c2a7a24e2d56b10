"""Renaming: what can have another name, and the edits of all files that read it.

A definition of a used file, its sizes and its members are renamed in the files that use it, too.
These stand in the folder of the used file or above, since no file uses what is outside of its own
folder; what is not open is read from disk.
"""

import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsprotocol.types import TextEdit, WorkspaceEdit

from tripybuild.documents.document import LARGEST_FILE, read_text
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.language.vocabulary import PYTHON
from tripybuild.language_server.analysis import Analysis, analyze
from tripybuild.language_server.catalog import SPACES
from tripybuild.language_server.names import FILE, Occurrence, Owner, Symbol, entries
from tripybuild.language_server.occurrences import NameIndex
from tripybuild.language_server.workspace import EditedFile, Workspace, uri_of
from tripybuild.model.config import CONFIG
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.vocabulary import SHAPE

NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
RENAMED = frozenset(
    {"size", "dynamic size", "part", "step", "input", "constant", "definition", "state"}
    | {"weight", "prepared weight", "output"}
)
MEMBERS = frozenset({"part", "weight", "state", "prepared weight"})
MOST_FOLDERS = 4  # above a used file that are looked at, without a repository's root among them
MOST_FILES = 500  # of one folder


@dataclass
class UserIndex(NameIndex):
    """The names of a file that uses another one, of which one is renamed.

    Args:
        used: What the file calls the other one.
        renamed: The name, as it is declared there.
    """

    used: str = ""
    renamed: Symbol | None = None

    def definitions_of(self, symbol: Symbol) -> list[Owner]:
        """The definitions that a part is made of, those of the used file included."""
        found = super().definitions_of(symbol)
        made_of = {symbol.name} if symbol.kind == "used definition" else self.read_names(symbol)
        taken = (self.symbols.get((FILE, name)) for name in sorted(made_of))
        used = [each.name for each in taken if each and each.key[:2] == ("use", self.used)]
        return [*found, *(("use", self.used, name) for name in used)]

    def member(self, owner: Owner, name: str) -> Symbol | None:
        """What a part itself has under a name."""
        if owner[:2] != ("use", self.used):
            return super().member(owner, name)
        renamed = self.renamed
        return renamed if renamed and (renamed.owner, renamed.name) == (owner, name) else None


def renameable(file: EditedFile, line: int, column: int) -> tuple[Symbol, Span]:
    """The name at a place, if it can be renamed.

    Raises:
        DiagnosticError: It is none of the file's own, with the reason.
    """
    names = file.analysis.names
    occurrence = names.at(line, column)
    symbol = None if occurrence is None else occurrence.symbol
    if occurrence is None:
        raise _refusal("there is no name here")
    if symbol is None:
        raise _refusal(f"`{occurrence.name}` is not declared in this file")
    if symbol.kind not in {*RENAMED, "used definition"}:
        raise _refusal(f"`{symbol.name}` is {_with_article(symbol.kind)}, which is not renamed")
    _refuse_unreadable(file.analysis, names, symbol)
    return symbol, occurrence.span


def _refuse_unreadable(analysis: Analysis, names: NameIndex, symbol: Symbol) -> None:
    """Refuse a name that is read where its place, or its meaning, is not known."""
    if symbol in names.unplaced:
        hint = "write the texts that read it on one line, or below `|`"
        raise _refusal(f"`{symbol.name}` is read in a folded text", hint)
    for each in names.occurrences:
        unknown = each.is_open and each.space not in SPACES and each.space != CONFIG
        if unknown and each.name == symbol.name and symbol.kind in MEMBERS:
            hint = f"its part is not known before the model is built, in line {each.span.line}"
            raise _refusal(f"`.{each.name}` may mean this {symbol.kind}", hint)
    if analysis.parsed[0] is None or analysis.parsed[1]:
        raise _refusal("the file is not YAML that can be read: mend it first")


def rename(space: Workspace, file: EditedFile, line: int, column: int, new: str) -> WorkspaceEdit:
    """The edits that give a name another one, in its file and in those that use it.

    Raises:
        DiagnosticError: With the reason why it cannot be renamed, or not so.
    """
    symbol, _ = renameable(file, line, column)
    if not NAME.fullmatch(new) or "__" in new:
        raise _refusal(f"`{new}` is no name: letters, digits and `_`, of which a letter is first")
    analysis = file.analysis
    if symbol.kind == "used definition":
        analysis, symbol = _declaration(space, file, symbol)
    _refuse_taken(analysis.names, symbol, new)
    changes = {uri_of(analysis.path): _edits(analysis, analysis.names.of(symbol), new)}
    for user, used in users(space, analysis.path):
        try:
            edits = _user_edits(user, used, symbol, new)
        except DiagnosticError as error:
            problem = error.diagnostics[0]
            message = f"in `{user.path.name}`: {problem.message}"
            raise _refusal(message, problem.hint) from error
        changes |= {uri_of(user.path): edits} if edits else {}
    opened = {each.path: each.uri for each in space.files.values()}
    changes |= {opened[p]: changes.pop(uri_of(p)) for p in opened if uri_of(p) in changes}
    return WorkspaceEdit(changes=changes)


def _edits(analysis: Analysis, found: Sequence[Occurrence], new: str) -> list[TextEdit]:
    return [TextEdit(analysis.source.range(each.span), new) for each in found]


def _declaration(space: Workspace, file: EditedFile, symbol: Symbol) -> tuple[Analysis, Symbol]:
    """The file of a used definition, and its name there."""
    path = file.path.parent / str(symbol.key[1])
    found = _analysis(space, path)
    declared = found and found.names.symbols.get((FILE, symbol.name))
    if not found or not declared or declared.kind != "definition":
        raise _refusal(f"`{symbol.name}` is not declared in `{symbol.key[1]}`")
    _refuse_unreadable(found, found.names, declared)
    return found, declared


def _analysis(space: Workspace, path: Path) -> Analysis | None:
    """A file as it is open, or as it is on disk; None where it cannot be read."""
    text = next((t for p, t in space.texts().items() if p == path or p == path.resolve()), None)
    try:
        return analyze(
            path, read_text(path, LARGEST_FILE) if text is None else text, space.encoding
        )
    except DiagnosticError:
        return None


def users(space: Workspace, path: Path) -> Iterator[tuple[Analysis, str]]:
    """The files that use a file, each with what it calls it."""
    whole, folders = path.resolve(), list(path.resolve().parents)[: MOST_FOLDERS + 1]
    top = next((n for n, each in enumerate(folders, 1) if (each / ".git").exists()), len(folders))
    found = [
        each for folder in folders[:top] for each in sorted(folder.glob("*.yaml"))[:MOST_FILES]
    ]
    files = {each.resolve(): each for each in [*found, *space.texts()]}
    for each in (files[place] for place in files if place != whole):
        analysis = _analysis(space, each)
        if analysis is not None and path.name in analysis.text:
            for used in entries(analysis.document.data, "use"):
                if (each.parent / str(used)).resolve() == whole:
                    yield analysis, str(used)


def _user_edits(user: Analysis, used: str, symbol: Symbol, new: str) -> list[TextEdit]:
    """The edits of a file that uses the one that declares a name."""
    document = user.document
    if symbol.kind == "definition":
        taken = user.names.symbols.get((FILE, symbol.name))
        if taken is None or taken.key[:2] != ("use", used):
            return []
        _refuse_unreadable(user, user.names, taken)
        _refuse_taken(user.names, taken, new)
        return _edits(user, user.names.of(taken), new)
    if symbol.key[:1] == ("sizes",):
        at = ("use", used, "with", symbol.name)
        is_bound = symbol.name in entries(document.data, *at[:-1])
        span = document.span(at, key=True)
        return [TextEdit(user.source.range(span), new)] if is_bound else []
    if symbol.owner[:1] != ("define",):
        return []
    renamed = replace(symbol, owner=("use", used, *symbol.owner[1:]))
    names = UserIndex(document, user.kind or "model", used=used, renamed=renamed)
    _refuse_unreadable(user, names, renamed)
    return _edits(user, names.of(renamed), new)


def _refuse_taken(names: NameIndex, symbol: Symbol, new: str) -> None:
    if keyword.iskeyword(new) or new in {"next", "config"}:
        raise _refusal(f"`{new}` is a word of the language")
    if new in BY_NAME or new in SHAPE.functions or new in PYTHON.functions:
        raise _refusal(f"`{new}` is a {'dtype' if new in BY_NAME else 'function'} already")
    everywhere = symbol.owner in {FILE, ()}
    for (owner, name), other in names.symbols.items():
        if name == new and (everywhere or owner in (symbol.owner, FILE)):
            span = names.document.span(other.key, key=not isinstance(other.key[-1], int))
            raise _refusal(f"`{new}` is {_with_article(other.kind)} already, in line {span.line}")
    if any(each.name == new and not each.is_word for each in names.occurrences):
        raise _refusal(f"`{new}` has a meaning here already: snippets of the file read it")


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _refusal(message: str, hint: str | None = None) -> DiagnosticError:
    return DiagnosticError(Diagnostic("bad-name", message, hint=hint))
