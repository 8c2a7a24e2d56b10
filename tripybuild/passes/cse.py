"""`cse`: what is equal is computed once.

Two ops are equal if they are of one class, use the same values, and have equal attributes, regions
and result types; their places do not matter. Only ops without effects are shared, and an op sees
those before it in its own block and in the blocks around it, up to what is isolated from above.
"""

from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.ir import Operation, Region

from tripybuild.passes.effects import is_dead, is_isolated, is_shareable

# Ops by class and operands; ops without operands (constants) by their attributes, too.
Known = dict[tuple[object, ...], list[Operation]]


def run(module: ModuleOp) -> None:
    """Share equal ops, and remove those that nobody uses."""
    for region in module.regions:
        _simplify_region(region, [])


def _simplify_region(region: Region, outer: list[Known]) -> None:
    """Blocks after the first see what it knows, which dominates them, and not each other."""
    first: list[Known] | None = None
    for block in region.blocks:
        scope: list[Known] = [*(first or outer), {}]
        first = first or scope
        for op in list(block.ops):
            _simplify(op, scope)


def _simplify(op: Operation, scope: list[Known]) -> None:
    if is_dead(op):
        _erase(op)
        return
    if not is_shareable(op):
        _enter(op, scope)
        return
    key = _key(op)
    for known in scope:
        for candidate in known.get(key, ()):
            if _equal(op, candidate):
                _share(op, candidate)
                return
    scope[-1].setdefault(key, []).append(op)
    _enter(op, scope)


def _enter(op: Operation, scope: list[Known]) -> None:
    for region in op.regions:
        _simplify_region(region, [] if is_isolated(op) else scope)


def _key(op: Operation) -> tuple[object, ...]:
    operands = op.operands
    if len(operands):
        return (type(op), *map(id, operands))
    return (type(op), frozenset(op.properties.items()))


def _equal(op: Operation, other: Operation) -> bool:
    return (
        op.properties == other.properties
        and op.attributes == other.attributes
        and all(a.type == b.type for a, b in zip(op.results, other.results, strict=True))
        and all(
            a.is_structurally_equivalent(b) for a, b in zip(op.regions, other.regions, strict=True)
        )
    )


def _share(op: Operation, first: Operation) -> None:
    for old, new in zip(op.results, first.results, strict=True):
        old.replace_all_uses_with(new)
    if isinstance(first.location, UnknownLoc):
        first.location = op.location
    _erase(op)


def _erase(op: Operation) -> None:
    assert op.parent is not None
    op.parent.erase_op(op)
