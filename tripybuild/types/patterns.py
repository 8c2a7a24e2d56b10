"""The types of declarations, as data: `T[N, C, *D]`, `int[len(D), 2]`, `constant | reflect`.

A type is written in Python's expression syntax and parsed once. What it means for a call is decided
by the generated code and by the semantics; this module only knows the form.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from tripybuild.language.grammar import SnippetError, parse_expression
from tripybuild.types.dtypes import BY_NAME

# The kinds of Python values that an attribute can have. Those in `TAKES_ARGUMENT` are written as
# calls: `axis(input)`.
KINDS = frozenset(
    {
        "int",
        "float",
        "number",
        "bool",
        "size",
        "string",
        "dtype",
        "axis",
        "index",
        "subscripts",
        "mapping",
    }
)
TAKES_ARGUMENT = frozenset({"axis", "index", "subscripts"})


@dataclass(frozen=True, slots=True)
class Dimension:
    """One entry of a shape: `N` (a name), `*D` (the rest), or `C // groups` (an expression)."""

    expression: ast.expr
    star: bool = False

    @property
    def name(self) -> str | None:
        """The plain name that this entry binds or matches, if it is one."""
        return self.expression.id if isinstance(self.expression, ast.Name) else None

    def __str__(self) -> str:
        return ("*" if self.star else "") + ast.unparse(self.expression)


@dataclass(frozen=True, slots=True)
class TensorPattern:
    """A tensor: `T[N, C, *D]`. `shape` is None where any shape will do."""

    element: str
    shape: tuple[Dimension, ...] | None

    def __str__(self) -> str:
        return self.element + shape_text(self.shape)


@dataclass(frozen=True, slots=True)
class TensorsPattern:
    """Several tensors: `list[T[*S]]`; `S` is then the list of their shapes."""

    each: "TensorPattern"

    def __str__(self) -> str:
        return f"list[{self.each}]"


@dataclass(frozen=True, slots=True)
class ValuePattern:
    """A Python value: `int`, `int[len(D), 2]`, `size[...]`, `axis(input)`, `dtype[T]`.

    `fields` are the parts of each value in `(int, dtype)[...]`. `lengths` is None for one value,
    empty for any number of values, else the length of each level.
    """

    kind: str
    argument: ast.expr | None = None
    lengths: tuple[ast.expr, ...] | None = None
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"({', '.join(self.fields)})" if self.fields else self.kind
        if self.argument is not None:
            inner = ast.unparse(self.argument)
            text += f"({inner})" if self.kind in TAKES_ARGUMENT else f"[{inner}]"
        if self.lengths is None:
            return text
        return f"{text}[{', '.join(ast.unparse(length) for length in self.lengths) or '...'}]"


@dataclass(frozen=True, slots=True)
class ChoicePattern:
    """One of some words: `constant | reflect`."""

    options: tuple[str, ...]

    def __str__(self) -> str:
        return " | ".join(self.options)


@dataclass(frozen=True, slots=True)
class RegionPattern:
    """A subgraph: `region(takes, gives)`."""

    takes: ast.expr
    gives: ast.expr

    def __str__(self) -> str:
        return f"region({ast.unparse(self.takes)}, {ast.unparse(self.gives)})"


@dataclass(frozen=True, slots=True)
class LikePattern:
    """The type of another argument: `like(state)`."""

    name: str

    def __str__(self) -> str:
        return f"like({self.name})"


@dataclass(frozen=True, slots=True)
class UnionPattern:
    """One of several forms: `T[*B] | number`."""

    options: tuple["Pattern", ...]

    def __str__(self) -> str:
        return " | ".join(map(str, self.options))


Pattern = (
    TensorPattern
    | TensorsPattern
    | ValuePattern
    | ChoicePattern
    | RegionPattern
    | LikePattern
    | UnionPattern
)


def shape_text(shape: tuple[Dimension, ...] | None) -> str:
    """`[N, C, *D]` for a shape, `[()]` for a scalar, nothing where any shape will do."""
    if shape is None:
        return "[...]"
    return f"[{', '.join(map(str, shape))}]" if shape else "[()]"


def options(pattern: Pattern) -> tuple[Pattern, ...]:
    """The alternatives of a type; a type that is no union is its own only alternative."""
    return pattern.options if isinstance(pattern, UnionPattern) else (pattern,)


def tensors(pattern: Pattern) -> Iterator[TensorPattern]:
    """The tensor types inside a type."""
    for option in options(pattern):
        if isinstance(option, TensorPattern):
            yield option
        elif isinstance(option, TensorsPattern):
            yield option.each


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
                return RegionPattern(takes, gives)
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
        return UnionPattern(tuple(self.pattern(part) for part in parts))

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
