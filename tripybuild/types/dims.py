"""Sizes: a size is an `int`, or a `Dim`, an immutable integer expression over named symbols.

What is constant is always an `int`: `d - d` is 0. Comparisons are a `bool` where they are decided,
and a `Condition` where they are not (see `conditions`), so structural identity is asked with
`same`, never with `==`.
"""

import functools
import keyword
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tripybuild.types import dim_text
from tripybuild.types.conditions import (
    Condition,
    Truth,
    Undecided,
    compare,
    conjunction,
    disjunction,
)
from tripybuild.types.intervals import bounds
from tripybuild.types.polynomials import (
    Atom,
    ComplexityError,
    Terms,
    add,
    as_constant,
    constant,
    multiply,
    of_atom,
    scale,
    symbols_of,
    value_of,
)
from tripybuild.types.quotients import choose, extreme, quotient
from tripybuild.types.substitution import substitute_condition, substitute_terms

__all__ = [
    "ComplexityError",
    "Condition",
    "Dim",
    "Size",
    "Truth",
    "Undecided",
    "evaluate",
    "maximum",
    "minimum",
    "parse_condition",
    "parse_dim",
    "same",
    "select",
    "substitute",
    "symbol",
]

_RESERVED = frozenset({"max", "min", "select"})
_CACHE = 65536


def _terms(value: "Size") -> Terms:
    return value.terms if type(value) is Dim else constant(int(value))


def _size(terms: Terms) -> "Size":
    number = as_constant(terms)
    return Dim(terms) if number is None else number


def _operand(value: Any) -> Any:
    """Give a size, for an int of any kind (numpy's too); NotImplemented for anything else."""
    if isinstance(value, Dim) or type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    return value.__index__() if hasattr(type(value), "__index__") else NotImplemented


@functools.lru_cache(maxsize=_CACHE)
def _sum(left: "Size", right: "Size") -> "Size":
    return _size(add(_terms(left), _terms(right)))


@functools.lru_cache(maxsize=_CACHE)
def _difference(left: "Size", right: "Size") -> "Size":
    return _size(add(_terms(left), _terms(right), -1))


@functools.lru_cache(maxsize=_CACHE)
def _product(left: "Size", right: "Size") -> "Size":
    return _size(multiply(_terms(left), _terms(right)))


@functools.lru_cache(maxsize=_CACHE)
def _quotient(left: "Size", right: "Size") -> "Size":
    return _size(quotient(_terms(left), _terms(right)))


@functools.lru_cache(maxsize=_CACHE)
def _remainder(left: "Size", right: "Size") -> "Size":
    n, d = _terms(left), _terms(right)
    return _size(add(n, multiply(quotient(n, d), d), -1))


@functools.lru_cache(maxsize=_CACHE)
def _comparison(operator: str, left: "Dim", right: "Size") -> Truth:
    return compare(operator, left.terms, _terms(right))


_Binary = Callable[["Size", "Size"], "Size"]
_Operation = Callable[["Dim", "Size"], "Size"]


def _with_right(operation: _Binary) -> _Operation:
    def method(self: "Dim", other: "Size") -> Any:
        if type(other) is not int and type(other) is not Dim:
            other = _operand(other)
            if other is NotImplemented:
                return NotImplemented
        return operation(self, other)

    return method


def _with_left(operation: _Binary) -> _Operation:
    def method(self: "Dim", other: "Size") -> Any:
        other = _operand(other)
        if other is NotImplemented:
            return NotImplemented
        return operation(other, self)

    return method


def _comparing(operator: str) -> Callable[["Dim", object], Any]:
    def method(self: "Dim", other: object) -> Any:
        if type(other) is not int and type(other) is not Dim:
            other = _operand(other)
            if other is NotImplemented:
                return NotImplemented
        return _comparison(operator, self, other)

    return method


_equal, _unequal = _comparing("=="), _comparing("!=")


