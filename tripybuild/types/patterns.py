"""Type patterns of declarations: `T[N, C, *D]`, `int[len(D), 2]`, `constant | reflect`.

What a type means for a call is decided by the generated code and by the semantics; this module only
knows the form.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

# The kinds of values that are written as calls: `axis(input)`.
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
        return ("*" if self.star else "") + (self.name or ast.unparse(self.expression))


@dataclass(frozen=True, slots=True)
class TensorPattern:
    """A tensor: `T[N, C, *D]`. `shape` is None where any shape will do."""

    element: str
    shape: tuple[Dimension, ...] | None

    def __str__(self) -> str:
        return self.element + shape_text(self.shape)

    def ranks(self) -> tuple[int, bool]:
        """The least rank of `[N, C, *D]`, and whether it is the only one."""
        if self.shape is None:
            return 0, False
        plain = sum(not dimension.star for dimension in self.shape)
        return plain, plain == len(self.shape)

    def match(self, shape: Sequence[Any]) -> list[tuple[Dimension, Any]] | None:
        """Pair each dimension with its size in a shape, `*D` with the list of its sizes.

        None where the rank does not fit. Sizes are not compared.
        """
        least, exact = self.ranks()
        if len(shape) != least if exact else len(shape) < least:
            return None
        pairs: list[tuple[Dimension, Any]] = []
        rest, after = list(shape), len(self.shape or ())
        for dimension in self.shape or ():
            after -= 1
            count = len(rest) - after
            pairs.append((dimension, rest[:count] if dimension.star else rest[0]))
            rest = rest[count if dimension.star else 1 :]
        return pairs

    def bindings(self, shape: Sequence[Any]) -> dict[str, Any]:
        """The plain names with the sizes that they find; none where the rank does not fit."""
        return {each.name: found for each, found in self.match(shape) or () if each.name}

    def sizes(self, value_of: Callable[[Dimension], Any]) -> Iterator[tuple[Dimension, Any]]:
        """The inverse of `match`: each size of the shape, and the dimension that it is of."""
        for dimension in self.shape or ():
            value = value_of(dimension)
            several = dimension.star and isinstance(value, (list, tuple))
            yield from ((dimension, size) for size in (value if several else [value]))


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
    empty for any number of values, else the length of each level. `alone` is whether one value
    stands for a sequence of it: `int | int[...]`.
    """

    kind: str
    argument: ast.expr | None = None
    lengths: tuple[ast.expr, ...] | None = None
    fields: tuple[str, ...] = ()
    alone: bool = False

    def __str__(self) -> str:
        text = f"({', '.join(self.fields)})" if self.fields else self.kind
        if self.argument is not None:
            inner = ast.unparse(self.argument)
            text += f"({inner})" if self.kind in TAKES_ARGUMENT else f"[{inner}]"
        if self.lengths is None:
            return text
        several = f"{text}[{', '.join(ast.unparse(length) for length in self.lengths) or '...'}]"
        return f"{text} | {several}" if self.alone else several


@dataclass(frozen=True, slots=True)
class ChoicePattern:
    """One of some words: `constant | reflect`."""

    options: tuple[str, ...]

    def __str__(self) -> str:
        return " | ".join(self.options)


@dataclass(frozen=True, slots=True)
class RegionPattern:
    """A subgraph: `region(takes, gives)`, each one type or several, as in `(state, bool[()])`.

    It takes what inputs are, `state`, or the rows of what they are, `each(inputs)`. A `list[T[*S]]`
    at the end of what it gives is all the rest; its names are bound where nothing has bound them.
    """

    parameters: tuple["LikePattern", ...]
    results: tuple["TensorPattern | TensorsPattern | LikePattern", ...]

    def __str__(self) -> str:
        return f"region({_types_text(self.parameters)}, {_types_text(self.results)})"

    @property
    def rest(self) -> "TensorsPattern | None":
        """What it gives at the end, where that is any number of tensors."""
        last = self.results[-1]
        return last if isinstance(last, TensorsPattern) else None


@dataclass(frozen=True, slots=True)
class LikePattern:
    """The type of another argument: `like(state)`, or `state` alone in a region.

    `each(inputs)` is the type without its first dimension: that of a row.
    """

    name: str
    each: bool = False
    alone: bool = False

    def __str__(self) -> str:
        return self.name if self.alone else f"{'each' if self.each else 'like'}({self.name})"


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


def _types_text(types: Sequence[Pattern]) -> str:
    return str(types[0]) if len(types) == 1 else f"({', '.join(map(str, types))})"


def shape_text(shape: tuple[Dimension, ...] | None) -> str:
    """`[N, C, *D]` for a shape, `[()]` for a scalar, nothing where any shape will do."""
    if shape is None:
        return "[...]"
    return f"[{', '.join(map(str, shape))}]" if shape else "[()]"


def subscript_text(shape: Sequence[Dimension], index: int) -> str:
    """`[0]`, `[-1]` or `[2:]`: where a dimension's sizes are, counted from the end behind `*D`."""
    star = next((i for i, d in enumerate(shape) if d.star), len(shape))
    behind = len(shape) - index - 1
    if index == star:
        return f"[{index or ''}:{-behind or ''}]"
    return f"[{index if index < star else -behind - 1}]"


def options(pattern: Pattern) -> tuple[Pattern, ...]:
    """The alternatives of a type; a type that is no union is its own only alternative."""
    return pattern.options if isinstance(pattern, UnionPattern) else (pattern,)


def expressions(pattern: Pattern) -> Iterator[ast.expr]:
    """The expressions of sizes inside a type."""
    for option in options(pattern):
        parts = (
            (*option.parameters, *option.results)
            if isinstance(option, RegionPattern)
            else (option,)
        )
        for part in parts:
            each = part.each if isinstance(part, TensorsPattern) else part
            if isinstance(each, TensorPattern):
                yield from (dimension.expression for dimension in each.shape or ())
            elif isinstance(each, ValuePattern):
                yield from (node for node in (each.argument, *(each.lengths or ())) if node)


def tensors(pattern: Pattern) -> Iterator[TensorPattern]:
    """The tensor types inside a type."""
    for option in options(pattern):
        if isinstance(option, TensorPattern):
            yield option
        elif isinstance(option, TensorsPattern):
            yield option.each
