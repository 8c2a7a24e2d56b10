"""Nodes and scopes of a graph under construction.

Invariant: a node is appended to a scope in which all that it reads is known: of the scope itself,
or of one around it. What nothing reads stays here, and `completion` leaves it out.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from tripybuild.errors.diagnostics import Span
from tripybuild.onnx.model import AttributeValue
from tripybuild.onnx.table import OperatorSchema
from tripybuild.onnx.value import OnnxValue
from tripybuild.symbolic.scopes import SymbolScope


class Place(NamedTuple):
    """The label of a step, its file and line as a model says them, and for diagnostics."""

    label: str = ""
    doc: str = ""
    span: Span | None = None


NO_PLACE = Place()


class Unavailable(Exception):  # noqa: N818  # no error yet: another form may be available
    """No operator says the call in the opset; `since` is the first opset in which one does.

    The driver of lowerings then takes the operation's decomposition.
    """

    def __init__(self, problem: str, since: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.since = problem, since


@dataclass(slots=True, eq=False)
class GraphNode:
    """A call of an operator; `bodies` are its attributes that are graphs."""

    schema: OperatorSchema
    inputs: Sequence[OnnxValue | None]
    attributes: Mapping[str, AttributeValue]
    outputs: tuple[OnnxValue, ...] = ()
    bodies: Mapping[str, "GraphBody"] = field(default_factory=dict)
    place: Place = NO_PLACE


class Scope(SymbolScope[OnnxValue]):
    """Nodes in their order, and what is known there: sizes, and where symbols come from."""

    def __init__(self, outer: Self | None = None) -> None:
        super().__init__(outer)
        self.nodes: list[GraphNode] = []
        self.calls: dict[Hashable, GraphNode] = {}

    def find_node(self, key: Hashable) -> Iterator[GraphNode]:
        """The nodes of this scope and those around it that are the same call."""
        return (each.calls[key] for each in self.chain() if key in each.calls)


@dataclass(frozen=True, slots=True, eq=False)
class GraphBody:
    """A graph inside of a node; it reads values from outside as they are."""

    takes: tuple[OnnxValue, ...]
    scope: Scope
    gives: tuple[OnnxValue, ...]

    def types(self) -> list[Any]:
        """The dtypes of what it gives."""
        return [value.dtype for value in self.gives]