class Dim:
    """A size that depends on symbols, in normal form."""

    __slots__ = ("_hash", "_symbols", "_text", "terms")
    # numpy's integers hand arithmetic over to us instead of making an array of objects.
    __array_ufunc__ = None

    terms: Terms

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        # hash(-1) == hash(-2), so coefficients are moved away from both.
        self._hash = hash(tuple([(monomial, 4 * each + 1) for monomial, each in terms]))
        self._text: str | None = None
        self._symbols: frozenset[str] | None = None

    def __hash__(self) -> int:
        return self._hash

    @property
    def low(self) -> int | None:
        """The smallest value that it can have, as far as is known."""
        return bounds(self.terms)[0]

    @property
    def high(self) -> int | None:
        """The largest value that it can have, as far as is known."""
        return bounds(self.terms)[1]

    @property
    def symbols(self) -> frozenset[str]:
        """The names that its value depends on."""
        if self._symbols is None:
            self._symbols = symbols_of(self.terms)
        return self._symbols

    @property
    def name(self) -> str | None:
        """The name, where it is just a symbol."""
        text = str(self)
        return text if text.isidentifier() else None

    def substitute(self, sizes: "Mapping[str, Size]") -> "Size":
        """Put sizes in the place of symbols; ValueError where one is outside of its bounds."""
        return _size(substitute_terms(self.terms, _mapping(sizes)))

    def __str__(self) -> str:
        if self._text is None:
            self._text = dim_text.terms_text(self.terms)
        return self._text

    __repr__ = __str__

    def __copy__(self) -> "Dim":
        return self

    def __deepcopy__(self, memo: object) -> "Dim":
        return self

    __add__ = __radd__ = _with_right(_sum)
    __sub__, __rsub__ = _with_right(_difference), _with_left(_difference)
    __mul__ = __rmul__ = _with_right(_product)
    __floordiv__, __rfloordiv__ = _with_right(_quotient), _with_left(_quotient)
    __mod__, __rmod__ = _with_right(_remainder), _with_left(_remainder)

    def __neg__(self) -> "Size":
        return _product(self, -1)

    def __pos__(self) -> "Dim":
        return self

    def __abs__(self) -> "Size":
        return maximum(self, -self)

    def __eq__(self, other: object) -> Any:
        return self._is(other) or _equal(self, other)

    def __ne__(self, other: object) -> Any:
        return False if self._is(other) else _unequal(self, other)

    __lt__, __le__ = _comparing("<"), _comparing("<=")
    __gt__, __ge__ = _comparing(">"), _comparing(">=")

    def _is(self, other: object) -> bool:
        # The caches of arithmetic ask this of their keys, so it must not use them.
        return self is other or (type(other) is Dim and self.terms == other.terms)

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __index__(self) -> NoReturn:
        raise TypeError(f"the size {self} is not known yet, and a number is needed here")

    __int__ = __float__ = __index__


Size = int | Dim


@functools.lru_cache(maxsize=_CACHE)
def symbol(name: str, low: int = 0, high: int | None = None, multiple_of: int = 1) -> Dim:
    """Give the size with this name; with other knowledge it is another size."""
    if not name.isidentifier() or keyword.iskeyword(name) or name in _RESERVED:
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
        return substitute_condition(value, _mapping(sizes))
    return value.substitute(sizes) if isinstance(value, Dim) else value


def maximum(*values: Size) -> Size:
    """Give the largest of the sizes."""
    return _size(extreme("max", tuple(map(_terms, values))))


def minimum(*values: Size) -> Size:
    """Give the smallest of the sizes."""
    return _size(extreme("min", tuple(map(_terms, values))))


def select(condition: Truth, then: Size, otherwise: Size) -> Size:
    """Give `then` where the condition holds, and `otherwise` where it does not."""
    if not isinstance(condition, Condition):
        return then if condition else otherwise
    return _size(choose(condition, _terms(then), _terms(otherwise)))


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


def _mapping(sizes: Mapping[str, Size]) -> dict[str, Terms]:
    return {name: _terms(size) for name, size in sizes.items()}
