"""Greedy rewrite driver: applies tables of patterns until a fixed point.

The driver goes the way of MLIR's, so that modules come out in the order that mlir-tensorrt's users
expect: from the last op to the first (only `canonicalize` goes top down); dead ops go; an op is
folded, or else given to the patterns of its class by falling benefit; what a change touches is
looked at again, last change first; equal constants become one at the head of their function.

A pattern is a row of data. Its function gets an op of the root class and the `Rewriter`, and gives
True if it changed something; it must not touch anything before it is sure. A folder gets an op, and
gives None (nothing to fold), `()` (changed in place) or one value, attribute or array per result.

    def relu(op: ElementWiseOp, rewriter: Rewriter) -> bool:
        if op.value("elementwise_operation") != "kMAX" or splat(op.input2) != 0:
            return False
        return rewriter.replace_with(op, ActivationOp, op.input1, activation_type="kRELU")

    PATTERNS = (Pattern("relu", ElementWiseOp, relu, "TensorRT fuses activations only"),)

    def run(module: ModuleOp) -> bool:
        return greedy(module, PATTERNS, FOLDERS)
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tripybuild.tensorrt.dialect import ConstantOp
from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.mlir.structure import child_ops
from tripybuild.tensorrt.passes.rewriting.effects import has_isolated_scope, is_dead, walk_ops


class Worklist:
    """A stack of ops, without duplicates, from which an op can be taken out of turn."""

    def __init__(self) -> None:
        self._ops: dict[int, Operation] = {}  # by identity: an op's hash is computed in Python

    def __len__(self) -> int:
        return len(self._ops)

    def push(self, op: Operation) -> None:
        """Put an op on top, unless it waits already."""
        self._ops.setdefault(id(op), op)

    def reverse(self) -> None:
        """Turn the stack over: what was pushed first is taken first."""
        self._ops = dict(reversed(self._ops.items()))

    def pop(self) -> Operation | None:
        """Take the op on top; None says that nothing waits."""
        return self._ops.popitem()[1] if self._ops else None

    def forget(self, op: Operation) -> None:
        """Take out an op that is erased."""
        self._ops.pop(id(op), None)


Key = tuple[type[Operation], Attribute, Attribute]
Constant = ConstantOp | arith.ConstantOp
_CONSTANTS = (ConstantOp, arith.ConstantOp)


class ConstantHoister:
    """The constants that one round has seen, by the block that they are gathered in."""

    def __init__(self, replace: Callable[..., object], visit: Callable[[Operation], None]) -> None:
        self._replace = replace
        self._visit = visit
        self._known: dict[int, dict[Key, Operation]] = {}
        self._owned: set[int] = set()
        self.changed = False

    def gather(self, op: Operation, head: Block | None = None, *, outer_first: bool) -> None:
        """Bring constants inside of an op to the head, and visit all ops that are left, in order.

        What is isolated from above has a head of its own.
        """
        for child in list(child_ops(op)):
            if type(child) in _CONSTANTS and not self._merge(cast("Constant", child), head):
                continue
            if outer_first:
                self._visit(child)
            if child.regions:
                own = child.regions[0].blocks.first if has_isolated_scope(child) else head
                self.gather(child, own, outer_first=outer_first)
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


MOST_ROUNDS = 10  # as in MLIR; patterns that undo each other end here,
LOOKS = 100  # or where a round looks at an op so often

Folded = SSAValue | Attribute | np.ndarray[Any, Any]
Folder = Callable[[Any], Sequence[Folded] | None]
Folders = Mapping[type[Operation], Folder]
Made = TypeVar("Made", bound=Operation)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A rewrite of ops of a class; `why` is what the result is good for."""

    name: str
    root: type[Operation] | tuple[type[Operation], ...]
    rewrite: Callable[[Any, "PatternRewriter"], bool]
    why: str
    benefit: int = 1


