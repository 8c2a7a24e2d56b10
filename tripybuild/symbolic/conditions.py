"""Undecided conditions: comparisons that hold for some values of the symbols only; substitution.

A comparison is a plain `bool` wherever the normal form, the bounds or divisibility decide it.
Otherwise it is a `Condition`, which refuses to be taken for true or false: it raises `Undecided`.
"""

import math
import operator as python
from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn

from tripybuild.symbolic.dim_text import terms_text
from tripybuild.symbolic.intervals import bounds
from tripybuild.symbolic.polynomials import (
    ZERO,
    Atom,
    Terms,
    add,
    as_constant,
    constant,
    content,
    key_of,
    multiply,
    of_atom,
    symbols_of,
    value_of,
)
from tripybuild.symbolic.quotients import choose, extreme, quotient

Replacements = Mapping[str, Terms]
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "==": python.eq,
    "!=": python.ne,
    "<": python.lt,
    "<=": python.le,
    ">": python.gt,
    ">=": python.ge,
}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}


class UndecidedSize(Exception):  # noqa: N818  (not an error: the law travels on to where sizes are known)
    """The truth of a condition depends on sizes that are not known yet."""

    def __init__(self, condition: "Condition") -> None:
        super().__init__(f"whether {condition} depends on sizes that are not known yet")
        self.condition = condition


class Condition:
    """A comparison of sizes, or several joined by `and` or `or`, that is not decided."""

    __slots__ = ("_key", "operator", "parts", "sides")

    def __init__(
        self,
        operator: str,
        sides: tuple[Terms, ...] = (),
        parts: "tuple[Condition, ...]" = (),
    ) -> None:
        self.operator = operator
        self.sides = sides
        self.parts = parts
        self._key = ""

    @property
    def key(self) -> str:
        """A text that says all of the condition, and so decides equality."""
        if not self._key:
            keys = [key_of(each) for each in self.sides] + [each.key for each in self.parts]
            self._key = "(" + f" {self.operator} ".join(keys) + ")"
        return self._key

    @property
    def symbols(self) -> frozenset[str]:
        """The names that its truth depends on."""
        return frozenset().union(
            *(symbols_of(each) for each in self.sides), *(each.symbols for each in self.parts)
        )

    def __bool__(self) -> NoReturn:
        raise UndecidedSize(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Condition) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __and__(self, other: "Truth") -> "Truth":
        return conjunction([self, other])

    __rand__ = __and__

    def __or__(self, other: "Truth") -> "Truth":
        return disjunction([self, other])

    __ror__ = __or__

    def __invert__(self) -> "Condition":
        if self.sides:
            return Condition(_OPPOSITE[self.operator], self.sides)
        other = "or" if self.operator == "and" else "and"
        return Condition(other, parts=tuple(~each for each in self.parts))

    def __str__(self) -> str:
        if self.sides:
            left, right = (terms_text(each) for each in self.sides)
            return f"{left} {self.operator} {right}"
        return f" {self.operator} ".join(
            f"({each})" if each.parts else str(each) for each in self.parts
        )

    def __repr__(self) -> str:
        return f"<undecided: {self}>"

    def holds(self, sizes: Mapping[str, int]) -> bool:
        """Tell whether it is true for these sizes."""
        if self.sides:
            left, right = (value_of(each, sizes) for each in self.sides)
            return _COMPARE[self.operator](left, right)
        return (all if self.operator == "and" else any)(each.holds(sizes) for each in self.parts)


Truth = bool | Condition


def compare(operator: str, left: Terms, right: Terms) -> Truth:
    """Give the truth of a comparison, or the condition that it is."""
    known = _decide(operator, add(left, right, -1))
    return Condition(operator, (left, right)) if known is None else known


def conjunction(parts: Iterable[Truth]) -> Truth:
    """Give `and` of all parts: one that is false decides, whatever is undecided beside it."""
    return _join("and", parts, deciding=False)


