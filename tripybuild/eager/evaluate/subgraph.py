"""Subgraph extraction: the operations needed for requested tensors."""

from collections.abc import Iterator
from math import prod
from operator import attrgetter
from typing import NamedTuple

from tripybuild.eager.module.placeholders import PlaceholderValue, missing_parameter
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Related
from tripybuild.frontend.checks.argument_error import caller_diagnostic
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import operations_between
from tripybuild.trace.location import Location, PythonLocation, caller_location
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Value


class UnknownValueError(DiagnosticError):
    """A value depends on an input, a size or a parameter that is not known yet."""


class Subgraph(NamedTuple):
    """A graph that is to be computed.

    Args:
        operations: In the order of recording, without constants.
        elements: How many there are in what they read and write, each tensor once; sizes that
            depend on data count as one.
    """

    operations: list[TraceOp]
    elements: int


_serial = attrgetter("serial")


def find_subgraph(wanted: Value) -> Subgraph:
    """Find what a value still needs. It is one walk, since each result that is looked at asks.

    Raises:
        UnknownValueError: It depends on what is known only when a graph runs.
    """
    found: dict[TraceOp, None] = {}
    given: set[Value] = set()
    elements = 0
    stack = [wanted]
    while stack:
        value = stack.pop()
        operation = value.producer
        if isinstance(operation, Constant):
            if is_symbol(operation):
                raise UnknownValueError(_dependency_error(wanted))
            if value not in given:
                given.add(value)
                elements += _elements(value)
        elif operation is None:
            raise UnknownValueError(_dependency_error(wanted))
        elif operation not in found:
            found[operation] = None
            stack += operation.reads()
            for output in operation.outputs:
                elements += _elements(output)
    return Subgraph(sorted(found, key=_serial) if len(found) > 1 else list(found), elements)


def split_subgraph(
    operations: list[TraceOp], wanted: Value, most: int
) -> Iterator[tuple[list[TraceOp], list[Value]]]:
    """Cut a long graph into parts that can be computed one after the other.

    Args:
        operations: In the order of recording.
        wanted: The result of one of them.
        most: How many operations a part has.

    Yields:
        The operations of a part, and those of their results that later ones read, or that are
        wanted. They must be constants before the next part is asked for.
    """
    last = {value: at for at, operation in enumerate(operations) for value in operation.reads()} | {
        wanted: len(operations) + most
    }
    for start in range(0, len(operations), most):
        part = operations[start : start + most]
        made = [value for operation in part for value in operation.outputs]
        yield part, [value for value in made if last.get(value, 0) >= start + most]


def _elements(value: Value) -> int:
    shape = value.type.shape
    found = prod(shape)
    return found if isinstance(found, int) else prod([e for e in shape if isinstance(e, int)])


def _dependency_error(wanted: Value) -> Diagnostic:
    """Error for the first operation that depends on an unknown value."""
    for operation in operations_between(frozenset(), [wanted]):
        if isinstance(operation, Constant):
            if is_symbol(operation):
                return symbol_error(operation.data.value)
            continue
        for operand in operation.reads():
            if operand.producer is None:
                return _unknown(operand, operation.location)
    return _unknown(wanted, None)


def is_symbol(constant: Constant) -> bool:
    """Whether a constant is a size that is known only when a graph runs."""
    return isinstance(constant.data.value, Dim)


def symbol_error(size: object) -> Diagnostic:
    """Error for reading the number of a symbolic size, at the user's line."""
    message = f"the size `{size}` is known only when the graph runs"
    hint = "use it as it is: in shapes, in slices, or with other sizes"
    return caller_diagnostic("not-known-yet", message, hint)


def _unknown(value: Value, reads: Location | None) -> Diagnostic:
    """Error for a value that depends on a graph input, at the reading operation."""
    if isinstance(value, PlaceholderValue):
        span = None if reads is None else reads.span()
        return missing_parameter(value.name or "without a name", value.type, span)
    message = (
        f"this cannot be computed now: it depends on the input `{value.name}`, of {value.type}"
    )
    hint = (
        "a graph is being recorded, whose inputs are known when it runs; `where` and `cond` choose "
        "then"
    )
    asked = caller_location(PACKAGES)
    span = asked.span() if isinstance(asked, PythonLocation) or reads is None else reads.span()
    related = (
        (Related("the input is read here", reads.span()),)
        if isinstance(reads, PythonLocation) and reads.span() != span
        else ()
    )
    return Diagnostic("not-known-yet", message, span, hint=hint, related=related)
