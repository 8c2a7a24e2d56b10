"""Module scope: names bound by a module, and the check that its snippets are closed.

A module becomes a Python class, too, so its snippets are confined as those of operators are.
"""

import ast
from collections.abc import Iterator
from functools import lru_cache

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.language.grammar import Program
from tripybuild.schema.model.model import DEFAULT_VARIABLE
from tripybuild.schema.operator.operator import Location, Snippet
from tripybuild.schema.operator.part import Part
from tripybuild.schema.snippets.snippet_scope import in_message, unbound_names
from tripybuild.schema.snippets.vocabularies import (
    ATTRIBUTES,
    CONSTANTS,
    DECOMPOSE,
    DTYPE_ATTRIBUTES,
    DTYPES,
    SHAPE,
)
from tripybuild.schema.snippets.vocabulary_check import AllowedNames, check_vocabulary
from tripybuild.types.naming import MEMBERS, SPOKEN
from tripybuild.types.patterns import Pattern, expressions, tensors


def check_module_scope(
    part: Part, operators: frozenset[str], modules: frozenset[str]
) -> Iterator[Diagnostic]:
    """A diagnostic for each place at which a module leaves its vocabularies."""
    yield from _members(part)
    if not part.outputs:
        message = f"`{part.name}` has no `outputs:`"
        yield Diagnostic("missing-key", message, part.document.span(("module",)))
    sizes = frozenset({*(size.name for size in part.parameters), *_variables(part)})
    shapes = frozenset(
        dimension.name
        for pattern in part.inputs.values()
        for tensor in tensors(pattern)
        for dimension in tensor.shape or ()
        if dimension.name is not None
    )
    for snippet in size_snippets(part):
        yield from _check_snippet(snippet, sizes, _surface(SHAPE, sizes, DTYPE_ATTRIBUTES))
    for law in part.laws.values():
        yield from in_message(law, sizes, _surface(SHAPE, sizes, DTYPE_ATTRIBUTES))
    for name, pattern in part.inputs.items():
        for snippet in type_expressions(part, pattern, ("inputs", name)):
            bound = sizes | shapes
            yield from _check_snippet(snippet, bound, _surface(SHAPE, bound, DTYPE_ATTRIBUTES))
    making = _surface(SHAPE | modules, sizes, DTYPE_ATTRIBUTES)
    for snippet in part.parts.values():
        yield from _check_snippet(snippet, sizes, making)
        yield from _part_diagnostic(snippet, snippet.result, modules)
    bound = sizes | shapes | frozenset({*part.inputs, *part.weights, *part.parts})
    for step in (*part.steps, *part.outputs):
        reach = _surface(
            SHAPE | DECOMPOSE | operators, bound, ATTRIBUTES["decompose"], frozenset(part.parts)
        )
        yield from _check_snippet(step.value, bound, reach)
        bound |= set(step.targets)


def _part_diagnostic(
    snippet: Snippet, node: ast.expr, modules: frozenset[str]
) -> Iterator[Diagnostic]:
    """A part is what a module makes, whichever way an expression chooses or repeats it."""
    match node:
        case ast.IfExp(body=body, orelse=orelse):
            yield from _part_diagnostic(snippet, body, modules)
            yield from _part_diagnostic(snippet, orelse, modules)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            for item in items:
                yield from _part_diagnostic(snippet, item, modules)
        case ast.ListComp(elt=each) | ast.Starred(value=each) | ast.BinOp(left=each, op=ast.Mult()):
            yield from _part_diagnostic(snippet, each, modules)
        case ast.Call(func=ast.Name(id=name)) if name in modules:
            return
        case ast.Constant(value=None):
            return
        case _:
            message = f"`{ast.unparse(node)[:60]}` is not a part of a module"
            hint = "a part is what a module makes, such as `Linear(4, 8)`, or None"
            yield Diagnostic("wrong-value", message, snippet.span(node), hint=hint)


def _check_snippet(
    snippet: Snippet, bound: frozenset[str], surface: AllowedNames
) -> Iterator[Diagnostic]:
    yield from unbound_names(snippet, bound, surface.functions | DTYPES | CONSTANTS)
    yield from check_vocabulary(snippet, surface)


@lru_cache(maxsize=64)
def _surface(
    functions: frozenset[str],
    values: frozenset[str],
    attributes: frozenset[str],
    callables: frozenset[str] = frozenset(),
) -> AllowedNames:
    known = functions - CONSTANTS - DTYPES
    return AllowedNames(known, values, callables, attributes=attributes)


def _variables(part: Part) -> frozenset[str]:
    chosen = {size.variable for size in part.parameters if size.variable is not None}
    return frozenset({DEFAULT_VARIABLE, *part.types, *part.allowed, *chosen})


def size_snippets(part: Part) -> Iterator[Snippet]:
    """The snippets over a module's sizes alone."""
    yield from (size.default for size in part.parameters if size.default is not None)
    yield from (law.that for law in part.laws.values())
    for size in part.parameters:
        yield from type_expressions(part, size.pattern, ("sizes", size.name, "type"))
    for weight in part.weights.values():
        yield from (snippet for snippet in (weight.when, weight.optional) if snippet)
        yield from type_expressions(part, weight.pattern, weight.location)


def type_expressions(part: Part, pattern: Pattern, at: Location) -> Iterator[Snippet]:
    """The expressions inside a type of a module."""
    for node in expressions(pattern):
        yield Snippet(Program((), node), part.document, at)


def _members(part: Part) -> Iterator[Diagnostic]:
    """What a module holds becomes attributes of an object, which has some of its own."""
    groups = {
        "sizes": [size.name for size in part.parameters],
        "inputs": list(part.inputs),
        "parts": list(part.parts),
        "weights": list(part.weights),
    }
    for group, names in groups.items():
        for name in names:
            if name in MEMBERS | SPOKEN:
                whose = "generated functions have" if name in SPOKEN else "every module has"
                message = f"nothing of a module can be called `{name}`: {whose} that"
                yield Diagnostic("bad-name", message, part.document.span((group, name), key=True))