def disjunction(parts: Iterable[Truth]) -> Truth:
    """Give `or` of all parts: one that is true decides, whatever is undecided beside it."""
    return _join("or", parts, deciding=True)


def negation(part: Truth) -> Truth:
    """Give `not`."""
    return ~part if isinstance(part, Condition) else not part


def _join(operator: str, parts: Iterable[Truth], *, deciding: bool) -> Truth:
    undecided: dict[Condition, None] = {}
    for part in parts:
        if isinstance(part, Condition):
            inner = part.parts if part.operator == operator else (part,)
            undecided.update(dict.fromkeys(inner))
        elif bool(part) is deciding:
            return deciding
    if not undecided:
        return not deciding
    first, *rest = undecided
    return Condition(operator, parts=(first, *rest)) if rest else first


def _decide(operator: str, difference: Terms) -> bool | None:
    """Compare a difference with zero."""
    if operator in ("!=", ">=", ">"):
        opposite = _decide(_OPPOSITE[operator], difference)
        return None if opposite is None else not opposite
    low, high = bounds(difference)
    low_, high_ = -math.inf if low is None else low, math.inf if high is None else high
    if operator == "==":
        return _is_zero(difference, low_, high_)
    compared = _COMPARE[operator]
    if compared(high_, 0):
        return True
    return None if compared(low_, 0) else False


def _is_zero(difference: Terms, low: float, high: float) -> bool | None:
    if low > 0 or high < 0:
        return False
    if low == high:
        return True
    step = content(difference)
    return False if step and dict(difference).get((), 0) % step else None


def substitute_terms(terms: Terms, sizes: Replacements) -> Terms:
    """Give the terms with sizes for some of their symbols."""
    total = ZERO
    for monomial, coefficient in terms:
        product = constant(coefficient)
        for atom in monomial:
            product = multiply(product, _substitute_atom(atom, sizes))
        total = add(total, product)
    return total


def substitute_condition(condition: Condition, sizes: Replacements) -> Truth:
    """Give the truth of the condition with sizes for some of its symbols."""
    if condition.sides:
        left, right = (substitute_terms(each, sizes) for each in condition.sides)
        return compare(condition.operator, left, right)
    parts = [substitute_condition(each, sizes) for each in condition.parts]
    return conjunction(parts) if condition.operator == "and" else disjunction(parts)


def _substitute_atom(atom: Atom, sizes: Replacements) -> Terms:
    if atom.symbols.isdisjoint(sizes):
        return of_atom(atom)
    if atom.operator == "symbol":
        return _part_of(atom, sizes[atom.name])
    arguments = tuple(substitute_terms(each, sizes) for each in atom.arguments)
    if atom.operator == "//":
        return quotient(*arguments)
    if isinstance(atom.choice, Condition):
        truth = substitute_condition(atom.choice, sizes)
        if isinstance(truth, Condition):
            return choose(truth, *arguments)
        return arguments[0 if truth else 1]
    return extreme(atom.operator, arguments)


def _part_of(atom: Atom, size: Terms) -> Terms:
    """Give the value of the atom `name // multiple`, whose symbol gets a size."""
    part = quotient(size, constant(atom.multiple))
    rest = as_constant(add(size, part, -atom.multiple))
    low, high = bounds(size)
    step = atom.multiple
    too_small = atom.low is not None and high is not None and high < atom.low * step
    too_large = atom.high is not None and low is not None and low > atom.high * step
    if rest or too_small or too_large:
        raise ValueError(f"{atom.name} is {terms_text(size)}, but it is {_knowledge(atom)}")
    return part


def _knowledge(atom: Atom) -> str:
    low, high = (None if each is None else each * atom.multiple for each in (atom.low, atom.high))
    text = f"at least {low}" if high is None else f"from {low} to {high}"
    return text if atom.multiple == 1 else f"{text}, a multiple of {atom.multiple}"
