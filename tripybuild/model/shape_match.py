"""Shape matching: types against tensors and sizes, decided at build time or left to each call.

Invariant: two sizes of one name are equal. Where they are symbols, that is a law of the graph,
whether or not an output depends on the part.
"""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.frontend import Tensor
from tripybuild.frontend.checks.messages import format_value
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.names import free_names
from tripybuild.model.context import BuildContext
from tripybuild.schema.operator.part import Part
from tripybuild.symbolic.conditions import Condition, Truth
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.operation import DeferredLaw, Law
from tripybuild.trace.values import LARGEST, Size, TensorType
from tripybuild.types.dtypes import BY_NAME, dtype
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
        ShapeMismatchError: They differ, whatever the sizes of a call are.
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
        ShapeMismatchError: They differ, whatever the sizes of a call are.
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
        found = Diagnostic(error.code, error.message, span, hint=error.hint)
        raise DiagnosticError(found) from error


def pattern_dimensions(pattern: object) -> Sequence[Dimension]:
    """The dimensions of an input's type."""
    pattern = pattern.each if isinstance(pattern, TensorsPattern) else pattern
    return (pattern.shape or ()) if isinstance(pattern, TensorPattern) else ()


CODE = "shape-mismatch"


def shadowed_sizes(context: BuildContext, part: Part) -> frozenset[str]:
    """The dynamic sizes of a file that mean in a part what comes in, whatever the model's are.

    One that is read where the part is made is the model's: the inputs are not known yet. It
    stays so in the steps, and what comes in must be of that size.
    """
    if part.document is not context.document or part in context.outermost:
        return frozenset()
    shapes = (pattern_dimensions(pattern) for pattern in part.inputs.values())
    bound = {dimension.name for shape in shapes for dimension in shape}
    return context.dynamic & bound - context.memoize(
        (id(part), "made"), lambda: _instantiation_names(part)
    )


def _instantiation_names(part: Part) -> frozenset[str]:
    """The names that are read where a part is made, and not where it runs."""
    weights = part.weights.values()
    laws = [law.that for law in part.laws.values()]
    defaults = [parameter.default for parameter in part.parameters]
    conditions = [weight.when for weight in weights]
    snippets = [*part.parts.values(), *laws, *defaults, *conditions]
    patterns = [weight.pattern for weight in weights]
    expressions = [d.expression for pattern in patterns for d in pattern_dimensions(pattern)]
    programs = [snippet.program for snippet in snippets if snippet is not None]
    computed = (*part.constants, *part.prepared)
    read = [*map(free_names, (*programs, *expressions)), *(step.reads for step in computed)]
    return frozenset().union(*read)


def check_input(
    context: BuildContext,
    part: Part,
    name: str,
    value: object,
    names: Mapping[str, object],
    types: Mapping[str, dtype],
) -> None:
    """Check what a part is given as one of its inputs.

    Args:
        context: The build.
        part: The part.
        name: The input.
        value: What it is given; of several tensors, each binds what is new for itself.
        names: What the other names mean, those of sizes included.
        types: The dtypes of the type variables.

    Raises:
        DiagnosticError: It is no tensor, or of another type.
    """
    pattern = part.inputs[name]
    if not isinstance(pattern, TensorsPattern):
        _check_tensor(context, part, name, pattern, value, names, types)
        return
    for item in value if isinstance(value, (list, tuple)) else [value]:
        known = dict(names)
        if isinstance(item, Tensor):
            bind_sizes(pattern.each, item.shape, known)
        _check_tensor(context, part, name, pattern.each, item, known, types)


def _check_tensor(
    context: BuildContext,
    part: Part,
    name: str,
    pattern: object,
    value: object,
    names: Mapping[str, object],
    types: Mapping[str, dtype],
) -> None:
    assert isinstance(pattern, TensorPattern)
    if not isinstance(value, Tensor):
        message = f"`{name}` of `{part.name}` must be a tensor, but this is {format_value(value)}"
        raise DiagnosticError(Diagnostic("wrong-type", message, context.current_span()))
    element = value.dtype
    if pattern.element != "any":
        element = types.get(pattern.element) or BY_NAME[pattern.element]
    of_dtype = value.dtype is element
    where = part.document.span((*part.location, "inputs", name))
    message = f"`{name}` of `{part.name}` must be `{pattern}`"
    try:
        left = match_shape(context, pattern, value.shape, names) if of_dtype else None
    except ShapeMismatchError:
        left = None
    if left is None:
        filled = pattern_text(context, pattern, names, element)
        wanted = "" if filled == str(pattern) else f", which is {filled}"
        code = CODE if of_dtype else "dtype-mismatch"
        label, notes = f"gives {value.type}", (f"required by {where}",)
        raise DiagnosticError(
            Diagnostic(code, message + wanted, context.current_span(), label, notes)
        )
    for each in left:
        defer_equality(context, each, message, f"whose `{each.dimension}` is {{wanted}}", where)


def defer_equality(
    context: BuildContext, left: OpenEquality, message: str, detail: str, where: Span
) -> None:
    """Let each call decide whether two sizes are equal.

    Raises:
        DiagnosticError: They depend on data, which no call tells.
    """
    names = {"found": left.found, "wanted": left.wanted}
    said = Law("found == wanted", f"{message}, {detail}, but got {{found}}", line=where.line)
    law = DeferredLaw(
        CODE, said, names, context.relative_path(where.path), context.current_location
    )
    if not law.symbols <= context.symbols:
        text = f"{message}, and whether it is so depends on data"
        notes, hint = (f"required by {where}",), "rename one of the two sizes"
        raise DiagnosticError(
            Diagnostic("undecided-size", text, context.current_span(), "", notes, hint)
        )
    context.laws.append(law)
