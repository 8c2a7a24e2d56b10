"""Nodes and scopes of a graph under construction.

Invariant: a node is appended to a scope in which all that it reads is known: of the scope itself,
or of one around it. What nothing reads stays here, and `completion` leaves it out.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tripybuild.onnx.model import AttributeValue
from tripybuild.onnx.table import OperatorSchema
from tripybuild.onnx.value import OnnxValue

Place = tuple[str, str]
"""The label of a step, and its file and line."""


class Unavailable(Exception):  # noqa: N818  # no error yet: another form may be available
    """No operator says the call in the opset; `since` is the first opset in which one does.

    The driver of lowerings then takes the operation's decomposition.
    """

    def __init__(self, problem: str, since: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.since = problem, since


class SymbolOrigin(NamedTuple):
    """A symbol as a dimension of a value: the size is `factor * symbol + offset`."""

    value: OnnxValue
    axis: int
    factor: int
    offset: int


@dataclass(slots=True, eq=False)
class GraphNode:
    """A call of an operator; `bodies` are its attributes that are graphs."""

    schema: OperatorSchema
    inputs: Sequence[OnnxValue | None]
    attributes: Mapping[str, AttributeValue]
    outputs: tuple[OnnxValue, ...] = ()
    bodies: Mapping[str, "GraphBody"] = field(default_factory=dict)
    place: Place = ("", "")


class Scope:
    """Nodes in their order, and what is known there: sizes, and where symbols come from."""

    def __init__(self, outer: "Scope | None" = None) -> None:
        self.outer = outer
        self.nodes: list[GraphNode] = []
        self.known: dict[Hashable, OnnxValue] = {}
        self.calls: dict[Hashable, GraphNode] = {}
        self.sources: dict[str, SymbolOrigin] = {}

    def chain(self) -> Iterator["Scope"]:
        """This scope, the one around it, and so on."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def find(self, key: Hashable) -> OnnxValue | None:
        """What this scope or one around it knows under a key."""
        return next((each.known[key] for each in self.chain() if key in each.known), None)

    def find_node(self, key: Hashable) -> Iterator[GraphNode]:
        """The nodes of this scope and those around it that are the same call."""
        return (each.calls[key] for each in self.chain() if key in each.calls)

    def once(self, key: Hashable, make: Callable[[], OnnxValue]) -> OnnxValue:
        """What is known here under a key, or what is made now."""
        found = self.find(key)
        if found is None:
            found = self.known[key] = make()
        return found

    def of(self, symbols: frozenset[str]) -> "Scope":
        """The outermost scope in which all symbols are known.

        Raises:
            ValueError: No tensor has a dimension of such a size.
        """
        scopes = list(self.chain())
        for name in symbols:
            if not any(name in each.sources for each in scopes):
                raise ValueError(f"no tensor has a dimension of size `{name}`")
        inside = (each for each in scopes if not each.sources.keys().isdisjoint(symbols))
        return next(inside, scopes[-1])

    def source(self, name: str) -> SymbolOrigin:
        """Where a symbol comes from."""
        return next(each.sources[name] for each in self.chain() if name in each.sources)


@dataclass(frozen=True, slots=True, eq=False)
class GraphBody:
    """A graph inside of a node; it reads values from outside as they are."""

    takes: tuple[OnnxValue, ...]
    scope: Scope
    gives: tuple[OnnxValue, ...]

    def types(self) -> list[Any]:
        """The dtypes of what it gives."""
        return [value.dtype for value in self.gives]
