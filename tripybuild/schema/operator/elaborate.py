"""Elaboration: a file's keys to an `Operator`, types to patterns, snippets to programs.

Everything that is wrong with a file is found in one run; nothing here knows other operators.
"""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from tripybuild.documents.document import Document
from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.language.grammar import Program, SnippetError, parse, parse_expression
from tripybuild.schema.entries import AliasEntry, CasesEntry
from tripybuild.schema.files import (
    FamilyFile,
    LawEntry,
    OperatorBody,
    OperatorFile,
)
from tripybuild.schema.foreign import SYSTEMS
from tripybuild.schema.operator.aliases import AliasReader
from tripybuild.schema.operator.families import (
    MERGED,
    Families,
    families_of,
    lineage,
    repeated_entries,
    substitute,
)
from tripybuild.schema.operator.operator import (
    Alias,
    Attribute,
    Example,
    Input,
    Location,
    Operator,
    Output,
    Requirement,
    Snippet,
)
from tripybuild.schema.operator.samples import default_sizes
from tripybuild.schema.operator.target_exceptions import facts
from tripybuild.schema.snippets.cases import read_cases
from tripybuild.schema.snippets.expressions import expression_text
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import Pattern, UnionPattern, ValuePattern
from tripybuild.types.type_syntax import parse_pattern


def elaborate(
    document: Document, file: OperatorFile, place: tuple[str, str], families: Families
) -> tuple[Operator | None, list[Diagnostic]]:
    """Build the operator that a file declares, or None, and all that is wrong with it.

    Args:
        document: The file.
        file: Its keys, validated.
        place: The path as shown to people, and the folder below the registry's root.
        families: What `like:` can name.
    """
    work = _OperatorElaboration(document, file, families)
    operator = work.operator(*place)
    return (None if work.found else operator), work.found