class PatternRewriter:
    """The only hand that changes ops while the driver runs, so that it knows what to revisit.

    New ops go before the root, with its location.
    """

    def __init__(self) -> None:
        self.worklist = Worklist()
        self.changed = False
        self._root: Operation | None = None

    def start(self, root: Operation) -> None:
        """What follows is about this op."""
        self._root = root

    def insert(self, op: Made) -> Made:
        """Put a new op in its place."""
        root = self._root
        assert root is not None
        assert root.parent is not None
        root.parent.insert_op_before(op, root)
        self.worklist.push(op)
        self.changed = True
        return op

    def create(
        self, op_class: type[Made], *operands: Any, location: Any = None, **attributes: Any
    ) -> Made:
        """Make an op with its `make`, at the root's location unless another is given."""
        if location is None and self._root is not None:
            location = self._root.location
        made: Made = op_class.make(*operands, location=location, **attributes)  # type: ignore[attr-defined]
        return self.insert(made)

    def value(self, op_class: type[Operation], *operands: Any, **attributes: Any) -> SSAValue:
        """Make an op of one result, and give that."""
        return self.create(op_class, *operands, **attributes).results[0]

    def clone(self, op: Operation, operands: Sequence[SSAValue], type_: Attribute) -> SSAValue:
        """Make an op as it is, of other operands and with another type of its result."""
        new = type(op).create(
            operands=operands,
            result_types=[type_],
            properties=op.properties.copy(),
            attributes=op.attributes.copy(),
        )
        new.location = op.location
        return self.insert(new).results[0]

    def constant(self, value: np.ndarray[Any, Any] | Attribute, type: Attribute) -> SSAValue:
        """A constant of a tensor type: an array (rounded as the type keeps it), or elements."""
        if isinstance(value, np.ndarray):
            assert isinstance(type, TensorType)
            dtype = elements.dtype_of(type.element_type)
            rounded = elements.map_elements(lambda each: each.astype(dtype, copy=False), value)
            value = elements.from_numpy(rounded, type)
        return self.value(ConstantOp, weights=value, result_types=[type])

    def replace(self, op: Operation, *new: SSAValue | Operation) -> bool:
        """Let all that uses an op use these values, one per result (or an op's), and erase it.

        It gives True, with which a pattern that changed something ends.
        """
        values: Sequence[SSAValue] = (
            new[0].results if len(new) == 1 and isinstance(new[0], Operation) else new  # type: ignore[assignment]
        )
        for old, value in zip(op.results, values, strict=True):
            self.replace_uses(old, SSAValue.get(value))
        self.erase(op)
        return True

    def replace_with(
        self, op: Operation, op_class: type[Made], *operands: Any, **attributes: Any
    ) -> bool:
        """Put a new op, of the same result types unless others are given, in an op's place."""
        attributes.setdefault("result_types", op.result_types)
        return self.replace(op, self.create(op_class, *operands, **attributes))

    def replace_uses(self, old: SSAValue, new: SSAValue, unless: Iterable[Operation] = ()) -> None:
        """Let all but the ops of `unless` use another value."""
        kept = {id(op) for op in unless}
        for use in list(old.uses):
            if id(use.operation) not in kept:
                use.operation.operands[use.index] = new
                self.touch(use.operation)

    def erase(self, op: Operation) -> None:
        """Erase an unused op; its operands' producers are revisited."""
        for operand in op.operands:
            owner = operand.owner
            if isinstance(owner, Operation) and _few_users(operand, op):
                self.worklist.push(owner)
        self.worklist.forget(op)
        for child in walk_ops(op):
            self.worklist.forget(child)
        assert op.parent is not None
        op.parent.erase_op(op)
        self.changed = True

    def touch(self, op: Operation) -> None:
        """An op was changed in place: it is looked at again."""
        self.worklist.push(op)
        self.changed = True

    def set_operand(self, op: Operation, index: int, value: SSAValue) -> None:
        """Replace an operand; the old operand's producer is revisited."""
        old = op.operands[index].owner
        op.operands[index] = value
        if isinstance(old, Operation):
            self.worklist.push(old)
        self.touch(op)

    def set_property(self, op: Operation, name: str, value: Attribute) -> None:
        """Change a property of an op by its name in the text."""
        op.properties[name] = value
        self.touch(op)


def _few_users(value: SSAValue, erased: Operation) -> bool:
    """Whether at most one op but the erased one uses a value."""
    other: Operation | None = None
    for use in value.uses:
        if use.operation is not erased and use.operation is not other:
            if other is not None:
                return False
            other = use.operation
    return True


class _Driver:
    """One run over a module: which folder and patterns are for which class."""

    def __init__(self, patterns: Iterable[Pattern], folders: Folders, *, top_down: bool) -> None:
        self.patterns: dict[type[Operation], list[Pattern]] = {}
        for pattern in sorted(patterns, key=lambda row: -row.benefit):
            roots = pattern.root if isinstance(pattern.root, tuple) else (pattern.root,)
            for root in roots:
                self.patterns.setdefault(root, []).append(pattern)
        self.folders = folders
        self.top_down = top_down
        self.rewriter = PatternRewriter()
        self.changed = False

    def round(self, module: ModuleOp) -> bool:
        """Look at each op, and again at what changes; whether anything changed."""
        rewriter = self.rewriter
        constants = ConstantHoister(rewriter.replace, rewriter.worklist.push)
        constants.gather(module, outer_first=self.top_down)
        if self.top_down:
            rewriter.worklist.reverse()
        rewriter.changed = False
        left = LOOKS + LOOKS * len(rewriter.worklist)
        while left and (op := rewriter.worklist.pop()) is not None:
            left -= 1
            if is_dead(op):
                rewriter.erase(op)
            elif not self.fold(op):
                self.match(op)
        self.changed = self.changed or constants.changed or rewriter.changed
        return rewriter.changed

    def fold(self, op: Operation) -> bool:
        """Fold an op; whether there was something to fold."""
        folder = self.folders.get(type(op))
        folded = folder(op) if folder is not None else None
        if folded is None:
            return False
        rewriter = self.rewriter
        if not folded:
            rewriter.touch(op)
            return True
        rewriter.start(op)
        values = [
            value if isinstance(value, SSAValue) else rewriter.constant(value, result.type)
            for value, result in zip(folded, op.results, strict=True)
        ]
        return rewriter.replace(op, *values)

    def match(self, op: Operation) -> None:
        """Give an op to its class's patterns until one of them changes something."""
        rewriter = self.rewriter
        for pattern in self.patterns.get(type(op), ()):
            rewriter.start(op)
            if pattern.rewrite(op, rewriter):
                rewriter.changed = True
                return


def greedy(
    module: ModuleOp,
    patterns: Iterable[Pattern],
    folders: Folders | None = None,
    *,
    top_down: bool = False,
) -> bool:
    """Apply patterns and folders until nothing changes, or for too many rounds; whether any did."""
    driver = _Driver(patterns, folders or {}, top_down=top_down)
    for _ in range(MOST_ROUNDS):
        if not driver.round(module):
            break
    return driver.changed
