"""How one operator calls another in generated code, and where it looks for it."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass

from tripybuild.codegen.rewrite import Rewriter
from tripybuild.codegen.text import Imports
from tripybuild.language.vocabulary import PYTHON
from tripybuild.schema.operator import Operator
from tripybuild.types.shapes import SHAPE_FUNCTIONS

BUILT_IN = "tripyapi"


@dataclass(frozen=True)
class Calls:
    """The packages that hold the operators: `own` are those of the package that is generated."""

    operators: Mapping[str, Operator]
    own: frozenset[str]
    package: str = BUILT_IN

    def rewriter(
        self, operator: Operator, names: Mapping[str, ast.expr], imports: Imports
    ) -> Rewriter:
        """A rewriter for `decompose`: a name is the operator when its first argument is a tensor, else Python's."""
        tensors = _Tensors(operator, frozenset(self.operators))
        assert operator.decompose is not None
        for step in operator.decompose.program.assignments:
            if tensors.holds(step.value):
                tensors.names |= {target.lstrip("*") for target in step.targets}

        def operator_call(node: ast.Call) -> ast.expr | None:
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name == "tensor":
                imports.name("tripybuild.frontend", "tensor")
                return ast.Name("tensor")
            if name not in self.operators or (_is_python(name) and not tensors.holds_first(node)):
                return None
            package = self.package if name in self.own else BUILT_IN
            alias = "tp" if package == BUILT_IN else package
            imports.module(f"{package} as tp" if package == BUILT_IN else package)
            return ast.Attribute(ast.Name(alias), name)

        return Rewriter(names, imports, operator_call)


def _is_python(name: str) -> bool:
    return name in SHAPE_FUNCTIONS or name in PYTHON.functions


class _Tensors:
    """Which expressions of a decomposition are tensors."""

    def __init__(self, operator: Operator, operators: frozenset[str]) -> None:
        self.names = set(operator.inputs)
        self.operators = operators

    def holds_first(self, node: ast.Call) -> bool:
        return bool(node.args) and self.holds(node.args[0])

    def holds(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self.names
            case ast.Call(func=ast.Name(id="tensor")):
                return True
            case ast.Call(func=ast.Name(id=name)):
                return name in self.operators and (not _is_python(name) or self.holds_first(node))
            case ast.Call(func=ast.Attribute(value=value)):
                return self.holds(value)
            case ast.BinOp(left=left, right=right):
                return self.holds(left) or self.holds(right)
            case ast.UnaryOp(operand=operand):
                return self.holds(operand)
            case ast.IfExp(body=body, orelse=orelse):
                return self.holds(body) or self.holds(orelse)
            case ast.Subscript(value=value):
                return self.holds(value)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return any(self.holds(item) for item in items)
            case ast.ListComp() | ast.GeneratorExp():
                over = any(self.holds(g.iter) for g in node.generators)
                if over:
                    self.names |= {
                        n.id
                        for g in node.generators
                        for n in ast.walk(g.target)
                        if isinstance(n, ast.Name)
                    }
                return self.holds(node.elt)
        return False