class _OperatorElaboration:
    def __init__(self, document: Document, file: OperatorFile, families: Families) -> None:
        self.document = document
        self.file = file
        self.found: list[Diagnostic] = []
        self.bodies, problems = lineage(document, file, families)
        self.found += problems or repeated_entries(self.bodies)
        self.parameters = {id(body.document): body.parameters for body in self.bodies}

    def get(self, key: str) -> tuple[Any, Document]:
        """A key's value and the file that gives it: the nearest to the operator."""
        own = self.bodies[-1]
        given = (b for b in reversed(self.bodies) if key in b.file.model_fields_set)
        body = next(given, own)
        return getattr(body.file, key), body.document

    def entries(self, key: str) -> list[tuple[str, Any, Document]]:
        """The entries of a mapping, where a family's stand first; the nearest one counts."""
        if key not in MERGED:
            mapping, document = self.get(key)
            return [(name, value, document) for name, value in mapping.items()]
        several = [(n, v, b.document) for b in self.bodies for n, v in getattr(b.file, key).items()]
        if key == "targets":  # the facts of one target are entries themselves
            return several
        return list({entry[0]: entry for entry in several}.values())

    def operator(self, path: str, folder: str) -> Operator:
        file = self.file
        self.types = {n: self.dtypes(n, names, d) for n, names, d in self.entries("types")}
        self.known = [n for key in ("inputs", "attributes") for n, _, _ in self.entries(key)]
        return Operator(
            name=file.op,
            path=path,
            folder=folder,
            document=self.document,
            doc=self.doc(),
            inline=self.get("inline")[0],
            types=self.types,
            inputs=(inputs := self.inputs(signatures := tuple(self.signatures()))),
            attributes={n: self.attribute(n, e, d) for n, e, d in self.entries("attributes")},
            signatures=signatures,
            outputs={
                n: Output(n, self.pattern(e.type, d, ("outputs", n, "type")), e.doc, e.aliases)
                for n, e, d in self.entries("outputs")
            },
            laws={n: self.law(n, e, d) for n, e, d in self.entries("requires")},
            infer=(infer := self.infer_snippets()),
            on_sizes=self.optional("on_sizes"),
            shortcut=self.optional("shortcut"),
            decompose=self.optional("decompose"),
            equivalents=tuple(self.equivalents()),
            reference=self.optional("reference"),
            lower={n: self.snippet(e, d, ("lower", n)) for n, e, d in self.entries("lower")},
            targets=facts(self.entries("targets"), self.snippet),
            tolerance={n: e for n, e, _ in self.entries("tolerance")},
            random=self.get("random")[0],
            moves=self.moves(),
            sample=self.sample(inputs.values(), infer),
            examples=tuple(self.examples()),
            aliases=file.aliases or AliasEntry(),
            foreign=tuple(self.foreign(signatures, infer, inputs)),
            cost=self.cost(),
            since=file.since,
            deprecated=file.deprecated,
            families=families_of(self.bodies),
        )

    def doc(self) -> str:
        doc: str | None = self.get("doc")[0]
        if doc is None:
            self.wrong("missing-key", "`doc` is missing", ("op",))
        return (doc or "").strip()

    def equivalents(self) -> Iterator[Snippet]:
        """The expressions that compute the same."""
        texts, document = self.get("equivalents")
        for index, text in enumerate(texts):
            yield self.snippet(text, document, ("equivalents", index))

    def infer_snippets(self) -> dict[str, Snippet]:
        """What is computed of the arguments, by name."""
        return {n: self.snippet(e, d, ("infer", n)) for n, e, d in self.entries("infer")}

    def sample(self, inputs: Collection[Input], infer: Mapping[str, Snippet]) -> dict[str, Snippet]:
        """The sample, with default sizes for the names that it leaves out."""
        own = {n: self.snippet(e, d, ("sample", n)) for n, e, d in self.entries("sample")}
        bound = {*own, *infer, *self.types, *self.known}
        sizes = default_sizes(inputs, own).items()
        usual = {n: self.snippet(v, self.document, ("op",)) for n, v in sizes if n not in bound}
        return {**usual, **own}

    def cost(self) -> dict[str, Snippet]:
        """Declared cost: `flops`, `bytes`, `turns`; data movement has no operations."""
        entry, document = self.get("cost")
        given = entry.model_fields_set if entry is not None else ()
        found = {n: self.snippet(getattr(entry, n), document, ("cost", n)) for n in sorted(given)}
        if self.moves():
            found.setdefault("flops", self.snippet(0, self.document, ("op",)))
        return found

    def moves(self) -> bool:
        """Whether elements are taken elsewhere, and nothing is computed."""
        return bool(self.get("kind")[0] == "movement")

    def foreign(
        self,
        signatures: tuple[tuple[str, ...], ...],
        infer: Mapping[str, Snippet],
        inputs: Mapping[str, Input],
    ) -> list[Alias]:
        """The aliases of other systems; a plain name stands for a call with all arguments."""
        order = max(signatures, key=len, default=tuple(self.known))
        reader = AliasReader(self.document, order, infer, inputs)
        entry = self.file.aliases or AliasEntry()
        found = [a for system in SYSTEMS for a in reader.read(system, getattr(entry, system))]
        self.found += reader.found
        return found

    def wrong(self, code: str, message: str, location: Location, hint: str | None = None) -> None:
        self.found.append(Diagnostic(code, message, self.document.span(location), hint=hint))

    def dtypes(self, name: str, names: list[str], document: Document) -> tuple[dtype, ...]:
        for index, each in enumerate(names):
            if each not in BY_NAME:
                span = document.span(("types", name, index))
                hint = "the types are " + ", ".join(f"`{n}`" for n in BY_NAME)
                self.found.append(
                    Diagnostic("unknown-dtype", f"`{each}` is not a dtype", span, hint=hint)
                )
        return tuple(BY_NAME[each] for each in names if each in BY_NAME)

    def pattern(self, text: str, document: Document, location: Location) -> Pattern:
        try:
            return parse_pattern(text, frozenset(self.types))
        except SnippetError as error:
            self.found.append(self.syntax(error, document, location))
            return ValuePattern("int")

    def syntax(self, error: SnippetError, document: Document, location: Location) -> Diagnostic:
        span = document.snippet_span(
            location, error.line, error.column, error.end_line, error.end_column
        )
        return Diagnostic(error.code, error.message, span, hint=error.hint)

    def snippet(
        self,
        value: object,
        document: Document,
        location: Location,
        names: Mapping[str, ast.expr] = MappingProxyType({}),
    ) -> Snippet:
        """A snippet with the family's parameters put in, and what other `names` stand for."""
        parameters = {**self.parameters[id(document)], **names}
        functions = location == ("decompose",)
        if isinstance(value, CasesEntry):
            chosen, problems = read_cases(
                value, document, location, self.syntax, functions=functions
            )
            self.found += problems
            if chosen is not None:
                spend("characters", len(chosen.text))
                return replace(chosen, program=substitute(chosen.program, parameters))
            value = "None"
        text = expression_text(value)
        spend("characters", len(text))
        try:
            program = parse(text, functions=functions)
        except SnippetError as error:
            self.found.append(self.syntax(error, document, location))
            program = Program((), ast.Constant(None), "None")
        return Snippet(substitute(program, parameters), document, location)

    def optional(self, key: str) -> Snippet | None:
        value, document = self.get(key)
        return None if value is None else self.snippet(value, document, (key,))

    def inputs(self, signatures: Sequence[Sequence[str]]) -> dict[str, Input]:
        """The inputs in the order of a call, in which a family's need not be the first."""
        entries = {n: self.input(n, e, d) for n, e, d in self.entries("inputs")}
        order = dict.fromkeys((*max(signatures, key=len, default=()), *entries))
        return {name: entries[name] for name in order if name in entries}

    def input(self, name: str, entry: Any, document: Document) -> Input:
        pattern = self.pattern(entry.type, document, ("inputs", name, "type"))
        constant = None
        if entry.constant is not False:
            constant = self.snippet(entry.constant, document, ("inputs", name, "constant"))
        return Input(name, pattern, entry.doc, entry.optional, constant)

    def attribute(self, name: str, entry: Any, document: Document) -> Attribute:
        location = ("attributes", name)
        pattern = self.pattern(entry.type, document, (*location, "type"))
        default = None
        if "default" in entry.model_fields_set:
            default = self.snippet(entry.default, document, (*location, "default"))
        elif isinstance(pattern, UnionPattern) and any(str(o) == "None" for o in pattern.options):
            default = self.snippet(None, document, location)
        return Attribute(name, pattern, entry.doc, default, entry.keywords)

    def law(self, name: str, entry: Any, document: Document) -> Requirement:
        if isinstance(entry, LawEntry):
            that = self.snippet(entry.that, document, ("requires", name, "that"))
            return Requirement(name, that, entry.message, entry.hint)
        return Requirement(name, self.snippet(entry, document, ("requires", name)))

    def signatures(self) -> list[tuple[str, ...]]:
        result = []
        texts, document = self.get("signatures")
        for index, text in enumerate(texts):
            names = tuple(part.strip() for part in text.strip("() ").split(",") if part.strip())
            for name in names:
                if name not in self.known:
                    span = document.span(("signatures", index))
                    self.found.append(
                        Diagnostic("unbound-name", f"no argument is called `{name}`", span)
                    )
            result.append(names)
        return result

    def examples(self) -> list[Example]:
        """The operator's examples, then its families', in which a family's name is its own."""
        name = parse_expression(self.file.op)
        found = []
        for body in reversed(self.bodies):
            own = {body.file.family: name} if isinstance(body.file, FamilyFile) else {}
            found += self._examples(body.file, body.document, own)
        return found

    def _examples(
        self, file: OperatorBody, document: Document, names: Mapping[str, ast.expr]
    ) -> list[Example]:
        result = []
        for index, entry in enumerate(file.examples):
            location = ("examples", index)
            gives = None
            if "gives" in entry.model_fields_set:
                gives = self.snippet(entry.gives, document, (*location, "gives"))
            if (gives is None) == (entry.fails is None):
                span = document.span(location)
                self.found.append(
                    Diagnostic("bad-example", "an example `gives` a value or `fails` a law", span)
                )
            elif entry.sizes and entry.fails is None:
                message = "an example with `sizes` `fails` a law: its value is not checked"
                self.found.append(Diagnostic("bad-example", message, document.span(location)))
            call = self.snippet(entry.call, document, (*location, "call"), names)
            result.append(Example(call, gives, entry.fails, entry.sizes))
        return result
