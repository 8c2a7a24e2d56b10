"""Interval arithmetic on sizes: bounds of every value that a size can take.

The interval is sound and not always tight. Each term is bounded by itself. Where terms share atoms,
these are rewritten as their bound plus a slack that is never negative: `B*S - B` with `B >= 1` and
`S >= 2` becomes `1 + b + s + b*s`. And `n // d` is rewritten as `(n - n % d) / d`, since `n % d`
has simple bounds. And `min(a, b) - c` is `min(a - c, b - c)`.
"""

import functools
import math

from tripybuild.symbolic.polynomials import (
    Atom,
    Bounds,
    Monomial,
    Terms,
    add,
    as_constant,
    atoms_of,
    multiply,
    of_atom,
    without,
)

EVERYTHING: Bounds = (None, None)
_EXPANSION_LIMIT = 256  # monomials; beyond it the plain bounds must do
_CASE_LIMIT = 3  # extremes in one sum
_RELAXATION_LIMIT = 6  # nested quotients
Extended = float  # an int, or an infinity


@functools.lru_cache(maxsize=65536)
def bounds(terms: Terms) -> Bounds:
    """Give the smallest and the largest value that the terms can take."""
    try:
        return _bounds(terms)
    except OverflowError:  # a number too large to meet an infinity
        return EVERYTHING


