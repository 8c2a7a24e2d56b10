"""Compositions: operators of another system as expressions of ours, in `foreign/SYSTEM.yaml`.

They are for what no operator is an alias of. A composition is written over the other operator's
parameters, of which those that a call leaves out have their defaults. It is walked, and never
becomes code; what it calls are operators, so that what it may cost is what those cost.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic, suggest
from tripybuild.language.grammar import Program, SnippetError, parse
from tripybuild.onnx.table import NEWEST, OLDEST
from tripybuild.schema.entries import CasesEntry, Doc, StrictModel
from tripybuild.schema.foreign import TITLES, ForeignSignature, signatures
from tripybuild.schema.operator.aliases import parse_foreign_call
from tripybuild.schema.operator.operator import Location, Snippet
from tripybuild.schema.snippets.cases import read_cases
from tripybuild.schema.snippets.expressions import Expression, expression_text
from tripybuild.schema.snippets.snippet_scope import unbound_names
from tripybuild.schema.snippets.vocabularies import (
    ATTRIBUTES,
    CONSTANTS,
    DECOMPOSE,
    DTYPES,
    INDEX,
    LOOPS,
    SHAPE,
)
from tripybuild.schema.snippets.vocabulary_check import AllowedNames, check_vocabulary

# The types that the source states: of the first result, and of each, which is None where unstated.
RESULT, RESULTS = "result", "results"


class CompositionEntry(StrictModel):
    """What an operator of another system is here."""

    means: str | CasesEntry
    when: Expression = True
    ignores: list[str] = Field(default_factory=list)
    opset: int | None = Field(default=None, ge=1, le=NEWEST)
    before: int | None = Field(default=None, gt=OLDEST, le=NEWEST)
    examples: list[str] = Field(default_factory=list)


Compositions = Annotated[list[CompositionEntry], Field(min_length=1)]


class ForeignSystemFile(StrictModel):
    """What the operators of another system are in ours."""

    tripybuild: Literal[1]
    foreign: Literal["aten", "onnx"]
    doc: Doc
    ignores: list[str] = Field(default_factory=list)
    operators: dict[str, str | CompositionEntry | Compositions] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Composition:
    """One operator of another system as operators of ours.

    It holds from the opset `since` on, and `before` another one. `examples` are its calls, each
    as the values of its parameters. `names` are what the snippet calls them.
    """

    signature: ForeignSignature
    names: Mapping[str, str]
    snippet: Snippet
    when: Snippet | None = None
    ignores: frozenset[str] = frozenset()
    since: int | None = None
    before: int | None = None
    examples: tuple[Snippet, ...] = ()

    def holds_in(self, opset: int | None) -> bool:
        """Whether the operator means this in an opset; without one, in the newest."""
        if opset is None:
            return self.before is None
        return (self.since or 0) <= opset and (self.before is None or opset < self.before)


@dataclass(frozen=True, slots=True)
class ForeignSystem:
    """What registries say of another system: ignored parameters, and compositions by name."""

    ignores: frozenset[str] = frozenset()
    operators: Mapping[str, tuple[Composition, ...]] = field(default_factory=dict)

    def __or__(self, other: "ForeignSystem") -> "ForeignSystem":
        """Join what two files say, of which the first one counts first."""
        names = dict.fromkeys([*self.operators, *other.operators])
        operators = {
            name: (*self.operators.get(name, ()), *other.operators.get(name, ())) for name in names
        }
        return ForeignSystem(self.ignores | other.ignores, operators)


def read_compositions(
    document: Document, file: ForeignSystemFile, operators: frozenset[str]
) -> tuple[ForeignSystem, list[Diagnostic]]:
    """What a file says of another system, and all that is wrong with it.

    Args:
        document: The file.
        file: Its keys, validated.
        operators: The names that snippets can call.
    """
    reader = CompositionReader(document, file, operators)
    ignores = reader.ignored_everywhere()
    return ForeignSystem(ignores, {n: reader.compositions(n) for n in file.operators}), reader.found


class CompositionReader:
    """Reads one file; `found` is all that is wrong with it."""

    def __init__(
        self, document: Document, file: ForeignSystemFile, operators: frozenset[str]
    ) -> None:
        self.document, self.file, self.known = document, file, operators
        self.found: list[Diagnostic] = []

    def ignored_everywhere(self) -> frozenset[str]:
        """The parameters that say nothing, of whichever operator."""
        return frozenset(self.ignored(self.file.ignores, None, ("ignores",)))

    def compositions(self, name: str) -> tuple[Composition, ...]:
        """What the file says of an operator."""
        given, base = self.file.operators[name], ("operators", name)
        entries = given if isinstance(given, list) else [given]
        made = [
            self._composition(name, entry, (*base, i) if isinstance(given, list) else base)
            for i, entry in enumerate(entries)
        ]
        return tuple(each for each in made if each is not None)

    def _composition(
        self, name: str, given: str | CompositionEntry, at: Location
    ) -> Composition | None:
        whole = isinstance(given, CompositionEntry)
        entry = given if isinstance(given, CompositionEntry) else CompositionEntry(means=given)
        signature = self._signature(name, entry, at)
        snippet = self._snippet(entry.means, (*at, "means") if whole else at)
        if signature is None or snippet is None:
            return None
        when = None
        if entry.when is not True:
            when = self._snippet(expression_text(entry.when), (*at, "when"))
        words = SHAPE | DECOMPOSE | INDEX | LOOPS | self.known
        names = {each: f"{each}_" if each in words else each for each in signature.parameters}
        bound = frozenset({*names.values(), RESULT, RESULTS})
        known = words - bound
        for each in (snippet, *([when] if when else [])):
            self.found += unbound_names(each, bound, known | DTYPES | CONSTANTS)
            surface = AllowedNames(
                known - CONSTANTS - DTYPES,
                bound,
                callables=frozenset(names[graph] for graph in signature.graphs),
                attributes=ATTRIBUTES["decompose"],
            )
            self.found += check_vocabulary(each, surface)
        calls = (
            self._example(text, signature, (*at, "examples", i))
            for i, text in enumerate(entry.examples)
        )
        return Composition(
            signature,
            names,
            snippet,
            when,
            frozenset(self.ignored(entry.ignores, signature, (*at, "ignores"))),
            entry.opset,
            entry.before,
            tuple(each for each in calls if each is not None),
        )

    def _signature(
        self, name: str, entry: CompositionEntry, at: Location
    ) -> ForeignSignature | None:
        system = self.file.foreign
        if system != "onnx":
            for key in ("opset", "before"):
                if getattr(entry, key) is not None:
                    self._wrong("alias-argument", f"{TITLES[system]} has no opsets", (*at, key))
        opset = None if entry.before is None else entry.before - 1
        signature = signatures(system, opset).get(name)
        if signature is None:
            near = suggest(name, signatures(system, opset))
            hint = f"did you mean `{near}`?" if near else None
            old = f" in opset {opset}" if opset else ""
            message = f"{TITLES[system]} has no `{name}`{old}"
            span = self.document.span(at, key=isinstance(at[-1], str))
            self.found.append(Diagnostic("unknown-alias", message, span, hint=hint))
        return signature

    def ignored(
        self, names: Sequence[str], signature: ForeignSignature | None, at: Location
    ) -> Iterator[str]:
        """Parameters, each of which there is; without a signature, of some operator."""
        for index, name in enumerate(names):
            table = signatures(self.file.foreign)
            has = name in signature.parameters if signature else table.has_parameter(name)
            if not has:
                title = TITLES[self.file.foreign]
                whose = f"`{signature.name}`" if signature else f"an operator of {title}"
                hint = f"it is `{signature}`" if signature else None
                message = f"`{name}` is no argument of {whose}"
                self._wrong("alias-argument", message, (*at, index), hint)
            yield name

    def _snippet(self, value: str | CasesEntry, at: Location) -> Snippet | None:
        if isinstance(value, CasesEntry):
            snippet, problems = read_cases(value, self.document, at, self._syntax, functions=True)
            self.found += problems
            return snippet
        try:
            return Snippet(parse(value, functions=True), self.document, at)
        except SnippetError as error:
            self.found.append(self._syntax(error, self.document, at))
            return None

    def _example(self, text: str, signature: ForeignSignature, at: Location) -> Snippet | None:
        try:
            call, _ = parse_foreign_call(text, signature.name)
        except SnippetError as error:
            self.found.append(self._syntax(error, self.document, at))
            return None
        return Snippet(Program((), call, text), self.document, at)

    def _syntax(self, error: SnippetError, document: Document, at: Location) -> Diagnostic:
        place = (error.line, error.column, error.end_line, error.end_column)
        return Diagnostic(
            error.code, error.message, document.snippet_span(at, *place), hint=error.hint
        )

    def _wrong(self, code: str, message: str, at: Location, hint: str | None = None) -> None:
        self.found.append(Diagnostic(code, message, self.document.span(at), hint=hint))
