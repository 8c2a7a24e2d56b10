"""Location aliases: `#loc3`, defined behind the module or before it.

Invariant: the order is MLIR's. What is made of aliases comes after them; among equals, what is met
first when operations are read from the outside in. An alias stands before the module where the
argument of a block has it, though that is written in full.
"""

from collections.abc import Callable, Iterator

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    NoneAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute

from tripybuild.tensorrt.mlir.locations import LOCATIONS, FileLineColRange, children


class Aliases:
    """The names of all locations that are written; they are met first, then numbered."""

    def __init__(self) -> None:
        self.names: dict[Attribute, str] | None = None
        self._depths: dict[Attribute, int] = {}
        self._early: set[Attribute] = set()

    def register(self, location: Attribute, *, early: bool) -> int:
        """Note a location and those in it; give how deep it is."""
        if location in self._depths and not early:
            return self._depths[location]
        inner = [self.register(each, early=early) for each in _nested_locations(location)]
        if early:
            self._early.add(location)
        return self._depths.setdefault(location, max(inner, default=-1) + 1)

    def number(self) -> None:
        """Give all that were met their names."""
        ordered = sorted(self._depths, key=self._depths.__getitem__)
        self.names = {each: f"#loc{index or ''}" for index, each in enumerate(ordered)}

    def name(self, location: Attribute) -> str:
        """Give the alias of a location."""
        return "" if self.names is None else self.names[location]

    def definitions(self, write: Callable[[Attribute], str], *, early: bool) -> Iterator[str]:
        """Give the lines before, or behind, the module."""
        for location, name in (self.names or {}).items():
            if (location in self._early) is early:
                yield f"{name} = loc({self.text(location, write)})"

    def text(self, location: Attribute, write: Callable[[Attribute], str]) -> str:
        """Give a location in terms of the aliases in it."""
        return location_text(location, write, self.name)


def _nested_locations(location: Attribute) -> list[Attribute]:
    """Give the locations in one that are written: a name from nowhere is a name alone."""
    inner: list[Attribute] = [each for each in children(location) if isinstance(each, LOCATIONS)]
    nowhere = isinstance(location, NameLoc) and isinstance(location.location, UnknownLoc)
    return [] if nowhere else inner


def location_text(
    location: Attribute, write: Callable[[Attribute], str], child: Callable[[Attribute], str]
) -> str:
    """Give what stands in `loc(...)`.

    Args:
        location: The location.
        write: Writes strings and metadata.
        child: Writes the locations in it.
    """
    if isinstance(location, FileLineColLoc):
        return f"{write(location.filename)}:{location.line.data}:{location.column.data}"
    if isinstance(location, FileLineColRange):
        end = "" if location.end_line == location.line else location.end_line.data
        start = f"{location.line.data}:{location.column.data}"
        return f"{write(location.filename)}:{start} to {end}:{location.end_column.data}"
    if isinstance(location, NameLoc):
        inner = _nested_locations(location)
        return write(location.desc) + (f"({child(inner[0])})" if inner else "")
    if isinstance(location, CallSiteLoc):
        return f"callsite({child(location.callee)} at {child(location.caller)})"
    if isinstance(location, FusedLoc) and isinstance(location.locations, ArrayAttr):
        bare = isinstance(location.metadata, NoneAttr)
        metadata = "" if bare else f"<{write(location.metadata)}>"
        return f"fused{metadata}[{', '.join(map(child, location.locations))}]"
    return "unknown"
