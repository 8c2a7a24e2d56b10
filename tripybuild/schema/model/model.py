"""Parsed model: parts with patterns and programs, each with its span."""

import ast
import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tripybuild.documents.document import Document
from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import Diagnostic, suggest
from tripybuild.errors.limits import within_budget
from tripybuild.language.grammar import UNREAD, Program, SnippetError, parse
from tripybuild.language.names import free_names
from tripybuild.schema.files import (
    DefinitionsFile,
    LawEntry,
    ModelFile,
    ModuleExampleEntry,
    ModuleFile,
    ModuleWeightEntry,
    PartEntry,
    PartInputEntry,
    RangeEntry,
    StateEntry,
    WeightEntry,
    WeightsEntry,
)
from tripybuild.schema.model.declared_types import Role, check_type, check_types
from tripybuild.schema.model.entry_checks import OWN_KEYS, check_entries
from tripybuild.schema.model.entry_points import UNNAMED
from tripybuild.schema.model.sizes import (
    SizeNode,
    SizeParser,
    check_config_name,
    check_module_sizes,
    syntax_diagnostic,
)
from tripybuild.schema.operator.operator import Location, Requirement, Snippet
from tripybuild.schema.operator.part import Part, State, Step, Weight
from tripybuild.schema.snippets.expressions import expression_text
from tripybuild.schema.snippets.vocabularies import DTYPES, SHAPE
from tripybuild.types.patterns import (
    Pattern,
    ValuePattern,
)
from tripybuild.types.type_syntax import parse_pattern

HELD = ("parts", "constants", "weights", "prepared", "state")
HOLDERS = ("inputs", *HELD)
# The type variable of floats that every model has; it is float32 unless `types:` says otherwise.
DEFAULT_VARIABLE = "F"


