"""`cse`: common subexpression elimination.

Two ops are equal if they are of one class, use the same values, and have equal attributes, regions
and result types; their places do not matter. Only ops without effects are shared, and an op sees
those before it in its own block and in the blocks around it, up to what is isolated from above.
"""

from xdsl.dialects.builtin import ModuleOp, UnknownLoc
from xdsl.ir import Operation, Region

from tripybuild.tensorrt.passes.rewriting.effects import has_isolated_scope, is_dead, is_shareable

# Ops by class and operands; ops without operands (constants) by their attributes, too.
Known = dict[tuple[object, ...], list[Operation]]


def run(module: ModuleOp) -> bool:
    """Eliminate common subexpressions and dead ops; True if any changed."""
    return sum(_simplify_region(region, []) for region in module.regions) > 0


def _simplify_region(region: Region, outer: list[Known]) -> int:
    """Blocks after the first see what it knows, which dominates them, and not each other."""
    first: list[Known] | None = None
    removed = 0
    for block in region.blocks:
        scope: list[Known] = [*(first or outer), {}]
        first = first or scope
        removed += sum(_simplify(op, scope) for op in list(block.ops))
    return removed


def _simplify(op: Operation, scope: list[Known]) -> int:
    """How many ops are gone."""
    if is_dead(op):
        return _erase(op)
    if not is_shareable(op):
        return _enter(op, scope)
    key = _key(op)
    for known in scope:
        for candidate in known.get(key, ()):
            if _equal(op, candidate):
                return _share(op, candidate)
    scope[-1].setdefault(key, []).append(op)
    return _enter(op, scope)


def _enter(op: Operation, scope: list[Known]) -> int:
    if not op.regions:
        return 0
    inner = [] if has_isolated_scope(op) else scope
    return sum(_simplify_region(region, inner) for region in op.regions)


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


def _share(op: Operation, first: Operation) -> int:
    for old, new in zip(op.results, first.results, strict=True):
        old.replace_all_uses_with(new)
    if isinstance(first.location, UnknownLoc):
        first.location = op.location
    return _erase(op)


def _erase(op: Operation) -> int:
    assert op.parent is not None
    op.parent.erase_op(op)
    return 1
