"""Shape matching: type patterns against tensor types, binding sizes."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.model.context import BuildContext
from tripybuild.symbolic.conditions import Condition, Truth
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.values import LARGEST, Size, TensorType
from tripybuild.types.dtypes import dtype
from tripybuild.types.patterns import Dimension, TensorPattern, TensorsPattern

Names = Mapping[str, object]


def pattern_sizes(
    context: BuildContext, pattern: TensorPattern, names: Names, span: Span
) -> tuple[Size, ...]:
    """The sizes that a type asks for.

    Raises:
        DiagnosticError: At the span, where one of them is no size.
    """
    sizes: list[Size] = []
    for dimension, size in pattern.sizes(lambda each: _size(context, each, names, span)):
        whole = isinstance(size, (int, Dim)) and not isinstance(size, bool)
        if not whole or (isinstance(size, int) and not 0 <= size <= LARGEST):
            message = f"`{dimension}` is {size!r}, which is not a size"
            raise DiagnosticError(Diagnostic("wrong-type", message, span))
        sizes.append(size)
    return tuple(sizes)


def bind_sizes(pattern: TensorPattern, shape: tuple[Size, ...], names: dict[str, object]) -> None:
    """Bind the plain names of a type that nothing has bound to the sizes that they find."""
    for name, found in pattern.bindings(shape).items():
        names.setdefault(name, found)


@dataclass(frozen=True, slots=True)
class OpenEquality:
    """Two sizes that must be equal, and of which a call decides whether they are."""

    dimension: str
    found: Size
    wanted: Size | float


class ShapeMismatchError(Exception):
    """A shape has another form than its type asks for."""


def match_shape(
    context: BuildContext, pattern: TensorPattern, shape: tuple[Size, ...], names: Names
) -> list[OpenEquality]:
    """Hold a shape against a type, all names being bound; what stays open is given back.

    Raises:
        MisfitError: They differ, whatever the sizes of a call are.
    """
    pairs = pattern.match(shape)
    if pairs is None:
        raise ShapeMismatchError
    left: list[OpenEquality] = []
    for dimension, found in pairs:
        if isinstance(dimension.expression, ast.Constant) and dimension.expression.value is ...:
            continue
        if dimension.name is not None and names[dimension.name] is found:
            continue
        wanted = _size(context, dimension, names, context.current_span())
        left += match_sizes(found, wanted, str(dimension))
    return left


def match_sizes(found: Any, wanted: Any, dimension: str) -> list[OpenEquality]:
    """Compare two sizes, or two lists of them; what only a call decides is given back.

    Raises:
        MisfitError: They differ, whatever the sizes of a call are.
    """
    if isinstance(found, list):
        if not isinstance(wanted, (list, tuple)) or len(found) != len(wanted):
            raise ShapeMismatchError
        pairs = zip(found, wanted, strict=True)
        return [each for one, other in pairs for each in match_sizes(one, other, dimension)]
    if not isinstance(wanted, (int, float, Dim)):
        raise ShapeMismatchError
    equal: Truth = found == wanted
    if isinstance(equal, Condition):
        return [OpenEquality(dimension, found, wanted)]
    if not equal:
        raise ShapeMismatchError
    return []


def pattern_text(
    context: BuildContext, pattern: TensorPattern, names: Names, element: dtype
) -> str:
    """A type with its sizes filled in, where they are known."""
    try:
        return str(
            TensorType(element, pattern_sizes(context, pattern, names, context.current_span()))
        )
    except DiagnosticError:
        return str(pattern)


def _size(context: BuildContext, dimension: Dimension, names: Names, span: Span) -> Any:
    try:
        return evaluate(dimension.expression, names, context.vocabulary)
    except EvaluationError as error:
        raise DiagnosticError(Diagnostic(error.code, error.message, span)) from error


def pattern_dimensions(pattern: object) -> Sequence[Dimension]:
    """The dimensions of an input's type."""
    pattern = pattern.each if isinstance(pattern, TensorsPattern) else pattern
    return (pattern.shape or ()) if isinstance(pattern, TensorPattern) else ()
