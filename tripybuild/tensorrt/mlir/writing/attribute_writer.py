"""Printer of attributes, types and locations.

Invariant: a dictionary is in the order of its keys; numbers are MLIR's; affine maps and locations
have aliases, which are numbered in the order in which they are met.
"""

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    f64,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.printer import Printer

from tripybuild.tensorrt.mlir import floats
from tripybuild.tensorrt.mlir.aliases import Aliases, location_text
from tripybuild.tensorrt.mlir.locations import LOCATIONS
from tripybuild.tensorrt.mlir.writing.affine_writer import map_text, set_text
from tripybuild.tensorrt.mlir.writing.dense_writer import dense

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
