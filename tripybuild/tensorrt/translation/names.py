"""Layer names: unique, and mapped back to operations."""

from typing import Any

from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Operation

from tripybuild.tensorrt.mlir.locations import FileLineColRange

LONGEST = 2042  # TensorRT takes 4096 characters; this is where mlir-tensorrt cuts


class LayerNames:
    """The names in one network, and whose each is."""

    def __init__(self) -> None:
        self.owners: dict[str, Operation] = {}
        self.op: Any = None
        self.given: list[str] = []
        self.place = ""
        self.metadata: str | None = None
        self._base = ""
        self._counts: dict[str, int] = {}

    def enter(self, op: Operation) -> None:
        """Let the names that are given from now on be an operation's."""
        self.op, self.given = op, []
        self.place = location_text(op.location)
        place = self.place.replace('"', "")
        self._base = f"[{op.name}] loc({place})"[:LONGEST]
        self.metadata = location_metadata(op.location)

    def current(self) -> tuple[Any, ...]:
        """Return whose names are given now, for `resume`."""
        return self.op, self.given, self.place, self.metadata, self._base

    def resume(self, current: tuple[Any, ...]) -> None:
        """Go on with an operation after those inside of it."""
        self.op, self.given, self.place, self.metadata, self._base = current

    def unique(self) -> str:
        """Give the next name of the operation."""
        count = self._counts.get(self._base, 0)
        name = self._base if count == 0 else f"{self._base}_{count}"
        while name in self.owners:
            count += 1
            name = f"{self._base}_{count}"
        self._counts[self._base] = count + 1
        self.owners[name] = self.op
        self.given.append(name)
        return name


def location_text(location: Attribute) -> str:
    """Return a location as MLIR prints it, without the `loc()` around it."""
    if type(location) is FileLineColLoc:  # nearly all are; the other tests are slow
        return f'"{location.filename.data}":{location.line.data}:{location.column.data}'
    if isinstance(location, FileLineColLoc):
        start = f'"{location.filename.data}":{location.line.data}:{location.column.data}'
        if isinstance(location, FileLineColRange):
            start += f" to {location.end_line.data}:{location.end_column.data}"
        return start
    if isinstance(location, NameLoc):
        inner = (
            ""
            if isinstance(location.location, NoneAttr)
            else f"({location_text(location.location)})"
        )
        return f'"{location.desc.data}"{inner}'
    if isinstance(location, CallSiteLoc):
        return f"callsite({location_text(location.callee)} at {location_text(location.caller)})"
    if isinstance(location, FusedLoc):
        data = "" if isinstance(location.metadata, NoneAttr) else f"<{location.metadata}>"
        parts = location.locations if hasattr(location.locations, "__iter__") else ()
        return f"fused{data}[{', '.join(map(location_text, parts))}]"
    return "unknown"


def location_metadata(location: Attribute) -> str | None:
    """Return the text that is fused to a location, as nvtripy writes it."""
    if type(location) is FusedLoc and isinstance(location.metadata, StringAttr):
        return location.metadata.data
    return None
