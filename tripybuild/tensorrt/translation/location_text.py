"""Location text: MLIR's notation, and source text fused to a location."""

from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute

from tripybuild.tensorrt.mlir.locations import FileLineColRange


def text(location: Attribute) -> str:
    """Return a location as MLIR prints it, without the `loc()` around it."""
    if type(location) is FileLineColLoc:  # nearly all are; the other tests are slow
        return f'"{location.filename.data}":{location.line.data}:{location.column.data}'
    if isinstance(location, FileLineColLoc):
        start = f'"{location.filename.data}":{location.line.data}:{location.column.data}'
        if isinstance(location, FileLineColRange):
            start += f" to {location.end_line.data}:{location.end_column.data}"
        return start
    if isinstance(location, NameLoc):
        inner = "" if isinstance(location.location, NoneAttr) else f"({text(location.location)})"
        return f'"{location.desc.data}"{inner}'
    if isinstance(location, CallSiteLoc):
        return f"callsite({text(location.callee)} at {text(location.caller)})"
    if isinstance(location, FusedLoc):
        data = "" if isinstance(location.metadata, NoneAttr) else f"<{location.metadata}>"
        parts = location.locations if hasattr(location.locations, "__iter__") else ()
        return f"fused{data}[{', '.join(map(text, parts))}]"
    return "unknown"


def metadata(location: Attribute) -> str | None:
    """Return the text that is fused to a location, as nvtripy writes it."""
    if type(location) is FusedLoc and isinstance(location.metadata, StringAttr):
        return location.metadata.data
    return None
