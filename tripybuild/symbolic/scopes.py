"""Scopes of emission: what is known while tensors of sizes are computed, from inside to outside.

Invariant: what a scope holds may be used in it and in the scopes inside, never outside.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, Self, TypeVar

from tripybuild.symbolic.dims import Dim, linear_form

V = TypeVar("V")  # a tensor of the graph that is emitted


class SymbolSource(NamedTuple, Generic[V]):
    """Where a symbol is a part of a dimension: the dimension is `factor * symbol + offset`."""

    value: V
    axis: int
    factor: int
    offset: int


class SymbolScope(Generic[V]):
    """What was computed in a scope, and where its symbols come from."""

    outer: Self | None

    def __init__(self, outer: Self | None = None) -> None:
        self.outer = outer
        self.known: dict[Hashable, V] = {}
        self.sources: dict[str, SymbolSource[V]] = {}

    def chain(self) -> Iterator[Self]:
        """This scope, the one around it, and so on."""
        scope: Self | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def find(self, key: Hashable) -> V | None:
        """What this scope or one around it knows under a key."""
        return next((each.known[key] for each in self.chain() if key in each.known), None)

    def once(self, key: Hashable, make: Callable[[], V]) -> V:
        """What is known here under a key, or what is made now."""
        found = self.find(key)
        if found is None:
            found = self.known[key] = make()
        return found

    def learn(self, shape: Sequence[Any], value: V) -> None:
        """Note the symbols that are dimensions of a value, or follow from one."""
        for axis, size in enumerate(shape):
            if isinstance(size, Dim) and (found := linear_form(size)) is not None:
                name, factor, offset = found
                known = next((s.sources[name] for s in self.chain() if name in s.sources), None)
                plain = (factor, offset) == (1, 0)
                if known is None or (plain and known[2:] != (1, 0) and name in self.sources):
                    self.sources[name] = SymbolSource(value, axis, factor, offset)

    def of(self, *symbols: str) -> Self:
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
