"""Graphs that somebody looks at: which engine computes them, and what becomes of their history."""

from typing import TYPE_CHECKING

from tripybuild.diagnostics import Diagnostic, DiagnosticError, Related
from tripybuild.eager.blame import blamed
from tripybuild.eager.parameters import Unset, missing
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.logger import logger
from tripybuild.trace import printer
from tripybuild.trace.constants import Constant, settle
from tripybuild.trace.graph import Graph, between
from tripybuild.trace.location import Location, PythonLocation, here
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Value
from tripybuild.types.dims import Dim

if TYPE_CHECKING:
    from tripybuild.numerics.arrays import Array

# Elements that all operations of a graph read and write; constants do neither. NumPy needs some
# microseconds for each operation and a compiler tens of milliseconds for the first call: this many
# take one millisecond.
SMALL = 1 << 16


def array_of(value: Value) -> "Array":
    """What a value holds; it is computed now if it was not yet.

    Raises:
        DiagnosticError: It depends on something that is known only when a model runs.
    """
    if not isinstance(value.producer, Constant) or _is_symbol(value.producer):
        evaluate([value])
    assert isinstance(value.producer, Constant)
    return value.producer.data.array


def evaluate(values: list[Value]) -> None:
    """Compute values together, and keep what they hold in the place of how it was asked for."""
    operations = between(frozenset(), values)
    _known(operations, values)
    logger.trace(lambda: printer.text(_graph(values)))
    with logger.timed(
        lambda: f"compute {', '.join(each.name or str(each.type) for each in values)}"
    ):
        computed = _computed(operations, values)
    for value, array in zip(values, computed, strict=True):
        settle(value, array)


def _graph(values: list[Value]) -> Graph:
    return Graph("eager", {}, {}, {f"output{i}": value for i, value in enumerate(values)})


def _known(operations: list[TraceOp], values: list[Value]) -> None:
    """Refuse what depends on the inputs of a graph that is being recorded."""
    for operation in operations:
        if isinstance(operation, Constant):
            if _is_symbol(operation):
                raise DiagnosticError(symbolic(operation.data.value))
            continue
        for operand in operation.reads():
            if operand.producer is None:
                raise DiagnosticError(_unknown(operand, operation.location))
    for value in values:
        if value.producer is None:
            raise DiagnosticError(_unknown(value, None))


def _is_symbol(constant: Constant) -> bool:
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


def _computed(operations: list[TraceOp], values: list[Value]) -> "list[Array]":
    try:
        return _by_engine(operations, values)
    except DiagnosticError:
        asked = here(PACKAGES)
        if not isinstance(asked, PythonLocation):
            raise
        with blamed(operations, asked.span(), "computed"):
            raise


def _by_engine(operations: list[TraceOp], values: list[Value]) -> "list[Array]":
    if is_small(operations):
        from tripybuild.eager import interpret  # noqa: PLC0415 - NumPy

        return interpret.computed(operations, values)
    from tripybuild.eager import programs  # noqa: PLC0415 - heavy

    return programs.computed(operations, values)


def is_small(operations: list[TraceOp]) -> bool:
    """Whether a graph is worth no compiler. It follows from its shapes alone.

    Sizes that depend on data count as one: no compiler takes them.
    """
    elements = 0
    for operation in operations:
        if isinstance(operation, Constant):
            continue
        for value in operation.reads() + operation.outputs:
            of_value = 1
            for size in value.shape:
                if not isinstance(size, Dim):
                    of_value *= size
            elements += of_value
        if elements > SMALL:
            return False
    return True
