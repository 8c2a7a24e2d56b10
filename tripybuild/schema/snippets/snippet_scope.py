"""Operator scope: names bound by an operator, and the check that snippets are closed."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from tripybuild.errors.diagnostics import Diagnostic, Span, suggest
from tripybuild.language.grammar import Program, SnippetError, parse_expression
from tripybuild.language.names import PLACEHOLDER, free_names
from tripybuild.language.syntax import walk
from tripybuild.language.vocabulary import NUMPY, NUMPY_CONSTANTS
from tripybuild.schema.operator.operator import (
    KEPT,
    Attribute,
    Input,
    Location,
    Operator,
    Output,
    Requirement,
    Snippet,
)
from tripybuild.schema.snippets.vocabularies import (
    ATTRIBUTES,
    CONSTANTS,
    DECOMPOSE,
    DTYPES,
    METHODS,
    NAMESPACES,
    REFERENCE,
    SHAPE,
    TYPING,
    WRITING,
)
from tripybuild.schema.snippets.vocabulary_check import AllowedNames, check_vocabulary
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.patterns import (
    ChoicePattern,
    LikePattern,
    Pattern,
    RegionPattern,
    ValuePattern,
    expressions,
    options,
    tensors,
)


def shape_names(pattern: Pattern) -> Iterator[str]:
    """The plain names that the shapes of a type bind or match, in order."""
    for tensor in tensors(pattern):
        for dimension in tensor.shape or ():
            if dimension.name is not None:
                yield dimension.name


@lru_cache(maxsize=KEPT)
def choice_words(operator: Operator) -> frozenset[str]:
    """The words that attributes choose from; a snippet compares with them by name."""
    return frozenset(
        word
        for attribute in operator.attributes.values()
        for option in options(attribute.pattern)
        if isinstance(option, ChoicePattern)
        for word in option.options
    )


def region_names(pattern: RegionPattern) -> tuple[str | None, str | None]:
    """The names for the dtypes and for the shapes of what a region gives at its end."""
    if pattern.rest is None:
        return None, None
    element, shape = pattern.rest.each.element, pattern.rest.each.shape
    free = element not in {*BY_NAME, "any"}
    return (element if free else None), (shape[0].name if shape else None)


def laws_around_regions(operator: Operator) -> tuple[list[Requirement], list[Requirement]]:
    """The laws that hold before regions are recorded, and those about what the regions give."""
    given = {n for pattern in operator.regions().values() for n in region_names(pattern) if n}
    laws = operator.laws.values()
    after = [law for law in laws if _reads(operator, law.that, given)]
    return [law for law in laws if law not in after], after


def _reads(operator: Operator, snippet: Snippet, names: set[str]) -> bool:
    """Whether a snippet reads names, itself or by way of `infer`."""
    used = free_names(snippet.program)
    inferred = [operator.infer[name] for name in used if name in operator.infer]
    return not names.isdisjoint(used) or any(_reads(operator, s, names) for s in inferred)


def bound_names(operator: Operator) -> frozenset[str]:
    """All names that a snippet of the operator can read, beside its vocabulary."""
    names = {*operator.types, *operator.inputs, *operator.attributes, *operator.infer}
    for input in operator.inputs.values():
        names.update(shape_names(input.pattern))
    lists = map(operator.dtype_list, operator.inputs.values())
    names.update(name for name in lists if name is not None)
    for region in operator.regions().values():
        names.update(name for name in region_names(region) if name is not None)
    variables = (attribute.variable for attribute in operator.attributes.values())
    names.update(variable for variable in variables if variable is not None)
    return frozenset(names) | choice_words(operator)


def check_bindings(operator: Operator, operators: frozenset[str]) -> Iterator[Diagnostic]:
    """A diagnostic for each name that nothing binds. `operators` are the names of all operators."""
    bound = bound_names(operator)
    regions = frozenset(operator.regions())
    for kind, snippet in operator.snippets():
        yield from _in_snippet(kind, snippet, bound, operators, regions)
    for name, snippet in operator.sample.items():
        if name in operator.regions():
            yield from _in_snippet("decompose", snippet, bound, operators)
    for law in operator.laws.values():
        yield from in_message(law, bound, _surface("shape", bound, operators, frozenset()))
    yield from _in_types(operator, bound)
    for snippet in type_snippets(operator):
        yield from check_vocabulary(snippet, _surface("shape", bound, operators, frozenset()))
    yield from _in_sample(operator, bound)


def _in_sample(operator: Operator, bound: frozenset[str]) -> Iterator[Diagnostic]:
    """A sample sets values of bound names only; other entries would be unused."""
    for name in operator.sample:
        if name not in bound:
            near = suggest(name, bound - CONSTANTS)
            yield Diagnostic(
                "unbound-name",
                f"`sample` sets the unbound name `{name}`",
                operator.document.span(("sample", name), key=True),
                label="not bound",
                hint=f"did you mean `{near}`?" if near else None,
            )


@lru_cache(maxsize=64)
def _vocabulary(kind: str, operators: frozenset[str]) -> frozenset[str]:
    names = SHAPE | DTYPES
    if kind == "alias":
        names |= DECOMPOSE
    if kind == "decompose":
        names |= DECOMPOSE | operators
    if kind == "reference":
        names |= REFERENCE
    if kind in NAMESPACES:
        names |= {NAMESPACES[kind]}
    return names


def _in_snippet(
    kind: str,
    snippet: Snippet,
    bound: frozenset[str],
    operators: frozenset[str],
    callables: frozenset[str] = frozenset(),
) -> Iterator[Diagnostic]:
    yield from unbound_names(snippet, bound, _vocabulary(kind, operators))
    yield from check_vocabulary(snippet, _surface(kind, bound, operators, callables))


def unbound_names(
    snippet: Snippet, bound: frozenset[str], vocabulary: frozenset[str]
) -> Iterator[Diagnostic]:
    """A diagnostic for each name that neither the declaration nor the vocabulary has."""
    for name in free_names(snippet.program):
        if name not in bound and name not in vocabulary:
            near = suggest(name, bound) or suggest(name, bound | vocabulary)
            hint = f"bound here are {', '.join(f'`{n}`' for n in sorted(bound - CONSTANTS))}"
            yield Diagnostic(
                "unbound-name",
                f"`{'.'.join(map(str, snippet.location))}` uses `{name}`",
                snippet.span(_first(snippet, name)),
                label="not bound",
                hint=hint + (f"; did you mean `{near}`?" if near else ""),
            )


def in_message(
    law: Requirement, bound: frozenset[str], surface: AllowedNames
) -> Iterator[Diagnostic]:
    """What a law's message fills in are expressions, as the law itself is one."""
    document, location = law.that.document, (*_entry(law), "message")
    span = document.span(location)
    for text in PLACEHOLDER.findall(law.message or ""):
        try:
            program = Program((), parse_expression(text), text)
        except SnippetError as error:
            message = f"`{{{text}}}` is not an expression that can be interpolated: {error.message}"
            yield Diagnostic(error.code, message, span, hint="write it without braces")
            continue
        snippet = Snippet(program, document, location)
        for found in (
            *unbound_names(snippet, bound, surface.functions | DTYPES | CONSTANTS),
            *check_vocabulary(snippet, surface),
        ):
            yield replace(found, span=span)


