"""Structural verifier: regions, functions, symbols, uses and dominance, for any dialect.

Invariant: a block that is never run is after all others, as in MLIR; xDSL's `DominanceInfo` lets
such blocks take part.
"""

from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    SingleBlockImplicitTerminator,
    SymbolTable,
)

from tripybuild.tensorrt.mlir.locations import span_of
from tripybuild.tensorrt.mlir.writing.printer import text


class Dominance:
    """The blocks of a region that come before each of its blocks, itself among them."""

    def __init__(self, region: Region) -> None:
        order = _reachable_blocks(region)
        before: dict[Block, list[Block]] = {block: [] for block in order}
        for block in order:
            for successor in _successors(block):
                before[successor].append(block)
        everything = frozenset(order)
        self._found = dict.fromkeys(order[1:], everything) | {
            block: frozenset({block}) for block in order[:1]
        }
        changed = True
        while changed:
            changed = False
            for block in order[1:]:
                common = frozenset.intersection(*(self._found[each] for each in before[block]))
                if (now := common | {block}) != self._found[block]:
                    self._found[block], changed = now, True

    def dominates(self, earlier: Block, later: Block) -> bool:
        """Whether a block is always run before another."""
        found = self._found.get(later)
        return found is None or earlier in found


def _successors(block: Block) -> list[Block]:
    return [] if block.last_op is None else list(block.last_op.successors)


def _reachable_blocks(region: Region) -> list[Block]:
    """Give the blocks that can be run, the entry first."""
    entry = region.blocks.first
    found = [] if entry is None else [entry]
    for block in found:
        found.extend(each for each in dict.fromkeys(_successors(block)) if each not in found)
    return found


Finding = tuple[Operation, str, tuple[str, ...]]


def problems(operation: Operation) -> Iterator[Finding]:
    """Give what is wrong with the regions of an operation as such."""
    for region in operation.regions:
        yield from _terminators(operation, region)
    if operation.has_trait(SymbolTable, value_if_unregistered=False):
        yield from _symbols(operation)
    if operation.has_trait(IsolatedFromAbove, value_if_unregistered=False):
        yield from _isolation_problems(operation)


def _terminators(operation: Operation, region: Region) -> Iterator[Finding]:
    if operation.has_trait(NoTerminator, value_if_unregistered=True):
        return
    for block in region.blocks:
        last = block.last_op
        if last is None:
            yield operation, "empty block: expect at least a terminator", ()
        elif not last.has_trait(IsTerminator, value_if_unregistered=True):
            yield last, f"block with no terminator, has {text(last)}", ()