def _bounds(terms: Terms) -> Bounds:
    found = _without_relaxation(terms)
    if len(terms) > 1:
        found = _both(found, _by_cases(terms))
    if not any(atom.operator == "//" for atom in atoms_of(terms)):
        return found
    divisor, relaxed = _without_quotients(terms)
    if relaxed != terms:
        low, high = _without_relaxation(relaxed)
        low = None if low is None else -(-low // divisor)
        found = _both(found, (low, None if high is None else high // divisor))
    return found


def is_positive(terms: Terms) -> bool:
    """Tell whether every value is at least one."""
    low, _ = bounds(terms)
    return low is not None and low >= 1


def is_nonnegative(terms: Terms) -> bool:
    """Tell whether every value is at least zero."""
    low, _ = bounds(terms)
    return low is not None and low >= 0


def is_nonzero(terms: Terms) -> bool:
    """Tell whether no value is zero."""
    low, high = bounds(terms)
    return (low is not None and low > 0) or (high is not None and high < 0)


def remainder(quotient: Atom) -> Atom:
    """Give the atom `n % d` that belongs to the atom `n // d`; it serves bounds and printing only.

    Its bounds need `d` to be positive wherever it is not zero.
    """
    n, d = quotient.arguments
    limit = bounds(d)[1]
    high = None if limit is None else limit - 1
    low_n, high_n = bounds(n)
    if low_n is not None and low_n >= 0 and high_n is not None:
        high = high_n if high is None else min(high, high_n)
    return Atom("%", (n, d), (0, None if high is None else max(high, 0)))


def fold_remainder(terms: Terms, term: tuple[Monomial, int], quotient: Atom) -> Terms | None:
    """Rewrite one term `c*d*(n // d)*rest` as `c*(n - n % d)*rest`, if it has that form."""
    n, d = quotient.arguments
    if len(d) != 1 or not is_nonnegative(d):
        return None
    ((factors, step),) = d
    monomial, coefficient = term
    rest = without(monomial, (quotient, *factors))
    if rest is None or coefficient % step:
        return None
    whole = add(n, of_atom(remainder(quotient)), -1)
    replacement = multiply(((rest, coefficient // step),), whole)
    return add(add(terms, (term,), -1), replacement)


def _by_cases(terms: Terms) -> Bounds:
    """Bound `c*min(a, b) + rest` by the bounds of `c*a + rest` and `c*b + rest`."""
    extremes = [
        (monomial, coefficient)
        for monomial, coefficient in terms
        if len(monomial) == 1 and monomial[0].operator in ("max", "min")
    ]
    if not 1 <= len(extremes) <= _CASE_LIMIT:
        return EVERYTHING
    ((atom,), coefficient), *_ = extremes
    rest = add(terms, of_atom(atom), -coefficient)
    cases = [bounds(add(rest, each, coefficient)) for each in atom.arguments]
    return extreme_of("max" if (atom.operator == "max") == (coefficient > 0) else "min", cases)


def extreme_of(operator: str, found: list[Bounds]) -> Bounds:
    """Bound the `max` or the `min` of values that have these bounds."""
    lows = [low for low, _ in found if low is not None]
    highs = [high for _, high in found if high is not None]
    if operator == "max":
        return max(lows, default=None), max(highs) if len(highs) == len(found) else None
    return min(lows) if len(lows) == len(found) else None, min(highs, default=None)


def _without_relaxation(terms: Terms) -> Bounds:
    found = _termwise(terms)
    return _both(found, _by_slack(terms)) if _atoms_are_shared(terms) else found


def _both(left: Bounds, right: Bounds) -> Bounds:
    lows = [each for each in (left[0], right[0]) if each is not None]
    highs = [each for each in (left[1], right[1]) if each is not None]
    return max(lows, default=None), min(highs, default=None)


def _finite(low: Extended, high: Extended) -> Bounds:
    return (
        None if low == -math.inf else int(low),
        None if high == math.inf else int(high),
    )


def _times(left: Extended, right: Extended) -> Extended:
    # Zero times infinity is zero here: a bound of zero holds whatever the other factor does.
    return left * right if left and right else 0


def _limits(atom: Atom) -> tuple[Extended, Extended]:
    low, high = atom.low, atom.high
    return -math.inf if low is None else low, math.inf if high is None else high


def _termwise(terms: Terms) -> Bounds:
    low: Extended = 0
    high: Extended = 0
    for monomial, coefficient in terms:
        least: Extended = coefficient
        most: Extended = coefficient
        for atom in monomial:
            a, b = _limits(atom)
            corners = (_times(least, a), _times(least, b), _times(most, a), _times(most, b))
            least, most = min(corners), max(corners)
        low += least
        high += most
    return _finite(low, high)


def _atoms_are_shared(terms: Terms) -> bool:
    seen: set[Atom] = set()
    for monomial, _ in terms:
        if not seen.isdisjoint(monomial):
            return True
        seen.update(monomial)
    return False


def _by_slack(terms: Terms) -> Bounds:
    if sum(2 ** len(monomial) for monomial, _ in terms) > _EXPANSION_LIMIT:
        return EVERYTHING
    return _both(_slack_from(terms, below=True), _slack_from(terms, below=False))


def _slack_from(terms: Terms, *, below: bool) -> Bounds:
    expanded: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        partial: dict[Monomial, int] = {(): coefficient}
        for atom in monomial:
            up = atom.low is not None if below else atom.high is None
            base = atom.low if up else atom.high
            if base is None:
                return EVERYTHING
            grown: dict[Monomial, int] = {}
            for slacks, each in partial.items():
                grown[slacks] = grown.get(slacks, 0) + each * base
                more = (*slacks, atom)
                grown[more] = grown.get(more, 0) + (each if up else -each)
            partial = grown
        for slacks, each in partial.items():
            expanded[slacks] = expanded.get(slacks, 0) + each
    return _of_slacks(expanded)


def _of_slacks(expanded: dict[Monomial, int]) -> Bounds:
    low: Extended = expanded.pop((), 0)
    high = low
    for slacks, coefficient in expanded.items():
        most: Extended = 1
        for atom in slacks:
            least, greatest = _limits(atom)
            most = _times(most, greatest - least)
        if coefficient < 0:
            low += _times(coefficient, most)
        else:
            high += _times(coefficient, most)
    return _finite(low, high)


def _without_quotients(terms: Terms) -> tuple[int, Terms]:
    """Give `d, t` so that `terms == t / d`, where `t` has fewer quotients."""
    divisor = 1
    for _ in range(_RELAXATION_LIMIT):
        quotients = [(term, atom) for term in terms for atom in term[0] if atom.operator == "//"]
        for term, quotient in quotients:
            folded = fold_remainder(terms, term, quotient)
            if folded is not None:
                terms = folded
                break
            step = as_constant(quotient.arguments[1])
            if step is not None:
                divisor, terms = divisor * step, _clear_quotient(terms, quotient, step)
                break
        else:
            break
    return divisor, terms


def _clear_quotient(terms: Terms, quotient: Atom, step: int) -> Terms:
    """Give `step*terms`, with `step*quotient` replaced by `n - n % step`."""
    whole = add(quotient.arguments[0], of_atom(remainder(quotient)), -1)
    total: Terms = ()
    for monomial, coefficient in terms:
        rest = without(monomial, (quotient,))
        term: Terms = ((monomial, coefficient * step),)
        total = add(total, term if rest is None else multiply(((rest, coefficient),), whole))
    return total
