"""Chains of products or sums: what is multiplied or added, whatever the order and the brackets.

`a * b / c` is a chain of `a`, `b` and `c`, the last with a sign of -1, and `a ** 2` is one of `a`
and `a`. A call can be read as chains of several lengths, since an operand may be a chain itself.
"""

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any, TypeGuard

from tripybuild.importer.call_patterns import CallPattern, UnboundError, same
from tripybuild.importer.call_program import Call, CallValue
from tripybuild.language.names import free_names
from tripybuild.types.vocabulary import SHAPE

_NUMBERS = 3  # that a chain has beside those that are wanted
_LARGEST_POWER = 4
_PRECISION = 5e-7  # that of float32


@dataclass(frozen=True)
class ChainKind:
    """Products or sums.

    Attributes:
        signs: The signs of a chain, each with that of its right operand.
        methods: The same by the method of the sign.
        power: The method of powers, which repeat an operand; sums have none.
    """

    signs: Mapping[type[ast.operator], int]
    methods: Mapping[str, int]
    power: Sequence[str] = ()

    def neutral(self) -> float:
        """What changes no other operand."""
        return 1.0 if self.power else 0.0

    def total(self, operands: Sequence[tuple[float, int]]) -> float:
        """What numbers are together."""
        total = self.neutral()
        for number, sign in operands:
            total = self.joined(total, number, sign)
        return total

    def joined(self, total: float, number: float, sign: int) -> float:
        """A number with another operand of a sign.

        Raises:
            ZeroDivisionError: It is divided by zero.
        """
        if not self.power:
            return total + sign * number
        return total * number if sign > 0 else total / number


PRODUCT = ChainKind({ast.Mult: 1, ast.Div: -1}, {"__mul__": 1, "__truediv__": -1}, ["__pow__"])
SUM = ChainKind({ast.Add: 1, ast.Sub: -1}, {"__add__": 1, "__sub__": -1})


def chain_kind(node: ast.expr) -> ChainKind | None:
    """The kind of chain that an expression is; None if it is none."""
    match node:
        case ast.BinOp(op=ast.Mult() | ast.Div()):
            return PRODUCT
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return SUM
        case ast.BinOp(op=ast.Pow(), right=ast.Constant(value=exponent)):
            return PRODUCT if _is_count(exponent) else None
    return None


def expression_chain(
    node: ast.expr, kind: ChainKind, sign: int = 1
) -> Iterator[tuple[ast.expr, int]]:
    """The operands of an expression, with their signs."""
    match node:
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=exponent)):
            copies = exponent if kind.power and _is_count(exponent) else 0
            yield from [(left, sign)] * int(copies) or [(node, sign)]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in kind.signs:
            yield from expression_chain(left, kind, sign)
            yield from expression_chain(right, kind, sign * kind.signs[type(op)])
        case _:
            yield node, sign


Operands = Sequence[tuple[Any, int]]


def call_chains(
    value: Any, kind: ChainKind, signs: Mapping[str, str], most: int, sign: int = 1
) -> Iterator[tuple[Operands, Sequence[Call]]]:
    """The chains that a value is, from the shortest on, each with the calls that make it.

    Args:
        value: A tensor, or a number.
        kind: Products or sums.
        signs: The method of the sign that an operator stands for.
        most: How many operands a chain has at most.
        sign: That of the value in a longer chain.
    """
    yield [(value, sign)], ()
    call = value.call if isinstance(value, CallValue) else None
    method = signs.get(call.operator, "") if call is not None else ""
    if call is None or most < 2 or method not in (*kind.methods, *kind.power):
        return
    left, right = call.arguments.values()
    if method in kind.power:
        if _is_count(right) and right <= most:
            yield [(left, sign)] * int(right), [call]
        return
    for one, before in call_chains(left, kind, signs, most - 1, sign):
        left_over = most - len(one)
        for other, after in call_chains(right, kind, signs, left_over, sign * kind.methods[method]):
            yield [*one, *other], [*before, *after, call]


def _is_count(number: Any) -> TypeGuard[float]:
    return type(number) in (int, float) and 2 <= number <= _LARGEST_POWER and number == int(number)


