"""Where operations are appended: the prologue of a function, its body, and the bodies of regions.

Law: what a scope holds may be used in it and in the scopes inside, never outside. Sizes of inputs
are computed in the prologue, so every region sees them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.ir import Operation, SSAValue

from tripybuild.dialects.tensorrt.ops.base import TensorrtOperation


class Source(NamedTuple):
    """Where a symbol is a part of a dimension: the dimension is `factor * symbol + offset`."""

    value: SSAValue
    axis: int
    factor: int
    offset: int


class Scope:
    """A list of operations that is being filled, and what was computed in it."""

    def __init__(self, outer: "Scope | None" = None) -> None:
        self.outer = outer
        self.operations: list[Operation] = []
        self.known: dict[object, SSAValue] = {}
        self.sources: dict[str, Source] = {}

    def chain(self) -> Iterator["Scope"]:
        """This scope, the one around it, and so on."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def find(self, key: object) -> SSAValue | None:
        """What this scope or one around it knows under a key."""
        return next((each.known[key] for each in self.chain() if key in each.known), None)

    def of(self, *symbols: str) -> "Scope":
        """The outermost scope in which all symbols are known; ValueError if one is in none."""
        scopes = list(self.chain())
        for name in symbols:
            if not any(name in each.sources for each in scopes):
                raise ValueError(f"no tensor has a dimension of size `{name}`")
        inside = (each for each in scopes if not each.sources.keys().isdisjoint(symbols))
        return next(inside, scopes[-1])


class Scopes:
    """The scopes of a function; `current` is the one that layers go to."""

    def __init__(self) -> None:
        self.prologue = Scope()
        self.current = Scope(self.prologue)
        self.body = self.current
        self.location: LocationAttr = UnknownLoc()

    @contextmanager
    def inside(self) -> Iterator[Scope]:
        """A region's scope."""
        outer, self.current = self.current, Scope(self.current)
        try:
            yield self.current
        finally:
            self.current = outer

    def add(
        self,
        kind: type[TensorrtOperation],
        /,
        *operands: Any,
        scope: Scope | None = None,
        **attributes: Any,
    ) -> Operation:
        """Append an operation, from the current place."""
        operation = kind.make(*operands, location=self.location, **attributes)
        (scope or self.current).operations.append(operation)
        return operation

    def one(self, kind: type[TensorrtOperation], /, *operands: Any, **attributes: Any) -> SSAValue:
        """Append an operation that has one result."""
        return self.add(kind, *operands, **attributes).results[0]
