"""Type parser: a type pattern in Python's expression syntax."""

import ast
from dataclasses import replace

from tripybuild.language.grammar import SnippetError, parse_expression
from tripybuild.types.dtypes import BY_NAME
from tripybuild.types.patterns import (
    TAKES_ARGUMENT,
    ChoicePattern,
    Dimension,
    LikePattern,
    Pattern,
    RegionPattern,
    TensorPattern,
    TensorsPattern,
    UnionPattern,
    ValuePattern,
)

# The kinds of Python values that an attribute can have. Those in `TAKES_ARGUMENT` are written as
# calls.
KINDS = frozenset(
    {
        "int",
        "float",
        "number",
        "bool",
        "size",
        "string",
        "device",
        "dtype",
        "axis",
        "index",
        "subscripts",
        "mapping",
    }
)


def parse_pattern(text: str, variables: frozenset[str] = frozenset()) -> Pattern:
    """Parse a type.

    Args:
        text: What stands behind `type:`.
        variables: The type variables of the declaration.

    Raises:
        SnippetError: Where the text is no type, with the position of the part at fault.
    """
    return _Parser(variables | BY_NAME.keys() | {"any"}).pattern(parse_expression(text))


def error(node: ast.AST, message: str, hint: str | None = None) -> SnippetError:
    """A diagnostic's worth of facts about one part of a type."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    end = (
        getattr(node, "end_lineno", None) or line,
        getattr(node, "end_col_offset", None) or column + 1,
    )
    return SnippetError(message, (line, column, *end), code="type-syntax", hint=hint)


def _dimensions(node: ast.expr) -> tuple[Dimension, ...]:
    entries = node.elts if isinstance(node, ast.Tuple) else [node]
    shape = tuple(
        Dimension(entry.value, star=True) if isinstance(entry, ast.Starred) else Dimension(entry)
        for entry in entries
    )
    stars = [d for d in shape if d.star and d.name is not None]
    if len(stars) > 1:
        raise error(node, f"a shape can hold one run of dimensions, but this has {len(stars)}")
    return shape


def _several(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def _union(first: Pattern, *others: Pattern) -> Pattern:
    """Several forms of a type; `int | int[...]` is one form, of which one value is a short one."""
    if isinstance(first, ValuePattern) and first.lengths is None:
        several = replace(first, lengths=())
        if others == (several,):
            return replace(several, alone=True)
    return UnionPattern((first, *others))


class _Parser:
    """Reads the forms of a type; `elements` are the names that can stand before a shape."""

    def __init__(self, elements: frozenset[str]) -> None:
        self.elements = elements

    def pattern(self, node: ast.expr) -> Pattern:
        match node:
            case ast.BinOp(op=ast.BitOr()):
                return self.union(node)
            case ast.Subscript():
                return self.subscript(node)
            case ast.Call(func=ast.Name(id="region"), args=[takes, gives], keywords=[]):
                return RegionPattern(self.parameters(takes), self.results(gives))
            case ast.Call(func=ast.Name(id="like"), args=[ast.Name(id=name)], keywords=[]):
                return LikePattern(name)
            case ast.Call(func=ast.Name(id=kind), args=[argument], keywords=[]) if (
                kind in TAKES_ARGUMENT
            ):
                return ValuePattern(kind, argument)
            case ast.Name(id=name) if name in KINDS - TAKES_ARGUMENT or name in self.elements:
                return ValuePattern(name)
        raise error(
            node,
            f"`{ast.unparse(node)}` is not a type",
            "a type is a tensor such as `T[N, *D]`, a Python value such as `int[2]` or "
            "`axis(input)`, or words such as `constant | reflect`",
        )

    def parameters(self, node: ast.expr) -> tuple[LikePattern, ...]:
        """What a region takes: inputs, and rows of inputs."""
        return tuple(self._parameter(each) for each in _several(node))

    def _parameter(self, node: ast.expr) -> LikePattern:
        match node:
            case ast.Name(id=name):
                return LikePattern(name, alone=True)
            case ast.Call(func=ast.Name(id="each"), args=[ast.Name(id=name)], keywords=[]):
                return LikePattern(name, each=True)
        message = f"a region cannot take `{ast.unparse(node)}`"
        raise error(node, message, "it takes what an input is, `state`, or a row, `each(inputs)`")

    def results(self, node: ast.expr) -> tuple[TensorPattern | TensorsPattern | LikePattern, ...]:
        """What a region gives: tensors, with any number of them at the end alone."""
        *first, last = _several(node)
        return (*[self._result(each) for each in first], self._result(last, last=True))

    def _result(
        self, node: ast.expr, *, last: bool = False
    ) -> TensorPattern | TensorsPattern | LikePattern:
        if isinstance(node, ast.Name):
            return LikePattern(node.id, alone=True)
        pattern = self.pattern(node)
        if isinstance(pattern, (TensorPattern, LikePattern)):
            return pattern
        if isinstance(pattern, TensorsPattern) and last:
            return pattern
        message = f"a region cannot give `{ast.unparse(node)}` here"
        raise error(node, message, "it gives tensors, what an input is, and last `list[...]`")

    def union(self, node: ast.BinOp) -> Pattern:
        parts: list[ast.expr] = []
        rest: ast.expr = node
        while isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.BitOr):
            parts.insert(0, rest.right)
            rest = rest.left
        parts.insert(0, rest)
        words = [part.id for part in parts if isinstance(part, ast.Name)]
        if len(words) == len(parts) and not any(w in KINDS or w in self.elements for w in words):
            return ChoicePattern(tuple(words))
        return _union(*map(self.pattern, parts))

    def subscript(self, node: ast.Subscript) -> Pattern:
        match node.value:
            case ast.Name(id="list"):
                each = self.pattern(node.slice)
                if not isinstance(each, TensorPattern):
                    raise error(node.slice, "`list[...]` holds tensors")
                return TensorsPattern(each)
            case ast.Name(id="dtype"):
                return ValuePattern("dtype", node.slice)
            case ast.Name(id=name) if name in self.elements or name not in KINDS:
                return TensorPattern(name, self.tensor_shape(node.slice))
            case ast.Tuple(elts=parts) if all(
                isinstance(p, ast.Name) and p.id in KINDS for p in parts
            ):
                fields = tuple(p.id for p in parts if isinstance(p, ast.Name))
                return ValuePattern("tuple", None, self.lengths(node.slice), fields)
        value = self.pattern(node.value)
        if not isinstance(value, ValuePattern) or value.lengths is not None:
            raise error(node.value, f"`{ast.unparse(node.value)}` cannot be repeated")
        return ValuePattern(value.kind, value.argument, self.lengths(node.slice))

    def tensor_shape(self, node: ast.expr) -> tuple[Dimension, ...] | None:
        if isinstance(node, ast.Constant) and node.value is ...:
            return None
        return _dimensions(node)

    def lengths(self, node: ast.expr) -> tuple[ast.expr, ...]:
        if isinstance(node, ast.Constant) and node.value is ...:
            return ()
        return tuple(node.elts) if isinstance(node, ast.Tuple) else (node,)
