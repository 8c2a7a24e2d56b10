"""Declarative op patterns: trees of ops as data.

A tree is made of nodes; `find` gives the values that a tree's names stand for. Sums, products,
minima and maxima are looked for with their operands both ways round, and a name that stands twice
must stand for one value.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import BFloat16Type
from xdsl.ir import Operation, SSAValue

from tripybuild.tensorrt.dialect import ActivationOp, ElementWiseOp, ReduceOp, UnaryOp
from tripybuild.tensorrt.dialect.base import element
from tripybuild.tensorrt.passes.rewriting.values import uniform

Found = dict[str, SSAValue]
Tree = "AnyValue | NumberPattern | UniformValue | Node | Alternatives"

_KIND = {
    ActivationOp: "activation_type",
    ElementWiseOp: "elementwise_operation",
    ReduceOp: "reduce_operation",
    UnaryOp: "unary_operation",
}
_COMMUTES = frozenset({"kSUM", "kPROD", "kMAX", "kMIN"})


def _always(_op: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class AnyValue:  # `Any` is typing's
    """Any value, by a name."""

    name: str


@dataclass(frozen=True, slots=True)
class UniformValue:
    """A value that is one known number everywhere, by a name."""

    name: str


@dataclass(frozen=True, slots=True)
class NumberPattern:
    """A value that is this number everywhere, as closely as its element type can tell."""

    number: float


@dataclass(frozen=True, slots=True)
class Alternatives:
    """One of several trees."""

    trees: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """The only result of an op of a class and kind, for which `where` holds."""

    op_class: type[Operation]
    kind: str | None
    operands: tuple[Any, ...]
    where: Callable[[Any], bool] = _always
    name: str | None = None


def sum_of(a: Any, b: Any) -> Node:
    """`a + b`."""
    return Node(ElementWiseOp, "kSUM", (a, b))


def difference(a: Any, b: Any) -> Node:
    """`a - b`."""
    return Node(ElementWiseOp, "kSUB", (a, b))


def product(a: Any, b: Any) -> Node:
    """`a * b`."""
    return Node(ElementWiseOp, "kPROD", (a, b))


def quotient(a: Any, b: Any) -> Node:
    """`a / b`."""
    return Node(ElementWiseOp, "kDIV", (a, b))


def power(a: Any, b: Any) -> Node:
    """`a ** b`."""
    return Node(ElementWiseOp, "kPOW", (a, b))


def unary(kind: str, a: Any) -> Node:
    """A function of one value."""
    return Node(UnaryOp, kind, (a,))


def inverse_root(a: Any) -> Alternatives:
    """`1 / sqrt(a)`, either way round."""
    return Alternatives((unary("kSQRT", unary("kRECIP", a)), unary("kRECIP", unary("kSQRT", a))))


def near(number: float, expected: float, *, coarse: bool = False) -> bool:
    """Whether a constant was meant to be this number: bfloat16 keeps three digits, half four.

    mlir-tensorrt's bound (0.001) says nothing about small numbers; they get a relative one as well.
    """
    scale = abs(expected) / 256
    return abs(number - expected) <= (scale if coarse else min(0.001, scale))


def find(tree: Any, value: SSAValue) -> Found | None:
    """What a tree's names stand for at a value; None if it is not there."""
    return next(_matches(tree, value, {}), None)


def _matches(tree: Any, value: SSAValue, found: Found) -> Iterator[Found]:
    """Every way in which a tree is there, given what is found already."""
    if isinstance(tree, Node):
        yield from _node(tree, value, found)
    elif isinstance(tree, AnyValue):
        yield from _bind(tree.name, value, found)
    elif isinstance(tree, NumberPattern):
        number = uniform(value)
        coarse = isinstance(element(value), BFloat16Type)
        if number is not None and near(float(number), tree.number, coarse=coarse):
            yield found
    elif isinstance(tree, UniformValue):
        if uniform(value) is not None:
            yield from _bind(tree.name, value, found)
    else:
        for each in tree.trees:
            yield from _matches(each, value, found)


def _bind(name: str, value: SSAValue, found: Found) -> Iterator[Found]:
    known = found.get(name)
    if known is None:
        yield {**found, name: value}
    elif known is value:
        yield found


def _node(tree: Node, value: SSAValue, found: Found) -> Iterator[Found]:
    op = value.owner
    if type(op) is not tree.op_class:
        return
    if tree.kind is not None and op.value(_KIND[tree.op_class]) != tree.kind:  # type: ignore[attr-defined, index]
        return
    if not tree.where(op):
        return
    start = found if tree.name is None else {**found, tree.name: value}
    yield from _operands(tree.operands, tuple(op.operands), start)
    if len(tree.operands) == 2 and tree.kind in _COMMUTES:
        yield from _operands(tree.operands, tuple(op.operands)[::-1], start)


def _operands(
    trees: tuple[Any, ...], values: tuple[SSAValue, ...], found: Found
) -> Iterator[Found]:
    if not trees:
        yield found
        return
    for each in _matches(trees[0], values[0], found):
        yield from _operands(trees[1:], values[1:], each)