@dataclass(frozen=True, slots=True, eq=False)
class Definitions:
    """What the parts of one file see: sizes, types, its definitions, and those that it uses.

    `user` uses the file, at `use`, and hands over what is `bound`.
    """

    document: Document
    sizes: Mapping[str, SizeNode]
    types: Mapping[str, str]
    define: Mapping[str, Part]
    laws: Mapping[str, Requirement]
    config: str | Mapping[str, Any] | None = None
    includes: Mapping[str, Part] = field(default_factory=dict)
    bound: Mapping[str, Snippet] = field(default_factory=dict)
    user: Document | None = None
    use: Location = ()

    @property
    def name(self) -> str:
        """What messages call the file."""
        return Path(self.document.path).name


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A model: the outermost part, sizes and ranges, definitions, and where its weights are.

    `entries` are the outermost part with the inputs and the steps of each entry. `define` holds
    what it uses, too; `files` are the files which that is from. `registries` are the folders that
    they name.
    """

    name: str
    document: Document
    doc: str
    sizes: Mapping[str, SizeNode]
    types: Mapping[str, str]
    laws: Mapping[str, Requirement]
    ranges: Mapping[str, Mapping[str, Snippet]]
    top: Part
    entries: Mapping[str, Part]
    define: Mapping[str, Part]
    weights: WeightsEntry | None
    config: str | Mapping[str, Any] | None = None
    files: tuple[Definitions, ...] = ()
    registries: tuple[Path, ...] = ()
    mesh: Mapping[str, Snippet] = field(default_factory=dict)
    sharding: Mapping[str, Sequence[str | Sequence[str] | None]] = field(default_factory=dict)


def elaborate_model(document: Document, file: ModelFile) -> tuple[Model, list[Diagnostic]]:
    """A model without what it uses, and what is wrong with it."""
    found: list[Diagnostic] = []
    work = _ModelElaboration(document, frozenset(file.types) | {DEFAULT_VARIABLE}, found)
    return work.model(file), found


def elaborate_definitions(
    document: Document, file: ModelFile | DefinitionsFile
) -> tuple[Definitions, list[Diagnostic]]:
    """The definitions of a file without what it uses, and what is wrong with the file."""
    if isinstance(file, ModelFile):
        model, found = elaborate_model(document, file)
        seen = model.sizes, model.types, model.define, model.laws, model.config
        return Definitions(document, *seen), found
    found = []
    work = _ModelElaboration(document, frozenset(file.types) | {DEFAULT_VARIABLE}, found)
    return work.definitions(file), found


def elaborate_bound(
    document: Document, bound: Mapping[str, object], at: Location
) -> tuple[dict[str, Snippet], list[Diagnostic]]:
    """The expressions that a file hands over to one that it uses, and what is wrong with them."""
    found: list[Diagnostic] = []
    work = _ModelElaboration(document, frozenset(), found)
    return {name: work.snippet(value, (*at, name)) for name, value in bound.items()}, found


def load_module(document: Document, file: ModuleFile) -> tuple[Part, list[Diagnostic]]:
    """A module of a registry as a part."""
    found: list[Diagnostic] = []
    variables = frozenset(file.types) | {DEFAULT_VARIABLE}
    with within_budget(document.span(())):
        part = _ModelElaboration(document, variables, found).part(file.module, file, ())
    found += check_module_sizes(file.sizes, document)
    found += check_laws(part.laws.values(), [size.name for size in part.parameters], file.examples)
    return part, found


class _ModelElaboration:
    def __init__(
        self, document: Document, variables: frozenset[str], found: list[Diagnostic]
    ) -> None:
        self.document, self.variables, self.found = document, variables, found

    def definitions(self, file: ModelFile | DefinitionsFile) -> Definitions:
        self.found += check_types(file.types, self.document, ())
        sizes = self.size_parser().nodes(file.sizes, ("sizes",))
        define = {n: self.part(n, entry, ("define", n)) for n, entry in file.define.items()}
        laws = {n: self.law(n, entry, ("requires", n)) for n, entry in file.requires.items()}
        return Definitions(self.document, sizes, file.types, define, laws)

    def model(self, file: ModelFile) -> Model:
        weights = file.weights
        if isinstance(weights, (str, list)):
            weights = WeightsEntry(file=weights)
        top = PartEntry(
            doc=file.doc,
            inputs={**file.inputs},
            parts=file.parts,
            constants=file.constants,
            weights={} if weights is None else weights.tensors,
            prepared=file.prepared,
            state=file.state,
            steps=file.steps,
            next=file.next,
            outputs=file.outputs,
        )
        self.found += check_entries(file, self.document)
        self.found += check_config_name(file.sizes, file.config, self.document)
        whole = self.part(file.model, top, (), "model input")
        own = self.definitions(file)
        return Model(
            name=file.model,
            document=self.document,
            doc=(file.doc or "").strip(),
            sizes=own.sizes,
            types=file.types,
            laws=own.laws,
            ranges={n: self.bounds(entry, ("ranges", n)) for n, entry in file.ranges.items()},
            top=whole,
            entries=self.entries(file, top, whole),
            define=own.define,
            weights=weights,
            config=file.config,
            mesh={n: self.snippet(size, ("mesh", n)) for n, size in file.mesh.items()},
            sharding=file.sharding,
        )

    def entries(self, file: ModelFile, top: PartEntry, whole: Part) -> dict[str, Part]:
        """The outermost part as each entry has it; without `entries:` it is one itself."""
        found = {}
        for name, entry in file.entries.items():
            own = PartEntry(doc=entry.doc, **{key: getattr(entry, key) for key in OWN_KEYS})
            part = self.part(name, own, ("entries", name), "model input", top)
            held = {key: getattr(whole, key) for key in HELD}
            found[name] = replace(part, **held)
        return found or {UNNAMED: whole}

    def part(
        self,
        name: str,
        entry: PartEntry,
        at: Location,
        role: Role = "input",
        around: PartEntry | None = None,
    ) -> Part:
        variables = self.variables | frozenset(entry.types)
        inner = _ModelElaboration(self.document, variables, self.found)
        self.found += check_types(entry.types, self.document, at)
        self.found += check_names(entry, self.document, at, around)
        return Part(
            name=name,
            document=self.document,
            doc=(entry.doc or "").strip(),
            parameters=tuple(inner.size_parser().parameters(entry.sizes, (*at, "sizes"))),
            types={n: each for n, each in entry.types.items() if isinstance(each, str)},
            inputs={
                n: inner.input_pattern(t, (*at, "inputs", n), role) for n, t in entry.inputs.items()
            },
            optional=frozenset(
                n for n, t in entry.inputs.items() if isinstance(t, PartInputEntry) and t.optional
            ),
            parts={n: inner.snippet(v, (*at, "parts", n)) for n, v in entry.parts.items()},
            constants=tuple(inner.steps(entry.constants, (*at, "constants"))),
            weights={
                n: inner.weight(n, w, holder_location(self.document, "weights", at, n))
                for n, w in entry.weights.items()
            },
            state={n: inner.state(n, e, (*at, "state", n)) for n, e in entry.state.items()},
            steps=tuple(inner.steps(entry.steps, (*at, "steps"))),
            next=tuple(inner.steps(dict(entry.next), (*at, "next"))),
            outputs=tuple(inner.steps(entry.outputs, (*at, "outputs"))),
            location=at,
            allowed={n: tuple(e) for n, e in entry.types.items() if not isinstance(e, str)},
            laws={n: inner.law(n, e, (*at, "requires", n)) for n, e in entry.requires.items()},
            prepared=tuple(inner.steps(entry.prepared, (*at, "prepared"))),
        )

    def size_parser(self) -> SizeParser:
        return SizeParser(self.document, self.variables, self.found, self.snippet)

    def law(self, name: str, entry: object, at: Location) -> Requirement:
        if isinstance(entry, LawEntry):
            that = self.snippet(entry.that, (*at, "that"))
            return Requirement(name, that, entry.message, entry.hint)
        return Requirement(name, self.snippet(entry, at))

    def input_pattern(self, entry: str | PartInputEntry, at: Location, role: Role) -> Pattern:
        if isinstance(entry, str):
            return self.pattern(entry, at, role)
        return self.pattern(entry.type, (*at, "type"), role)

    def bounds(self, entry: RangeEntry, at: Location) -> dict[str, Snippet]:
        """The bounds that are given; what is left out has a default."""
        given = {key: getattr(entry, key) for key in RangeEntry.model_fields}
        given = {k: v for k, v in given.items() if k in entry.model_fields_set and v is not None}
        return {key: self.snippet(value, (*at, key)) for key, value in given.items()}

    def weight(self, name: str, entry: str | WeightEntry, at: Location) -> Weight:
        if isinstance(entry, str):
            return Weight(name, self.pattern(entry, at), at)
        pattern = self.pattern(entry.type, (*at, "type"))
        when, optional = (
            self.snippet(getattr(entry, key), (*at, key)) if key in entry.model_fields_set else None
            for key in ("when", "optional")
        )
        ranks = entry.ranks if isinstance(entry, ModuleWeightEntry) else ()
        return Weight(name, pattern, at, when, tuple(ranks), optional)

    def state(self, name: str, entry: str | StateEntry, at: Location) -> State:
        if isinstance(entry, str):
            return State(name, self.pattern(entry, at), at)
        given = "first" in entry.model_fields_set
        first = self.snippet(entry.first, (*at, "first")) if given else None
        return State(name, self.pattern(entry.type, (*at, "type")), at, first)

    def steps(self, entries: Mapping[str, Any], at: Location) -> Iterator[Step]:
        for key, value in entries.items():
            snippet = self.snippet(value, (*at, key))
            targets = tuple(part.strip() for part in key.split(","))
            yield Step(targets, snippet, frozenset(free_names(snippet.program)))

    def pattern(self, text: str, at: Location, role: Role = "held") -> Pattern:
        try:
            pattern = parse_pattern(text, self.variables)
        except SnippetError as error:
            self.found.append(self.syntax(error, at))
            return ValuePattern("int")
        self.found += check_type(pattern, role, self.variables, self.document, at)
        return pattern

    def snippet(self, value: object, at: Location) -> Snippet:
        text = expression_text(value)
        spend("characters", len(text))
        try:
            program = parse(text)
        except SnippetError as error:
            self.found.append(self.syntax(error, at))
            program = Program((), ast.Constant(None), "None")
        return Snippet(program, self.document.origin(at), at)

    def syntax(self, error: SnippetError, at: Location) -> Diagnostic:
        return syntax_diagnostic(self.document, error, at)


def check_laws(
    laws: Iterable[Requirement], sizes: Sequence[str], examples: Sequence[ModuleExampleEntry]
) -> Iterator[Diagnostic]:
    """What a module requires is about its sizes, and each law has an example that breaks it."""
    known = {*sizes, *DTYPES, *SHAPE}
    broken = {example.fails for example in examples}
    for law in laws:
        for name in free_names(law.that.program):
            if name not in known:
                near = suggest(name, known)
                hint = f"did you mean `{near}`?" if near else "a law of a module is about its sizes"
                message = f"`requires.{law.name}` uses `{name}`, which is not a size"
                yield Diagnostic("unbound-name", message, law.that.span(), hint=hint)
        if law.name not in broken:
            message = f"no example breaks the law `{law.name}`"
            hint = f"add one to `examples:`, with `fails: {law.name}`"
            yield Diagnostic("bad-example", message, law.that.span(), hint=hint)


def holder_location(document: Document, holder: str, at: Location, name: str) -> Location:
    """The place of a name of a part; at the top of a model `weights` says where its file is."""
    data = document.data if isinstance(document.data, dict) else {}
    if holder == "weights" and not at and "model" in data:
        return (holder, "tensors", name)
    return (*at, holder, name)


def check_names(
    entry: PartEntry, document: Document, at: Location, around: PartEntry | None = None
) -> Iterator[Diagnostic]:
    """Each name of a part is given once: a step does not hide an input, a weight or a part.

    Args:
        entry: The part.
        document: Its file.
        at: Where it stands there.
        around: What an entry has from its model.
    """
    held = around or PartEntry()
    seen = {name: holder for holder in HELD for name in getattr(held, holder)}
    for holder in (*HOLDERS, "steps", "outputs"):
        for key in getattr(entry, holder):
            span = document.span(holder_location(document, holder, at, key), key=True)
            several = holder in ("steps", "outputs")
            for name in map(str.strip, key.split(",") if several else (key,)):
                if name in seen and holder != "outputs" and name != UNREAD:
                    message = f"`{name}` is given by `{seen[name]}` already"
                    yield Diagnostic("given-twice", message, span)
                seen.setdefault(name, holder)
                own = "__" in name or (holder == "outputs" and name.startswith("_"))
                is_name = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
                if own or not is_name:
                    what = "an output" if holder == "outputs" else "a step"
                    message = f"`{name}` cannot be the name of {what}"
                    yield Diagnostic("bad-name", message, span)
    states = {**held.state, **entry.state}
    for key in entry.next:
        if key not in states:
            near = suggest(key, states)
            hint = f"did you mean `{near}`?" if near else "a part updates its own state"
            span = document.span((*at, "next", key), key=True)
            yield Diagnostic("unbound-name", f"no state is called `{key}`", span, hint=hint)
