"""Extent analysis: static bounds on what generated code can cost.

The walker counts the steps of a snippet at run time; generated Python has no such counter. So the
reader computes, for whatever shapes and arguments a call may have, how long a list can get, how
large a number, and how many steps there can be, and refuses what has no fair bound. This is an
abstract interpretation: each expression stands for all values that it can have.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain

from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.schema.operator.operator import Operator, Snippet
from tripybuild.schema.operator.part import Part
from tripybuild.schema.snippets.extents.domain import (
    GIVEN,
    NUMBER,
    OPAQUE,
    SIZES,
    UNKNOWN,
    Extent,
    of_type,
)
from tripybuild.schema.snippets.extents.walk import UnboundedError, Walk, bind_targets
from tripybuild.schema.snippets.module_scope import size_snippets, type_expressions
from tripybuild.schema.snippets.snippet_scope import type_snippets
from tripybuild.types.patterns import Pattern, TensorsPattern, options, tensors

Names = Callable[[str], Extent]
WALKED = frozenset({"alias"})  # these never become code


def check_operator_bounds(operator: Operator, operators: frozenset[str]) -> Iterator[Diagnostic]:
    """A diagnostic for each snippet of an operator that may cost more than any needs."""
    known = dict.fromkeys(operator.types, OPAQUE)
    known |= _shapes({each.name: each.pattern for each in operator.inputs.values()})
    for input in operator.inputs.values():
        known[input.name] = _tensor(input.pattern)
        if (name := operator.dtype_list(input)) is not None:
            known[name] = Extent(length=GIVEN, item=OPAQUE)
    known |= {each.name: of_type(each.pattern) for each in operator.attributes.values()}

    def look(name: str) -> Extent:
        if name not in known and name in operator.infer:
            known[name] = UNKNOWN  # what reads itself is refused elsewhere
            try:
                known[name] = _extent(operator.infer[name], look)
            except UnboundedError:
                known[name] = OPAQUE  # which is reported where it stands
        return known.get(name, OPAQUE)

    def of_sizes(name: str) -> Extent:
        return NUMBER if name in operator.inputs else look(name)

    for snippet in type_snippets(operator):
        yield from _snippet_problems(snippet, look)
    for kind, snippet in operator.snippets():
        if kind not in WALKED:
            names = of_sizes if snippet is operator.on_sizes else look
            yield from _snippet_problems(
                snippet, names, operators if kind == "decompose" else frozenset()
            )


def check_module_bounds(part: Part, operators: frozenset[str]) -> Iterator[Diagnostic]:
    """A diagnostic for each snippet of a module that may cost more than any needs."""
    known = _shapes(part.inputs)
    known |= {each.name: of_type(each.pattern) for each in part.parameters}
    known |= {name: _tensor(pattern) for name, pattern in part.inputs.items()}

    def look(name: str) -> Extent:
        return known.get(name, OPAQUE)

    of_inputs = (
        type_expressions(part, each, ("inputs", name)) for name, each in part.inputs.items()
    )
    for snippet in (*size_snippets(part), *chain.from_iterable(of_inputs), *part.parts.values()):
        yield from _snippet_problems(snippet, look)
    for step in (*part.steps, *part.outputs):
        try:
            known |= bind_targets(step.targets, _extent(step.value, look, operators))
        except UnboundedError as error:
            known |= dict.fromkeys(step.targets, UNKNOWN)
            yield _limit_diagnostic(step.value, error)


def _shapes(inputs: Mapping[str, Pattern]) -> dict[str, Extent]:
    """The names that the shapes of inputs bind."""
    found: dict[str, Extent] = {}
    for pattern in inputs.values():
        several = any(isinstance(option, TensorsPattern) for option in options(pattern))
        for tensor in tensors(pattern):
            for dimension in tensor.shape or ():
                if dimension.name is not None:
                    one = SIZES if dimension.star else NUMBER
                    found[dimension.name] = Extent(length=GIVEN, item=one) if several else one
    return found


def _tensor(pattern: Pattern) -> Extent:
    several = any(isinstance(option, TensorsPattern) for option in options(pattern))
    return Extent(length=GIVEN, item=OPAQUE) if several else OPAQUE


def _snippet_problems(
    snippet: Snippet, names: Names, operators: frozenset[str] = frozenset()
) -> Iterator[Diagnostic]:
    try:
        _extent(snippet, names, operators)
    except UnboundedError as error:
        yield _limit_diagnostic(snippet, error)


def _limit_diagnostic(snippet: Snippet, error: UnboundedError) -> Diagnostic:
    span = snippet.span(error.node)
    return Diagnostic("snippet-limit", error.message, span, hint=error.hint)


def _extent(snippet: Snippet, names: Names, operators: frozenset[str] = frozenset()) -> Extent:
    """What a snippet gives.

    Raises:
        UnboundedError: It has no fair bound.
    """
    return Walk(names, operators).program(snippet.program.assignments, snippet.result)