def implicit_terminators(operation: Operation) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Find the first region that ends with another operation than the one that may be left out."""
    for trait in operation.get_traits_of_type(SingleBlockImplicitTerminator):
        for block in (block for region in operation.regions for block in region.blocks):
            last = block.last_op
            if last is not None and not isinstance(last, trait.op_type):
                name = trait.op_type.name
                note = f"in custom textual format, the absence of terminator implies '{name}'"
                yield f"expects regions to end with '{name}', found '{last.name}'", (note,)
                return


def _symbols(operation: Operation) -> Iterator[Finding]:
    seen = dict[str, Operation]()
    for each in child_ops(operation):
        name = each.properties.get("sym_name", each.attributes.get("sym_name"))
        if isinstance(name, StringAttr):
            first = seen.setdefault(name.data, each)
            if first is not each:
                note = f"see existing symbol definition here: {span_of(first.location)}"
                yield each, f"redefinition of symbol named '{name.data}'", (note,)


def child_ops(operation: Operation) -> Iterator[Operation]:
    """Give the operations directly inside of an operation."""
    for region in operation.regions:
        for block in region.blocks:
            yield from block.ops


def _isolation_problems(operation: Operation) -> Iterator[Finding]:
    """Find the first value of outside that is used inside of what is isolated."""
    regions = set(operation.regions)
    for each in operation.walk():
        if each is not operation:
            for value in each.operands:
                if isinstance(value, ForwardDeclaredValue):
                    yield each, f"'{each.name}' op uses a value that nothing defines", ()
                    return
                if not _is_within(value, regions):
                    note = "required by region isolation constraints"
                    message = f"'{each.name}' op using value defined outside the region"
                    yield each, message, (note,)
                    return


def _is_within(value: SSAValue, regions: set[Region]) -> bool:
    """Whether a value is defined in one of some regions, or deeper."""
    owner = value.owner
    region = owner.parent if isinstance(owner, Block) else owner.parent_region()
    while region is not None and region not in regions:
        parent = region.parent
        region = None if parent is None else parent.parent_region()
    return region is not None


def function_problems(operation: FuncOp) -> Iterator[str]:
    """Give what is wrong with a function, without its body."""
    inputs = operation.function_type.inputs.data
    for name, attributes, count in (
        ("argument", operation.arg_attrs, len(inputs)),
        ("result", operation.res_attrs, len(operation.function_type.outputs.data)),
    ):
        if attributes is not None and len(attributes) != count:
            yield (
                f"expects {name} attribute array to have the same number of elements as the "
                f"number of function {name}s, got {len(attributes)}, but expected {count}"
            )
    entry = operation.body.blocks.first
    if entry is None:
        return
    if len(entry.args) != len(inputs):
        yield f"entry block must have {len(inputs)} arguments to match function signature"
    for index, (argument, type) in enumerate(zip(entry.args, inputs, strict=False)):
        if argument.type != type:
            yield (
                f"type of entry block argument #{index}('{argument.type}') must match the type of "
                f"the corresponding argument in function signature('{type}')"
            )


def return_problems(operation: ReturnOp) -> Iterator[str]:
    """Compare what a function returns with what it says."""
    parent, block = operation.parent_op(), operation.parent
    if block is not None and block.last_op is not operation:
        yield "'func.return' op must be the last operation in the parent block"
        return
    if not isinstance(parent, FuncOp):
        yield "'func.return' op expects parent op 'func.func'"
        return
    wanted, name = parent.function_type.outputs.data, parent.sym_name.data
    if len(wanted) != len(operation.operands):
        yield (
            f"'func.return' op has {len(operation.operands)} operands, but enclosing function "
            f"(@{name}) returns {len(wanted)}"
        )
        return
    for index, (value, type) in enumerate(zip(operation.operands, wanted, strict=True)):
        if value.type != type:
            yield (
                f"type of return operand {index} ('{value.type}') doesn't match function result "
                f"type ('{type}') in function @{name}"
            )
            return


def dominance_problems(operation: Operation) -> Iterator[Finding]:
    """Find operands that are used where their definition does not come before."""
    for region in operation.regions:
        ordered = not operation.has_trait(NoTerminator, value_if_unregistered=True)
        several = len(region.blocks) > 1
        dominance = Dominance(region) if several and ordered else None
        for block in region.blocks:
            yield from _block_dominance_problems(block, dominance, ordered=ordered)


def _block_dominance_problems(
    block: Block, dominance: Dominance | None, *, ordered: bool
) -> Iterator[Finding]:
    seen = set[SSAValue](block.args)
    for operation in block.ops:
        if ordered:
            for index, value in enumerate(operation.operands):
                if not _precedes(value, block, seen, dominance):
                    yield operation, f"operand #{index} does not dominate this use", ()
        seen.update(operation.results)
        yield from dominance_problems(operation)


def _precedes(
    value: SSAValue, block: Block, seen: set[SSAValue], dominance: Dominance | None
) -> bool:
    if value in seen:
        return True
    owner = value.owner
    home = owner if isinstance(owner, Block) else owner.parent
    if home is block:
        return False
    if home is None or home.parent is not block.parent:
        return True  # of a region around: what is isolated is checked apart
    return dominance is not None and dominance.dominates(home, block)
