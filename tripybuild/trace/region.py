"""Graphs inside of operations, such as the branches of a condition or the body of a loop.

Law: a region is closed. What it reads from outside are operands of its operation, `captured`, and
each region of the operation takes all of them behind its own arguments. So nobody who follows
operands has to look inside.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass

from tripybuild.symbolic.dims import Dim, evaluate
from tripybuild.trace.constants import Constant, Data
from tripybuild.trace.operation import TraceOp
from tripybuild.trace.values import Scope, Size, TensorType, Value, is_known, unscoped

Types = Callable[[TensorType], TensorType]


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """A graph inside of an operation: what it takes, what it does in order, and what it gives."""

    takes: tuple[Value, ...]
    operations: tuple[TraceOp, ...]
    gives: tuple[Value, ...]

    def copied(
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
        with unscoped():
            takes = [Value(types(value.type), weight=is_known(value)) for value in self.takes]
            values = dict(zip(self.takes, takes, strict=True))
            operations = [placed(each) for each in copied(self.operations, values, change, types)]
        return Region(tuple(takes), tuple(operations), tuple(values[v] for v in self.gives))

    def substituted(self, sizes: Mapping[str, int]) -> "Region":
        """The same graph with numbers for symbols."""
        return self.copied(*substitution(sizes))


def copied(
    operations: Iterable[TraceOp],
    values: MutableMapping[Value, Value],
    change: Callable[[object], object] = lambda kept: kept,
    types: Types = lambda kept: kept,
) -> Iterator[TraceOp]:
    """Copy operations, which read `values` instead of the keys; their outputs join `values`."""

    def changed(argument: object) -> object:
        if isinstance(argument, Value):
            return values.get(argument, argument)
        if isinstance(argument, tuple):
            return tuple([changed(item) for item in argument])
        return change(argument)

    for operation in operations:
        copy = operation.rebuilt(changed, types)
        values.update(zip(operation.outputs, copy.outputs, strict=True))
        yield copy


def substitution(sizes: Mapping[str, int]) -> tuple[Callable[[object], object], Types]:
    """What becomes of an argument and of a type where numbers stand for symbols.

    A size that depends on data, which no call tells, stays a symbol.
    """
    known: dict[Dim, Size] = {}

    def number(size: Size) -> Size:
        if isinstance(size, int):
            return size
        if size not in known:
            whole = sizes.keys() >= size.symbols
            known[size] = evaluate(size, sizes) if whole else size.substitute(sizes)
        return known[size]

    def change(argument: object) -> object:
        if isinstance(argument, Dim):
            return number(argument)
        if isinstance(argument, Data | Region):
            return argument.substituted(sizes)
        return argument

    def fixed(type: TensorType) -> TensorType:
        return TensorType(type.dtype, tuple([number(size) for size in type.shape]))

    return change, fixed


def walked(operations: Iterable[TraceOp]) -> Iterator[TraceOp]:
    """All operations, each before those of the graphs that it holds."""
    for operation in operations:
        yield operation
        for body in operation.bodies():
            yield from walked(body.operations)


class LeakError(ValueError):
    """A value of a region that is closed already is of no use to anybody else."""


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A region as it was recorded, with values from outside as they are.

    `region` is there where it was closed before; `rest` are the types of the outputs that nothing
    was asked of.
    """

    name: str
    takes: tuple[Value, ...]
    gives: tuple[Value, ...]
    operations: tuple[TraceOp, ...]
    captured: tuple[Value, ...]
    region: Region | None = None
    rest: tuple[TensorType, ...] = ()

    def closed(self, captured: Sequence[Value]) -> Region:
        """The region, which takes these values from outside behind its own arguments."""
        known = (*self.takes, *captured)
        with unscoped():
            takes = tuple([Value(value.type, weight=is_known(value)) for value in known])
            values = dict(zip(known, takes, strict=True))
            operations = tuple(copied(self.operations, values))
        return Region(takes, operations, tuple(values[value] for value in self.gives))


def inside(scope: Scope, gives: Sequence[Value]) -> tuple[list[TraceOp], list[Value]]:
    """The operations of a scope that some values need, in order, and what they read from outside.

    Raises:
        LeakError: Where one of them is of another region, which is closed.
    """
    found: dict[TraceOp, None] = {}
    stack = [value.producer for value in gives if _belongs(value, scope)]
    while stack:
        operation = stack.pop()
        if operation is not None and operation not in found:
            found[operation] = None
            stack += [value.producer for value in operation.reads() if _belongs(value, scope)]
    operations = sorted(found, key=lambda operation: operation.serial)
    read = [value for operation in operations for value in operation.reads()]
    outside = dict.fromkeys(value for value in (*read, *gives) if not _belongs(value, scope))
    for value in outside:
        check_open(value)
    return operations, list(outside)


def check_open(value: Value) -> None:
    """Raise LeakError for a value of a region that is closed."""
    if value.scope is not None and value.scope.closed and not isinstance(value.producer, Constant):
        raise LeakError


def _belongs(value: Value, scope: Scope) -> bool:
    """Whether a value is of a scope. A constant of a closed one reads nothing: any may have it."""
    if value.scope is scope:
        return True
    lost = value.scope is not None and value.scope.closed
    return lost and isinstance(value.producer, Constant)
