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
        rewriter.replace(op, rewriter.create(ActivationOp, op.input1, activation_type="kRELU"))
        return True

    PATTERNS = (Pattern("relu", ElementWiseOp, relu, "TensorRT fuses activations only"),)

    def run(module: ModuleOp) -> bool:
        return greedy(module, PATTERNS, FOLDERS)
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.tensorrt.dialect import ConstantOp
from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.passes.constants import ConstantHoister
from tripybuild.tensorrt.passes.rewriting.effects import is_dead, walk_ops
from tripybuild.tensorrt.passes.rewriting.worklist import Worklist

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

    New ops go before the root, with its location; `insert_before` and `insert_after` say otherwise.
    """

    def __init__(self) -> None:
        self.worklist = Worklist()
        self.changed = False
        self._before: Operation | None = None
        self._place: Operation | None = None

    def start(self, root: Operation) -> None:
        """What follows is about this op."""
        self._before = self._place = root

    def insert_before(self, op: Operation) -> None:
        """New ops go before this one from here on (until the pattern ends)."""
        self._before = op

    def insert_after(self, op: Operation) -> None:
        """New ops go after this one from here on; it must not be the last of its block."""
        self._before = op.next_op

    def insert(self, op: Made) -> Made:
        """Put a new op in its place."""
        before = self._before
        assert before is not None
        assert before.parent is not None
        before.parent.insert_op_before(op, before)
        self.worklist.push(op)
        self.changed = True
        return op

    def create(
        self, op_class: type[Made], *operands: Any, location: Any = None, **attributes: Any
    ) -> Made:
        """Make an op with its `make`, at the root's location unless another is given."""
        if location is None and self._place is not None:
            location = self._place.location
        made: Made = op_class.make(*operands, location=location, **attributes)  # type: ignore[attr-defined]
        return self.insert(made)

    def constant(self, value: np.ndarray[Any, Any] | Attribute, type: Attribute) -> SSAValue:
        """A constant of a tensor type: an array (rounded as the type keeps it), or elements."""
        weights = elements_of(value, type) if isinstance(value, np.ndarray) else value
        return self.create(ConstantOp, weights=weights, result_types=[type]).results[0]

    def replace(self, op: Operation, *new: SSAValue | Operation) -> None:
        """Let all that uses an op use these values, one per result (or an op's), and erase it."""
        values: Sequence[SSAValue] = (
            new[0].results if len(new) == 1 and isinstance(new[0], Operation) else new  # type: ignore[assignment]
        )
        for old, value in zip(op.results, values, strict=True):
            self.replace_uses(old, SSAValue.get(value))
        self.erase(op)

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

    def set_property(self, op: Operation, name: str, value: Attribute | None) -> None:
        """Change a property of an op by its name in the text; None removes it."""
        if value is None:
            op.properties.pop(name, None)
        else:
            op.properties[name] = value
        self.touch(op)


def _few_users(value: SSAValue, erased: Operation) -> bool:
    """Whether at most one op but the erased one uses a value."""
    others: set[int] = set()
    for use in value.uses:
        if use.operation is not erased:
            others.add(id(use.operation))
            if len(others) > 1:
                return False
    return True


def elements_of(array: np.ndarray[Any, Any], type: Attribute) -> Attribute:
    """An array as the elements of a tensor type, rounded as the type keeps them."""
    assert isinstance(type, TensorType)
    dtype = elements.dtype_of(type.element_type)
    rounded = elements.map_elements(lambda each: each.astype(dtype, copy=False), array)
    return elements.from_numpy(rounded, type)


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
        rewriter.replace(op, *values)
        return True

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