def is_number(value: Any) -> bool:
    """Whether a value is a number, and not a truth."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_near(one: Any, other: Any) -> bool:
    """Whether two numbers are the same in float32."""
    return isclose(one, other, rel_tol=_PRECISION)


@dataclass
class ChainPattern(CallPattern):
    """A snippet whose products and sums may have another order and other brackets.

    Numbers have the precision of float32, and what sizes alone say is compared as it is.

    Attributes:
        says: Whether an expression of sizes alone gives what a tensor is.
    """

    says: Callable[["ChainPattern", ast.expr, CallValue], bool] | None = None

    def heads(self, node: ast.expr) -> frozenset[str] | None:
        """The operators whose result an expression can be; None where it can be any tensor."""
        kind = chain_kind(node)
        if kind is None:
            return super().heads(node)
        methods = [*kind.methods, *kind.power]
        return frozenset(self.methods[each] for each in methods if each in self.methods)

    def _match(self, node: ast.expr, value: Any) -> bool:
        kind = chain_kind(node)
        if kind is not None and isinstance(value, CallValue):
            return self._chain(node, kind, value)
        if super()._match(node, value):
            return True
        if self.says is None or not isinstance(node, ast.Call) or not isinstance(value, CallValue):
            return False
        return self._is_closed(node) and self.says(self, node, value)

    def _computed(self, node: ast.expr, value: Any) -> bool:
        try:
            found = self.value(node)
        except UnboundError:
            return False
        return (
            is_near(found, value) if is_number(found) and is_number(value) else same(found, value)
        )

    def _chain(self, node: ast.expr, kind: ChainKind, value: CallValue) -> bool:
        """Whether a value has the operands of an expression, in some order."""
        wanted = list(expression_chain(node, kind))
        numbers = [(each, sign) for each, sign in wanted if self._is_number(each)]
        tensors = [pair for pair in wanted if pair not in numbers]
        tensors.sort(key=lambda pair: self.heads(pair[0]) is None)  # what says most comes first
        signs = {name: method for method, name in self.methods.items()}
        itself, *longer = call_chains(value, kind, signs, len(wanted) + _NUMBERS)
        for operands, calls in [*longer, itself]:
            given = [(each, sign) for each, sign in operands if is_number(each)]
            others = [pair for pair in operands if pair not in given]
            if len(others) != len(tensors):
                continue
            kept, count = dict(self.bound), len(self.calls)
            for order in (tensors, tensors[::-1]):  # an operand may read sizes of another one
                if self._operands(order, others) and self._numbers(kind, numbers, given):
                    self.calls += calls
                    return True
                self.restore(kept, count)
        return False

    def has_closed(self, node: ast.expr) -> bool:
        """Whether some tensor of an expression is made of sizes alone."""
        calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
        return any(
            isinstance(each.func, ast.Name)
            and each.func.id in self.operators
            and each.func.id not in SHAPE.functions
            and self._is_closed(each)
            for each in calls
        )

    def _is_closed(self, node: ast.expr) -> bool:
        return not any(self.names.get(each) or each in self.lines for each in free_names(node))

    def _is_number(self, node: ast.expr) -> bool:
        """Whether nothing in an expression is a tensor."""
        names = [each for each in free_names(node) if each not in SHAPE.functions]
        if any(self.names.get(each) or each in self.operators for each in names):
            return False
        return all(self._is_number(self.lines[each]) for each in names if each in self.lines)

    def _is_free(self, name: str) -> bool:
        return self.names.get(name) is False and name not in self.bound

    def _operands(
        self, wanted: Sequence[tuple[ast.expr, int]], given: Sequence[tuple[Any, int]]
    ) -> bool:
        """Whether tensors are what expressions give, each for one of them."""
        if not wanted:
            return True
        (node, sign), *rest = wanted
        kept, count = dict(self.bound), len(self.calls)
        for index, (value, own) in enumerate(given):
            if own == sign and self.match(node, value):
                if self._operands(rest, [*given[:index], *given[index + 1 :]]):
                    return True
                self.restore(kept, count)
        return False

    def _numbers(
        self,
        kind: ChainKind,
        wanted: Sequence[tuple[ast.expr, int]],
        given: Sequence[tuple[float, int]],
    ) -> bool:
        """Whether numbers come to the same; one of those wanted can be bound to what is left."""
        free, known = [], []
        try:
            for node, sign in wanted:
                if isinstance(node, ast.Name) and self._is_free(node.id):
                    free.append((node.id, sign))
                else:
                    known.append((self.value(node), sign))
            total = kind.total(given)
            if not free:
                return is_near(kind.total(known), total)
            for number, sign in known:
                total = kind.joined(total, number, -sign)
            (name, sign), *others = free
            self.bound[name] = total if sign > 0 else kind.joined(kind.neutral(), total, -1)
        except (UnboundError, ZeroDivisionError):
            return False
        return not others
