"""Decomposition cache: recorded once per operation form.

Invariant: a composition holds no tensor of the call that it was recorded for. It reads stand-ins of
the same types, which are known, as is all that a tensor that is looked at depends on.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tripybuild.frontend.decompose import decompose_operation
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import copy_operations
from tripybuild.trace.structural_key import operation_key
from tripybuild.trace.values import Value, leave_scope

MOST = 1024  # forms of operations


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
