"""An operation said with other operators, recorded afresh."""

from collections.abc import Sequence

from tripybuild.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.record import unwrapped
from tripybuild.frontend.tensor import Tensor
from tripybuild.trace.generated import decomposition
from tripybuild.trace.graph import between
from tripybuild.trace.location import at
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Value


def decomposed(operation: TraceOp) -> tuple[Sequence[TraceOp], Sequence[Value]]:
    """The operations that one operation stands for, in order, and the values of its outputs.

    Raises:
        DiagnosticError: Where the declaration gives no decomposition.
    """
    function = decomposition(type(operation))
    if function is None:
        name = operation.operator
        message = f"`{name}` has neither a lowering for this target nor a decomposition"
        raise DiagnosticError(Diagnostic("no-decompose", message, operation.location.span()))
    with at(operation.location):
        result = function(operation, *operands(operation))
    outputs = unwrapped(result if isinstance(result, (tuple, list)) else [result])
    return between(set(operation.reads()), outputs), outputs


def operands(operation: TraceOp) -> list[Tensor | list[Tensor] | None]:
    """The inputs of an operation as tensors, in the order of its fields; None where left out."""
    given: list[Tensor | list[Tensor] | None] = []
    for name in operation.tensor_fields():
        argument = getattr(operation, name)
        if isinstance(argument, tuple):
            given.append([Tensor.of(value) for value in argument])
        else:
            given.append(None if argument is None else Tensor.of(argument))
    return given
