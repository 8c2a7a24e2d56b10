"""Sizes: an `int`, or a `Dim`, an immutable integer expression over named symbols.

What is constant is always an `int`: `d - d` is 0. Comparisons are a `bool` where they are decided,
and a `Condition` where they are not (see `conditions`), so structural identity is asked with
`same`, never with `==`.
"""

import functools
import keyword
from collections.abc import Callable, Mapping

from tripybuild.symbolic import dim_text
from tripybuild.symbolic.conditions import Condition, Truth, UndecidedSize, conjunction, disjunction
from tripybuild.symbolic.dim import Dim, Size, size_of, terms_by_name, terms_of
from tripybuild.symbolic.polynomials import Atom, ComplexityError, of_atom, scale, value_of
from tripybuild.symbolic.quotients import choose, extreme
from tripybuild.symbolic.substitution import substitute_condition

__all__ = [
    "RESERVED",
    "ComplexityError",
    "Condition",
    "Dim",
    "Size",
    "Truth",
    "UndecidedSize",
    "evaluate",
    "maximum",
    "minimum",
    "parse_condition",
    "parse_dim",
    "quotient",
    "same",
    "select",
    "substitute",
    "symbol",
]

RESERVED = frozenset({"max", "min", "select"})


@functools.lru_cache(maxsize=65536)
def symbol(name: str, low: int = 0, high: int | None = None, multiple_of: int = 1) -> Dim:
    """Give the size with this name; with other knowledge it is another size."""
    if not name.isidentifier() or keyword.iskeyword(name) or name in RESERVED:
        raise ValueError(f"`{name}` is not a name for a size")
    if multiple_of < 1:
        raise ValueError(f"{name} cannot be a multiple of {multiple_of}")
    first, last = -(-low // multiple_of), None if high is None else high // multiple_of
    if last is not None and first > last:
        kind = f", multiples of {multiple_of}" if multiple_of > 1 else ""
        raise ValueError(f"{name} has no values: from {low} to {high}{kind}")
    atom = Atom.symbol(name, (first, last), multiple_of)
    return Dim(scale(of_atom(atom), multiple_of))


def same(left: object, right: object) -> bool:
    """Tell whether two sizes, or two nested sequences of them, are identical; always decided."""
    if isinstance(left, Dim) or isinstance(right, Dim):
        return isinstance(left, Dim) and isinstance(right, Dim) and left.terms == right.terms
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def evaluate(value: Size, sizes: Mapping[str, int]) -> int:
    """Give the number that a size is; KeyError where a symbol has none. Bounds are not checked."""
    return value_of(value.terms, sizes) if type(value) is Dim else int(value)


def substitute(value: Size | Truth, sizes: Mapping[str, Size]) -> Size | Truth:
    """Put sizes in the place of symbols, in a size or in a condition."""
    if isinstance(value, Condition):
        return substitute_condition(value, terms_by_name(sizes))
    return value.substitute(sizes) if isinstance(value, Dim) else value


def maximum(*values: Size) -> Size:
    """Give the largest of the sizes."""
    return size_of(extreme("max", tuple(map(terms_of, values))))


def minimum(*values: Size) -> Size:
    """Give the smallest of the sizes."""
    return size_of(extreme("min", tuple(map(terms_of, values))))


def select(condition: Truth, then: Size, otherwise: Size) -> Size:
    """Give `then` where the condition holds, and `otherwise` where it does not."""
    if not isinstance(condition, Condition):
        return then if condition else otherwise
    return size_of(choose(condition, terms_of(then), terms_of(otherwise)))


def quotient(size: Size, by: Size) -> Size:
    """Give the quotient, cut off toward zero: what `/` gives of tensors of integers."""
    along = disjunction(
        [conjunction([size >= 0, by > 0]), conjunction([size <= 0, by < 0])]  # no sign, or two
    )
    return select(along, size // by, -(-size // by))


def parse_dim(text: str, symbols: Mapping[str, Dim]) -> Size:
    """Read what `str` of a size prints; ValueError where the text is not a size."""
    value = _parse(text, symbols)
    if isinstance(value, Dim) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"`{text[:80]}` is not a size")


def parse_condition(text: str, symbols: Mapping[str, Dim]) -> Truth:
    """Read what `str` of a condition prints; ValueError where the text is not a condition."""
    value = _parse(text, symbols)
    if isinstance(value, bool | Condition):
        return value
    raise ValueError(f"`{text[:80]}` is not a condition")


def _and(*parts: Truth) -> Truth:
    return conjunction(parts)


def _or(*parts: Truth) -> Truth:
    return disjunction(parts)


_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "max": maximum,
    "min": minimum,
    "select": select,
    "and": _and,
    "or": _or,
}


def _parse(text: str, symbols: Mapping[str, Dim]) -> object:
    try:
        return dim_text.parse(text, symbols, _FUNCTIONS)
    except (TypeError, ZeroDivisionError) as error:
        raise ValueError(f"`{text[:80]}` has no value: {error}") from error
