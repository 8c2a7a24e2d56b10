"""Printer of attributes, types and locations.

Invariant: a dictionary is in the order of its keys; numbers are MLIR's; affine maps and locations
have aliases, which are numbered in the order in which they are met. Constants are splats, nested
lists, or hexadecimal data; truth values are always listed, since releases of MLIR differ in how
they pack them. Affine maps have MLIR's minimal parentheses: `(d0)[s0] -> (d0 * 2 + s0, d0 - s0)`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    AnyFloat,
    ArrayAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    f64,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineExpr, AffineMap, AffineSet
from xdsl.ir.affine.affine_expr import AffineBinaryOpKind as Kind
from xdsl.printer import Printer

from tripybuild.tensorrt.mlir import elements, floats
from tripybuild.tensorrt.mlir.aliases import Aliases, location_text
from tripybuild.tensorrt.mlir.locations import LOCATIONS

_WORDS = {
    Kind.Mul: "*",
    Kind.Mod: "mod",
    Kind.FloorDiv: "floordiv",
    Kind.CeilDiv: "ceildiv",
}


def map_text(found: AffineMap) -> str:
    """Give `(d0) -> (d0 + 1)`."""
    names = _names(found.num_dims, found.num_symbols)
    return f"{names} -> ({_join_text(found.results)})"


def set_text(found: AffineSet) -> str:
    """Give `(d0) : (d0 - 1 >= 0)`."""
    each = (f"{_text(c.lhs)} {c.kind.value} {_text(c.rhs)}" for c in found.constraints)
    return f"{_names(found.num_dims, found.num_symbols)} : ({', '.join(each)})"


def _names(dims: int, symbols: int) -> str:
    sizes = ", ".join(f"d{index}" for index in range(dims))
    others = ", ".join(f"s{index}" for index in range(symbols))
    return f"({sizes})[{others}]" if symbols else f"({sizes})"


def _join_text(expressions: Iterable[AffineExpr]) -> str:
    return ", ".join(map(_text, expressions))


def _text(expression: AffineExpr, *, bound: bool = False) -> str:
    """Give an expression; in parentheses if what is around binds it tightly."""
    if not isinstance(expression, AffineBinaryOpExpr):
        return str(expression)
    text = _sum(expression) if expression.kind is Kind.Add else _product(expression)
    return f"({text})" if bound else text


def _product(expression: AffineBinaryOpExpr) -> str:
    left = _text(expression.lhs, bound=True)
    if expression.kind is Kind.Mul and _constant(expression.rhs) == -1:
        return f"-{left}"
    return f"{left} {_WORDS[expression.kind]} {_text(expression.rhs, bound=True)}"


def _sum(expression: AffineBinaryOpExpr) -> str:
    """What is negative is taken away."""
    left, right = _text(expression.lhs), expression.rhs
    constant = _constant(right)
    if constant is not None and constant < 0:
        return f"{left} - {-constant}"
    if isinstance(right, AffineBinaryOpExpr) and right.kind is Kind.Mul:
        factor = _constant(right.rhs)
        if factor == -1:
            is_sum = isinstance(right.lhs, AffineBinaryOpExpr) and right.lhs.kind is Kind.Add
            return f"{left} - {_text(right.lhs, bound=is_sum)}"
        if factor is not None and factor < -1:
            return f"{left} - {_text(right.lhs, bound=True)} * {-factor}"
    return f"{left} + {_text(right)}"


def _constant(expression: AffineExpr) -> int | None:
    return expression.value if isinstance(expression, AffineConstantExpr) else None


LONGEST_LIST = 100


def dense(attribute: DenseIntOrFPElementsAttr) -> str:
    """Give `dense<...>`, without the type."""
    element, data = attribute.type.element_type, attribute.data.data
    shape, size = attribute.get_shape(), elements.size_of(element)
    if not data:
        return "dense<>"
    if elements.is_splat(data, size):
        return f"dense<{_words(data[:size], element)[0]}>"
    if elements.count_of(shape) > LONGEST_LIST and not elements.is_i1(element):
        return f'dense<"0x{elements.to_mlir_bytes(data, element).hex().upper()}">'
    return f"dense<{_nest(_words(data, element), shape)}>"


def _nest(words: Sequence[str], shape: Sequence[int]) -> str:
    """Give lists in lists, the innermost first."""
    for length in reversed(shape):
        rows = range(0, len(words), length)
        words = [f"[{', '.join(words[row : row + length])}]" for row in rows]
    return words[0]


def _words(data: bytes, element: Any) -> list[str]:
    if isinstance(element, IntegerType | IndexType):
        return _integers(data, element)
    if isinstance(element, ComplexType):
        words = iter(_words(data, element.element_type))
        return [f"({real},{next(words)})" for real in words]
    return _floats(data, cast("AnyFloat", element))


def _integers(data: bytes, element: IntegerType | IndexType) -> list[str]:
    if elements.is_i1(element):
        return ["true" if value else "false" for value in data]
    return [str(value) for value in element.iter_unpack(data)]


def _floats(data: bytes, element: AnyFloat) -> list[str]:
    """Infinities and the kinds of NaN are written as they are stored."""
    size = elements.size_of(element)
    words = []
    for index, value in enumerate(element.iter_unpack(data)):
        if math.isfinite(value):
            words.append(floats.text(value, element))
        else:
            bits = int.from_bytes(data[index * size : (index + 1) * size], "little")
            words.append(f"0x{bits:X}")
    return words


_ELIDED = IntegerType(64)


class AttributeWriter(Printer):
    """Writes into a list of parts."""

    def __init__(self, *, print_generic_format: bool = False) -> None:
        super().__init__(print_generic_format=print_generic_format)
        self.parts: list[str] = []
        self.resources: set[str] = set()
        self.locations: Aliases | None = None
        self._maps: dict[AffineMapAttr | AffineSetAttr, str] = {}
        self._types: dict[int, tuple[Attribute, str]] = {}  # by identity, which is kept alive

    def take_text(self) -> str:
        """Give what was written, and forget it."""
        text = "".join(self.parts)
        self.parts.clear()
        return text

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        """Write text; its lines are indented."""
        if "\n" in text:
            text = text.replace("\n", "\n" + "  " * (self._indent if indent is None else indent))
        self.parts.append(text)

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:  # noqa: ARG002
        self.parts.append("\n" + "  " * (self._indent if indent is None else indent))

    def print_attribute(self, attribute: Attribute) -> None:
        """Write an attribute or a type."""
        if isinstance(attribute, TypeAttribute):
            self._type(attribute)
        elif isinstance(attribute, AffineMapAttr | AffineSetAttr):
            self.parts.append(self._map(attribute))
        elif isinstance(attribute, DenseIntOrFPElementsAttr):
            self.parts.append(f"{dense(attribute)} : ")
            self.print_attribute(attribute.type)
        elif isinstance(attribute, ArrayAttr):
            with self.in_square_brackets():
                self.print_list(attribute.data, self._element)
        elif isinstance(attribute, LOCATIONS):
            self.parts.append(f"loc({self._location(attribute)})")
        else:
            super().print_attribute(attribute)

    def _type(self, type: TypeAttribute) -> None:
        known = self._types.get(id(type))
        if known is None:
            outside, self.parts = self.parts, []
            super().print_attribute(type)
            known = self._types[id(type)] = type, "".join(self.parts)
            self.parts = outside
        self.parts.append(known[1])

    def _element(self, attribute: Attribute) -> None:
        """Write an element of a list: the commonest types of numbers are not written."""
        if isinstance(attribute, IntegerAttr) and attribute.type == _ELIDED:
            self.parts.append(str(attribute.value.data))
        elif isinstance(attribute, FloatAttr) and attribute.type == f64:
            text = floats.text(attribute.value.data, f64)
            self.parts.append(f"{text} : f64" if text.startswith("0x") else text)
        else:
            self.print_attribute(attribute)

    def _map(self, attribute: AffineMapAttr | AffineSetAttr) -> str:
        if attribute not in self._maps:
            stem = "map" if isinstance(attribute, AffineMapAttr) else "set"
            count = sum(name[1:4] == stem for name in self._maps.values())
            self._maps[attribute] = f"#{stem}{count or ''}"
        return self._maps[attribute]

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        """Write a dictionary in the order of its keys."""
        with self.in_braces():
            self.print_list(sorted(attr_dict.items()), self._print_attr_string)

    def print_float(self, value: float, type: AnyFloat) -> None:
        """Write a number."""
        self.parts.append(floats.text(value, type))

    def print_resource_handle(self, dialect: str, handle: str) -> None:  # noqa: ARG002
        """Write the name of a resource, and remember that it was used."""
        self.resources.add(handle)
        self.print_identifier_or_string_literal(handle)

    def print_location(self, location: Attribute) -> None:
        """Write the alias of where an operation comes from, behind it."""
        if self.locations is not None:
            self.parts.append(f" loc({self.locations.name(location)})")

    def print_own_location(self, location: Attribute) -> None:
        """Write where a block's argument comes from, in full."""
        if self.locations is not None:
            self.locations.register(location, early=True)
            text = self.locations.text(location, self._attribute_text)
            self.parts.append(f" loc({text})")

    def _attribute_text(self, attribute: Attribute) -> str:
        """Give the text of an attribute, and write nothing."""
        outside, self.parts = self.parts, []
        self.print_attribute(attribute)
        text, self.parts = "".join(self.parts), outside
        return text

    def _location(self, location: Attribute) -> str:
        """Give a location that is an attribute itself, in full."""
        return location_text(location, self._attribute_text, self._location)

    def aliases(self, *, early: bool) -> Iterator[str]:
        """Give the definitions of aliases that stand before the text, or behind it."""
        if self.locations is not None:
            yield from self.locations.definitions(self._attribute_text, early=early)
        for attribute, name in self._maps.items() if early else ():
            yield f"{name} = {affine_text(attribute)}"


def affine_text(attribute: AffineMapAttr | AffineSetAttr) -> str:
    """Give a map or a set in full."""
    if isinstance(attribute, AffineMapAttr):
        return f"affine_map<{map_text(attribute.data)}>"
    return f"affine_set<{set_text(attribute.data)}>"
