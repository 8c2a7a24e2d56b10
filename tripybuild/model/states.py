"""States: tensors that are kept from call to call, as inputs with a successor.

Invariant: a part has one state, whatever calls it. Where its sizes are those of arguments, it is
made by the first call of the part; another call, also of another entry, asks for the same sizes.
"""

from collections.abc import Container, Iterator, Mapping

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend import Tensor
from tripybuild.frontend.checks.messages import format_value
from tripybuild.frontend.checks.python_numbers import is_representable
from tripybuild.language.names import free_names
from tripybuild.model.context import BuildContext
from tripybuild.model.shape_match import (
    CODE,
    ShapeMismatchError,
    defer_equality,
    match_sizes,
    pattern_dimensions,
    pattern_sizes,
)
from tripybuild.schema.operator.part import Part, State
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.graph import next_name, same_type
from tripybuild.trace.values import TensorType, Value, leave_scope
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import TensorPattern


def waits_for_call(
    context: BuildContext, part: Part, state: State, sizes: Mapping[str, object]
) -> bool:
    """Whether a state has sizes of the part's arguments, which only a call of the part knows."""
    if part in context.outermost:
        return False
    shapes = (pattern_dimensions(pattern) for pattern in part.inputs.values())
    bound = {dimension.name for shape in shapes for dimension in shape}
    read = (free_names(each.expression) for each in pattern_dimensions(state.pattern))
    named = frozenset[str]().union(*read) & bound
    return any(isinstance(sizes.get(name), Dim) or name not in sizes for name in named)


def declared_type(
    context: BuildContext,
    part: Part,
    state: State,
    names: Mapping[str, object],
    types: Mapping[str, dtype],
) -> TensorType:
    """The type of a state, all names of sizes being bound.

    Raises:
        DiagnosticError: At the state, where one of its sizes is none, or depends on data.
    """
    pattern, span = state.pattern, part.document.span(state.location)
    assert isinstance(pattern, TensorPattern)
    element = types.get(pattern.element) or BY_NAME[pattern.element]
    type = TensorType(element, pattern_sizes(context, pattern, names, span))
    for size in type.shape:
        if isinstance(size, Dim) and not size.symbols <= context.symbols:
            message = f"the state `{state.name}` would be {type}, whose size depends on data"
            hint = "a state has sizes that the inputs of the model tell"
            raise DiagnosticError(Diagnostic("undecided-size", message, span, hint=hint))
    return type


def state_of_call(
    context: BuildContext, part: Part, state: State, path: str, type: TensorType
) -> Value:
    """The state of a part at a path, which is made by the first call.

    Raises:
        DiagnosticError: An earlier call has made it of another type.
    """
    if path not in context.states:
        with leave_scope():
            context.states[path] = Value(type, name=path)
    value = context.states[path]
    if not same_type(value.type, type):
        message = f"the state `{path}` is {value.type}, but this call asks for {type}"
        notes = (f"declared at {part.document.span(state.location)}",)
        hint = "a part has one state: give the sizes one name, or make a part for each"
        place = context.current_span()
        raise DiagnosticError(Diagnostic(CODE, message, place, "", notes, hint))
    return value


def first_number(
    context: BuildContext, state: State, names: Mapping[str, object], type: dtype
) -> bool | float | None:
    """The number that fills a state before the first call; None where the file says none.

    Raises:
        DiagnosticError: It is no number, or none of the state's dtype.
    """
    if state.first is None:
        return None
    number = context.evaluate(state.first, names)
    if not isinstance(number, (bool, int, float)):
        message = f"`first` of `{state.name}` must be a number, but this is {format_value(number)}"
        raise DiagnosticError(Diagnostic("wrong-type", message, state.first.span()))
    if not is_representable(number, type):
        message = f"`first` of `{state.name}` is {number!r}, which is no {type}"
        raise DiagnosticError(Diagnostic("wrong-type", message, state.first.span()))
    return number


def unchanged_states(context: BuildContext, outputs: Container[str]) -> Iterator[Diagnostic]:
    """Warn of states that begin as a number and stay that: the outputs of no entry are their next.

    One that the caller begins may be there to be read alone.
    """
    for path, number in context.state_paths.items():
        if number is not None and next_name(path) not in outputs:
            message = f"the state `{path}` stays {number}: nothing says what is next"
            hint = "say it below `next:`, or write the number in the place of the state"
            yield Diagnostic("state-unchanged", message, context.state_lines[path](), hint=hint)


def check_next(context: BuildContext, part: Part, name: str, value: object, state: Value) -> None:
    """Check what a state will be: it is of the state's own type.

    Raises:
        DiagnosticError: It is no tensor, or of another type.
    """
    if not isinstance(value, Tensor):
        message = f"the next `{name}` must be a tensor, but this is {format_value(value)}"
        raise DiagnosticError(Diagnostic("wrong-type", message, context.current_span()))
    message = f"the next `{name}` must be {state.type}, as the state is"
    of_dtype = value.dtype is state.dtype
    try:
        left = match_sizes(list(value.shape), list(state.shape), name) if of_dtype else None
    except ShapeMismatchError:
        left = None
    if left is None:
        code = CODE if of_dtype else "dtype-mismatch"
        label = f"gives {value.type}"
        raise DiagnosticError(Diagnostic(code, message, context.current_span(), label))
    where = part.document.span(part.state[name].location)
    for each in left:
        defer_equality(
            context, each, f"the next `{name}` must be as the state is", "with {wanted}", where
        )
