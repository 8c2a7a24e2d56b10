"""Floor division, min, max and selection on the normal form, with exact simplification.

Division is Python's: it rounds down, also for negative numbers. What is left undivided is an atom.
"""

import functools
import math

from tripybuild.symbolic.intervals import (
    bounds,
    extreme_of,
    is_nonnegative,
    is_nonzero,
    is_positive,
)
from tripybuild.symbolic.polynomials import (
    ONE,
    ZERO,
    Atom,
    Bounds,
    Monomial,
    SelectCondition,
    Terms,
    add,
    as_atom,
    as_constant,
    collect,
    constant,
    content,
    key_of,
    multiply,
    of_atom,
    scale,
    without,
)


@functools.lru_cache(maxsize=65536)
def quotient(n: Terms, d: Terms) -> Terms:
    """Give `n // d`."""
    if not d:
        raise ZeroDivisionError("integer division by zero")
    if d[0][1] < 0:
        n, d = scale(n, -1), scale(d, -1)
    if not n:
        return ZERO
    whole, rest = _long_division(n, d)
    if not rest and is_nonzero(d):
        return whole
    if not rest or (len(d) > 1 and _decide(rest, d) is None):
        # It would not say when it divides by zero, or would be longer than what it replaces.
        whole, rest = ZERO, n
    known = _decide(rest, d)
    return add(whole, constant(known) if known is not None else _reduce_quotient(rest, d))


def extreme(operator: str, values: tuple[Terms, ...]) -> Terms:
    """Give the `max` or the `min` of the values, without those that never matter."""
    flat: dict[str, Terms] = {}
    for value in values:
        atom = as_atom(value)
        for each in atom.arguments if atom is not None and atom.operator == operator else (value,):
            flat[key_of(each)] = each
    kept: list[Terms] = []
    for _, value in sorted(flat.items()):
        if not any(_dominates(operator, each, value) for each in kept):
            kept = [each for each in kept if not _dominates(operator, value, each)]
            kept.append(value)
    if len(kept) == 1:
        return kept[0]
    return of_atom(
        Atom(operator, tuple(kept), extreme_of(operator, [bounds(each) for each in kept]))
    )


def choose(choice: SelectCondition, then: Terms, otherwise: Terms) -> Terms:
    """Give `then` where the choice holds, and `otherwise` where it does not."""
    if then == otherwise:
        return then
    either = [bounds(then), bounds(otherwise)]
    limits = (extreme_of("min", either)[0], extreme_of("max", either)[1])
    return of_atom(Atom("select", (then, otherwise), limits, choice=choice))


def _long_division(n: Terms, d: Terms) -> tuple[Terms, Terms]:
    """Give `q, r` with `n == q*d + r`, where no term of `r` is a multiple of `d`'s first."""
    (factors, step), *_ = d
    whole: dict[Monomial, int] = {}
    rest = n
    done = 0
    # A subtraction leaves the terms before it alone, so one walk down the terms is enough.
    while done < len(rest):
        monomial, coefficient = rest[done]
        over = without(monomial, factors)
        # Toward zero, so that `(S - T) // 2` stays as it is; down for the constant.
        times = abs(coefficient) // step * (1 if coefficient > 0 else -1)
        times = times if monomial else coefficient // step
        if over is None or not times:
            done += 1
            continue
        whole[over] = whole.get(over, 0) + times
        rest = add(rest, multiply(((over, times),), d), -1)
        if done < len(rest) and rest[done][0] == monomial:
            done += 1
    return collect(whole), rest


def _decide(n: Terms, d: Terms) -> int | None:
    """Give `n // d` if the bounds leave only one value."""
    step = as_constant(d)
    if step is not None:
        low, high = bounds(n)
        if low is None or high is None or low // step != high // step:
            return None
        return low // step
    if not is_positive(d):
        return None
    for value in (0, -1):
        from_below = add(n, d, -value)
        if is_nonnegative(from_below) and is_positive(add(d, from_below, -1)):
            return value
    return None


def _reduce_quotient(n: Terms, d: Terms) -> Terms:
    """Give `n // d` as an atom, in lowest terms."""
    reduced = _without_common_number(n, d) or _without_common_factor(n, d)
    if reduced is None and is_positive(d):
        reduced = _flatten(n, d)
    if reduced is not None:
        return quotient(*reduced)
    if n[0][1] < 0 and n[0][0] and is_positive(d):
        # Rounding down `-n / d` is rounding up `n / d`.
        return scale(quotient(add(add(d, ONE, -1), n, -1), d), -1)
    return of_atom(Atom("//", (n, d), _quotient_bounds(bounds(n), bounds(d))))


def _without_common_number(n: Terms, d: Terms) -> tuple[Terms, Terms] | None:
    """Divide both by the number that they share. `(4*S + 3) // 6` is `(2*S + 1) // 3`."""
    common = math.gcd(content(n), content(d), dict(d).get((), 0))
    if not is_positive(d):
        common = math.gcd(common, dict(n).get((), 0))
    if common <= 1:
        return None
    n = collect({monomial: each // common for monomial, each in n})
    return n, collect({monomial: each // common for monomial, each in d})


def _without_common_factor(n: Terms, d: Terms) -> tuple[Terms, Terms] | None:
    """Divide both by an atom that they share, if it is never zero nor negative."""
    for atom in d[0][0]:
        if atom.low is None or atom.low < 1:
            continue
        parts = [_divide(each, atom) for each in (n, d)]
        if parts[0] is not None and parts[1] is not None:
            return parts[0], parts[1]
    return None


def _divide(terms: Terms, atom: Atom) -> Terms | None:
    divided: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        rest = without(monomial, (atom,))
        if rest is None:
            return None
        divided[rest] = coefficient
    return collect(divided)


def _flatten(n: Terms, d: Terms) -> tuple[Terms, Terms] | None:
    """Make one division of two: `(x // a + p) // d` is `(x + a*p) // (a*d)` for a positive `d`."""
    inner = [
        atom
        for atom in (as_atom((term,)) for term in n)
        if atom is not None and atom.operator == "//"
    ]
    if len(inner) != 1:
        return None
    x, a = inner[0].arguments
    p = add(n, of_atom(inner[0]), -1)
    return add(x, multiply(a, p)), multiply(a, d)


def _quotient_bounds(n: Bounds, d: Bounds) -> Bounds:
    """Bound `n // d`. A `d` of zero has no value, so bounds of zero move to one."""
    low_d, high_d = d
    if high_d is not None and high_d <= 0:
        # n // d == -n // -d
        low_n, high_n = n
        n = (None if high_n is None else -high_n, None if low_n is None else -low_n)
        low_d, high_d = -high_d, None if low_d is None else -low_d
    if low_d is None or low_d < 0:
        if None in n:
            return None, None
        largest = max(abs(each) for each in n if each is not None)
        return -largest, largest
    low_d = max(low_d, 1)
    low, high = n
    if low is not None:
        low = low // low_d if low < 0 else (low // high_d if high_d else 0)
    if high is not None:
        high = high // low_d if high >= 0 else (high // high_d if high_d else -1)
    return low, high


def _dominates(operator: str, winner: Terms, loser: Terms) -> bool:
    difference = add(winner, loser, -1)
    return is_nonnegative(difference if operator == "max" else scale(difference, -1))
