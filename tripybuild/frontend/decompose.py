"""Decomposition: an operation recorded anew with other operators, once for each of its forms.

Invariant: a cached decomposition holds no tensor of the call that it was recorded for. It reads
stand-ins of the same types, which are known, as is all that a tensor that is looked at depends on.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.record import unwrap
from tripybuild.frontend.tensor import Tensor
from tripybuild.trace.generated_code import decomposition_function
from tripybuild.trace.graph import operations_between
from tripybuild.trace.location import at
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region, copy_operations
from tripybuild.trace.structural_key import operation_key
from tripybuild.trace.values import Value, leave_scope

MOST = 1024  # forms of operations


def decompose_operation(
    operation: TraceOp, target: str = "reference"
) -> tuple[Sequence[TraceOp], Sequence[Value]]:
    """The operations that one operation stands for, in order, and the values of its outputs.

    Raises:
        DiagnosticError: Where the declaration gives no decomposition. It may say why, for a target.
    """
    function = decomposition_function(type(operation))
    if function is None:
        declaration = operation.declaration
        why = declaration.refuses.get(target, "It has neither a lowering nor a decomposition.")
        message = f"`{declaration.name}` cannot be run by `{target}`"
        notes = (f"declared in {declaration.source}",)
        span = operation.location.span()
        raise DiagnosticError(Diagnostic("no-decompose", message, span, why, notes))
    with at(operation.location):
        bodies = [inline_region(operation, region) for region in operation.bodies()]
        result = function(operation, *operands(operation), *bodies)
    outputs = unwrap(result if isinstance(result, (tuple, list)) else [result])
    return operations_between(set(operation.reads()), outputs), outputs


def inline_region(operation: TraceOp, region: Region) -> Callable[..., list[Tensor]]:
    """A region as a function on tensors, which records anew what is inside of it."""

    def function(*taken: Tensor) -> list[Tensor]:
        given = (*unwrap(taken), *operation.captured)
        values = dict(zip(region.parameters, given, strict=True))
        for _ in copy_operations(region.operations, values):
            pass
        return [Tensor.of(values[value]) for value in region.results]

    return function


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


class Decomposition(NamedTuple):
    """The operations that one stands for.

    Args:
        reads: What it reads: each tensor once, in the order of the fields.
        steps: Its operations in order, constants among them.
        gives: What stands for its outputs.
    """

    reads: tuple[Value, ...]
    steps: Sequence[TraceOp]
    gives: Sequence[Value]


_compositions: dict[object, Decomposition] = {}


def cached_decomposition(operation: TraceOp) -> Decomposition:
    """What an operation is made of.

    Raises:
        DiagnosticError: Its declaration gives no decomposition.
    """
    read = tuple(dict.fromkeys(operation.reads()))
    if operation.region_fields():  # whose functions are different each time
        return Decomposition(read, *decompose_operation(operation))
    numbers = {value: number for number, value in enumerate(read)}
    types = [(value.type.dtype, value.type.shape) for value in read]
    key = (operation_key(operation, numbers), *types)
    if key not in _compositions:
        if len(_compositions) >= MOST:
            _compositions.clear()
        _compositions[key] = _decompose(operation, read)
    return _compositions[key]


def _decompose(operation: TraceOp, read: tuple[Value, ...]) -> Decomposition:
    with leave_scope():
        stand_ins = [Value(value.type, name=value.name, weight=True) for value in read]
        values = dict(zip(read, stand_ins, strict=True))
        (copy,) = copy_operations([operation], values)
        return Decomposition(tuple(stand_ins), *decompose_operation(copy))
