"""Parsed operator: types as patterns, snippets as programs, each with its span."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Span
from tripybuild.language.grammar import Program
from tripybuild.schema.entries import AliasEntry
from tripybuild.schema.files import ToleranceEntry
from tripybuild.schema.foreign import ForeignSignature
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import (
    LikePattern,
    Pattern,
    RegionPattern,
    TensorsPattern,
    ValuePattern,
    options,
    tensors,
)

Location = tuple[str | int, ...]
# Operators of which what was found out is remembered: more than a registry has.
KEPT = 1_024


@dataclass(frozen=True, slots=True, eq=False)
class Snippet:
    """A parsed snippet and where it stands: in the operator's own `document`, or in a family's.

    The texts of `cases:` are `parts`, each with the number of lines before it.
    """

    program: Program
    document: Document
    location: Location
    parts: tuple[tuple[int, Location], ...] = ()

    @property
    def text(self) -> str:
        """The snippet as written, with the parameters of a family put in."""
        return self.program.text

    @property
    def last_line(self) -> str:
        """The line that says what the snippet gives, for messages."""
        return self.text.strip().splitlines()[-1].strip().removeprefix("return ")

    @property
    def result(self) -> ast.expr:
        """What the snippet gives."""
        return self.program.result

    @property
    def line(self) -> int:
        """The line of the file on which the snippet begins."""
        return self.document.span(self.location).line

    def span(self, node: ast.AST | None = None) -> Span:
        """The place of a part of the snippet in the file, or of the whole."""
        if not isinstance(node, ast.expr) or not hasattr(node, "lineno"):
            return self.document.span(self.location)
        last = (node.end_lineno or node.lineno, node.end_col_offset or node.col_offset + 1)
        inside = (part for part in reversed(self.parts) if part[0] < node.lineno)
        before, location = next(inside, (0, self.location))
        return self.document.snippet_span(
            location, node.lineno - before, node.col_offset, last[0] - before, last[1]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Input:
    """A tensor, or several, that the operator takes."""

    name: str
    pattern: Pattern
    doc: str
    optional: bool = False
    constant: Snippet | None = None

    @property
    def several(self) -> bool:
        """Whether the input is a list of tensors."""
        return any(isinstance(option, TensorsPattern) for option in options(self.pattern))

    @property
    def absent(self) -> str:
        """What stands for the input where it is left out: no tensors, or None."""
        return "()" if self.several else "None"

    @property
    def value(self) -> ValuePattern | None:
        """What may be given instead of a tensor and stays no tensor, such as an index."""
        values = (o for o in options(self.pattern) if isinstance(o, ValuePattern))
        return next((value for value in values if value.kind != "number"), None)


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """A Python value that the operator takes. Without a default it must be given."""

    name: str
    pattern: Pattern
    doc: str
    default: Snippet | None = None
    keywords: bool = False

    @property
    def variable(self) -> str | None:
        """The type variable that the attribute gives a dtype: `T` of `dtype[T]`."""
        for option in options(self.pattern):
            if isinstance(option, ValuePattern) and option.kind == "dtype":
                return option.argument.id if isinstance(option.argument, ast.Name) else None
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """A tensor, or several, that the operator gives."""

    name: str
    pattern: Pattern
    doc: str
    aliases: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """A law of `requires:`; its name is the error code, the test's name and a word of `fails:`."""

    name: str
    that: Snippet
    message: str | None = None
    hint: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A call, with what it gives or the law that it breaks.

    Its `sizes` are symbols while it is recorded, and numbers for the laws that wait for them.
    """

    call: Snippet
    gives: Snippet | None
    fails: str | None
    sizes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """A case in which the other operator means something else, and why."""

    when: Snippet
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Alias:
    """One call of another system's operator.

    `arguments` are by its parameters, in its order, and `reads` are expressions over these. Of its
    results, `result` is the operator's. Since `opset` ONNX's operator means this. A call of it
    is read where `reads_when` holds; what it `ignores` says nothing. Several values of the
    parameters `ambiguous` can say the same.
    """

    system: str
    signature: ForeignSignature
    text: str
    arguments: Mapping[str, Snippet]
    result: int | None = None
    when: Snippet | None = None
    reads: Mapping[str, Snippet] = field(default_factory=dict)
    differs: Mapping[str, Difference] = field(default_factory=dict)
    opset: int | None = None
    reads_when: Snippet | None = None
    ignores: frozenset[str] = frozenset()
    ambiguous: frozenset[str] = frozenset()

    @property
    def plain(self) -> Mapping[str, str]:
        """The parameters that take an argument of ours as it is."""
        given = self.arguments.items()
        return {p: s.result.id for p, s in given if isinstance(s.result, ast.Name)}

    def snippets(self) -> Iterator[Snippet]:
        """The snippets over our own names."""
        yield from self.arguments.values()
        yield from ([self.when] if self.when else [])
        yield from (difference.when for difference in self.differs.values())


NEVER = "False"  # the `when` of what neither types nor sizes say


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """A case in which a target does not do what the declaration says, and why.

    Where `why` is empty, `targets.yaml` gives it under the fact's name. `says` are parts of the
    target's message, of which one is enough. One that is `silent` is seen in no build. `sample` is
    what the operator's own sample does not show. One with `gpus` is about engines for them alone.
    """

    name: str
    when: Snippet
    why: str = ""
    says: tuple[str, ...] = ()
    silent: bool = False
    sample: Mapping[str, Snippet] = field(default_factory=dict)
    gpus: tuple[str, ...] = ()

    @property
    def is_of_special_values(self) -> bool:
        """Whether it is about NaN and infinities, which neither types nor sizes say."""
        return self.silent and self.when.text == NEVER


@dataclass(frozen=True, slots=True, eq=False)
class Facts:
    """What a target does differently: refuses what is legal, builds what is not."""

    refuses: Mapping[str, Fact]
    builds: Mapping[str, Fact]
    static: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """A whole declaration.

    `moves` says that it takes elements elsewhere and computes nothing; `equivalents` compute the
    same. `path` is as shown to people, `folder` the place below the registry's root. `on_sizes` is
    what the operator does to sizes that are tensors. `digest` is that of its text and its family's.
    """

    name: str
    path: str
    folder: str
    document: Document
    doc: str
    inline: bool
    types: Mapping[str, tuple[dtype, ...]]
    inputs: Mapping[str, Input]
    attributes: Mapping[str, Attribute]
    signatures: tuple[tuple[str, ...], ...]
    outputs: Mapping[str, Output]
    laws: Mapping[str, Requirement]
    infer: Mapping[str, Snippet]
    on_sizes: Snippet | None
    shortcut: Snippet | None
    decompose: Snippet | None
    reference: Snippet | None
    lower: Mapping[str, Snippet]
    targets: Mapping[str, Facts]
    tolerance: Mapping[str, ToleranceEntry]
    random: bool
    sample: Mapping[str, Snippet]
    examples: tuple[Example, ...]
    aliases: AliasEntry
    foreign: tuple[Alias, ...]
    cost: Mapping[str, Snippet]
    since: str | None = None
    deprecated: str | None = None
    families: tuple[tuple[str, Document], ...] = ()
    family_paths: tuple[str, ...] = ()
    moves: bool = False
    equivalents: tuple[Snippet, ...] = ()
    digest: str = ""
    _cache: dict[str, object] = field(default_factory=dict, repr=False)

    def arguments(self) -> Iterator[Input | Attribute]:
        """What a call gives, in its order: as signed, or inputs before attributes."""
        if not self.signatures:
            yield from self.inputs.values()
            yield from self.attributes.values()
            return
        everything: dict[str, Input | Attribute] = {**self.inputs, **self.attributes}
        longest = max(self.signatures, key=len)
        for name in dict.fromkeys([*longest, *(n for names in self.signatures for n in names)]):
            yield everything[name]

    @property
    def reduces(self) -> bool:
        """Whether its declared work is not one step for each element of the results."""
        flops = self.cost.get("flops")
        return flops is not None and flops.text.strip() != "0"

    def regions(self) -> dict[str, RegionPattern]:
        """The attributes that are graphs, with their types."""
        found = ((name, a.pattern) for name, a in self.attributes.items())
        return {name: p for name, p in found if isinstance(p, RegionPattern)}

    def dtype_list(self, input: Input) -> str | None:
        """The name for the dtypes of several tensors, which can differ: `D` of `list[D[*S]]`."""
        each = next(tensors(input.pattern), None)
        if each is None or not input.several or each.element in {*self.types, *BY_NAME, "any"}:
            return None
        return each.element

    def any_number(self, output: Output) -> bool:
        """Whether an output stands for any number of tensors."""
        return any(
            isinstance(option, TensorsPattern)
            or (isinstance(option, LikePattern) and self.inputs[option.name].several)
            for option in options(output.pattern)
        )

    def snippets(self) -> Iterator[tuple[str, Snippet]]:
        """Each snippet with its kind, a key of the vocabularies."""
        for attribute in self.attributes.values():
            if attribute.default is not None:
                yield "default", attribute.default
        yield from (("shape", i.constant) for i in self.inputs.values() if i.constant)
        yield from (("shape", law.that) for law in self.laws.values())
        yield from (("shape", snippet) for snippet in self.infer.values())
        yield from (("shape", s) for s in (self.on_sizes,) if s)
        yield from (("decompose", s) for s in (self.shortcut, self.decompose) if s)
        yield from (("decompose", s) for s in self.equivalents)
        yield from (("reference", s) for s in (self.reference,) if s)
        yield from self.lower.items()
        yield from (("shape", s) for s in self.cost.values())
        yield from (("alias", s) for alias in self.foreign for s in alias.snippets())
        for facts in self.targets.values():
            for fact in (*facts.refuses.values(), *facts.builds.values()):
                yield "shape", fact.when
                yield from (("shape", snippet) for snippet in fact.sample.values())
