"""Model graph: what a model is after it was built, entry by entry."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from tripybuild.errors.diagnostics import Diagnostic, Span
from tripybuild.schema.model.entry_points import find_entry
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import Value
from tripybuild.types.size_range import SizeRange

if TYPE_CHECKING:  # executables are loaded without what reads specifications
    from tripybuild.documents.document import Document
    from tripybuild.model.config import ConfigOrigin
    from tripybuild.model.weight_origins import WeightOrigin
    from tripybuild.schema.files import WeightsEntry


class Origin(Protocol):
    """What a graph was recorded from, and where its parts stand in it."""

    @property
    def path(self) -> str:
        """The file."""
        ...

    @property
    def text(self) -> str:
        """What the file holds, if it alone says what the graph is."""
        ...

    def span(self, location: tuple[str | int, ...], *, key: bool = False) -> Span:
        """The place of a part, such as `("ranges", "B")`."""
        ...


@dataclass(frozen=True, eq=False)
class EntryGraph:
    """One entry of a model as a graph, with what the graph does not say.

    Args:
        graph: What it does.
        states: The states that it reads or updates: inputs `NAME`, and outputs `NAME.next`.
        ranges: The dynamic sizes of its inputs.
        doc: What the model says of it.
        first: The numbers that states begin as.
    """

    graph: Graph
    states: tuple[str, ...] = ()
    ranges: Mapping[str, SizeRange] = field(default_factory=dict)
    doc: str = ""
    first: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ModelGraph:
    """A model as graphs by the names of its entries, with what the graphs do not say.

    The graphs share the values of weights, states and constants.
    """

    name: str
    entries: Mapping[str, EntryGraph]
    doc: str
    document: Origin
    used: "tuple[Document, ...]" = ()
    weights: "WeightsEntry | None" = None
    sizes: Mapping[str, object] = field(default_factory=dict)
    config: "ConfigOrigin | None" = None
    prepared: Mapping[str, Graph] = field(default_factory=dict)
    """How each weight is computed that is in no file: a graph of other weights."""
    origins: "Mapping[str, WeightOrigin]" = field(default_factory=dict)
    """Where weights are declared."""
    warnings: tuple[Diagnostic, ...] = ()

    def entry(self, name: str | None = None) -> EntryGraph:
        """The entry of a name, or the only one.

        Raises:
            DiagnosticError: There is no such entry, or several of which none is named.
        """
        return find_entry(self.entries, name, self.name)

    @property
    def graph(self) -> Graph:
        """The graph of the only entry."""
        return self.entry().graph

    @property
    def ranges(self) -> dict[str, SizeRange]:
        """The dynamic sizes of all entries: one name is one range."""
        return {name: r for entry in self.entries.values() for name, r in entry.ranges.items()}

    @property
    def declared_weights(self) -> dict[str, Value]:
        """The weights of all entries by path."""
        return {n: v for entry in self.entries.values() for n, v in entry.graph.weights.items()}

    @property
    def stored_weights(self) -> dict[str, Value]:
        """The weights that are in files."""
        return {n: v for n, v in self.declared_weights.items() if n not in self.prepared}
