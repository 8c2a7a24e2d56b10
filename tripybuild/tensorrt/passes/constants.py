"""Constant uniquing: equal constants become one at the function's entry, as MLIR's folder does."""

from collections.abc import Callable
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation

from tripybuild.tensorrt.dialect import ConstantOp
from tripybuild.tensorrt.passes.rewriting.effects import child_ops, has_isolated_scope

Key = tuple[type[Operation], Attribute, Attribute]
Constant = ConstantOp | arith.ConstantOp
_CONSTANTS = (ConstantOp, arith.ConstantOp)


class ConstantHoister:
    """The constants that one round has seen, by the block that they are gathered in."""

    def __init__(self, replace: Callable[..., None], visit: Callable[[Operation], None]) -> None:
        self._replace = replace
        self._visit = visit
        self._known: dict[int, dict[Key, Operation]] = {}
        self._owned: set[int] = set()
        self.changed = False

    def gather(self, module: ModuleOp, *, outer_first: bool) -> None:
        """Bring constants to the heads, and visit all ops that are left, in their order."""
        self._walk(module, None, outer_first)

    def _walk(self, op: Operation, head: Block | None, outer_first: bool) -> None:
        """Visit what is inside of an op, whose constants are gathered in `head`."""
        for child in list(child_ops(op)):
            if type(child) in _CONSTANTS and not self._merge(cast("Constant", child), head):
                continue
            if outer_first:
                self._visit(child)
            if child.regions:
                own = child.regions[0].blocks.first if has_isolated_scope(child) else head
                self._walk(child, own, outer_first)
            if not outer_first:
                self._visit(child)

    def _merge(self, op: Constant, head: Block | None) -> bool:
        """Whether a constant is the first of its value; if not, the first one is used instead."""
        block = head or op.parent
        assert block is not None
        known = self._known.setdefault(id(block), {})
        value = op.weights if isinstance(op, ConstantOp) else op.value
        first = known.setdefault((type(op), value, op.results[0].type), op)
        if first is not op:
            self._replace(op, first)
            self.changed = True
            return False
        if op.parent is not block or not self._in_front(op):
            front = block.first_op
            assert front is not None
            if op.parent is not None:
                op.parent.detach_op(op)
            block.insert_op_before(op, front)
            self.changed = True
        self._owned.add(id(op))
        return True

    def _in_front(self, op: Operation) -> bool:
        """Whether only gathered constants stand before an op."""
        return op.prev_op is None or id(op.prev_op) in self._owned
