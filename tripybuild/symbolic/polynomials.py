"""Normal form of sizes: a polynomial with integer coefficients over atoms.

Two sizes are the same exactly if their terms are equal. An atom is a symbol, or what a polynomial
cannot say: `a // b`, `max`, `min`, `select`. A symbol that is a multiple of 16 is 16 times an atom,
so divisibility is a matter of coefficients. There is no `a % b`: it is `a - b*(a // b)`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Protocol

from tripybuild.language.limits import LimitError


class SelectCondition(Protocol):
    """What a `select` asks: see `conditions.Condition`."""

    @property
    def key(self) -> str:
        """A text that says all of it."""

    @property
    def symbols(self) -> frozenset[str]:
        """The names that it depends on."""

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Tell whether it is true for these sizes."""


class ComplexityError(LimitError):
    """A size grew beyond what any model needs."""


class Atom:
    """A factor that has no smaller parts, with what is known of its value.

    `key` says all that an atom is, so it decides equality, and the order in which terms are kept.
    """

    __slots__ = (
        "_hash",
        "arguments",
        "choice",
        "high",
        "key",
        "low",
        "multiple",
        "name",
        "operator",
    )

    def __init__(
        self,
        operator: str,
        arguments: "tuple[Terms, ...]",
        limits: "Bounds",
        *,
        choice: SelectCondition | None = None,
        name: str = "",
        multiple: int = 1,
    ) -> None:
        self.operator = operator
        self.arguments = arguments
        self.low, self.high = limits
        self.choice = choice
        self.name = name
        self.multiple = multiple
        self.key = self._key_text()
        if len(self.key) > MAXIMUM_KEY:  # what is said twice at each level grows without end
            raise ComplexityError("a size is made of too many sizes")
        # Not of the parts: hash(-1) is hash(-2), and keys of one hash are asked if they are equal.
        self._hash = hash(self.key)

    @classmethod
    def symbol(cls, name: str, limits: "Bounds", multiple: int) -> "Atom":
        """Make the atom `name // multiple`, whose value is within `limits`."""
        return cls("symbol", (), limits, name=name, multiple=multiple)

    def _key_text(self) -> str:
        if self.name:
            # A space sorts before all that a name may hold: `S` comes before `S1`.
            return f"{self.name} {self.low} {self.high} {self.multiple}"
        asked = [] if self.choice is None else [self.choice.key]
        # A tilde sorts after letters: `A*(B // C)`.
        return f"~{self.operator}({', '.join([*asked, *map(key_of, self.arguments)])})"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Atom) and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"<{self.key}>"

    @property
    def symbols(self) -> frozenset[str]:
        """The names that its value depends on."""
        if self.name:
            return frozenset((self.name,))
        asked = frozenset[str]() if self.choice is None else self.choice.symbols
        return asked.union(*map(symbols_of, self.arguments))

    def value(self, sizes: Mapping[str, int]) -> int:
        """Give the value for these sizes, as Python would compute it."""
        if self.operator == "symbol":
            return self._of_symbol(sizes[self.name])
        if self.choice is not None:
            return value_of(self.arguments[0 if self.choice.holds(sizes) else 1], sizes)
        values = [value_of(each, sizes) for each in self.arguments]
        if self.operator == "//":
            return values[0] // values[1]
        return max(values) if self.operator == "max" else min(values)

    def _of_symbol(self, size: int) -> int:
        if self.multiple == 1:
            return size
        whole, rest = divmod(size, self.multiple)
        if rest:
            raise ValueError(f"{self.name} is {size}, which is not a multiple of {self.multiple}")
        return whole


Monomial = tuple[Atom, ...]  # sorted by key; `S*S` holds the atom twice
Terms = tuple[tuple[Monomial, int], ...]  # sorted by degree, then by keys; no coefficient is zero
Bounds = tuple[int | None, int | None]  # None is unbounded

