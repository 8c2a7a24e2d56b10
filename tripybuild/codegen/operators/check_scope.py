"""Local scope of a generated check: each name and each `infer` entry is bound once, on demand."""

import ast
from collections.abc import Iterable

from tripybuild.codegen.operators.arguments import SignatureParameter
from tripybuild.codegen.python.conditions import size_names
from tripybuild.codegen.python.expressions import document
from tripybuild.codegen.python.file_text import Body, Imports
from tripybuild.codegen.python.layout import Doc, bracket_list, call
from tripybuild.codegen.python.rewrite import NameRewriter
from tripybuild.codegen.python.statements import define
from tripybuild.language.names import free_names
from tripybuild.schema.operator.operator import Operator
from tripybuild.schema.snippets.snippet_scope import choice_words
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.patterns import Dimension


class CheckScope:
    """The names that the checks of one operator bind, which are those of its snippets.

    Args:
        operator: The declaration.
        parameters: The parameters of the function.
        body: Where the statements go.
        unused: Names that nothing reads, as a first writing has shown. They are not bound.
    """

    def __init__(
        self,
        operator: Operator,
        parameters: list[SignatureParameter],
        body: Body,
        unused: frozenset[str],
    ) -> None:
        self.operator = operator
        self.parameters = parameters
        self.body = body
        self.unused = unused
        self.bound: set[str] = set()
        texts: dict[str, ast.expr] = {word: ast.Constant(word) for word in choice_words(operator)}
        switched = [i.name for i in operator.inputs.values() if i.value is not None]
        self.given = {name: f"given_{name}" if operator.inline else name for name in switched}
        texts |= {name: ast.Name(given) for name, given in self.given.items()}
        self.rewriter = NameRewriter(texts, body.imports, sizes=size_names(operator))
        self._inferred: set[str] = set()

    @property
    def imports(self) -> Imports:
        """The imports that the statements need."""
        return self.body.imports

    def infer(self, names: Iterable[str]) -> None:
        """Write the names of `infer` among some names, after those that they need themselves."""
        for name in names:
            snippet = self.operator.infer.get(name)
            if snippet is not None and name not in self._inferred:
                self._inferred.add(name)
                self.infer(free_names(snippet.program))
                define(name, snippet.program, self.rewriter, self.body)
                self.bound.add(name)

    def expression(self, node: ast.expr) -> Doc:
        """An expression, behind the names of `infer` that it reads."""
        self.infer(free_names(node))
        return document(self.rewriter.rewrite(node))

    def sizes(self, shape: Iterable[Dimension]) -> Doc:
        """`(N, C, *D)`: a shape as a tuple."""
        items: list[Doc] = [["*" if d.star else "", self.expression(d.expression)] for d in shape]
        return bracket_list("(", items, ")", comma=True)

    def is_later(self, dimension: Dimension) -> bool:
        """Whether a dimension is known only when attributes and `infer` are."""
        name = dimension.name
        return name is None or name in self.operator.infer or name in self.operator.attributes

    def is_fresh(self, dimension: Dimension) -> bool:
        """Whether a dimension is a name that an input's shape binds now."""
        return not self.is_later(dimension) and dimension.name not in self.bound

    def element(self, name: str) -> Doc:
        """`T`, or `dtypes.float32`."""
        if name not in BY_NAME:
            return name
        self.imports.name("tripybuild.types", "dtypes")
        return f"dtypes.{name}"

    def elements(self, allowed: Iterable[dtype]) -> Doc:
        """`(dtypes.float32, dtypes.float16)`."""
        return bracket_list("(", [self.element(str(each)) for each in allowed], ")", comma=True)

    def assign(self, target: str, function: str, arguments: list[Doc], body: Body) -> None:
        """`T = check.element(...)`, or the bare call if the name is unused."""
        start = "" if target in self.unused else f"{target} = "
        body.add(start, call(f"check.{function}", arguments))
        if target not in self.operator.inputs:
            self.bound.add(target)
