"""Law argument: the only argument that a law reads, directly or through other names."""

from collections.abc import Iterator

from tripybuild.language.names import free_names
from tripybuild.schema.operator.operator import Attribute, Input, Law, Operator, Snippet
from tripybuild.schema.snippets.snippet_scope import region_names, shape_names
from tripybuild.types.patterns import RegionPattern, tensors


def law_argument(operator: Operator, law: Law) -> str | None:
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
