"""Abstract interpretation of snippets: possible values and number of steps."""

import ast
from collections.abc import Callable, Iterable
from typing import NoReturn

from tripybuild.language.grammar import Assignment
from tripybuild.language.limits import MAXIMUM_LENGTH
from tripybuild.language.names import is_power_of_constant
from tripybuild.language.program import Function, Let, LetBinding
from tripybuild.language.syntax import children
from tripybuild.schema.snippets.extents.domain import (
    GIVEN,
    LARGEST,
    MOST_BITS,
    MOST_STEPS,
    NOTHING,
    OPAQUE,
    POWER,
    RANK,
    REAL,
    SIZES,
    TRUTH,
    UNKNOWN,
    Extent,
    is_list_of_numpy,
    item_of,
    of_constant,
    result_extent,
    returns_list,
    tuple_of,
    weight,
)
from tripybuild.schema.snippets.vocabularies import NAMESPACES


class UnboundedError(Exception):
    """An expression has no fair bound."""

    def __init__(self, node: ast.AST, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.node, self.message, self.hint = node, message, hint


class Walk:
    """The walk over one snippet, which fails at the first thing that has no fair bound."""

    def __init__(self, names: Callable[[str], Extent], operators: frozenset[str]) -> None:
        self.names, self.operators = names, operators
        self.local: dict[str, Extent] = {}
        self.steps, self.times = 0, 1
        self.costs: dict[str, int] = {}
        """The steps of each function, taken wherever it is called or given to an operator."""

    def step(self, node: ast.AST, count: int = 1) -> None:
        """Count steps, as often as the loops around them run."""
        self.steps += self.times * max(count, 1)
        if self.steps > MOST_STEPS:
            message = f"this may take {self.steps:,} steps, of which {MOST_STEPS:,} are allowed"
            self.fail(node, message, "loop over dimensions, not over their sizes, or once")

    def fail(self, node: ast.AST, message: str, hint: str | None = None) -> NoReturn:
        """Give up: an expression has no fair bound."""
        raise UnboundedError(node, message, hint)

    def program(self, lines: Iterable[Assignment | LetBinding], result: ast.expr) -> Extent:
        """What lines and a result give; the names that they assign are known from then on."""
        for line in lines:
            before = self.steps
            self.local |= bind_targets(line.targets, self.value(line.value))
            if isinstance(line.value, Function):
                self.costs[line.targets[0]] = self.steps - before
        return self.value(result)

    def value(self, node: ast.expr) -> Extent:
        """What an expression can be."""
        self.step(node)
        match node:
            case ast.Constant(value=value):
                return of_constant(value)
            case ast.Name(id=name):
                self.step(node, self.costs.get(name, 1))
                return self.local[name] if name in self.local else self.names(name)
            case ast.Call():
                return self._call(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp(operand=operand):
                given = self.value(operand)
                return TRUTH if isinstance(node.op, ast.Not) else given
            case ast.BoolOp(values=values):
                return self._join(values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.value(test)
                return self._join([body, orelse])
            case ast.Compare(left=left, comparators=others):
                sides = [self.value(each) for each in (left, *others)]
                self.step(node, max(map(weight, sides)))
                return OPAQUE if any(each.opaque for each in sides) else TRUTH
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return self._sequence(node, items)
            case ast.ListComp() | ast.GeneratorExp():
                return self._comprehension(node, [node.elt])
            case ast.DictComp(key=key, value=value):
                return self._comprehension(node, [key, value])
            case ast.Subscript(value=value, slice=index):
                return self._subscript(self.value(value), index)
            case ast.Attribute():
                return self._attribute(node)
            case Let() | Function():
                return self._lines(node)
        for child in children(node):
            if isinstance(child, ast.expr):
                self.value(child)
        return UNKNOWN

    def _lines(self, node: Let | Function) -> Extent:
        before = dict(self.local)
        if isinstance(node, Function):
            self.local |= dict.fromkeys(node.parameters, OPAQUE)
            self.value(node.value)
            found = OPAQUE
        else:
            found = self.program(node.lines, node.value)
        self.local = before
        return found

    def _join(self, nodes: list[ast.expr]) -> Extent:
        first, *rest = [self.value(node) for node in nodes]
        for each in rest:
            first = first.join(each)
        return first

    def _attribute(self, node: ast.Attribute) -> Extent:
        if not isinstance(node.value, ast.Name) or node.value.id not in NAMESPACES.values():
            self.value(node.value)
        kinds = {"shape": SIZES, "result": SIZES, "start": SIZES, "size": SIZES, "step": SIZES}
        numbers = dict.fromkeys(("rank", "ndim", "bits"), Extent(most=RANK))
        return {**kinds, **numbers, "highest": REAL, "lowest": REAL}.get(node.attr, OPAQUE)

    def _sequence(self, node: ast.expr, items: list[ast.expr]) -> Extent:
        if not any(isinstance(each, ast.Starred) for each in items):
            return tuple_of(map(self.value, items))
        length, item = 0, NOTHING
        for each in items:
            if isinstance(each, ast.Starred):
                inner = self.value(each.value)
                length += GIVEN if inner.length is None else inner.length
                item = item.join(item_of(inner)) if inner != NOTHING else item
            else:
                length, item = length + 1, item.join(self.value(each))
        return self._list_of(node, length, item)

    def _list_of(self, node: ast.AST, length: int, item: Extent) -> Extent:
        if length > MAXIMUM_LENGTH:
            message = f"this list may have {_count_text(length)} elements"
            hint = f"{MAXIMUM_LENGTH:,} are allowed; `[x for i in range(n)]` asks for each call"
            self.fail(node, message, hint)
        self.step(node, length)
        return Extent(length=length, item=item)

    def _subscript(self, value: Extent, index: ast.expr) -> Extent:
        if isinstance(index, ast.Slice):
            for part in (index.lower, index.upper, index.step):
                if part is not None:
                    self.value(part)
            self.step(index, value.length or 1)
            return value
        self.value(index)
        return item_of(value)

    def _comprehension(
        self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp, made: list[ast.expr]
    ) -> Extent:
        before, times = dict(self.local), self.times
        length = 1
        for loop in node.generators:
            values = self.value(loop.iter)
            count = GIVEN if values.length is None else values.length
            self._bind(loop.target, item_of(values))
            length *= count
            self.times *= max(count, 1)
            for condition in loop.ifs:
                self.value(condition)
        items = [self.value(each) for each in made]
        self.local, self.times = before, times
        if isinstance(node, ast.GeneratorExp):
            return Extent(length=length, item=items[0])
        return self._list_of(node, length, items[0])

    def _bind(self, target: ast.expr, value: Extent) -> None:
        if isinstance(target, ast.Name):
            self.local[target.id] = value
        elif isinstance(target, ast.Tuple):
            known = len(value.parts) == len(target.elts)
            for at, each in enumerate(target.elts):
                self._bind(each, value.parts[at] if known else item_of(value))

    def _binary(self, node: ast.BinOp) -> Extent:
        left, right = self.value(node.left), self.value(node.right)
        if left.length is not None or right.length is not None:
            return self._of_lists(node, left, right)
        if left.most is None or right.most is None:
            return self._of_unknown(node, left, right)
        if left.real or right.real:
            return REAL
        match node.op:
            case ast.Mult():
                return self.number(node, left.most * right.most)
            case ast.Pow():
                bits = left.most.bit_length() * right.most
                if right.most >= LARGEST and is_power_of_constant(node):
                    return POWER  # `shapes.power` refuses more
                if bits > MOST_BITS:
                    hint = "the exponent must be known to be small; `exp` and tensors have no limit"
                    self.fail(node, f"this power may have {_count_text(bits)} bits", hint)
                return self.number(node, left.most**right.most)
            case ast.Add() | ast.Sub():
                return self.number(node, left.most + right.most)
            case ast.BitOr() | ast.BitAnd() | ast.BitXor():
                return self.number(node, 2 * max(left.most, right.most) + 1)
            case ast.Mod():
                return right
        return left

    def _of_lists(self, node: ast.BinOp, left: Extent, right: Extent) -> Extent:
        many, times = (left, right) if left.length is not None else (right, left)
        assert many.length is not None
        if isinstance(node.op, ast.Add) and times.length is not None:
            item = item_of(left).join(item_of(right))
            return self._list_of(node, many.length + times.length, item)
        if isinstance(node.op, ast.Mult):
            most = LARGEST if times.most is None else times.most
            if not times.opaque:
                return self._list_of(node, many.length * most, item_of(many))
        if isinstance(node.op, ast.Mod):
            self.fail(node, "a string cannot be formatted here", "snippets compare strings")
        return UNKNOWN

    def _of_unknown(self, node: ast.BinOp, left: Extent, right: Extent) -> Extent:
        """Of tensors, every operator makes another one; of what is not known, all but `*`."""
        if left.opaque or right.opaque:
            return OPAQUE
        if isinstance(node.op, ast.Mult | ast.Pow | ast.Mod):
            hint = "name the value by way of `infer:`, or compute it from sizes and attributes"
            self.fail(node, "what this is multiplied with may be a list or a large number", hint)
        return UNKNOWN

    def number(self, node: ast.AST, most: int) -> Extent:
        """A number, where it may not have too many bits."""
        if most.bit_length() > MOST_BITS:
            self.fail(node, f"this number may have {most.bit_length():,} bits")
        return Extent(most=most)

    def _call(self, node: ast.Call) -> Extent:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        given = [self._argument(argument, name) for argument in node.args]
        given += [self.value(keyword.value) for keyword in node.keywords]
        self.step(node, sum(map(weight, given)) + self.costs.get(name, 0))
        if isinstance(node.func, ast.Attribute):
            self.value(node.func)
            if is_list_of_numpy(node.func.attr):
                return Extent(length=GIVEN, item=OPAQUE)
        first = given[0] if given else UNKNOWN
        if name in self.operators and (first.opaque or item_of(first).opaque):
            return OPAQUE
        return result_extent(name, given, self, node)

    def _argument(self, node: ast.expr, function: str) -> Extent:
        """An argument; what is spread, or listed by its function, is a list."""
        spread = isinstance(node, ast.Starred)
        given = self.value(node.value if isinstance(node, ast.Starred) else node)
        if given.length is not None and (spread or returns_list(function)):
            self._list_of(node, given.length, item_of(given))
        return given


def bind_targets(targets: tuple[str, ...], value: Extent) -> dict[str, Extent]:
    """The extents of names that a line assigns."""
    if len(targets) == 1:
        return {targets[0]: value}
    if len(value.parts) == len(targets) and not any(each.startswith("*") for each in targets):
        return dict(zip(targets, value.parts, strict=True))
    return {
        each.removeprefix("*"): value if each.startswith("*") else item_of(value)
        for each in targets
    }


def _count_text(count: int) -> str:
    return f"{count:,}" if count < 10**12 else "any number of"
