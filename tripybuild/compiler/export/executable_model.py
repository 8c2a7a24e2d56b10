"""An executable as the model that it was compiled from: its graphs, and its weights in memory."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripybuild.artifact.graph_json import decode_value
from tripybuild.errors.diagnostics import Span
from tripybuild.model.model_graph import EntryGraph, ModelGraph
from tripybuild.targets.compiled_model import CompiledEntry, CompiledModel
from tripybuild.targets.executable_file import GRAPH, entry_member
from tripybuild.types.size_range import SizeRange


def holds_graphs(model: CompiledModel) -> bool:
    """Whether the graphs of an executable are in its file, or engines alone."""
    return all(entry_member(GRAPH, name) in model.members for name in model.entries)


def model_of_executable(model: CompiledModel, path: Path) -> ModelGraph:
    """What was compiled, as it is stored.

    Raises:
        DiagnosticError: A graph cannot be read, or its operators are not here.
    """
    return ModelGraph(
        model.manifest["model"],
        {name: _entry_graph(entry) for name, entry in model.entries.items()},
        str(model.manifest.get("doc") or ""),
        _ExecutableOrigin(str(path)),
    )


def _entry_graph(entry: CompiledEntry) -> EntryGraph:
    said = entry.manifest
    return EntryGraph(
        entry.graph,
        tuple(said["state"]),
        {name: SizeRange.from_json(each) for name, each in said["ranges"].items()},
        str(said.get("doc") or ""),
        {name: decode_value(number, {}) for name, number in said["first"].items()},
    )


@dataclass(frozen=True, slots=True)
class _ExecutableOrigin:
    """The file, in the place of the spec that it was compiled from."""

    path: str
    text: str = ""

    def span(self, *_: object, **__: object) -> Span:
        return Span(self.path, 1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class ExecutableWeights:
    """The weights of an executable."""

    model: CompiledModel
    place: str = ""
    noun: str = "weight"

    @property
    def span(self) -> Span:
        """Where the user says which weights they are: nowhere but in the file itself."""
        return Span("", 1, 1, 1, 1)

    def __call__(self, wanted: Iterable[str]) -> dict[str, Any]:
        """The arrays of some weights."""
        return {name: self.model.weights[name] for name in wanted}

    def compute(self, wanted: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """None: all of them are there."""
        del wanted
        return iter(())

    def file_entries(self, wanted: Iterable[str]) -> Mapping[Path, Any]:
        """None of them lies in a file of weights."""
        del wanted
        return {}

    def same_data(self, wanted: Iterable[str]) -> dict[str, str]:
        """The weights that are in the file under the name of another one."""
        wanted, tied = list(wanted), self.model.manifest.get("tied", {})
        first: dict[str, str] = {}
        found = ((name, first.setdefault(tied.get(name, name), name)) for name in wanted)
        return {name: before for name, before in found if name != before}

    def verify(self) -> None:
        """Members were compared with their digests when they were read."""
