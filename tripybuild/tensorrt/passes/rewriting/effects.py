"""Side effects: pure ops may be removed, shared or moved."""

from collections.abc import Iterator
from functools import cache

from xdsl.ir import Operation
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    MemoryEffect,
    NoMemoryEffect,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)

from tripybuild.tensorrt.mlir.structure import child_ops


@cache
def _is_terminator_or_symbol(op_class: type[Operation]) -> bool:
    return op_class.has_trait(IsTerminator) or op_class.has_trait(SymbolOpInterface)


@cache
def _free(op_class: type[Operation]) -> bool | None:
    """Whether ops of a class are free of effects; None where their regions decide."""
    effects = op_class.get_traits_of_type(MemoryEffect)  # type: ignore[type-abstract]
    if not all(isinstance(effect, NoMemoryEffect | RecursiveMemoryEffect) for effect in effects):
        return False
    if any(isinstance(effect, RecursiveMemoryEffect) for effect in effects):
        return None
    return bool(effects)


@cache
def _has_isolated_trait(op_class: type[Operation]) -> bool:
    return op_class.has_trait(IsolatedFromAbove)


def walk_ops(op: Operation) -> Iterator[Operation]:
    """The ops inside of an op, each before those inside of it; xDSL's `walk` looks into each."""
    for child in child_ops(op):
        yield child
        if child.regions:
            yield from walk_ops(child)


def is_pure(op: Operation) -> bool:
    """Whether an op has no effect but its results (terminators inside of it have none either)."""
    free = _free(type(op))
    if free is not None:
        return free
    return all(is_pure(child) or child.has_trait(IsTerminator) for child in child_ops(op))


def is_dead(op: Operation) -> bool:
    """Whether an op is dead: unused and without side effects."""
    for result in op.results:
        if result.first_use is not None:
            return False
    return not _is_terminator_or_symbol(type(op)) and is_pure(op)


def is_shareable(op: Operation) -> bool:
    """Whether two equal ops of the kind can be one."""
    return is_pure(op) and not _is_terminator_or_symbol(type(op))


def has_isolated_scope(op: Operation) -> bool:
    """Whether nothing inside of an op sees values from outside."""
    return _has_isolated_trait(type(op))
