"""How one operator calls another in generated code, and where it looks for it."""

import ast
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass

from tripybuild.codegen.places import BUILT_IN
from tripybuild.codegen.rewrite import Rewriter
from tripybuild.codegen.text import Imports
from tripybuild.language.grammar import Program
from tripybuild.language.vocabulary import PYTHON
from tripybuild.schema.operator import Operator
from tripybuild.types.shapes import SHAPE_FUNCTIONS

# Words of decompositions that are no operators: one makes a tensor of a Python value, the other
# says what a tensor's elements are.
_TENSOR = "tensor"
_DTYPE = "dtype_of"


@dataclass(frozen=True, slots=True)
class Calls:
    """The names of operators and modules: `own` are those of the package that is generated."""

    operators: Collection[str]
    own: Container[str]
    package: str = BUILT_IN
    modules: Collection[str] = frozenset()

    def rewriter(
        self, operator: Operator, names: Mapping[str, ast.expr], imports: Imports
    ) -> Rewriter:
        """A rewriter for `decompose`: `max(input, dim)` becomes `tp.max(input, dim)`.

        A name that is also one of Python's is the operator where its first argument is a tensor.
        """
        assert operator.decompose is not None
        tensors = Tensors(operator.inputs, self.operators)
        tensors.follow(operator.decompose.program)
        return self.rewriting(tensors, names, imports)

    def rewriting(
        self, tensors: "Tensors", names: Mapping[str, ast.expr], imports: Imports
    ) -> Rewriter:
        """The same for any snippet, where it is known which names are tensors."""

        def operator_call(node: ast.Call) -> ast.expr | None:
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name in tensors.parts:
                return names[name]
            if name != _DTYPE and not tensors.gives(name, node.args):
                return None
            if name in (_TENSOR, _DTYPE):
                imports.name("tripybuild.frontend", name)
                return ast.Name(name)
            return ast.Attribute(ast.Name(self.package_of(name, imports)), name)

        return Rewriter(names, imports, operator_call)

    def package_of(self, name: str, imports: Imports) -> str:
        """Import the package that holds an operator or a module; what it is called there."""
        if name in self.own and self.package != BUILT_IN:
            imports.module(self.package)
            return self.package
        imports.module(f"{BUILT_IN} as tp")
        return "tp"


class Tensors:
    """Which expressions of a snippet are tensors.

    Args:
        names: The names that are.
        operators: The names of operators, which give some.
        parts: The names of parts of a module, which give some.
    """

    def __init__(
        self, names: Iterable[str], operators: Container[str], parts: Container[str] = ()
    ) -> None:
        self.names = set(names)
        self.operators = operators
        self.parts = parts

    def follow(self, program: Program) -> None:
        """Note which names of a program are tensors."""
        for step in program.assignments:
            if self.holds(step.value):
                self.names |= {target.lstrip("*") for target in step.targets}

    def gives(self, name: str, arguments: list[ast.expr]) -> bool:
        """Whether a call by name is one of an operator."""
        if name == _TENSOR or name in self.parts:
            return True
        shared = name in SHAPE_FUNCTIONS or name in PYTHON.functions
        first = bool(arguments) and self.holds(arguments[0])
        return name in self.operators and (first or not shared)

    def holds(self, node: ast.expr) -> bool:
        """Whether an expression is a tensor, or a list with one in it."""
        match node:
            case ast.Name(id=name):
                return name in self.names
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self.gives(name, arguments)
            case ast.Call(func=ast.Attribute(value=value)) | ast.Subscript(value=value):
                return self.holds(value)
            case ast.BinOp(left=left, right=right):
                return self.holds(left) or self.holds(right)
            case ast.UnaryOp(operand=operand):
                return self.holds(operand)
            case ast.IfExp(body=body, orelse=orelse):
                return self.holds(body) or self.holds(orelse)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return any(map(self.holds, items))
            case (
                ast.ListComp(elt=each, generators=generators)
                | ast.GeneratorExp(elt=each, generators=generators)
            ):
                return self._holds_each(each, generators)
        return False

    def _holds_each(self, each: ast.expr, generators: list[ast.comprehension]) -> bool:
        """Walking over tensors gives tensors."""
        if any(self.holds(generator.iter) for generator in generators):
            for generator in generators:
                nodes = ast.walk(generator.target)
                self.names |= {node.id for node in nodes if isinstance(node, ast.Name)}
        return self.holds(each)
