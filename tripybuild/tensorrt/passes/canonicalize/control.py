"""Control-flow canonicalization: unused results and loop-invariant arguments are removed.

mlir-tensorrt leaves these to TensorRT; a result less is a layer less, and a smaller engine.
A carried value is a lane: its first value, an argument of each region, what each region's end gives
for it, and a result.
"""

from collections.abc import Sequence

from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue

from tripybuild.tensorrt.dialect import ForOp, IfOp, WhileOp
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter

_Loop = ForOp | WhileOp


def _end(region: Region) -> Operation:
    end = region.block.last_op
    assert end is not None
    return end


def fold_common_yields(op: IfOp, rewriter: PatternRewriter) -> bool:
    """A result for which both regions give one value from outside is that value."""
    yielded = zip(*(_end(region).operands for region in op.regions), strict=True)
    found = False
    for result, (true, false) in zip(op.results, yielded, strict=True):
        used = result.first_use is not None
        if used and true is false and true.type == result.type:  # so it comes from outside
            rewriter.replace_uses(result, true)
            found = True
    return found


def _replace(
    op: IfOp | _Loop, kept: Sequence[int], operands: Sequence[object], rewriter: PatternRewriter
) -> None:
    """Put an op that has fewer results, and the same regions, for one."""
    types: list[Attribute] = [op.results[index].type for index in kept]
    regions = [op.detach_region(region) for region in tuple(op.regions)]
    made = rewriter.create(type(op), *operands, regions=regions, result_types=[types])
    made.attributes.update(op.attributes)
    for index, result in zip(kept, made.results, strict=True):
        rewriter.replace_uses(op.results[index], result)
    rewriter.erase(op)


def drop_dead_results(op: IfOp, rewriter: PatternRewriter) -> bool:
    """Remove unused results; an op without results is left to the driver."""
    kept = [index for index, result in enumerate(op.results) if result.first_use is not None]
    if not kept or len(kept) == len(op.results):
        return False
    for region in op.regions:
        end = _end(region)
        end.operands = [end.operands[index] for index in kept]
        rewriter.touch(end)
    _replace(op, kept, [op.condition], rewriter)
    return True


def _first(op: _Loop) -> Sequence[SSAValue]:
    """The first values that a loop carries."""
    return tuple(op.init if isinstance(op, ForOp) else op.carried)


def _carries(op: _Loop) -> list[list[tuple[BlockArgument, int]]] | None:
    """The argument of each region, and the place in the region's end, for each carried value.

    None if a region gives another number of values than it takes.
    """
    lanes: list[list[tuple[BlockArgument, int]]] = [[] for _ in _first(op)]
    for region in op.regions:
        arguments, end = region.block.args, _end(region)
        taken = arguments[len(arguments) - len(lanes) :] if isinstance(op, ForOp) else arguments
        before = len(end.operands) - len(lanes)  # a loop's condition
        if len(taken) != len(lanes) or before not in {0, 1}:
            return None
        for index, argument in enumerate(taken):
            lanes[index].append((argument, index + before))
    return lanes if len(op.results) == len(lanes) else None


def _feeds_only_itself(argument: BlockArgument, place: int) -> bool:
    """Whether nothing but its own place in the region's end uses an argument."""
    end = argument.block.last_op
    return all(use.operation is end and use.index == place for use in argument.uses)


def fold_invariant_carries(op: _Loop, rewriter: PatternRewriter) -> bool:
    """A carried value that is never given another one is its first one, inside and outside."""
    found = False
    for index, lane in enumerate(_carries(op) or ()):
        first, result = _first(op)[index], op.results[index]
        ends = [(_end(argument.block.parent), place) for argument, place in lane]  # type: ignore[arg-type]
        stays = all(
            end.operands[place] in {argument, first}
            for (end, place), (argument, _) in zip(ends, lane, strict=True)
        )
        idle = result.first_use is None and all(_feeds_only_itself(*each) for each in lane)
        if not stays or idle or result.type != first.type:
            continue
        for (end, place), (argument, _) in zip(ends, lane, strict=True):
            rewriter.replace_uses(argument, first)
            end.operands[place] = argument
        rewriter.replace_uses(result, first)
        found = True
    return found


def drop_dead_carries(op: _Loop, rewriter: PatternRewriter) -> bool:
    """A carried value that only carries itself goes; the last one goes with the loop."""
    lanes = _carries(op) or []
    kept = [
        index
        for index, lane in enumerate(lanes)
        if op.results[index].first_use is not None
        or not all(_feeds_only_itself(*each) for each in lane)
    ]
    if not kept or len(kept) == len(lanes):
        return False
    gone = [lane for index, lane in enumerate(lanes) if index not in kept]
    for region, places in zip(op.regions, zip(*gone, strict=True), strict=True):
        end, dropped = _end(region), {place for _, place in places}
        end.operands = [v for place, v in enumerate(end.operands) if place not in dropped]
        for argument, _ in places:
            region.block.erase_arg(argument)
        rewriter.touch(end)
    first = [_first(op)[index] for index in kept]
    bounds = [op.lb, op.ub, op.step] if isinstance(op, ForOp) else []
    _replace(op, kept, [*bounds, first], rewriter)
    return True


PATTERNS = (
    Pattern("agreed", IfOp, fold_common_yields, "fewer results"),
    Pattern("used results", IfOp, drop_dead_results, "fewer results"),
    Pattern(
        "unchanged", (ForOp, WhileOp), fold_invariant_carries, "what does not change is not carried"
    ),
    Pattern("used lanes", (ForOp, WhileOp), drop_dead_carries, "fewer recurrences"),
)