def _entry(law: Requirement) -> Location:
    """The place of a law, whose expression may stand below it under a key of its own."""
    location = law.that.location
    return location[:-1] if location[-1] == "that" else location


@lru_cache(maxsize=64)
def _surface(
    kind: str, bound: frozenset[str], operators: frozenset[str], callables: frozenset[str]
) -> AllowedNames:
    """What a kind of snippet of an operator reaches."""
    space = NAMESPACES.get(kind)
    known = (NUMPY - NUMPY_CONSTANTS, NUMPY_CONSTANTS) if space == "np" else (None, frozenset())
    return AllowedNames(
        functions=_vocabulary(kind, operators) - CONSTANTS - DTYPES - {space},
        values=bound,
        callables=callables,
        namespaces={} if space is None else {space: known},
        attributes=ATTRIBUTES[kind],
        methods=METHODS.get(kind, frozenset()),
        keywords=WRITING | TYPING if kind == "reference" else frozenset(),
    )


def _nodes(snippet: Snippet) -> Iterator[ast.AST]:
    for root in (*(a.value for a in snippet.program.assignments), snippet.program.result):
        yield from walk(root)


def _first(snippet: Snippet, name: str) -> ast.Name | None:
    """The first node of a snippet that reads a name."""
    return next((n for n in _nodes(snippet) if isinstance(n, ast.Name) and n.id == name), None)


