"""Families: `like: unary(kind="kEXP")` expands to a family's entries with parameters bound.

A family may refine another one that it `extends:`. What is nearer to the operator counts.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Any, Protocol

from tripybuild.documents.document import Document
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.language.grammar import Program, SnippetError, parse_expression
from tripybuild.schema.files import FamilyFile, OperatorBody, OperatorFile
from tripybuild.schema.operator.operator import Snippet
from tripybuild.schema.snippets.expressions import expression_text

# Keys of which the family may hold one half and the operator the other.
MERGED = (
    *("types", "inputs", "attributes", "requires", "infer", "lower", "targets", "tolerance"),
    "sample",
)
# Keys that are lists, of which the family's entries follow the operator's.
JOINED = frozenset({"examples"})

Families = Mapping[str, tuple[Document, FamilyFile]]


def substitute(program: Program, parameters: Mapping[str, ast.expr]) -> Program:
    """A program with the names of `parameters` replaced by their expressions."""
    if program.written and not any(name in program.written for name in parameters):
        return program
    lines = [replace(step, value=_replaced(step.value, parameters)) for step in program.assignments]
    return Program(tuple(lines), _replaced(program.result, parameters))


def _replaced(node: Any, parameters: Mapping[str, ast.expr]) -> Any:
    """A part of a program with the names replaced: itself where it has none of them.

    What is replaced is copied, with its positions, since the same family serves many operators.
    """
    if isinstance(node, ast.Name):
        return parameters.get(node.id, node)
    if isinstance(node, list):
        items = [_replaced(each, parameters) for each in node]
        return node if all(map(is_, items, node)) else items
    if not isinstance(node, ast.AST):
        return node
    fields = [getattr(node, name, None) for name in node._fields]
    parts = _replaced(fields, parameters)
    return node if parts is fields else ast.copy_location(type(node)(*parts), node)


@dataclass(frozen=True, slots=True, eq=False)
class FamilyBody:
    """What one file of a lineage says: a family's, with its parameters, or the operator's own."""

    document: Document
    file: OperatorBody
    parameters: Mapping[str, ast.expr]


def lineage(
    document: Document, file: OperatorFile, families: Families
) -> tuple[list[FamilyBody], list[Diagnostic]]:
    """The families of an operator, eldest first, then its own file; and what is wrong with them."""
    bodies: list[FamilyBody] = []
    found: list[Diagnostic] = []
    key, text, parameters = "like", file.like, dict[str, ast.expr]()
    place, names = document, list[str]()
    while text is not None:
        like = _family_call(place, key, text, families)
        if isinstance(like, Diagnostic):
            found.append(like)
            break
        name, given = like
        if name in names:
            around = " -> ".join([*names[names.index(name) :], name])
            message = f"the family `{name}` extends itself: {around}"
            found.append(Diagnostic("cyclic-family", message, place.span((key,))))
            break
        names.append(name)
        parameters = {n: _replaced(value, parameters) for n, value in given.items()}
        place, family = families[name]
        bodies.insert(0, FamilyBody(place, family, parameters))
        key, text = "extends", family.extends
    every = {name: value for body in bodies for name, value in body.parameters.items()}
    return [*bodies, FamilyBody(document, file, every)], found


def _family_call(
    document: Document, key: str, text: str, families: Families
) -> tuple[str, dict[str, ast.expr]] | Diagnostic:
    """The family that `like:` or `extends:` names, and its parameters."""
    span = document.span((key,))
    try:
        node = parse_expression(text)
    except SnippetError as error:
        return Diagnostic("snippet-syntax", error.message, span, hint=error.hint)
    call = node if isinstance(node, ast.Call) else ast.Call(func=node, args=[], keywords=[])
    name = call.func.id if isinstance(call.func, ast.Name) else ast.unparse(call.func)
    if name not in families:
        return Diagnostic("unknown-family", f"no family is called `{name}`", span)
    home, family = families[name]
    wanted = family.parameters
    given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    given |= dict(zip(wanted, call.args, strict=False))
    needed = [name for name in wanted if name not in family.defaults]
    if not set(needed) <= set(given) <= set(wanted) or len(call.args) > len(wanted):
        shown = [f"`{p}`" if p in needed else f"`{p}` (by default another)" for p in wanted]
        return Diagnostic(
            "family-parameters",
            f"`{name}` takes {', '.join(shown) or 'no parameters'}",
            span,
            label="gives " + (", ".join(f"`{p}`" for p in given) or "none"),
        )
    for each in family.defaults.keys() & set(wanted) - given.keys():
        try:
            given[each] = parse_expression(expression_text(family.defaults[each]))
        except SnippetError as error:
            place = home.span(("defaults", each))
            return Diagnostic("snippet-syntax", error.message, place, hint=error.hint)
    return name, given


def repeated_entries(bodies: Sequence[FamilyBody]) -> Iterator[Diagnostic]:
    """What a file of a lineage says as the families before it do: to refine is to differ."""
    for index, body in enumerate(bodies):
        for key in sorted(OperatorBody.model_fields.keys() & body.file.model_fields_set):
            if key in JOINED:
                continue
            before = [b for b in bodies[:index] if key in b.file.model_fields_set]
            given = {p: (b, v) for b in before for p, v in _entries(key, getattr(b.file, key))}
            for place, value in _entries(key, getattr(body.file, key)):
                if place in given and given[place][1] == value:
                    yield _repeats(place, body, given[place][0])


def _entries(key: str, value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """What can be overridden by itself: a whole key, an entry, or a fact of a target."""
    if key not in MERGED:
        yield (key,), value
        return
    for name, entry in value.items():
        if key != "targets":
            yield (key, name), entry
            continue
        for kind in ("refuses", "builds"):
            yield from (((key, name, kind, n), fact) for n, fact in getattr(entry, kind).items())


def _repeats(place: tuple[str, ...], body: FamilyBody, family: FamilyBody) -> Diagnostic:
    assert isinstance(family.file, FamilyFile)
    return Diagnostic(
        "given-twice",
        f"the family `{family.file.family}` gives `{'.'.join(place)}` already",
        body.document.span(place, key=True),
        hint="remove it here, or write another value to override the family",
    )


def families_of(bodies: Sequence[FamilyBody]) -> tuple[tuple[str, Document], ...]:
    """The families of a lineage, eldest first, with their files."""
    named = ((body.file, body.document) for body in bodies)
    return tuple((file.family, home) for file, home in named if isinstance(file, FamilyFile))


class FamilyMember(Protocol):
    """An operator or a module, with the files that it extends."""

    @property
    def path(self) -> str:
        """Its own file, as shown."""
        ...

    @property
    def families(self) -> tuple[tuple[str, Document], ...]:
        """What it extends."""
        ...

    @property
    def family_paths(self) -> tuple[str, ...]:
        """The files of these, as shown."""
        ...


def source(declared: FamilyMember, snippet: Snippet) -> str:
    """The path of the file that a snippet stands in, as shown: a family's or the own one."""
    for (_, document), path in zip(declared.families, declared.family_paths, strict=True):
        if document is snippet.document:
            return path
    return declared.path
