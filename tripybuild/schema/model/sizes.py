"""Parsed sizes of a file: expressions, declared ones, records of sizes, and lists with records."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.language.grammar import SnippetError, parse
from tripybuild.language.names import free_names
from tripybuild.schema.operator.operator import Location, Snippet
from tripybuild.schema.operator.part import PartParameter
from tripybuild.schema.size_entries import SizeEntry
from tripybuild.types.patterns import ChoicePattern, Pattern, ValuePattern, options
from tripybuild.types.type_syntax import parse_pattern

RECORD = "record"  # the type of a size that is one


@dataclass(frozen=True, slots=True, eq=False)
class SizeRecord:
    """Sizes by name; a later one may read those before it by their path: `text.width`."""

    entries: Mapping[str, "SizeNode"]


@dataclass(frozen=True, slots=True, eq=False)
class SizeList:
    """A list with records in it: `stages: [{width: 64, depth: 2}, {width: 128, depth: 2}]`."""

    items: tuple["SizeNode", ...]


SizeNode = Snippet | PartParameter | SizeRecord | SizeList


@dataclass(frozen=True, slots=True)
class SizeParser:
    """Parses the sizes of a file or of a part.

    Args:
        document: The file.
        variables: The type variables of the declaration.
        found: Takes what is wrong.
        snippet: Parses an expression.
    """

    document: Document
    variables: frozenset[str]
    found: list[Diagnostic]
    snippet: Callable[[object, Location], Snippet]

    def nodes(self, entries: Mapping[str, object], at: Location) -> dict[str, SizeNode]:
        """The sizes of a file, or those of a record."""
        return {name: self._node(name, entry, (*at, name)) for name, entry in entries.items()}

    def _node(self, name: str, entry: object, at: Location) -> SizeNode:
        if isinstance(entry, SizeEntry):
            return self._declared(name, entry, at)
        if isinstance(entry, dict):
            return SizeRecord(self.nodes(entry, at))
        if isinstance(entry, list) and _holds_record(entry):
            items = enumerate(entry)
            return SizeList(tuple(self._node(f"{name}[{i}]", each, (*at, i)) for i, each in items))
        return self.snippet(entry, at)

    def parameters(
        self, sizes: list[str] | Mapping[str, object], at: Location
    ) -> Iterator[PartParameter]:
        """The sizes that a part is made with."""
        implied = ValuePattern("int")
        if isinstance(sizes, list):
            yield from (PartParameter(name, implied, declared=False) for name in sizes)
            return
        for name, size in sizes.items():
            place = (*at, name)
            if isinstance(size, SizeEntry):
                yield self._declared(name, size, place)
            else:
                yield PartParameter(name, implied, self.snippet(size, place), declared=False)

    def _declared(self, name: str, size: SizeEntry, place: Location) -> PartParameter:
        pattern = self._pattern(size.type, (*place, "type"))
        has_default = "default" in size.model_fields_set
        if size.optional and not has_default:
            message = f"`{name}` is `optional`, but has no `default`"
            self.found.append(Diagnostic("missing-key", message, self.document.span(place)))
        at, value = (*place, "default"), size.default
        default: Snippet | None
        if isinstance(pattern, ChoicePattern) and value in pattern.options:
            default = Snippet(parse(repr(value)), self.document.origin(at), at)
        else:
            default = self.snippet(value, at) if has_default else None
        return PartParameter(name, pattern, default, size.doc, optional=size.optional)

    def _pattern(self, text: str, at: Location) -> Pattern:
        """The type of a size: a Python value, and no tensor."""
        if text == RECORD:
            return ValuePattern(RECORD)
        try:
            pattern = parse_pattern(text, self.variables)
        except SnippetError as error:
            self.found.append(syntax_diagnostic(self.document, error, at))
            return ValuePattern("int")
        if any(not isinstance(each, (ValuePattern, ChoicePattern)) for each in options(pattern)):
            message = f"`{pattern}` is not the type of a size"
            hint = (
                "a size is a Python value, such as `int`, `float`, `bool`, `int[...]` or `dtype`, "
                "a `record`, or one of some words: `gelu | relu`"
            )
            span = self.document.span(at)
            self.found.append(Diagnostic("type-syntax", message, span, hint=hint))
        return pattern


def syntax_diagnostic(document: Document, error: SnippetError, at: Location) -> Diagnostic:
    """What is wrong with an expression or a type, at its place in the file."""
    span = document.snippet_span(at, error.line, error.column, error.end_line, error.end_column)
    return Diagnostic(error.code, error.message, span, hint=error.hint)


def _holds_record(entry: object) -> bool:
    if isinstance(entry, list):
        return any(map(_holds_record, entry))
    return isinstance(entry, dict)


def check_config_name(
    sizes: Mapping[str, object], config: object, document: Document
) -> Iterator[Diagnostic]:
    """No size has the name that the configuration is read by."""
    if config is not None and "config" in sizes:
        message = "`config` is given by `config:` already"
        place = document.span(("sizes", "config"), key=True)
        yield Diagnostic("given-twice", message, place, hint="give the size another name")


def check_module_sizes(
    sizes: Iterable[str] | Mapping[str, object], document: Document
) -> Iterator[Diagnostic]:
    """A module is a class of Python, too, whose arguments are no records."""
    for name, size in sizes.items() if isinstance(sizes, Mapping) else ():
        if isinstance(size, SizeEntry) and size.type == RECORD:
            message = f"`{name}` cannot be a record: it is an argument of a class"
            place, hint = (
                document.span(("sizes", name, "type")),
                "declare a size for each of its keys",
            )
            yield Diagnostic("type-syntax", message, place, hint=hint)


def names_read(node: SizeNode) -> frozenset[str]:
    """The names that the expressions of a size read."""
    return frozenset().union(*(free_names(each.program) for each in _snippets(node)))


def _snippets(node: SizeNode) -> Iterator[Snippet]:
    match node:
        case Snippet():
            yield node
        case PartParameter(default=Snippet() as default):
            yield default
        case SizeRecord(entries=entries):
            for each in entries.values():
                yield from _snippets(each)
        case SizeList(items=items):
            for each in items:
                yield from _snippets(each)