ZERO: Terms = ()
ONE: Terms = (((), 1),)
MAXIMUM_TERMS = 128
MAXIMUM_KEY = 10_000


def constant(value: int) -> Terms:
    """Give the terms of a number."""
    return (((), value),) if value else ZERO


def as_constant(terms: Terms) -> int | None:
    """Give the number that the terms are, if they are one."""
    if not terms:
        return 0
    monomial, coefficient = terms[0]
    return None if monomial else coefficient


def as_atom(terms: Terms) -> Atom | None:
    """Give the atom that the terms are, if they are just one."""
    if len(terms) == 1 and terms[0][1] == 1 and len(terms[0][0]) == 1:
        return terms[0][0][0]
    return None


def of_atom(atom: Atom) -> Terms:
    """Give the terms of an atom."""
    return (((atom,), 1),)


def order(term: tuple[Monomial, int]) -> tuple[int, list[str]]:
    """Sort terms by descending degree, then by name. It respects products, as division needs."""
    return -len(term[0]), [atom.key for atom in term[0]]


_by_key = attrgetter("key")


def collect(coefficients: Mapping[Monomial, int]) -> Terms:
    """Bring coefficients into the normal order, without those that are zero."""
    kept = [term for term in coefficients.items() if term[1]]
    if len(kept) > MAXIMUM_TERMS:
        raise ComplexityError(f"a size has more than {MAXIMUM_TERMS} terms")
    if len(kept) > 1:
        kept.sort(key=order)
    return tuple(kept)


def add(left: Terms, right: Terms, factor: int = 1) -> Terms:
    """Give `left + factor*right`."""
    coefficients = dict(left)
    for monomial, coefficient in right:
        coefficients[monomial] = coefficients.get(monomial, 0) + factor * coefficient
    return collect(coefficients)


def scale(terms: Terms, factor: int) -> Terms:
    """Give `factor*terms`."""
    return tuple((monomial, factor * each) for monomial, each in terms) if factor else ZERO


def multiply(left: Terms, right: Terms) -> Terms:
    """Give `left*right`."""
    if len(left) * len(right) > MAXIMUM_TERMS**2:
        raise ComplexityError(f"a size has more than {MAXIMUM_TERMS} terms")
    coefficients: dict[Monomial, int] = {}
    for ours, a in left:
        for theirs, b in right:
            joined = join(ours, theirs)
            coefficients[joined] = coefficients.get(joined, 0) + a * b
    return collect(coefficients)


def join(left: Monomial, right: Monomial) -> Monomial:
    """Give the product of two monomials."""
    if not left or not right:
        return left or right
    return tuple(sorted(left + right, key=_by_key))


def without(monomial: Monomial, factors: Iterable[Atom]) -> Monomial | None:
    """Give the monomial divided by the factors, if it can be."""
    rest = list(monomial)
    for factor in factors:
        if factor not in rest:
            return None
        rest.remove(factor)
    return tuple(rest)


def atoms_of(terms: Terms) -> Iterator[Atom]:
    """Give each atom, as often as it occurs."""
    for monomial, _ in terms:
        yield from monomial


def symbols_of(terms: Terms) -> frozenset[str]:
    """Give the names of the symbols, at any depth."""
    return frozenset().union(*(atom.symbols for atom in atoms_of(terms)))


def content(terms: Terms) -> int:
    """Give the largest number that divides every coefficient but the constant."""
    return math.gcd(*(coefficient for monomial, coefficient in terms if monomial))


def key_of(terms: Terms) -> str:
    """Give a text that says all of the terms."""
    return " + ".join(
        "*".join([str(coefficient), *(atom.key for atom in monomial)])
        for monomial, coefficient in terms
    )


def value_of(terms: Terms, sizes: Mapping[str, int]) -> int:
    """Give the value for these sizes, as Python would compute it."""
    total = 0
    for monomial, coefficient in terms:
        product = coefficient
        for atom in monomial:
            product *= atom.value(sizes)
        total += product
    return total
