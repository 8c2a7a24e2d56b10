"""Samples of a declaration: which entries are sizes that a test may vary."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.grammar import SnippetError, parse_expression
from tripybuild.language.names import called_names, free_names
from tripybuild.schema.operator.operator import Input, Operator, Snippet
from tripybuild.schema.snippets.snippet_scope import shape_names
from tripybuild.types.patterns import tensors
from tripybuild.types.vocabulary import SHAPE

Place = tuple[str, tuple[int, ...]]


def default_sizes(inputs: Iterable[Input], sample: Mapping[str, Snippet]) -> dict[str, object]:
    """Sizes for the names of shapes that a sample leaves out: 2, 3 and so on, two for `*S`.

    Shapes of lists have no default: how many tensors there are is for the sample to say.
    """
    found: dict[str, object] = {}
    size = count(2)
    for input in inputs:
        if input.several or _is_value(input, sample):
            continue
        for pattern in tensors(input.pattern):
            for dimension in pattern.shape or ():
                name = dimension.name
                if name is not None and name not in found:
                    found[name] = [next(size), next(size)] if dimension.star else next(size)
    return found


def free_sizes(operator: Operator) -> dict[str, object]:
    """The shape names to which the sample gives numbers, not what it computes from others.

    Raises:
        DiagnosticError: One of them has no value.
    """
    return {
        name: evaluate_snippet(snippet, {})
        for name, snippet in operator.sample.items()
        if name not in operator.inputs
        and name not in operator.attributes
        and not free_names(snippet.program)
    }


def evaluate_snippet(snippet: Snippet, names: Mapping[str, object]) -> object:
    """The value of a snippet over these names and the functions of shapes.

    Raises:
        DiagnosticError: It has none.
    """
    try:
        return evaluate(snippet.program, names, SHAPE)
    except EvaluationError as error:
        span = snippet.span(error.node)
        raise DiagnosticError(Diagnostic(error.code, error.message, span)) from error


def size_places(operator: Operator) -> Iterator[Place]:
    """Each number among the free sizes: `("S", (1,))` is the second size of `S`."""
    for name, value in free_sizes(operator).items():
        yield from ((name, path) for path in _paths(value))


def constant_sizes(operator: Operator) -> frozenset[str]:
    """The names of sizes that are always numbers: constants have them."""
    constant = (i for i in operator.inputs.values() if i.constant is not None)
    return frozenset(name for input in constant for name in shape_names(input.pattern))


def static_size_name(entry: str) -> str | None:
    """The name of the sizes that an entry of `static` means, or None where it means none.

    `C` and `K` are all sizes of that name, `S[dim]` is one of them.
    """
    try:
        found = parse_expression(entry)
    except SnippetError:
        return None
    base = found.value if isinstance(found, ast.Subscript) else found
    return base.id if isinstance(base, ast.Name) else None


def is_sample_value(operator: Operator, input: Input) -> bool:
    """Whether the sample gives a Python value where the input could also be a tensor."""
    return _is_value(input, operator.sample)


def _is_value(input: Input, sample: Mapping[str, Snippet]) -> bool:
    snippet = sample.get(input.name)
    return input.value is not None and snippet is not None and not called_names(snippet.program)


def _paths(value: object) -> Iterator[tuple[int, ...]]:
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from ((index, *path) for path in _paths(item))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield ()


def format_place(place: Place) -> str:
    """A place as a test's name: `N`, `S[1]`."""
    name, path = place
    return name + "".join(f"[{index}]" for index in path)
