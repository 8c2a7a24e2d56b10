"""`WeightSource`: the weights of a graph by path, wherever they are."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from tripybuild.errors.diagnostics import Span
from tripybuild.weights.safetensors import FileEntry


class WeightSource(Protocol):
    """The weights of a graph by path, wherever they are."""

    @property
    def place(self) -> str:
        """What messages call the files; empty for weights in memory."""
        ...

    @property
    def noun(self) -> str:
        """What one of them is called: a weight, or a parameter of a module."""
        ...

    @property
    def span(self) -> Span:
        """Where the user says which weights they are."""
        ...

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that they are read from."""
        ...

    def __call__(self, wanted: Iterable[str]) -> dict[str, Any]:
        """Read the weights at these paths, each in its declared dtype."""
        ...

    def compute(self, wanted: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """Those of these weights that are computed: one by one, in the order that costs least."""
        ...

    def file_entries(self, wanted: Iterable[str]) -> Mapping[Path, Mapping[str, FileEntry]]:
        """Where those of them lie that are in files, in their declared dtype."""
        ...

    def same_data(self, wanted: Iterable[str]) -> Mapping[str, str]:
        """Each of these weights that has the data of one before it, with that one."""
        ...

    def verify(self) -> None:
        """Refuse a file that was written to since it was compared with the model."""
        ...
