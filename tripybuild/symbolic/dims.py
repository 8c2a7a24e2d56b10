"""Sizes: an `int`, or a `Dim`, an immutable integer expression over named symbols.

What is constant is always an `int`: `d - d` is 0. Comparisons are a `bool` where they are decided,
and a `Condition` where they are not (see `conditions`), so structural identity is asked with
`same`, never with `==`.
"""

import functools
import keyword
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tripybuild.symbolic import dim_text
from tripybuild.symbolic.conditions import (
    Condition,
    Truth,
    compare,
    conjunction,
    disjunction,
    substitute_condition,
    substitute_terms,
)
from tripybuild.symbolic.dim_text import terms_text
from tripybuild.symbolic.intervals import bounds
from tripybuild.symbolic.polynomials import (
    Atom,
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
from tripybuild.symbolic.quotients import choose, extreme, quotient as terms_quotient

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
    return size_of(terms_quotient(terms_of(left), terms_of(right)))


@functools.lru_cache(maxsize=_CACHE)
def _remainder(left: "Size", right: "Size") -> "Size":
    n, d = terms_of(left), terms_of(right)
    return size_of(add(n, multiply(terms_quotient(n, d), d), -1))


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
    NOUN = "a size"  # in messages of snippets
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

    __floor__ = __ceil__ = __pos__  # as of any whole number

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


def substitute_size(size: Dim, sizes: "Mapping[str, Size]") -> Size:
    """Put sizes in the place of symbols; bounds are not checked where all are numbers."""
    numbers = {name: each for name, each in sizes.items() if not isinstance(each, Dim)}
    if numbers.keys() >= size.symbols:
        return value_of(size.terms, numbers)
    return size.substitute(sizes)


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


@functools.lru_cache(4096)
def linear_form(size: Dim) -> tuple[str, int, int] | None:
    """Give the symbol of a size `factor * symbol + offset`, and the numbers; None for others."""
    if size.name is not None:
        return size.name, 1, 0
    offset, factors = 0, []
    for monomial, coefficient in size.terms:
        if monomial:
            factors.append((monomial, coefficient))
        else:
            offset = coefficient
    if len(factors) != 1 or len(factors[0][0]) != 1:
        return None
    (((atom,), factor),) = factors
    whole = atom.operator == "symbol" and factor % atom.multiple == 0
    return (atom.name, factor // atom.multiple, offset) if whole else None


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
