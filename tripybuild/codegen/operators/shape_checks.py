"""Emitter of shape checks: plain names are bound, bound names are compared."""

from collections.abc import Iterable, Sequence

from tripybuild.codegen.operators.check_scope import CheckScope
from tripybuild.codegen.python.expressions import quote
from tripybuild.codegen.python.file_text import Body
from tripybuild.codegen.python.layout import call
from tripybuild.schema.operator.operator import Input
from tripybuild.schema.snippets.snippet_scope import shape_names
from tripybuild.types.patterns import Dimension, options, shape_text, tensors


def check_shape(scope: CheckScope, input: Input) -> None:
    """Bind the plain names of a shape: `N, C, *D = check.shape("input", input, "[N, C, *D]")`."""
    pattern = next(tensors(input.pattern), None)
    if pattern is None or pattern.shape is None:
        return
    if input.several:
        _bind_dtypes(scope, input)
        _bind_shapes(scope, input, pattern.shape)
        return
    fresh = fresh_names(scope, pattern.shape)
    known = not all(map(scope.is_fresh, pattern.shape))
    names = [name for name in fresh if name]
    body = guard_optional(scope, input, names)
    known = not all(map(scope.is_fresh, pattern.shape))
    if names or not _is_anything(pattern.shape):
        add_shape(body, input, input.name, pattern.shape, fresh)
    elif pattern.element in scope.operator.types and len(options(input.pattern)) == 1:
        # A check of dtypes takes a list of tensors, too, and nothing else looks at this one.
        body.add(call("check.tensor", [f'"{input.name}"', input.name]))
    scope.bound.update(names)
    named = [d for d in pattern.shape if d.name is not None or not d.star]
    repeated = len(set(shape_names(pattern))) < len(named) or known
    plain = not any(map(scope.is_later, pattern.shape))
    if plain and (repeated or not pattern.shape):
        _match(scope, body, input, pattern.shape)


def _is_anything(shape: tuple[Dimension, ...]) -> bool:
    """Whether there is nothing to check: each shape is one run, and no shape has its own check."""
    return not shape or (len(shape) == 1 and shape[0].star)


def check_expressions(scope: CheckScope, input: Input) -> None:
    """Match shapes that contain expressions, after the laws."""
    pattern = next(tensors(input.pattern), None)
    if pattern is None or pattern.shape is None or input.several:
        return
    if any(map(scope.is_later, pattern.shape)):
        for dimension in pattern.shape:
            scope.expression(dimension.expression)  # what it infers stands before an `if`
        _match(scope, guard_optional(scope, input), input, pattern.shape)


def add_shape(
    body: Body, input: Input, given: str, shape: Sequence[Dimension], names: Sequence[str | None]
) -> None:
    """Write one call of `check.shape`, which unpacks what it finds into the names."""
    arguments = [f'"{input.name}"', given, quote(shape_text(tuple(shape)))]
    body.add(targets(shape, names), call("check.shape", arguments))


def fresh_names(scope: CheckScope, shape: Iterable[Dimension]) -> list[str | None]:
    """Name bound by each dimension, or None if it binds no used name."""
    return [d.name if scope.is_fresh(d) and d.name not in scope.unused else None for d in shape]


def guard_optional(scope: CheckScope, input: Input, binds: Iterable[str] = ()) -> Body:
    """Where the checks of an input go: behind `if` where it may be left out."""
    if not input.optional:
        return scope.body
    for name in binds:
        scope.imports.name("typing", "Any")
        scope.body.add(f"{name}: Any = None")
    return scope.body.block(f"if {input.name} is not None:")


def _bind_dtypes(scope: CheckScope, input: Input) -> None:
    """`D = [tensor.type.dtype for tensor in state]`: several tensors, several dtypes."""
    name = scope.operator.dtype_list(input)
    if name is not None and name not in scope.bound | scope.unused:
        scope.body.add(f"{name} = [tensor.type.dtype for tensor in {input.name}]")
        scope.bound.add(name)


def _bind_shapes(scope: CheckScope, input: Input, shape: Sequence[Dimension]) -> None:
    """`S = [list(tensor.type.shape) for tensor in tensors]`: several tensors, several shapes."""
    name = shape[0].name if len(shape) == 1 else None
    if name is not None and name not in scope.bound | scope.unused:
        scope.body.add(f"{name} = [list(tensor.type.shape) for tensor in {input.name}]")
        scope.bound.add(name)


def _match(scope: CheckScope, body: Body, input: Input, shape: tuple[Dimension, ...]) -> None:
    """`check.match("weight", weight, "[K, C // groups]", (K, C // groups))`."""
    arguments = [f'"{input.name}"', input.name, quote(shape_text(shape)), scope.sizes(shape)]
    body.add(call("check.match", arguments))


def targets(shape: Sequence[Dimension], names: Sequence[str | None]) -> str:
    """`N, C, *D = `, `(N,) = `, `S = ` for a shape that is one run, or nothing."""
    if not any(names):
        return ""
    if len(shape) == 1 and shape[0].star:
        return f"{names[0]} = "
    parts = [
        ("*" if dimension.star else "") + (name or "_")
        for dimension, name in zip(shape, names, strict=True)
    ]
    return f"({parts[0]},) = " if len(parts) == 1 else f"{', '.join(parts)} = "
