"""Conditions on undecided sizes: `or` is rewritten to `any`.

Python's `or`, `and`, `not` and `a < b < c` ask a truth at once, which an undecided one refuses, so
the whole law would wait for the call. `any` and `all` of shapes decide as far as they can.
"""

import ast
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final

from tripybuild.language.syntax import children, walk
from tripybuild.schema.operator.operator import KEPT, Operator
from tripybuild.schema.snippets.snippet_scope import region_names, shape_names
from tripybuild.types.patterns import ValuePattern, options

# What counts or classifies gives no size, whatever it is given.
_KNOWN: Final = frozenset({"count", "in_range", "is_int", "len"})
_TRUTHS: Final = frozenset({"all", "any", "conformable", "contractible"})
# Functions that have a value for all sizes: a truth that calls others is asked only when needed.
_TOTAL: Final = _KNOWN | _TRUTHS | {"abs", "enumerate", "max", "min", "prod", "sum", "zip"}
_SIZED: Final = frozenset({"size", "index", "subscripts"})
_OPPOSITE: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt,
    ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_JOINING: Final = {ast.Or: "any", ast.And: "all"}


@lru_cache(maxsize=KEPT)
def size_names(operator: Operator) -> frozenset[str]:
    """The names of an operator's snippets whose values may be sizes that are not known yet."""
    sizes = {name for input in operator.inputs.values() for name in shape_names(input.pattern)}
    for region in operator.regions().values():
        sizes.update(name for name in region_names(region) if name)
    for argument in operator.arguments():
        forms = options(argument.pattern)
        if any(isinstance(form, ValuePattern) and form.kind in _SIZED for form in forms):
            sizes.add(argument.name)
    before = 0
    while len(sizes) > before:
        before = len(sizes)
        for name, snippet in operator.infer.items():
            lines = (line.value for line in snippet.program.assignments)
            if any(reads(value, sizes) for value in (*lines, snippet.result)):
                sizes.add(name)
    return frozenset(sizes)


def reads(node: ast.AST, sizes: AbstractSet[str]) -> bool:
    """Whether the value of an expression depends on sizes, and not on their number alone."""
    match node:
        case ast.Name(id=name):
            return name in sizes
        case ast.Call(func=ast.Name(id=name)) if name in _KNOWN:
            return False
        case ast.Compare(ops=ops) if all(isinstance(o, (ast.Is, ast.IsNot)) for o in ops):
            return False
    return any(reads(child, sizes) for child in children(node))


def sizes_in_loop(loop: ast.comprehension, sizes: frozenset[str]) -> frozenset[str]:
    """The names that may be sizes inside a loop: `d`, not `i`, of `for i, d in enumerate(S)`."""
    return _bind_sizes(loop.target, loop.iter, sizes)


def _bind_sizes(target: ast.expr, values: ast.expr, sizes: frozenset[str]) -> frozenset[str]:
    match target, values:
        case ast.Tuple(elts=[number, item]), ast.Call(func=ast.Name("enumerate"), args=[items]):
            return _bind_sizes(item, items, sizes - _names(number))
        case ast.Tuple(elts=items), ast.Call(func=ast.Name("zip"), args=many) if len(items) == len(
            many
        ):
            before = sizes
            for item, each in zip(items, many, strict=True):
                found = _names(item) & _bind_sizes(item, each, before)
                sizes = sizes - _names(item) | found
            return sizes
    names = _names(target)
    return sizes | names if reads(values, sizes) else sizes - names


def _names(target: ast.expr) -> frozenset[str]:
    return frozenset(node.id for node in walk(target) if isinstance(node, ast.Name))


def explicit(node: ast.expr, sizes: AbstractSet[str]) -> ast.expr:
    """The same truth, with `any` and `all` in the place of what would ask an undecided part."""
    match node:
        case ast.BoolOp(op=op, values=values):
            start = next((i for i, each in enumerate(values) if _is_open(each, sizes)), None)
            if start is None or not _joins(values[start:], sizes):
                return node
            whole = _call(_JOINING[type(op)], values[start:])
            return ast.BoolOp(op, [*values[:start], whole]) if start else whole
        case ast.Compare(ops=[_, _, *_]) if _is_open(node, sizes):
            sides = [node.left, *node.comparators]
            if not all(isinstance(side, (ast.Name, ast.Constant)) for side in sides[1:-1]):
                return node
            pairs = zip(sides, node.ops, sides[1:], strict=False)
            return _call("all", [ast.Compare(left, [sign], [right]) for left, sign, right in pairs])
        case ast.UnaryOp(op=ast.Not(), operand=operand) if _is_open(operand, sizes):
            return _opposite(operand) or node
    return node


def _opposite(node: ast.expr) -> ast.expr | None:
    """Negation of a condition, if expressible without `not`."""
    match node:
        case ast.Compare(left=left, ops=[sign], comparators=others) if type(sign) in _OPPOSITE:
            return ast.Compare(left, [_OPPOSITE[type(sign)]()], others)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.BoolOp(op=op, values=values):
            other = ast.Or() if isinstance(op, ast.And) else ast.And()
            return ast.BoolOp(other, [_opposite(v) or ast.UnaryOp(ast.Not(), v) for v in values])
        case ast.Call(func=ast.Name("all" | "any" as name), args=[ast.GeneratorExp(elt, loops)]):
            each = _opposite(elt) or ast.UnaryOp(ast.Not(), elt)
            other_name = "any" if name == "all" else "all"
            return ast.Call(ast.Name(other_name), [ast.GeneratorExp(each, loops)], [])
    return None


def _is_open(node: ast.expr, sizes: AbstractSet[str]) -> bool:
    """Whether an expression may be a condition: comparisons of lists are decided, or fail."""
    match node:
        case ast.Compare():
            sides = (node.left, *node.comparators)
            return reads(node, sizes) and not any(map(_is_list, sides))
        case ast.BoolOp(values=values):
            return any(_is_open(each, sizes) for each in values)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _is_open(operand, sizes)
        case ast.Call(func=ast.Name(id=name)) if name in _TRUTHS:
            return reads(node, sizes)
    return False


def _is_list(node: ast.expr) -> bool:
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice)
    return isinstance(node, (ast.List, ast.Tuple, ast.ListComp))


def _joins(parts: list[ast.expr], sizes: AbstractSet[str]) -> bool:
    """Whether all parts may be evaluated eagerly: no part guards another."""
    first, *rest = parts
    known = _risks(first, sizes)
    return bool(rest) and all(_is_truth(part) and _risks(part, sizes) <= known for part in rest)


def _is_truth(node: ast.expr) -> bool:
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return True
        case ast.BoolOp(values=values):
            return all(map(_is_truth, values))
        case ast.Call(func=ast.Name(id=name)):
            return name in _TRUTHS
    return False


def _risks(node: ast.AST, sizes: AbstractSet[str]) -> frozenset[str]:
    """What may have no value: divisors, subscripts by sizes, and calls of partial functions."""
    found: frozenset[str] = frozenset()
    match node:
        case ast.BoolOp(values=[first, *_]):
            return _risks(first, sizes)  # which guards the others
        case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right):
            if not (isinstance(right, ast.Constant) and right.value):
                found = frozenset({ast.unparse(right)})
        case ast.Subscript(slice=index) if reads(index, sizes):
            found = frozenset({ast.unparse(node)})
        case ast.Call(func=ast.Name(id=name)) if name not in _TOTAL:
            found = frozenset({ast.unparse(node)})
    return found.union(*(_risks(child, sizes) for child in children(node)))


def _call(function: str, parts: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Name(function), [ast.List(parts)], [])
