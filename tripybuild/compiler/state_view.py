"""The state of a session as a mapping, whose arrays are copied when they are read."""

from collections.abc import Callable, ItemsView, Iterable, Iterator, Mapping, ValuesView
from typing import Any

from tripybuild.artifact.call_signature import Array


class StateView(Mapping[str, Array]):
    """States by name; `read` copies some of them at one moment."""

    def __init__(
        self, arrays: Mapping[str, Any], read: Callable[[Iterable[str]], dict[str, Array]]
    ) -> None:
        self._arrays, self._read = arrays, read

    def copy(self) -> dict[str, Array]:
        """All states as they are between two calls."""
        return self._read(self._arrays)

    def items(self) -> ItemsView[str, Array]:
        """The names and all states, as they are between two calls."""
        return self.copy().items()

    def values(self) -> ValuesView[Array]:
        """All states as they are between two calls."""
        return self.copy().values()

    def __getitem__(self, name: str) -> Array:
        return self._read([name])[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return f"<State of {', '.join(self)}>"
