"""A compiled model: its manifest and its members, decoded when they are first asked for."""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.artifact.call_signature import Array, CallSignature
from tripybuild.artifact.manifest import MemberRecord
from tripybuild.artifact.manifest_schema import manifest_error
from tripybuild.artifact.members import Content, measure, read_content
from tripybuild.errors.diagnostics import Diagnostic
from tripybuild.schema.model.entry_points import entry_label
from tripybuild.targets.executable_file import GRAPH, entry_member
from tripybuild.targets.model_manifest import read_graph, tensor_entries
from tripybuild.targets.table import find_target
from tripybuild.trace.graph import Graph
from tripybuild.weights import safetensors

if TYPE_CHECKING:  # a target compiles to what is here
    from tripybuild.targets.protocol import Target

CONSTANTS, WEIGHTS = "constants.safetensors", "weights.safetensors"


class CompiledEntry:
    """One entry of a compiled model: what it takes and gives, and its graph.

    Args:
        model: The model.
        manifest: What the model's manifest says of the entry.
    """

    def __init__(self, model: "CompiledModel", manifest: Mapping[str, Any]) -> None:
        self.model, self.manifest = model, MappingProxyType(dict(manifest))
        self.name: str = manifest["name"]
        self.label = entry_label(model.manifest["model"], self.name)
        self.signature = CallSignature(self.label, manifest)

    @cached_property
    def graph(self) -> Graph:
        """The graph with its symbols, and the weights that it needs."""
        self._check_weights(self.bare_graph)
        return self.bare_graph

    @cached_property
    def bare_graph(self) -> Graph:
        """The graph; its weights may be absent, or others: they may still be read."""
        text = self.model.member(entry_member(GRAPH, self.name))
        graph = read_graph(text, self.model.constants, self.signature.symbols)
        said = tensor_entries(graph.inputs), tensor_entries(graph.outputs), list(graph.weights)
        wanted = tuple(self.manifest[key] for key in ("inputs", "outputs", "arguments"))
        if said != wanted:
            raise manifest_error("its graph is that of another model")
        return graph

    def _check_weights(self, graph: Graph) -> None:
        """Native code reads the memory of weights as the graph says, so they have its types."""
        stored = self.model.weights
        for name, value in graph.weights.items():
            array = stored.get(name)
            if array is None or (array.dtype, array.shape) != (
                value.dtype.numpy,
                tuple(value.shape),
            ):
                raise manifest_error(f"its weight `{name}` is not that of its graph")


class CompiledModel:
    """What a target makes of a model, and runs.

    Args:
        manifest: What it says of itself.
        members: The contents of its file by name.
        measured: The digests of members that are known already.
    """

    entry_type: ClassVar[type[CompiledEntry]] = CompiledEntry

    def __init__(
        self,
        manifest: Mapping[str, Any],
        members: Mapping[str, Content],
        measured: Mapping[str, MemberRecord] | None = None,
    ) -> None:
        self.manifest = MappingProxyType(dict(manifest))
        self.warnings: list[Diagnostic] = []
        self._members = dict(members)
        self.measured = dict(measured or {})
        made = [self.entry_type(self, each) for each in manifest["entries"]]
        self.entries: Mapping[str, Any] = MappingProxyType({each.name: each for each in made})

    @property
    def target(self) -> "Target":
        """What runs it."""
        return find_target(self.manifest["target"]).with_options(self.manifest.get("options", {}))

    @property
    def members(self) -> dict[str, Content]:
        """The contents of its file by name."""
        return dict(self._members)

    def add_members(self, members: Mapping[str, Content]) -> None:
        """Add contents that come late."""
        self._members |= members

    @cached_property
    def weights(self) -> dict[str, Array]:
        """The weights of all entries by path; those that are tied share their memory."""
        stored, tied = self._arrays(WEIGHTS), self.manifest.get("tied", {})
        if not stored.keys().isdisjoint(tied) or not stored.keys() >= set(tied.values()):
            raise manifest_error("its `tied` cannot be understood")
        return stored | {name: stored[kept] for name, kept in tied.items()}

    @cached_property
    def constants(self) -> dict[str, Array]:
        """The array constants of all entries by name."""
        return self._arrays(CONSTANTS)

    def _arrays(self, name: str) -> dict[str, Array]:
        return safetensors.decode(self.member(name), name) if name in self._members else {}

    def record(self, name: str) -> MemberRecord:
        """What is true of the content of a member."""
        if name not in self.measured:
            self.measured[name] = measure(self._members[name])
        return self.measured[name]

    def member(self, name: str) -> memoryview:
        """The content of a member, such as `trace.json`."""
        return read_content(self._members[name])
