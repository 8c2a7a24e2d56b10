"""What has to be computed before tensors can be looked at."""

from math import prod
from operator import attrgetter
from typing import NamedTuple

from tripybuild.diagnostics import Diagnostic, DiagnosticError, Related
from tripybuild.eager.parameters import Unset, missing
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.trace.constants import Constant
from tripybuild.trace.graph import between
from tripybuild.trace.location import Location, PythonLocation, here
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Shape, Value
from tripybuild.types.dims import Dim


class Pending(NamedTuple):
    """A graph that is to be computed.

    Args:
        operations: In the order of recording, without constants.
        elements: How many they read and write; sizes that depend on data count as one.
    """

    operations: list[TraceOp]
    elements: int


_serial = attrgetter("serial")


def pending(wanted: Value) -> Pending:
    """Find what a value still needs. It is one walk, since each result that is looked at asks.

    Raises:
        DiagnosticError: It depends on what is known only when a graph runs.
    """
    found: dict[TraceOp, None] = {}
    elements = 0
    stack = [wanted]
    while stack:
        operation = stack.pop().producer
        if isinstance(operation, Constant):
            if is_symbol(operation):
                raise DiagnosticError(_refused(wanted))
        elif operation is None:
            raise DiagnosticError(_refused(wanted))
        elif operation not in found:
            found[operation] = None
            read = operation.reads()
            stack += read
            for value in read + operation.outputs:
                size = prod(value.type.shape)
                elements += size if isinstance(size, int) else _known_sizes(value.type.shape)
    return Pending(sorted(found, key=_serial) if len(found) > 1 else list(found), elements)


def _known_sizes(shape: Shape) -> int:
    return prod([size for size in shape if isinstance(size, int)])


def _refused(wanted: Value) -> Diagnostic:
    """What is said of the first operation that depends on what is not known yet."""
    for operation in between(frozenset(), [wanted]):
        if isinstance(operation, Constant):
            if is_symbol(operation):
                return symbolic(operation.data.value)
            continue
        for operand in operation.reads():
            if operand.producer is None:
                return _unknown(operand, operation.location)
    return _unknown(wanted, None)


def is_symbol(constant: Constant) -> bool:
    """Whether a constant is a size that is known only when a graph runs."""
    return isinstance(constant.data.value, Dim)


def symbolic(size: object) -> Diagnostic:
    """What is said where the number is asked for that a symbol stands for, at the user's line."""
    message = f"the size `{size}` is known only when the graph runs"
    hint = "use it as it is: in shapes, in slices, or with other sizes"
    return Diagnostic("not-known-yet", message, here(PACKAGES).span(), hint=hint)


def _unknown(value: Value, reads: Location | None) -> Diagnostic:
    """What is said of a value that depends on an input, which an operation at a place reads."""
    if isinstance(value, Unset):
        span = None if reads is None else reads.span()
        return missing(value.name or "without a name", value.type, span)
    message = (
        f"this cannot be computed now: it depends on the input `{value.name}`, of {value.type}"
    )
    hint = (
        "a graph is being recorded, whose inputs are known when it runs; `where` and `cond` choose "
        "then"
    )
    asked = here(PACKAGES)
    span = asked.span() if isinstance(asked, PythonLocation) or reads is None else reads.span()
    related = (
        (Related("the input is read here", reads.span()),)
        if isinstance(reads, PythonLocation) and reads.span() != span
        else ()
    )
    return Diagnostic("not-known-yet", message, span, hint=hint, related=related)
