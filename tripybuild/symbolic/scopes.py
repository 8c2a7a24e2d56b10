"""Sizes as tensors: the scopes in which they are known, and the walk that computes them.

Invariant: what a scope holds may be used in it and in the scopes inside, never outside. Each
distinct size is computed once in a scope.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, Self, TypeVar

from tripybuild.symbolic.conditions import Condition
from tripybuild.symbolic.dims import Dim, linear_form
from tripybuild.symbolic.polynomials import Atom, Terms

V = TypeVar("V")  # a tensor of the graph that is emitted
# How comparisons are said by three of them: which one, and whether its result is negated.
_COMPARISONS: Mapping[str, tuple[str, bool]] = {
    "==": ("==", False),
    "!=": ("==", True),
    "<": ("<", False),
    ">=": ("<", True),
    ">": (">", False),
    "<=": (">", True),
}


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

    def source(self, name: str) -> SymbolSource[V]:
        """Where a symbol comes from."""
        return next(each.sources[name] for each in self.chain() if name in each.sources)

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


S = TypeVar("S", bound=SymbolScope[Any])


class SizeComputation(ABC, Generic[V, S]):
    """The walk over sizes and conditions; a dialect says each operator of it."""

    @abstractmethod
    def numbers(self, numbers: Sequence[int], scope: S) -> V:
        """Numbers as a tensor of one dimension."""

    @abstractmethod
    def dimension(self, value: V, axis: int, scope: S) -> V:
        """The size of a dimension of a value."""

    @abstractmethod
    def binary(self, operator: str, left: V, right: V, scope: S) -> V:
        """One of `+`, `-`, `*`, `//` of what is not negative, `max`, `min`, or of truths.

        Those are made by `==`, `<` and `>` of sizes, and joined by `and` and `or`.
        """

    @abstractmethod
    def negate(self, truth: V, scope: S) -> V:
        """The opposite of a truth."""

    @abstractmethod
    def select(self, condition: V, then: V, otherwise: V, scope: S) -> V:
        """One of two sizes."""

    def quotient(self, atom: Atom, left: V, right: V, scope: S) -> V:
        """The quotient that an atom is, rounded down."""
        del atom
        return self.binary("//", left, right, scope)

    def terms(self, terms: Terms, scope: S) -> V:
        """A size as a tensor of one element."""
        found: V = scope.once(("terms", terms), lambda: self._sum(terms, scope))
        return found

    def _sum(self, terms: Terms, scope: S) -> V:
        positive = sorted(terms, key=lambda term: term[1] < 0)  # `a - b` and not `-b + a`
        total: V | None = None
        for monomial, coefficient in positive:
            factor, parts = self._factors(monomial, coefficient, scope)
            minus = total is not None and factor < 0
            factor = -factor if minus else factor
            if factor != 1 or not parts:
                parts.append(self.numbers([factor], scope))
            product = self._joined("*", parts, scope)
            if total is None:
                total = product
            else:
                total = self.binary("-" if minus else "+", total, product, scope)
        return self.numbers([0], scope) if total is None else total

    def _joined(self, operator: str, parts: Sequence[V], scope: S) -> V:
        result = parts[0]
        for part in parts[1:]:
            result = self.binary(operator, result, part, scope)
        return result

    def _factors(self, monomial: Sequence[Atom], coefficient: int, scope: S) -> tuple[int, list[V]]:
        """A number and the tensors to multiply it with; `16 * (S // 16)` is S, if S is such."""
        parts = []
        for atom in monomial:
            if atom.operator != "symbol":
                parts.append(self._compound(atom, scope))
                continue
            part = self._symbol(atom.name, scope)
            if coefficient % atom.multiple == 0:
                coefficient //= atom.multiple
            else:
                part = self.binary("//", part, self.numbers([atom.multiple], scope), scope)
            parts.append(part)
        return coefficient, parts

    def _symbol(self, name: str, inner: S) -> V:
        """A symbol, from the shape of a value that it is a dimension of."""
        scope: S = inner.of(name)
        value, axis, factor, offset = scope.source(name)
        size = self.dimension(value, axis, scope)
        if offset:
            size = self.binary("-", size, self.numbers([offset], scope), scope)
        if factor != 1:
            size = self.binary("//", size, self.numbers([factor], scope), scope)
        return size

    def _compound(self, atom: Atom, scope: S) -> V:
        arguments = [self.terms(each, scope) for each in atom.arguments]
        if atom.operator == "//":
            left, right = arguments
            return self.quotient(atom, left, right, scope)
        if isinstance(atom.choice, Condition):
            then, otherwise = arguments
            return self.select(self.condition(atom.choice, scope), then, otherwise, scope)
        return self._joined(atom.operator, arguments, scope)

    def condition(self, condition: Condition, scope: S) -> V:
        """The truth of a condition over sizes."""
        if not condition.sides:
            parts = [self.condition(each, scope) for each in condition.parts]
            return self._joined("and" if condition.operator == "and" else "or", parts, scope)
        operator, negated = _COMPARISONS[condition.operator]
        left, right = (self.terms(each, scope) for each in condition.sides)
        result = self.binary(operator, left, right, scope)
        return self.negate(result, scope) if negated else result
