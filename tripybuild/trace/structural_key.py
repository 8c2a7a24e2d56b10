"""Structural keys: hashable forms of operations, independent of operand identity."""

from collections.abc import Mapping, Sequence

from tripybuild.trace.constants import Data
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.region import Region
from tripybuild.trace.values import Value

Numbers = Mapping[Value, int]


def operation_key(operation: TraceOp, numbers: Numbers | None = None) -> object:
    """The class of an operation with its arguments.

    Args:
        operation: The operation.
        numbers: What tensors are; None where it is enough to know which arguments are some.
    """
    found = [
        _argument_key(getattr(operation, name), numbers) for name in operation.__dataclass_fields__
    ]
    return type(operation), *found, *[_argument_key(each, numbers) for each in operation.captured]


def subgraph_key(
    begins: Sequence[Value], operations: Sequence[TraceOp], wanted: Sequence[Value]
) -> tuple[object, object]:
    """Operations with numbers for values: those of the values that they begin with come first."""
    numbers = {value: number for number, value in enumerate(begins)}
    found = []
    for each in operations:
        found.append(operation_key(each, numbers))
        for output in each.outputs:
            numbers[output] = len(numbers)
    return tuple(found), tuple([numbers[value] for value in wanted])


def _argument_key(argument: object, numbers: Numbers | None) -> object:
    """An argument that equals others only where they are of one type and mean the same."""
    if isinstance(argument, Value):
        return Value if numbers is None else (Value, numbers[argument])
    if isinstance(argument, tuple):
        return tuple([_argument_key(item, numbers) for item in argument])
    if isinstance(argument, Region):
        types = tuple([value.type for value in argument.parameters])
        return types, subgraph_key(argument.parameters, argument.operations, argument.results)
    if isinstance(argument, Data):
        return argument.digest
    return exact_key(argument)


def exact_key(argument: object) -> tuple[type, object]:
    """A number or another attribute that equals those only that mean the same."""
    kind = type(argument)
    # As text, -0.0 is not 0.0, and NaN is itself.
    return kind, repr(argument) if isinstance(argument, float) else argument
