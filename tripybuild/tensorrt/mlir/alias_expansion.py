"""Alias expansion limits: the length of a text with all aliases expanded.

Invariant: what is printed, compared or looked up by an attribute walks all of it, as often as an
alias stands in it. So an alias costs its file what it stands for, each time that it is named.
"""

from xdsl.ir import Attribute

from tripybuild.errors.budget import spend


class Expansions(dict[str, Attribute]):
    """Attributes and types by alias; what is named while one is defined is a part of it."""

    def __init__(self) -> None:
        super().__init__()
        self._lengths: dict[str, int] = {}
        self._open: int | None = None

    def begin(self) -> None:
        """Begin to measure a definition."""
        self._open = 0

    def end(self, name: str, written: int) -> None:
        """End a definition, whose own text has so many characters."""
        length = written + (self._open or 0)
        self._open = None
        self._lengths[name] = length
        spend("expansion", length)

    def __getitem__(self, name: str) -> Attribute:
        """What an alias stands for, where it is written in full; it is there."""
        if self._open is None:
            spend("expansion", self._lengths.get(name, 0))
        else:
            self._open += self._lengths.get(name, 0)
        return super().__getitem__(name)

    def location(self, name: str) -> Attribute | None:
        """Size of a location alias: locations are referenced, never expanded."""
        if self._open is not None:
            self._open += self._lengths.get(name, 0)
        return self.get(name)
