"""Origins of weights: the expressions of the user's files that weights come from."""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tripybuild.errors.diagnostics import Span
from tripybuild.language.grammar import Program
from tripybuild.language.names import free_names
from tripybuild.types.dtypes import dtype

SHOWN = (bool, int, float, str, dtype)


@dataclass(frozen=True, slots=True, eq=False)
class WeightOrigin:
    """Where a weight is declared: its own line, or that of the part whose module has it.

    Args:
        place: Gives the line.
        reads: The expressions in it.
        sizes: What sizes are where the part is made.
        types: What the names of dtypes are there.
    """

    place: Callable[[], Span]
    reads: Sequence[Program | ast.expr]
    sizes: Mapping[str, object]
    types: Mapping[str, dtype]

    def span(self) -> Span:
        """The line."""
        return self.place()

    def values(self) -> str:
        """The sizes and dtypes that the line reads, with their values."""
        names = dict.fromkeys(name for each in self.reads for name in free_names(each))
        known = ((name, self.types.get(name, self.sizes.get(name))) for name in names)
        return ", ".join(f"{name} = {each}" for name, each in known if isinstance(each, SHOWN))


class WeightOrigins:
    """The origins by path. Modules add weights first, and their makers say where that was."""

    def __init__(self) -> None:
        self.found: dict[str, WeightOrigin] = {}
        self._added: list[str] = []

    def add(self, path: str) -> None:
        """Add a weight that was made just now."""
        self._added.append(path)

    def place(self, origin: WeightOrigin) -> None:
        """Say where all weights come from that were added since the last call."""
        self.found.update(dict.fromkeys(self._added, origin))
        self._added.clear()
