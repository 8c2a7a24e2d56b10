"""Substitution of symbols: each affected atom is computed and simplified again."""

from collections.abc import Mapping

from tripybuild.symbolic.conditions import Condition, Truth, compare, conjunction, disjunction
from tripybuild.symbolic.dim_text import terms_text
from tripybuild.symbolic.intervals import bounds
from tripybuild.symbolic.polynomials import (
    ZERO,
    Atom,
    Terms,
    add,
    as_constant,
    constant,
    multiply,
    of_atom,
)
from tripybuild.symbolic.quotients import choose, extreme, quotient

Replacements = Mapping[str, Terms]


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
