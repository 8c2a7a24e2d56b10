"""Name rewriting: snippet names to names of generated Python."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tripybuild.codegen.python.conditions import explicit, sizes_in_loop
from tripybuild.codegen.python.file_text import Imports
from tripybuild.language.limits import MAXIMUM_LENGTH
from tripybuild.language.names import is_power_of_constant
from tripybuild.language.syntax import walk
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.shapes import SHAPE_FUNCTIONS, bounded_range, power

MATH = frozenset({"sqrt", "ceil", "floor", "log", "log2", "exp"})
CONSTANTS = frozenset({"inf", "nan", "pi"})


class NameRewriter:
    """Puts generated names in the place of a snippet's names.

    Args:
        names: What stands for the operator's own names, where it is not the name itself.
        imports: Collects what the result needs.
        operator_call: Says what is called where a call is one of another operator, else None.
        sizes: The names whose values may be sizes that are not known yet.
    """

    def __init__(
        self,
        names: Mapping[str, ast.expr],
        imports: Imports,
        operator_call: Callable[[ast.Call], ast.expr | None] = lambda _: None,
        sizes: frozenset[str] = frozenset(),
    ) -> None:
        self.names = names
        self.imports = imports
        self.operator_call = operator_call
        self.sizes = sizes
        self.local: frozenset[str] = frozenset()

    @contextmanager
    def inside(self, names: Iterable[str]) -> Iterator[None]:
        """Let names stand for themselves: parameters of a function, and what its lines assign."""
        outer = self.local
        self.local |= {*names}
        try:
            yield
        finally:
            self.local = outer

    def rewrite(self, node: ast.expr) -> ast.expr:
        """A rewritten copy, without positions: the snippet stays as it is."""
        result: ast.expr = self._rewrite_part(node)
        return result

    def _rewrite_part(self, node: Any) -> Any:
        """A part of the copy: of a node, of several, or of what a node holds beside nodes."""
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Call():
                return self._call(node)
            case ast.BoolOp() | ast.Compare() | ast.UnaryOp(op=ast.Not()) if self.sizes:
                return self._truth(node)
            case ast.BinOp() if is_power_of_constant(node):
                self.imports.name("tripybuild.types", "shapes")
                function = ast.Attribute(ast.Name("shapes"), power.__name__)
                return ast.Call(function, [*map(self._rewrite_part, (node.left, node.right))], [])
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case ast.AST():
                return self._copy(node)
            case list():
                return [self._rewrite_part(each) for each in node]
        return node

    def _copy(self, node: ast.AST) -> Any:
        parts = (getattr(node, name, None) for name in node._fields)
        return type(node)(*map(self._rewrite_part, parts))

    def _truth(self, node: ast.expr) -> Any:
        """`shapes.some([n == 1, n == m])`, where `or` would ask a truth that is undecided."""
        told = explicit(node, self.sizes)
        return self._copy(node) if told is node else self._rewrite_part(told)

    def _name(self, node: ast.Name) -> ast.expr:
        """What stands for a name: `op.dim`, `dtypes.float32`, `math.inf`, or the name itself."""
        name = node.id
        if name in self.local:
            return node
        if name in self.names:
            return self.names[name]
        if name in BY_NAME:
            self.imports.name("tripybuild.types", "dtypes")
            return ast.Attribute(ast.Name("dtypes"), name)
        if name in CONSTANTS:
            self.imports.module("math")
            return ast.Attribute(ast.Name("math"), name)
        return node

    def _call(self, node: ast.Call) -> ast.expr:
        """A call whose function is in place: `tp.exp(x)`, `shapes.drop(S, 1)`, `math.sqrt(n)`."""
        function = node.func
        if isinstance(function, ast.Name) and function.id not in self.local:
            function = self.operator_call(node) or self._function(function.id, node.args)
        else:
            function = self._rewrite_part(function)
        keywords = [ast.keyword(k.arg, self._rewrite_part(k.value)) for k in node.keywords]
        return ast.Call(function, self._rewrite_part(node.args), keywords)

    def _function(self, name: str, arguments: list[ast.expr]) -> ast.expr:
        known = SHAPE_FUNCTIONS.get(name)
        if name == "range" and not all(map(_counts_dimensions, arguments)):
            known = bounded_range
        if known is not None:
            self.imports.name("tripybuild.types", "shapes")
            return ast.Attribute(ast.Name("shapes"), known.__name__)
        if name in MATH:
            self.imports.module("math")
            return ast.Attribute(ast.Name("math"), name)
        return ast.Name(name)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp) -> ast.expr:
        """Names that a comprehension binds are its own."""
        outer, sizes, loops = self.local, self.sizes, []
        for loop in node.generators:
            values = self._rewrite_part(loop.iter)
            self.local |= {n.id for n in walk(loop.target) if isinstance(n, ast.Name)}
            self.sizes = sizes_in_loop(loop, self.sizes)
            conditions = self._rewrite_part(loop.ifs)
            loops.append(ast.comprehension(loop.target, values, conditions, loop.is_async))
        result: ast.expr
        if isinstance(node, ast.DictComp):
            result = ast.DictComp(
                self._rewrite_part(node.key), self._rewrite_part(node.value), loops
            )
        else:
            result = type(node)(self._rewrite_part(node.elt), loops)
        self.local, self.sizes = outer, sizes
        return result


def _counts_dimensions(node: ast.expr) -> bool:
    """Whether a number is known to be small: it counts dimensions, as `len(S) - 2` does."""
    match node:
        case ast.Constant(value=int(value)):
            return value <= MAXIMUM_LENGTH
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return _counts_dimensions(left) and _counts_dimensions(right)
    return False


def attribute(path: str) -> ast.expr:
    """`op.input.shape` as a tree."""
    first, *rest = path.split(".")
    node: ast.expr = ast.Name(first)
    for name in rest:
        node = ast.Attribute(node, name)
    return node
