"""Expressions of a spec as texts with holes, and calls of operators as such texts.

The holes are what is decided last: the names of values, of definitions and of sizes. Two texts that
differ in nothing but the names of their values are equal here.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tripybuild.importer.call_program import Call, CallGraph, CallValue
from tripybuild.schema.operator.operator import Attribute, Operator
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.values import Size, TensorType
from tripybuild.types.dtypes import dtype
from tripybuild.types.patterns import ValuePattern, options

# How tightly an expression holds together, as in Python.
LOOSE, COMPARISON, OR, XOR, AND, SUM, PRODUCT, UNARY, POWER, ATOM = range(10)
_INFIX: Mapping[str, tuple[str, int]] = {
    "__add__": ("+", SUM),
    "__sub__": ("-", SUM),
    "__mul__": ("*", PRODUCT),
    "__truediv__": ("/", PRODUCT),
    "__floordiv__": ("//", PRODUCT),
    "__mod__": ("%", PRODUCT),
    "__matmul__": ("@", PRODUCT),
    "__pow__": ("**", POWER),
    "__eq__": ("==", COMPARISON),
    "__ne__": ("!=", COMPARISON),
    "__lt__": ("<", COMPARISON),
    "__le__": ("<=", COMPARISON),
    "__gt__": (">", COMPARISON),
    "__ge__": (">=", COMPARISON),
}
_PREFIX = {"__neg__": "-"}
_SUBSCRIPT = "__getitem__"


@dataclass(frozen=True, slots=True)
class SizeNumber:
    """A number that can become the name of a size; `role` says what it is there.

    `hint` is what a size is called that takes its place, and `place` where it stands: in `data`, as
    the `last` size of some, or in a `weight` or its `rows`, with the path and the parameter.
    """

    value: int
    role: str = "size"
    hint: str = field(default="size", compare=False)
    place: str = field(default="data", compare=False)


@dataclass(eq=False, slots=True)
class Slot:
    """The name of a value in a definition.

    `hint` is what it is called if that is free, and `other` what it is called otherwise.
    """

    hint: str
    other: str = ""


@dataclass(frozen=True, slots=True)
class DefinitionName:
    """The name of something that has one once all definitions are known."""

    to: Any


@dataclass(frozen=True, slots=True)
class Keyword:
    """A last argument by name, which is not written where it is what the part has by default."""

    name: str
    value: SizeNumber | Slot
    default: int

    @property
    def is_default(self) -> bool:
        """Whether it is left out."""
        return isinstance(self.value, SizeNumber) and self.value.value == self.default


Piece = str | SizeNumber | Dim | Slot | DefinitionName | Keyword


@dataclass(frozen=True, slots=True)
class Text:
    """An expression: its pieces, and how tightly it holds together."""

    pieces: tuple[Piece, ...]
    strength: int = ATOM

    @classmethod
    def of(cls, *parts: "Piece | Text", strength: int = ATOM) -> "Text":
        """Join pieces and texts."""
        pieces: list[Piece] = []
        for part in parts:
            for piece in part.pieces if isinstance(part, Text) else (part,):
                if isinstance(piece, str) and pieces and isinstance(pieces[-1], str):
                    pieces[-1] += piece
                else:
                    pieces.append(piece)
        return cls(tuple(pieces), strength)

    def within(self, strength: int) -> "Text":
        """The text as an operand: in parentheses where it is held less tightly."""
        return self if self.strength >= strength else Text.of("(", self, ")")

    def slots(self) -> Iterator[Slot]:
        """The values that it reads."""
        return (piece for piece in self.pieces if isinstance(piece, Slot))

    def render(self, name: Callable[[Piece], str]) -> str:
        """The text with all holes filled in."""
        return "".join(p if isinstance(p, str) else name(p) for p in self.pieces)

    def __len__(self) -> int:
        """About how long it will be."""
        return sum(len(p) if isinstance(p, str) else _length(p) for p in self.pieces)


def _length(piece: Piece) -> int:
    match piece:
        case Slot():
            return max(len(piece.hint), 2)
        case SizeNumber():
            return len(str(piece.value))
        case Keyword():
            return 0 if piece.is_default else len(piece.name) + 5
        case Dim():
            return len(str(piece))
    return 8


def listed(items: Iterable[Text], opening: str = "[", closing: str = "]") -> Text:
    """Items between brackets."""
    parts: list[Piece | Text] = []
    for item in items:
        parts += [", ", item] if parts else [item]
    return Text.of(opening, *parts, closing)


def size_text(size: Size, role: str = "size", hint: str = "size", place: str = "data") -> Text:
    """A size: a number that can have a name, or an expression over symbols."""
    if isinstance(size, Dim):
        return Text((size,), ATOM if str(size).isidentifier() else SUM)
    return Text((SizeNumber(int(size), role, hint, place),), ATOM if size >= 0 else UNARY)


@dataclass(frozen=True, slots=True)
class TypeText:
    """The type of a tensor: its dtype, and its sizes as a text."""

    dtype: dtype
    shape: Text

    @classmethod
    def of(cls, type: TensorType, name: str) -> "TypeText":
        """That of an input that is called so."""
        shape = list(type.shape or [])
        places = [f"data {name}"] * (len(shape) - 1) + [f"last {name}"]
        sizes = (size_text(size, place=at) for size, at in zip(shape, places, strict=False))
        return cls(type.dtype, listed(sizes))

    @classmethod
    def of_weight(cls, type: TensorType, path: str) -> "TypeText":
        """That of a weight."""
        shape = list(type.shape or [])
        hints = [*["rows"] * (len(shape) - 1), "columns"][: len(shape)]
        places = [f"weight {path}"] * len(shape)
        if len(shape) > 1 and "embed" in path:
            places[0] = f"rows {path}"
        each = zip(shape, hints, places, strict=True)
        return cls(type.dtype, listed(size_text(n, hint=h, place=p) for n, h, p in each))


def literal(value: object, role: str = "", hint: str = "size", place: str = "data") -> Text:
    """A value that is no tensor."""
    match value:
        case bool() | None:
            return Text.of(repr(value))
        case int() | Dim():
            if role or isinstance(value, Dim):
                return size_text(value, role, hint, place)
            return Text.of(str(value), strength=ATOM if value >= 0 else UNARY)
        case float():
            text = repr(value) if value == value else "nan"  # noqa: PLR0124 - NaN
            return Text.of(text, strength=UNARY if text.startswith("-") else ATOM)
        case dtype():
            return Text.of(value.name)
        case str():
            return Text.of(f'"{value}"' if "'" in value else f"'{value}'")
        case list() | tuple():
            return listed(literal(each, role, hint, place) for each in value)
    message = f"{value!r} has no form in a spec"
    raise TypeError(message)


@dataclass(frozen=True)
class CallPrinter:
    """Calls of operators as texts.

    Attributes:
        operators: Their declarations, by name.
        value: How a tensor is said; None for one that cannot stand in a larger text.
        region: How a graph of control flow is said, which is called so if that is free.
    """

    operators: Mapping[str, Operator]
    value: Callable[[CallValue], Text]
    region: Callable[[CallGraph, str], Text]

    def text(self, call: Call) -> Text:
        """The call, with the arguments in their places."""
        operator = self.operators[call.operator]
        tensor = operator.aliases.tensor
        methods = [tensor] if isinstance(tensor, str) else tensor or []
        given = list(call.arguments.values())
        for method in methods:
            if method in _INFIX and len(given) == 2:
                return self._infix(*_INFIX[method], *given)
            if method in _PREFIX and len(given) == 1:
                return Text.of(_PREFIX[method], self._any(given[0]).within(UNARY), strength=UNARY)
            if method == _SUBSCRIPT and len(given) == 2 and not _is_tensor(given[1]):
                return Text.of(self._any(given[0]).within(ATOM), self._index(given[1]))
        return Text.of(call.operator, listed(self._arguments(operator, call), "(", ")"))

    def _infix(self, sign: str, strength: int, left: object, right: object) -> Text:
        one, other = self._any(left), self._any(right)
        if sign == "**":  # binds to the right, and tighter than a sign on its left
            return Text.of(one.within(ATOM), f" {sign} ", other.within(UNARY), strength=strength)
        left_strength = strength + (strength == COMPARISON)
        pieces = one.within(left_strength), f" {sign} ", other.within(strength + 1)
        return Text.of(*pieces, strength=strength)

    def _index(self, index: object) -> Text:
        entries = index if isinstance(index, (list, tuple)) else [index]
        return listed(map(self._entry, entries))

    def _entry(self, entry: object) -> Text:
        if isinstance(entry, slice):
            low = Text.of("") if entry.start in (None, 0) else literal(entry.start)
            high = Text.of("") if entry.stop is None else literal(entry.stop)
            step = Text.of("") if entry.step in (None, 1) else Text.of(":", literal(entry.step))
            return Text.of(low, ":", high, step)
        return Text.of("...") if entry is Ellipsis else literal(entry)

    def _arguments(self, operator: Operator, call: Call) -> Iterator[Text]:
        """By position as far as nothing is left out, then by keyword."""
        names = _signature(operator, call)
        is_gapless = True
        for name in names:
            if name not in call.arguments:
                is_gapless = False
                continue
            value = self._argument(operator, name, call.arguments[name])
            attribute = operator.attributes.get(name)
            keyword = not is_gapless or (attribute is not None and attribute.keywords)
            yield Text.of(f"{name}=", value) if keyword else value

    def _argument(self, operator: Operator, name: str, value: object) -> Text:
        attribute = operator.attributes.get(name)
        if isinstance(value, CallGraph):
            return self.region(value, f"{operator.name}_{name}")
        if attribute is None:
            return self._any(value)
        if isinstance(value, str):
            return literal(value)
        return self._any(value, _role(attribute))

    def _any(self, value: object, role: str = "", place: str = "data") -> Text:
        match value:
            case CallValue():
                return self.value(value)
            case list() | tuple():
                items = [self._any(each, role) for each in value[:-1]]
                return listed([*items, *(self._any(each, role, "last") for each in value[-1:])])
            case slice():
                return self._entry(value)
        return literal(value, role, place=place)


def _is_tensor(value: object) -> bool:
    return isinstance(value, CallValue)


def _role(attribute: Attribute) -> str:
    """Whether numbers of an attribute are sizes, which can have names."""
    kinds = {p.kind for p in options(attribute.pattern) if isinstance(p, ValuePattern)}
    return "size" if kinds == {"size"} else ""


def _signature(operator: Operator, call: Call) -> Sequence[str]:
    """The names of the arguments in the order in which a call with these takes them."""
    given = call.arguments.keys()
    for names in sorted(operator.signatures, key=len):
        if given <= set(names):
            return names
    return [argument.name for argument in operator.arguments()]


def tensors_of(arguments: object) -> Iterator[CallValue]:
    """The tensors among arguments, also those that a graph of control flow reads from outside."""
    match arguments:
        case CallValue():
            yield arguments
        case list() | tuple():
            for each in arguments:
                yield from tensors_of(each)
        case slice():
            yield from tensors_of([arguments.start, arguments.stop, arguments.step])
        case CallGraph():
            yield from captured(arguments)


def captured(graph: CallGraph) -> Iterator[CallValue]:
    """What a graph reads that is made outside of it."""
    inside = set(map(id, graph.inputs))
    for call in graph.calls:
        for value in tensors_of([*call.arguments.values()]):
            if id(value) not in inside:
                inside.add(id(value))
                yield value
        inside.update(map(id, call.results))
    yield from (value for _, value in graph.outputs if id(value) not in inside)


@lru_cache(maxsize=4096)
def is_name(text: str) -> bool:
    """Whether a text can be a name in a spec."""
    try:
        return isinstance(ast.parse(text, mode="eval").body, ast.Name)
    except (SyntaxError, ValueError):
        return False
