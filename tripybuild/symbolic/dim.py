"""Symbolic dimension `Dim`, and arithmetic on `Dim`s and ints.

What is constant is always an `int`: `d - d` is 0. Every result is cached: a model computes the same
few sizes again and again.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tripybuild.symbolic.conditions import Truth, compare
from tripybuild.symbolic.dim_text import terms_text
from tripybuild.symbolic.intervals import bounds
from tripybuild.symbolic.polynomials import Terms, add, as_constant, constant, multiply, symbols_of
from tripybuild.symbolic.quotients import extreme, quotient
from tripybuild.symbolic.substitution import substitute_terms

_CACHE = 65536


def terms_of(value: "Size") -> Terms:
    """Give the normal form of a size."""
    return value.terms if type(value) is Dim else constant(int(value))


def size_of(terms: Terms) -> "Size":
    """Give the size of a normal form: an int if it is constant."""
    number = as_constant(terms)
    return Dim(terms) if number is None else number


def terms_by_name(sizes: "Mapping[str, Size]") -> dict[str, Terms]:
    """Give the normal form of each size."""
    return {name: terms_of(size) for name, size in sizes.items()}


def _operand(value: Any) -> Any:
    """Give a size, for an int of any kind (numpy's too); NotImplemented for anything else."""
    if isinstance(value, Dim) or type(value) is int:
        return value
    if type(value) is float and value.is_integer():
        return int(value)
    return value.__index__() if hasattr(type(value), "__index__") else NotImplemented


@functools.lru_cache(maxsize=_CACHE)
def _sum(left: "Size", right: "Size") -> "Size":
    return size_of(add(terms_of(left), terms_of(right)))


@functools.lru_cache(maxsize=_CACHE)
def _difference(left: "Size", right: "Size") -> "Size":
    return size_of(add(terms_of(left), terms_of(right), -1))


@functools.lru_cache(maxsize=_CACHE)
def _product(left: "Size", right: "Size") -> "Size":
    return size_of(multiply(terms_of(left), terms_of(right)))


@functools.lru_cache(maxsize=_CACHE)
def _quotient(left: "Size", right: "Size") -> "Size":
    return size_of(quotient(terms_of(left), terms_of(right)))


@functools.lru_cache(maxsize=_CACHE)
def _remainder(left: "Size", right: "Size") -> "Size":
    n, d = terms_of(left), terms_of(right)
    return size_of(add(n, multiply(quotient(n, d), d), -1))


@functools.lru_cache(maxsize=_CACHE)
def _comparison(operator: str, left: "Dim", right: "Size") -> Truth:
    return compare(operator, left.terms, terms_of(right))


_Binary = Callable[["Size", "Size"], "Size"]
_Operation = Callable[["Dim", "Size"], "Size"]


def _binary_operator(operation: _Binary) -> _Operation:
    def method(self: "Dim", other: "Size") -> Any:
        if type(other) is not int and type(other) is not Dim:
            other = _operand(other)
            if other is NotImplemented:
                return NotImplemented
        return operation(self, other)

    return method


def _reflected_operator(operation: _Binary) -> _Operation:
    def method(self: "Dim", other: "Size") -> Any:
        other = _operand(other)
        if other is NotImplemented:
            return NotImplemented
        return operation(other, self)

    return method


def _comparison_method(operator: str) -> Callable[["Dim", object], Any]:
    def method(self: "Dim", other: object) -> Any:
        if type(other) is not int and type(other) is not Dim:
            other = _operand(other)
            if other is NotImplemented:
                return NotImplemented
        return _comparison(operator, self, other)

    return method


_equal, _unequal = _comparison_method("=="), _comparison_method("!=")


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
        return size_of(substitute_terms(self.terms, terms_by_name(sizes)))

    def __str__(self) -> str:
        if self._text is None:
            self._text = terms_text(self.terms)
        return self._text

    __repr__ = __str__

    def __copy__(self) -> "Dim":
        return self

    def __deepcopy__(self, memo: object) -> "Dim":
        return self

    __add__ = __radd__ = _binary_operator(_sum)
    __sub__, __rsub__ = _binary_operator(_difference), _reflected_operator(_difference)
    __mul__ = __rmul__ = _binary_operator(_product)
    __floordiv__, __rfloordiv__ = _binary_operator(_quotient), _reflected_operator(_quotient)
    __mod__, __rmod__ = _binary_operator(_remainder), _reflected_operator(_remainder)

    def __neg__(self) -> "Size":
        return _product(self, -1)

    def __pos__(self) -> "Dim":
        return self

    def __abs__(self) -> "Size":
        return size_of(extreme("max", (self.terms, terms_of(-self))))

    def __eq__(self, other: object) -> Any:
        return self._is(other) or _equal(self, other)

    def __ne__(self, other: object) -> Any:
        return False if self._is(other) else _unequal(self, other)

    __lt__, __le__ = _comparison_method("<"), _comparison_method("<=")
    __gt__, __ge__ = _comparison_method(">"), _comparison_method(">=")

    def _is(self, other: object) -> bool:
        # The caches of arithmetic ask this of their keys, so it must not use them.
        return self is other or (type(other) is Dim and self.terms == other.terms)

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __index__(self) -> NoReturn:
        raise TypeError(f"the size {self} is not known yet, and a number is needed here")

    __int__ = __float__ = __index__


Size = int | Dim
