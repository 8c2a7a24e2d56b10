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


def decomposed(
    operation: TraceOp, target: str = "reference"
) -> tuple[Sequence[TraceOp], Sequence[Value]]:
    """The operations that one operation stands for, in order, and the values of its outputs.

    Raises:
        DiagnosticError: Where the declaration gives no decomposition. It may say why, for a target.
    """
    function = decomposition(type(operation))
    if function is None:
        declaration = operation.declaration
        why = declaration.refuses.get(target, "It has neither a lowering nor a decomposition.")
        message = f"`{declaration.name}` cannot be run by `{target}`"
        notes = (f"declared in {declaration.source}",)
        span = operation.location.span()
        raise DiagnosticError(Diagnostic("no-decompose", message, span, why, notes))
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
