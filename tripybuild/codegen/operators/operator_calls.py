"""Operator calls in generated code: name resolution and imports."""

import ast
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tripybuild.codegen.package.fragment import BUILT_IN
from tripybuild.codegen.python.file_text import Imports
from tripybuild.codegen.python.rewrite import NameRewriter
from tripybuild.codegen.snippets.kind_inference import DTYPE_OF, TENSOR_OF, KindInference
from tripybuild.codegen.snippets.value_kinds import OTHER, TENSOR, TENSORS, ValueKind
from tripybuild.schema.operator.operator import KEPT, Input, Operator


@dataclass(frozen=True, slots=True)
class CallResolver:
    """The names of operators and modules: `own` are those of the package that is generated."""

    operators: Collection[str]
    own: Container[str]
    package: str = BUILT_IN
    modules: Collection[str] = frozenset()

    def rewriter(
        self, operator: Operator, names: Mapping[str, ast.expr], imports: Imports
    ) -> NameRewriter:
        """A rewriter for `decompose`: `max(input, dim)` becomes `tp.max(input, dim)`."""
        return self.rewriter_for(infer_kinds(operator, self.operators), names, imports)

    def rewriter_for(
        self, tensors: KindInference, names: Mapping[str, ast.expr], imports: Imports
    ) -> NameRewriter:
        """The same for any snippet, where it is known which names are tensors."""

        def operator_call(node: ast.Call) -> ast.expr | None:
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name in tensors.parts:
                return names[name]
            if name in (TENSOR_OF, DTYPE_OF):
                imports.name("tripybuild.frontend", name)
                return ast.Name(name)
            if not tensors.calls_operator(node):
                return None
            return ast.Attribute(ast.Name(self.package_of(name, imports)), name)

        return NameRewriter(names, imports, operator_call)

    def package_of(self, name: str, imports: Imports) -> str:
        """Import the package that holds an operator or a module; what it is called there."""
        if name in self.own and self.package != BUILT_IN:
            imports.module(self.package)
            return self.package
        imports.module(f"{BUILT_IN} as tp")
        return "tp"


def infer_kinds(operator: Operator, operators: Collection[str]) -> KindInference:
    """The kinds of all values of an operator's decomposition, which is followed once."""
    return _infer_kinds(operator, frozenset(operators))


@lru_cache(maxsize=KEPT)
def _infer_kinds(operator: Operator, operators: frozenset[str]) -> KindInference:
    assert operator.decompose is not None
    tensors = KindInference(input_kinds(operator), operators, functions=operator.regions())
    tensors.follow(operator.decompose.program)
    return tensors


def input_kinds(operator: Operator) -> dict[str, ValueKind]:
    """What a snippet has of inputs: numbers are tensors there, and an index is itself."""
    return {name: _input_kind(input) for name, input in operator.inputs.items()}


def _input_kind(input: Input) -> ValueKind:
    if input.several:
        return TENSORS
    return TENSOR | OTHER if input.value is not None else TENSOR
