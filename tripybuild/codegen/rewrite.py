"""From the names of a snippet to the names of generated Python."""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from tripybuild.codegen.text import Imports
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.shapes import SHAPE_FUNCTIONS

MATH = frozenset({"sqrt", "ceil", "floor", "log", "log2", "exp"})
CONSTANTS = frozenset({"inf", "nan", "pi"})


class Rewriter(ast.NodeTransformer):
    """Puts generated names in the place of a snippet's names.

    Args:
        names: What stands for the operator's own names, where it is not the name itself.
        imports: Collects what the result needs.
        operator_call: Says what is called where a call is one of another operator, else None.
    """

    def __init__(
        self,
        names: Mapping[str, ast.expr],
        imports: Imports,
        operator_call: Callable[[ast.Call], ast.expr | None] = lambda _: None,
    ) -> None:
        self.names = names
        self.imports = imports
        self.operator_call = operator_call
        self.local: frozenset[str] = frozenset()

    def rewrite(self, node: ast.expr) -> ast.expr:
        """A rewritten copy."""
        result: ast.expr = self.visit(_copied(node))
        return result

    def visit_Name(self, node: ast.Name) -> ast.expr:
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

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """A call whose function is in place: `tp.exp(x)`, `shapes.drop(S, 1)`, `math.sqrt(n)`."""
        function = node.func
        if isinstance(function, ast.Name) and function.id not in self.local:
            function = self.operator_call(node) or self._function(function.id)
        else:
            function = self.visit(function)
        arguments = [self.visit(argument) for argument in node.args]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        return ast.Call(function, arguments, keywords)

    def _function(self, name: str) -> ast.expr:
        if name in SHAPE_FUNCTIONS:
            self.imports.name("tripybuild.types", "shapes")
            return ast.Attribute(ast.Name("shapes"), SHAPE_FUNCTIONS[name].__name__)
        if name in MATH:
            self.imports.module("math")
            return ast.Attribute(ast.Name("math"), name)
        return ast.Name(name)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Names that a comprehension binds are its own."""
        if not isinstance(node, ast.ListComp | ast.GeneratorExp | ast.DictComp):
            return super().generic_visit(node)
        outer = self.local
        for generator in node.generators:
            generator.iter = self.visit(generator.iter)
            bound = {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
            self.local |= bound
            generator.ifs = [self.visit(condition) for condition in generator.ifs]
        if isinstance(node, ast.DictComp):
            node.key, node.value = self.visit(node.key), self.visit(node.value)
        else:
            node.elt = self.visit(node.elt)
        self.local = outer
        return node


def _copied(node: Any) -> Any:
    """A deep copy without positions, so that a snippet can be rewritten many times."""
    if isinstance(node, list):
        return [_copied(item) for item in node]
    if not isinstance(node, ast.AST) or not node._fields:  # `+` and the like have none
        return node
    return type(node)(**{name: _copied(value) for name, value in ast.iter_fields(node)})


def attribute(path: str) -> ast.expr:
    """`op.input.shape` as a tree."""
    first, *rest = path.split(".")
    node: ast.expr = ast.Name(first)
    for name in rest:
        node = ast.Attribute(node, name)
    return node
