"""Locations: all forms of `loc(...)`, and their file positions.

Invariant: a range (`"f":1:2 to 3:4`) is kept in full; xDSL has no class for it, so we have one.
"""

from collections.abc import Iterator
from typing import Any, TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, BuiltinAttribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.printer import Printer

from tripybuild.errors.diagnostics import Span

Kind = TypeVar("Kind", bound=ParametrizedAttribute)


@irdl_attr_definition
class FileLineColRange(ParametrizedAttribute, BuiltinAttribute):
    """A stretch of a file: `"f":1:2 to 3:4`."""

    name = "builtin.file_line_range"
    filename: StringAttr
    line: IntAttr
    column: IntAttr
    end_line: IntAttr
    end_column: IntAttr

    def print_builtin(self, printer: Printer) -> None:
        """Write the range in full."""
        with printer.in_location():
            printer.print_string_literal(self.filename.data)
            start, end = (self.line, self.column), (self.end_line, self.end_column)
            printer.print_string(f":{start[0].data}:{start[1].data} to ")
            printer.print_string(f"{end[0].data}:{end[1].data}")


LOCATIONS = (UnknownLoc, FileLineColLoc, FileLineColRange, CallSiteLoc, NameLoc, FusedLoc)
UNKNOWN = UnknownLoc()


def make_location(kind: type[Kind], **parameters: Attribute) -> Kind:
    """Make a location without checking its parts: xDSL knows no ranges, and checks take long."""
    location = kind.__new__(kind)
    for name, value in parameters.items():
        object.__setattr__(location, name, value)
    return location


def file_location(path: StringAttr, line: int, column: int) -> FileLineColLoc:
    """Give the location of a place in a file."""
    return make_location(FileLineColLoc, filename=path, line=IntAttr(line), column=IntAttr(column))


def span_of(location: Attribute) -> Span | None:
    """Give the place in a file that a location stands for, if it names any."""
    for each in file_positions(location):
        path, line, column = each.filename.data, each.line.data, max(each.column.data, 1)
        if path and line > 0:
            return Span(path, line, column, line, column + 1)
    return None


def file_positions(location: Attribute) -> Iterator[Any]:
    """Give the places in files that a location is made of, the nearest first."""
    if isinstance(location, FileLineColLoc | FileLineColRange):
        yield location
    else:
        for each in children(location):
            yield from file_positions(each)


def children(location: Attribute) -> tuple[Attribute, ...]:
    """Give the locations, and the metadata, that a location is written with."""
    if isinstance(location, NameLoc):
        return () if isinstance(location.location, NoneAttr) else (location.location,)
    if isinstance(location, CallSiteLoc):
        return location.callee, location.caller
    if isinstance(location, FusedLoc) and isinstance(location.locations, ArrayAttr):
        metadata = () if isinstance(location.metadata, NoneAttr) else (location.metadata,)
        return *metadata, *location.locations
    return ()
