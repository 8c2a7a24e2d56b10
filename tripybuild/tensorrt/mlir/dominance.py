"""Dominance of blocks in a region.

Invariant: a block that is never run is after all others, as in MLIR.
"""

from xdsl.ir import Block, Region


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
