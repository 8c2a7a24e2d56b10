"""Operators of the language: Python's own, with bounds on the result's size."""

import ast
import operator
from collections.abc import Callable
from numbers import Integral
from typing import Any, Final

from tripybuild.language.frame import COLLECTIONS, MEASURED, Frame
from tripybuild.language.limits import MAXIMUM_BITS, LimitError, check_length, show
from tripybuild.language.records import ChoiceWord
from tripybuild.language.syntax import OPERATORS

_UNARY: Final[dict[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}
_BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
_COMPARE: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def unary(frame: Frame, node: ast.UnaryOp, value: Any) -> Any:
    """Give `-value`, `+value`, `~value` or `not value`."""
    kind = type(node.op)
    if kind is ast.Not and not isinstance(value, frame.vocabulary.conditions):
        return not frame.truth(value, node.operand)
    try:
        return operator.invert(value) if kind is ast.Not else _UNARY[kind](value)
    except Exception as error:  # noqa: BLE001
        frame.wrap(node, error, f"`{OPERATORS[kind]}` of {show(value)}")


def binary(frame: Frame, node: ast.BinOp, left: Any, right: Any) -> Any:
    """Give `left + right` and the like."""
    kind = type(node.op)
    try:
        if isinstance(left, MEASURED) or isinstance(right, MEASURED):
            _check_operands(kind, left, right)
            return frame.check_value(_BINARY[kind](left, right))
        return _BINARY[kind](left, right)
    except Exception as error:  # noqa: BLE001
        doing = f"`{OPERATORS[kind]}` of {show(left)} and {show(right)}"
        frame.wrap(node, error, doing, left, right)


def _check_operands(kind: type[ast.operator], left: Any, right: Any) -> None:
    """Refuse what would be too large, before it is made."""
    if kind is ast.Mod and isinstance(left, (str, bytes)):
        raise TypeError("a string has no `%`")
    if kind is ast.Mult:
        for many, times in ((left, right), (right, left)):
            if isinstance(many, COLLECTIONS) and isinstance(times, Integral):
                check_length(len(many) * max(int(times), 0))
    if kind is ast.Pow and isinstance(left, int) and isinstance(right, int):
        # A base of two takes two bits and gives half of that: twice the limit refuses nothing fair.
        is_large = abs(left) > 1 and left.bit_length() * right > 2 * MAXIMUM_BITS
        if is_large:
            raise LimitError(f"an integer may have at most {MAXIMUM_BITS} bits")


def comparison(frame: Frame, node: ast.Compare, sign: ast.cmpop, left: Any, right: Any) -> Any:
    """Give `left == right` and the like; lists are compared with all that they hold."""
    kind = type(sign)
    if isinstance(left, COLLECTIONS) or isinstance(right, COLLECTIONS):
        frame.charge(left, node)
        frame.charge(right, node)
        _check_choices(frame, node, left, right)
    try:
        return _COMPARE[kind](left, right)
    except Exception as error:  # noqa: BLE001
        doing = f"`{OPERATORS[kind]}` of {show(left)} and {show(right)}"
        frame.wrap(node, error, doing, left, right)


def _check_choices(frame: Frame, node: ast.Compare, left: object, right: object) -> None:
    """Refuse a comparison of a choice with a word that is none of its options."""
    for choice, other in ((left, right), (right, left)):
        if isinstance(choice, ChoiceWord):
            try:
                choice.check_comparable(other)
            except ValueError as error:
                frame.fail(node, str(error))


class Truth:
    """The parts of `or` (which a true one decides), or of `and` and `a < b < c` (a false one).

    What is undecided waits for a part that decides; if none does, the vocabulary's `any` or `all`
    joins it.
    """

    def __init__(self, frame: Frame, node: ast.expr, *, decides: bool) -> None:
        self.frame, self.node, self.decides = frame, node, decides
        self.undecided: list[Any] = []

    def short_circuits(self, value: Any, part: ast.expr, *, is_last: bool) -> bool:
        """Take the next part. The last one is the result as it is, where all else is decided."""
        if isinstance(value, self.frame.vocabulary.conditions):
            self.undecided.append(value)
            return False
        if is_last and not self.undecided:
            return True
        return self.frame.truth(value, part) == self.decides

    def demand(self) -> None:
        """Ask for what is undecided now, which says so."""
        if self.undecided:
            self.frame.truth(self.undecided[0], self.node)

    def whole(self, last: Any) -> Any:
        """What all parts are, when none has decided."""
        if not self.undecided:
            return last
        if not isinstance(last, (bool, *self.frame.vocabulary.conditions)):
            self.demand()
        function = self.frame.vocabulary.functions["any" if self.decides else "all"]
        return function(self.undecided)
