"""Snippets as patterns of calls: whether calls of a program are those that a snippet makes.

A snippet's names are bound on the way: its inputs to tensors, its attributes to what the calls are
given. What is not a call is computed from what is bound, and compared.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tripybuild.importer.call_arguments import default_of, inferred
from tripybuild.importer.call_program import Call, CallValue
from tripybuild.language.evaluate import EvaluationError, evaluate
from tripybuild.language.names import free_names
from tripybuild.language.program import Program
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.registry_index import operator_entries
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import Dim
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import tensors
from tripybuild.types.vocabulary import SHAPE

_METHODS: Mapping[type[ast.AST], str] = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.MatMult: "__matmul__",
    ast.Pow: "__pow__",
    ast.USub: "__neg__",
    ast.Eq: "__eq__",
    ast.NotEq: "__ne__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
    ast.Subscript: "__getitem__",
}


class UnboundError(Exception):
    """An expression reads a name that is not bound yet."""


def operators_by_method(operators: Mapping[str, Operator]) -> dict[str, str]:
    """The operators that Python's signs stand for, by the method of the sign."""
    entries = operator_entries(operators).items()
    return {method: name for name, entry in entries for method in entry.methods}


@dataclass
class CallPattern:
    """A snippet that is compared with calls.

    Attributes:
        operators: The declarations of the operators, by name.
        methods: The operators that Python's signs stand for.
        names: What can be bound: True for tensors, False for other values.
        lines: Names that stand for expressions.
        bound: What names are.
        defaults: What names are in a condition where nothing has bound them.
        calls: The calls that were compared, the last one first.
        owner: The operator whose inputs the names are, and whose shapes bind further names.
    """

    operators: Mapping[str, Operator]
    methods: Mapping[str, str]
    names: Mapping[str, bool]
    lines: dict[str, ast.expr] = field(default_factory=dict)
    bound: dict[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    owner: Operator | None = None
    snippets: int = 0

    def add_lines(self, program: Program) -> ast.expr:
        """Take the lines of a snippet in, which no other one sees, and give its result."""
        self.snippets += 1
        lines, result = _own_lines(program, self.snippets)
        for targets, value in lines:
            self.add_line(targets, value)
        return result

    def add_line(self, targets: Sequence[str], value: ast.expr) -> None:
        """Take one line in."""
        if len(targets) == 1:
            self.lines[targets[0]] = value
        elif isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(targets):
            self.lines.update(zip(targets, value.elts, strict=True))
        else:
            for index, target in enumerate(targets):
                item = ast.Subscript(value, ast.Constant(index), ast.Load())
                self.lines[target] = ast.copy_location(item, value)

    def heads(self, node: ast.expr) -> frozenset[str] | None:
        """The operators whose result an expression can be; None where it can be any tensor."""
        match node:
            case ast.Name(id=name) if name in self.lines and name not in self.names:
                return self.heads(self.lines[name])
            case ast.IfExp(body=body, orelse=other):
                one, two = self.heads(body), self.heads(other)
                return None if one is None or two is None else one | two
            case ast.Call() | ast.BinOp() | ast.Compare() | ast.UnaryOp() | ast.Subscript():
                return frozenset(name for name, _ in self._forms(node))
        return None

    def match(self, node: ast.expr, value: Any) -> bool:
        """Whether a value is what an expression gives; what is bound is kept if it is."""
        kept, calls = dict(self.bound), len(self.calls)
        if self._match(node, value):
            return True
        self.restore(kept, calls)
        return False

    def _match(self, node: ast.expr, value: Any) -> bool:
        match node:
            case ast.Name(id=name) if name in self.bound or name in self.names:
                return self._name(name, value)
            case ast.Name(id=name) if name in self.lines:
                found = self.match(self.lines[name], value)
                if found:
                    self.bound[name] = value
                return found
            case ast.IfExp(test=test, body=body, orelse=other):
                return self._choice(test, body, other, value)
            case ast.Slice() if isinstance(value, slice):
                return self._slice(node, value)
            case ast.List(elts=items) | ast.Tuple(elts=items) if isinstance(value, (list, tuple)):
                if any(isinstance(each, ast.Starred) for each in items):
                    return self._computed(node, value)
                pairs = zip(items, value, strict=False)
                return len(items) == len(value) and all(self.match(n, v) for n, v in pairs)
        if isinstance(value, CallValue):
            return self._call(node, value)
        return self._computed(node, value)

    def restore(self, bound: Mapping[str, Any], calls: int) -> None:
        """Forget what was bound and compared since."""
        self.bound.clear()
        self.bound.update(bound)
        del self.calls[calls:]

    def _name(self, name: str, value: Any) -> bool:
        if name in self.bound:
            return same(self.bound[name], value)
        if value is not None and isinstance(value, CallValue) != self.names[name]:
            return False
        self.bound[name] = value
        return True

    def _slice(self, node: ast.Slice, value: slice) -> bool:
        """Whether both take the same; from the start and from 0 is one thing."""
        parts = (
            (node.lower, value.start or None),
            (node.upper, value.stop),
            (node.step, value.step),
        )
        return all(
            given is None if each is None else self.match(each, given) for each, given in parts
        )

    def _choice(self, test: ast.expr, body: ast.expr, other: ast.expr, value: Any) -> bool:
        try:
            return self.match(body if self.value(test) else other, value)
        except UnboundError:
            return self.match(body, value) or self.match(other, value)

    def _computed(self, node: ast.expr, value: Any) -> bool:
        try:
            return same(self.value(node), value)
        except UnboundError:
            return False

    def value(self, node: ast.expr) -> Any:
        """What an expression is, of what is bound.

        Raises:
            UnboundError: Something that it reads is not bound, or it has no value.
        """
        known = {*SHAPE.functions, *SHAPE.constants, *BY_NAME}
        wanted = (name for name in free_names(node) if name not in known)
        names = {name: self._value_of(name) for name in wanted if self._is_own(name)}
        try:
            return evaluate(node, {**BY_NAME, **names}, SHAPE, passes=(UndecidedSize,))
        except (EvaluationError, UndecidedSize) as error:
            raise UnboundError(str(error)) from error

    @property
    def _shown(self) -> Mapping[str, Any]:
        """What the shapes of the inputs that are bound say, and what is inferred of them."""
        if self.owner is None:
            return {}
        arguments = [each.name for each in self.owner.arguments()]
        try:
            return inferred(self.owner, {name: self.bound.get(name) for name in arguments})
        except (EvaluationError, UndecidedSize):
            return {}

    def _is_own(self, name: str) -> bool:
        known = (self.bound, self.lines, self.names, self.defaults)
        return any(name in each for each in known) or self.owner is not None

    def _value_of(self, name: str) -> Any:
        if name in self.bound:
            return self.bound[name]
        if name in self.lines:
            return self.value(self.lines[name])
        if name in self.defaults:
            return self.defaults[name]
        if name in self._shown:
            return self._shown[name]
        raise UnboundError(name)

    # --- calls ---

    def _call(self, node: ast.expr, value: CallValue) -> bool:
        call = value.call
        if call is None:
            return False
        kept, count = dict(self.bound), len(self.calls)
        for name, given in self._forms(node):
            if call.operator == name and value.index == 0 and self._arguments(call, given):
                self.calls.append(call)
                return True
            self.restore(kept, count)
        return False

    def _forms(self, node: ast.expr) -> Iterator[tuple[str, Mapping[str, ast.expr]]]:
        """The operators that an expression may call, with its arguments by parameter."""
        operands: list[ast.expr]
        sign: ast.AST
        match node:
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                if name not in self.operators:
                    return
                named = {each.arg: each.value for each in keywords if each.arg}
                for names in self._signatures(self.operators[name], len(args), named):
                    yield name, {**dict(zip(names, args, strict=False)), **named}
                return
            case ast.BinOp(left=left, op=sign, right=right):
                operands = [left, right]
            case ast.Compare(left=left, ops=[sign], comparators=[right]):
                operands = [left, right]
            case ast.UnaryOp(op=sign, operand=operand):
                operands = [operand]
            case ast.Subscript(value=operand, slice=index):
                operands, sign = [operand, index], node
            case _:
                return
        found = self.methods.get(_METHODS.get(type(sign), ""))
        if found is None:
            return
        parameters = [each.name for each in self.operators[found].arguments()]
        yield found, dict(zip(parameters, operands, strict=True))

    @staticmethod
    def _signatures(
        operator: Operator, count: int, named: Mapping[str, ast.expr]
    ) -> Iterator[Sequence[str]]:
        if not operator.signatures:
            yield [each.name for each in operator.arguments()]
        for names in operator.signatures:
            if len(names) >= count and {*named} <= {*names[count:]}:
                yield names

    def _arguments(self, call: Call, given: Mapping[str, ast.expr]) -> bool:
        """Whether all arguments are the same; one that is left out has its default."""
        operator = self.operators[call.operator]
        actual = {
            each.name: call.arguments.get(each.name, default_of(operator, each.name))
            for each in operator.arguments()
        }
        differ = {}
        for name, value in actual.items():
            if name in given and not self.match(given[name], value):
                differ[name] = given[name]
            elif name not in given and not same(default_of(operator, name), value):
                return False
        return not differ or self._means_same(operator, actual, differ)

    def _means_same(
        self, operator: Operator, actual: Mapping[str, Any], differ: Mapping[str, ast.expr]
    ) -> bool:
        """Whether attributes that differ lead to the same: only what is inferred reads them."""
        read = [operator.decompose, operator.reference, operator.shortcut, *operator.lower.values()]
        direct = {name for each in read if each is not None for name in free_names(each.program)}
        if not differ.keys() <= operator.attributes.keys() - direct:
            return False
        try:
            others = {**actual, **{name: self.value(node) for name, node in differ.items()}}
            one, other = (inferred(operator, each) for each in (actual, others))
        except (UnboundError, EvaluationError, UndecidedSize):
            return False
        shapes = (p.shape or () for o in operator.outputs.values() for p in tensors(o.pattern))
        direct |= {name for shape in shapes for d in shape for name in free_names(d.expression)}
        return bool(one) and all(same(one[name], other[name]) for name in one if name in direct)


@lru_cache(maxsize=1024)
def _own_lines(
    program: Program, number: int
) -> tuple[Sequence[tuple[Sequence[str], ast.expr]], ast.expr]:
    """The lines of a snippet, and its result, over names that no snippet of another number has."""
    own: dict[str, str] = {}
    lines = []
    for line in program.assignments:
        value = _renamed(line.value, own)
        own |= {target: f"{target}@{number}" for target in line.targets}
        lines.append(([own[target] for target in line.targets], value))
    return lines, _renamed(program.result, own)


def _renamed(node: ast.expr, names: Mapping[str, str]) -> ast.expr:
    """An expression over other names."""
    if not any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node)):
        return node
    made = deepcopy(node)
    for each in ast.walk(made):
        if isinstance(each, ast.Name):
            each.id = names.get(each.id, each.id)
    return made


def same(one: Any, other: Any) -> bool:
    """Whether two values of arguments are the same; a number stands for a list of it."""
    if isinstance(one, CallValue) or isinstance(other, CallValue):
        return one is other
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, (list, tuple)) or isinstance(other, (list, tuple)):
        return _spread(one) is not None and same(_spread(one), _spread(other))
    if isinstance(one, Dim) or isinstance(other, Dim):
        return type(one) is type(other) and str(one) == str(other)
    if isinstance(one, dtype) or isinstance(other, dtype) or one is None or other is None:
        return one is other
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _spread(value: Any) -> Any:
    """The number that a list holds again and again, or None."""
    while isinstance(value, (list, tuple)):
        if not value or not all(same(each, value[0]) for each in value):
            return None
        value = value[0]
    return value
