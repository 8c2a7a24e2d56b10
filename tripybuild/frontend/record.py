"""Recording: a call of a public function becomes a graph operation."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from tripybuild.errors.budget import spend
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend.checks.argument_error import caller_diagnostic
from tripybuild.frontend.checks.check import Check
from tripybuild.frontend.checks.inference_cache import infer, run_inference
from tripybuild.frontend.checks.python_numbers import python_number
from tripybuild.frontend.tensor import PACKAGES as PACKAGES, Tensor  # noqa: PLC0414
from tripybuild.trace.constants import constant, number
from tripybuild.trace.location import caller_location
from tripybuild.trace.operation import Declaration, TraceOp
from tripybuild.trace.region import LeakError, check_open
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import dtype

# What a generated function says that it gives: the Tensor class of its package, which is not known
# here. Type checkers take it from the function that returns it.
Given = TypeVar("Given")


def record(operation: type[TraceOp], *arguments: object) -> Given:  # type: ignore[type-var]
    """Record an operation that gives one tensor.

    Raises:
        DiagnosticError: Where a law of the declaration does not hold, at the caller's line.
    """
    result = _record(operation, arguments)
    if isinstance(result, Value):
        return cast("Given", _same_tensor(result, arguments))
    return cast("Given", Tensor.of(result.outputs[0]))


def _same_tensor(value: Value, arguments: Sequence[object]) -> Tensor:
    """The very tensor that was given, where an operator has nothing to do: `cast` to its dtype."""
    for argument in arguments:
        for each in argument if isinstance(argument, (list, tuple)) else (argument,):
            if isinstance(each, Tensor) and each.value is value:
                return each
    return Tensor.of(value)


def record_several(operation: type[TraceOp], *arguments: object) -> Given:  # type: ignore[type-var]
    """Record an operation that gives several tensors, as a tuple."""
    result = _record(operation, arguments)
    assert isinstance(result, TraceOp)
    return cast("Given", tuple(Tensor.of(output) for output in result.outputs))


def record_any(operation: type[TraceOp], *arguments: object) -> Given:  # type: ignore[type-var]
    """Record an operation that gives any number of tensors: one as itself, several as a tuple."""
    results: tuple[Tensor, ...] = record_several(operation, *arguments)
    return cast("Given", results[0] if len(results) == 1 else results)


def _record(operation: type[TraceOp], arguments: tuple[object, ...]) -> TraceOp | Value:
    package = operation.__module__.partition(".")[0]
    if package not in PACKAGES:
        PACKAGES.add(package)
    spend("operations")
    location = caller_location(PACKAGES, 3)  # above this function and the one that calls it
    values = [_value(argument) for argument in arguments]
    if regions := operation.region_fields():
        named = zip(operation.__dataclass_fields__, values, strict=False)
        values = [_body(v) if n in regions and callable(v) else v for n, v in named]
    kind = _checks.get()[0]
    if kind is Check:
        return infer(operation, values, location)
    return run_inference(operation, values, kind(operation.declaration, location))


def _value(argument: object) -> object:
    if isinstance(argument, Tensor):
        if argument.value.scope is not None:
            _check_usable(argument.value)
        return argument.value
    if isinstance(argument, list):
        return [_value(item) for item in argument]
    if isinstance(argument, tuple):  # also one with names, as libraries give shapes
        return tuple([_value(item) for item in argument])
    return python_number(argument)


def _body(function: Any) -> Callable[..., Sequence[object]]:
    """A function on tensors as one on values."""

    def body(*values: Value) -> Sequence[object]:
        given = _value(function(*map(Tensor.of, values)))
        return given if isinstance(given, (list, tuple)) else [given]

    return body


def _check_usable(value: Value) -> None:
    """Reject a tensor of a closed region, which is not visible outside."""
    try:
        check_open(value)
    except LeakError:
        message = "a tensor that was made inside of a region is used outside of it"
        hint = "return it from the function that makes it"
        raise DiagnosticError(caller_diagnostic("region-value", message, hint)) from None


def unwrap(tensors: Any) -> list[Value]:
    """The values that tensors stand for."""
    return [tensor.value for tensor in tensors]


class InlineCheck(Check):
    """The checks of a function that records no operation of its own."""

    def constant(self, value: float | bool, type: dtype) -> Tensor:
        """A number as a tensor."""
        return Tensor.of(number(value, type, self.location))

    def data(self, array: Any, type: dtype) -> Tensor:
        """An array as a tensor."""
        return Tensor.of(constant(array, type, self.location))

    def finish(self, result: Given) -> Given:
        """Hand the laws that are still open to an operation that the function recorded.

        They stand before its own: what breaks those is what the function was given.
        """
        first = result[0] if isinstance(result, tuple) else result
        producer = first.value.producer if isinstance(first, Tensor) else None
        if producer is not None and self.deferred:
            producer.with_location(producer.location, (*self.deferred, *producer.deferred))
        return result


def begin(declaration: Declaration) -> InlineCheck:
    """Begin the checks of an inline function, called at the user's line."""
    return _checks.get()[1](declaration, caller_location(PACKAGES))


_checks: ContextVar[tuple[type[Check], type[InlineCheck]]] = ContextVar(
    "checks", default=(Check, InlineCheck)
)


@contextmanager
def use_checks(operation: type[Check], inline: type[InlineCheck]) -> Iterator[None]:
    """Let other classes check the calls in a `with` block: operations, and inline functions."""
    before = _checks.set((operation, inline))
    try:
        yield
    finally:
        _checks.reset(before)
