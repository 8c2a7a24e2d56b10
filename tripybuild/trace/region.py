"""Regions: graphs nested in operations, such as branches or loop bodies.

Invariant: a region is closed. What it reads from outside are operands of its operation, `captured`,
and each region of the operation takes all of them behind its own arguments. So a walk along
operands never has to look inside.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass

from tripybuild.symbolic.dims import Dim, substitute_size
from tripybuild.trace.constants import Constant, Data
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import RegionScope, Size, TensorType, Value, is_static, leave_scope

Types = Callable[[TensorType], TensorType]


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A graph inside of an operation: what it takes, what it does in order, and what it gives."""

    parameters: tuple[Value, ...]
    operations: tuple[TraceOp, ...]
    results: tuple[Value, ...]

    def copy(
        self,
        change: Callable[[object], object] = lambda kept: kept,
        types: Types = lambda kept: kept,
        placed: Callable[[TraceOp], TraceOp] = lambda kept: kept,
    ) -> "Region":
        """The same graph with values of its own.

        Args:
            change: What becomes of an argument that is no value.
            types: What becomes of a type.
            placed: Called with each copied operation.
        """
        with leave_scope():
            takes = [Value(types(value.type), weight=is_static(value)) for value in self.parameters]
            values = dict(zip(self.parameters, takes, strict=True))
            operations = [
                placed(each) for each in copy_operations(self.operations, values, change, types)
            ]
        return Region(tuple(takes), tuple(operations), tuple(values[v] for v in self.results))

    def substitute(self, sizes: Mapping[str, Size]) -> "Region":
        """The same graph with sizes for symbols."""
        return self.copy(*substitution(sizes))


def copy_operations(
    operations: Iterable[TraceOp],
    values: MutableMapping[Value, Value],
    change: Callable[[object], object] = lambda kept: kept,
    types: Types = lambda kept: kept,
) -> Iterator[TraceOp]:
    """Copy operations, which read `values` instead of the keys; their outputs join `values`."""

    def substitute(argument: object) -> object:
        if isinstance(argument, Value):
            return values.get(argument, argument)
        if isinstance(argument, tuple):
            return tuple([substitute(item) for item in argument])
        return change(argument)

    for operation in operations:
        copy = operation.rebuild(substitute, types)
        values.update(zip(operation.outputs, copy.outputs, strict=True))
        yield copy


def substitution(sizes: Mapping[str, Size]) -> tuple[Callable[[object], object], Types]:
    """What becomes of an argument and of a type where sizes stand for symbols.

    A size that depends on data, which no call tells, stays a symbol.
    """
    known: dict[Dim, Size] = {}

    def number(size: Size) -> Size:
        if isinstance(size, int):
            return size
        if size not in known:
            known[size] = substitute_size(size, sizes)
        return known[size]

    def change(argument: object) -> object:
        if isinstance(argument, Dim):
            return number(argument)
        if isinstance(argument, Data | Region):
            return argument.substitute(sizes)
        return argument

    def fix_type(type: TensorType) -> TensorType:
        return TensorType(type.dtype, tuple([number(size) for size in type.shape]))

    return change, fix_type


def walk_operations(operations: Iterable[TraceOp]) -> Iterator[TraceOp]:
    """All operations, each before those of the graphs that it holds."""
    for operation in operations:
        yield operation
        for body in operation.bodies():
            yield from walk_operations(body.operations)


class LeakError(ValueError):
    """A value of a closed region was used outside of it."""


@dataclass(frozen=True, slots=True, eq=False)
class RegionDraft:
    """A region as it was recorded, with values from outside as they are.

    `region` is there where it was closed before; `rest` are the types of the outputs that nothing
    was asked of.
    """

    name: str
    parameters: tuple[Value, ...]
    results: tuple[Value, ...]
    operations: tuple[TraceOp, ...]
    captured: tuple[Value, ...]
    region: Region | None = None
    rest: tuple[TensorType, ...] = ()

    def close(self, captured: Sequence[Value]) -> Region:
        """The region, which takes these values from outside behind its own arguments."""
        known = (*self.parameters, *captured)
        with leave_scope():
            takes = tuple([Value(value.type, weight=is_static(value)) for value in known])
            values = dict(zip(known, takes, strict=True))
            operations = tuple(copy_operations(self.operations, values))
        return Region(takes, operations, tuple(values[value] for value in self.results))


def scope_operations(
    scope: RegionScope, gives: Sequence[Value]
) -> tuple[list[TraceOp], list[Value]]:
    """The operations of a scope that some values need, in order, and what they read from outside.

    Raises:
        LeakError: Where one of them is of another region, which is closed.
    """
    found: dict[TraceOp, None] = {}
    stack = [value.producer for value in gives if _is_local(value, scope)]
    while stack:
        operation = stack.pop()
        if operation is not None and operation not in found:
            found[operation] = None
            stack += [value.producer for value in operation.reads() if _is_local(value, scope)]
    operations = sorted(found, key=lambda operation: operation.serial)
    read = [value for operation in operations for value in operation.reads()]
    outside = dict.fromkeys(value for value in (*read, *gives) if not _is_local(value, scope))
    for value in outside:
        check_open(value)
    return operations, list(outside)


def check_open(value: Value) -> None:
    """Raise LeakError for a value of a region that is closed."""
    if value.scope is not None and value.scope.closed and not isinstance(value.producer, Constant):
        raise LeakError


def _is_local(value: Value, scope: RegionScope) -> bool:
    """Whether a value is of a scope. A constant of a closed one reads nothing: any may have it."""
    if value.scope is scope:
        return True
    lost = value.scope is not None and value.scope.closed
    return lost and isinstance(value.producer, Constant)