def _in_types(operator: Operator, bound: frozenset[str]) -> Iterator[Diagnostic]:
    known = bound | SHAPE | DTYPES
    regions = operator.regions().values()
    elements = {*operator.types, *DTYPES, *operator.infer, "any"}
    elements |= {n for i in operator.inputs.values() if (n := operator.dtype_list(i)) is not None}
    elements |= {name for region in regions if (name := region_names(region)[0]) is not None}
    groups: tuple[tuple[str, dict[str, Input | Attribute | Output]], ...] = (
        ("inputs", dict(operator.inputs)),
        ("attributes", dict(operator.attributes)),
        ("outputs", dict(operator.outputs)),
    )
    for group, entries in groups:
        for name, entry in entries.items():
            span = operator.document.span((group, name, "type"))
            for tensor in tensors(entry.pattern):
                if tensor.element not in elements:
                    yield Diagnostic(
                        "unknown-dtype",
                        f"`{tensor.element}` is neither a dtype nor a type variable",
                        span,
                    )
                for dimension in tensor.shape or ():
                    for used in free_names(dimension.expression):
                        if used not in known:
                            yield _unbound_in_type(f"{group}.{name}.type", used, known, span)
            for option in options(entry.pattern):
                for like in _like_inputs(option):
                    if like not in operator.inputs:
                        where = f"{group}.{name}.type"
                        yield _unbound_in_type(where, like, frozenset(operator.inputs), span)
                if isinstance(option, ValuePattern):
                    parts = [p for p in (option.argument, *(option.lengths or ())) if p is not None]
                    for used in (n for part in parts for n in free_names(part)):
                        if used not in known:
                            yield _unbound_in_type(f"{group}.{name}.type", used, known, span)


def type_snippets(operator: Operator) -> Iterator[Snippet]:
    """The expressions inside types."""
    groups: tuple[tuple[str, Mapping[str, Input | Attribute | Output]], ...] = (
        ("inputs", operator.inputs),
        ("attributes", operator.attributes),
        ("outputs", operator.outputs),
    )
    for group, entries in groups:
        for name, entry in entries.items():
            for node in expressions(entry.pattern):
                yield Snippet(Program((), node), operator.document, (group, name, "type"))


def _like_inputs(pattern: Pattern) -> Iterator[str]:
    """The inputs whose types a type is."""
    parts = (
        (*pattern.parameters, *pattern.results) if isinstance(pattern, RegionPattern) else [pattern]
    )
    yield from (part.name for part in parts if isinstance(part, LikePattern))


def _unbound_in_type(where: str, name: str, known: frozenset[str], span: Span) -> Diagnostic:
    near = suggest(name, known)
    return Diagnostic(
        "unbound-name",
        f"`{where}` uses `{name}`",
        span,
        label="not bound",
        hint=f"did you mean `{near}`?" if near else None,
    )


def law_argument(operator: Operator, law: Requirement) -> str | None:
    """The argument that a law is about.

    Args:
        operator: The declaration.
        law: One of its laws.

    Returns:
        The name of an input or attribute; None where the law reads several, or none.
    """
    read = _sources(operator, law.that)
    return read.pop() if len(read) == 1 else None


def _sources(operator: Operator, snippet: Snippet) -> set[str]:
    """The arguments that a snippet reads: `K` is of `weight: T[M, *K]`, and `T` of all with it."""
    arguments: list[Input | Attribute] = list(operator.inputs.values())
    arguments += operator.attributes.values()
    found = set[str]()
    for name in free_names(snippet.program):
        if name in operator.infer:
            found |= _sources(operator, operator.infer[name])
        else:
            found |= {each.name for each in arguments if name in _binds(operator, each)}
    return found


def _binds(operator: Operator, argument: Input | Attribute) -> Iterator[str | None]:
    """The names that an argument binds or shares with others."""
    yield argument.name
    if isinstance(argument, Input):
        yield operator.dtype_list(argument)
        yield from shape_names(argument.pattern)
        elements = (tensor.element for tensor in tensors(argument.pattern))
        yield from (element for element in elements if element in operator.types)
    else:
        yield argument.variable
        if isinstance(argument.pattern, RegionPattern):
            yield from region_names(argument.pattern)
