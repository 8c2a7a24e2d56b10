"""Overlays: numbers beside the nodes of a drawing: costs, measured times, differences."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripybuild.documents.plain_json import read_object
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.quantities import format_count, format_seconds
from tripybuild.workbench.drawing.drawing import Drawing, DrawnNode
from tripybuild.workbench.drawing.part_tree import PartTree


@dataclass(frozen=True, slots=True)
class NodeValues:
    """A number for each of some nodes.

    Args:
        name: What is shown above it.
        values: The numbers by the ids of nodes.
        unit: `s` for seconds, `FLOP`, or nothing.
        adds: Whether the number of a part is the sum, and not the largest.
    """

    name: str
    values: Mapping[str, float]
    unit: str = ""
    adds: bool = True

    def of(self, nodes: Iterable[str]) -> float | None:
        """The number of several nodes together; None where none of them has one."""
        found = [self.values[each] for each in nodes if each in self.values]
        if not found:
            return None
        return sum(found) if self.adds else max(found, key=abs)

    def text(self, number: float | None) -> str:
        """A number for a reader."""
        if number is None or (number == 0 and self.unit):
            return ""
        if self.unit == "s":
            return format_seconds(number)
        return format_count(int(number), "GTP") if self.unit == "FLOP" else f"{number:.3g}"


@dataclass(frozen=True, slots=True)
class Overlay:
    """Several numbers beside each node."""

    columns: Sequence[NodeValues]

    @property
    def titles(self) -> tuple[str, ...]:
        """What is shown above the columns."""
        return tuple(each.name for each in self.columns)

    def numbers(self, tree: PartTree, nodes: Iterable[DrawnNode]) -> tuple[str, ...]:
        """The cells of some nodes, with all that they stand for."""
        ids = [twin for node in nodes for twin in tree.twins[node.id]]
        return tuple(each.text(each.of(ids)) for each in self.columns)


def costs(drawing: Drawing) -> NodeValues:
    """The arithmetic operations of each node."""
    return NodeValues("FLOPs", {each.id: each.flops for each in drawing.operations}, "FLOP")


def read_times(path: Path, drawing: Drawing) -> NodeValues:
    """The seconds of each operation, as `tripybuild profile --json` printed them.

    Raises:
        DiagnosticError: The file is no such answer, or of another model.
    """
    found, _ = read_object(path, "an answer of `tripybuild profile --json`")
    operations = found.get("operations")
    if not isinstance(operations, list):
        raise DiagnosticError(_no_overlay(path, "it has no `operations`", TIMES_HINT))
    values: dict[str, float] = {}
    for each in operations:
        if not (isinstance(each, dict) and _is_value(each.get("id"), each.get("seconds"))):
            raise DiagnosticError(_no_overlay(path, "an operation has no seconds", TIMES_HINT))
        values[each["id"]] = values.get(each["id"], 0.0) + each["seconds"]
    return _checked(path, NodeValues("time", values, "s"), drawing)


def read_overlay(path: Path, drawing: Drawing) -> NodeValues:
    """Numbers of any kind: `{"name": "difference", "values": {"h.0:add": 1e-6}}`.

    The number of a part is the one that is farthest from zero of those in it, or with `"adds":
    true` their sum.

    Raises:
        DiagnosticError: The file has another form, or is of another model.
    """
    found, _ = read_object(path, "a file of numbers")
    name, values, adds = found.get("name"), found.get("values"), found.get("adds", False)
    if not (isinstance(name, str) and isinstance(values, dict) and isinstance(adds, bool)):
        raise DiagnosticError(_no_overlay(path, "it has no `name` and `values`", OVERLAY_HINT))
    if not all(_is_value(each, value) for each, value in values.items()):
        raise DiagnosticError(_no_overlay(path, "one of its values is no number", OVERLAY_HINT))
    return _checked(path, NodeValues(name, values, adds=adds), drawing)


def overlay_data(values: NodeValues) -> dict[str, Any]:
    """Numbers in the form that `read_overlay` reads."""
    return {"name": values.name, "values": dict(values.values), "adds": values.adds}


TIMES_HINT = "write it by `tripybuild profile model.yaml --json > profile.json`"
OVERLAY_HINT = 'it is `{"name": "difference", "values": {"part.step:operator": 0.5}}`'


def _is_value(name: object, value: object) -> bool:
    return isinstance(name, str) and isinstance(value, (int, float)) and not isinstance(value, bool)


def _checked(path: Path, values: NodeValues, drawing: Drawing) -> NodeValues:
    """The numbers, some of which are of this drawing.

    Raises:
        DiagnosticError: None of them is.
    """
    if values.values and not values.values.keys() & drawing.nodes.keys():
        name = next(iter(values.values))
        reason = f"no operation of `{drawing.label}` is among them, as `{name}` is not"
        hint = "ids are those that `tripybuild graph --json` prints"
        raise DiagnosticError(_no_overlay(path, reason, hint))
    return values


def _no_overlay(path: Path, reason: str, hint: str) -> Diagnostic:
    return Diagnostic("wrong-value", f"`{path}` cannot be laid over the graph: {reason}", hint=hint)
