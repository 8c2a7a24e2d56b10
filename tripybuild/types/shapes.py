"""Shape functions of `infer`, `requires` and types: lists in, lists out.

Each works on ints and on `Dim`s alike, and what it gives for `Dim`s, once they are substituted, is
what it gives for ints. Where sizes must agree and may not, the answer assumes that they do:
`conformable` is the law that says so.
"""

import builtins
import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from tripybuild.symbolic import dims
from tripybuild.symbolic.conditions import Condition, Truth, conjunction, disjunction, negation
from tripybuild.symbolic.dims import Dim, Size, maximum, minimum, same, select, symbol
from tripybuild.types import safe_math
from tripybuild.types.subscripts import parts

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from tripybuild.types.dtypes import dtype

# Generated code reads them here.
quotient = dims.quotient
bounded_range, power, prod = safe_math.bounded_range, safe_math.power, safe_math.prod
Shape = Sequence[Size]
# What the sizes of a shape are: numbers alone where sizes are known, or numbers and symbols.
Sizes = TypeVar("Sizes", bound=Size)


class BroadcastError(ValueError):
    """Two shapes do not broadcast."""

    def __init__(self, left: Shape, right: Shape) -> None:
        super().__init__(f"the shapes {list(left)} and {list(right)} do not broadcast")
        self.left = list(left)
        self.right = list(right)


def replace(shape: Sequence[Sizes], dims: int | Iterable[int], size: Sizes) -> list[Sizes]:
    """Give the shape with another size in each of the dimensions."""
    changed = list(shape)
    for dim in [dims] if isinstance(dims, int) else dims:
        changed[dim] = size
    return changed


def drop(shape: Sequence[Sizes], dims: int | Iterable[int]) -> list[Sizes]:
    """Give the shape without the dimensions."""
    listed = [dims] if isinstance(dims, int) else dims
    gone = {range(len(shape))[dim] for dim in listed}
    return [size for dim, size in enumerate(shape) if dim not in gone]


def insert(shape: Sequence[Sizes], position: int, size: Sizes) -> list[Sizes]:
    """Give the shape with one more dimension, which will be at `position`."""
    at = range(len(shape) + 1)[position]
    return [*shape[:at], size, *shape[at:]]


def align(shape: Shape, rank: int) -> list[Size]:
    """Give the shape with leading ones, so that it has `rank` dimensions."""
    if len(shape) > rank:
        raise ValueError(f"the shape {list(shape)} has more than {rank} dimensions")
    return [1] * (rank - len(shape)) + list(shape)


def broadcast(*shapes: Shape) -> list[Size]:
    """Give the shape that all the shapes broadcast to, by numpy's rules."""
    return list(_broadcast(*map(tuple, shapes)))


@functools.lru_cache(maxsize=4096)  # a few shapes come often
def _broadcast(*shapes: tuple[Size, ...]) -> Shape:
    if (known := _broadcast_ints(shapes)) is not None:
        return known
    result: list[Size] = []
    for shape in shapes:
        rank = builtins.max(len(result), len(shape))
        pairs = zip(align(result, rank), align(shape, rank), strict=True)
        sizes = [_common_size(a, b) for a, b in pairs]
        if any(size is None for size in sizes):
            raise BroadcastError(result, shape)
        result = [size for size in sizes if size is not None]
    return result


def _broadcast_ints(shapes: Sequence[Shape]) -> tuple[int, ...] | None:
    """What shapes of numbers broadcast to, if they do: most are such."""
    for shape in shapes:
        for size in shape:
            if type(size) is not int:
                return None
    sizes: list[Any] = []
    for column in itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        found = {size for size in column if size != 1}
        if len(found) > 1:
            return None
        sizes.append(found.pop() if found else 1)
    return tuple(reversed(sizes))


def _common_size(a: Size, b: Size) -> Size | None:
    """What two sizes broadcast to, None where they cannot; where that is unsure, they do."""
    if same(a, b):
        return a
    if same(a, 1) or same(b, 1):
        return b if same(a, 1) else a
    a_is_one, b_is_one = a == 1, b == 1
    if disjunction([a == b, a_is_one, b_is_one]) is False:
        return None
    # What is certainly not 1 is the result: the other is 1 or the same. Numbers are easier to use.
    if a_is_one is False and not (isinstance(b, int) and b_is_one is False):
        return a
    if b_is_one is False:
        return b
    # Either may be 1. The larger is the result, unless the other is 0: then the result is 0.
    larger, smaller = maximum(a, b), minimum(a, b, 1)
    return larger * smaller


def broadcast_size(sizes: Iterable[Size]) -> Size:
    """Give the size that all the sizes broadcast to."""
    (size,) = broadcast([1], *([each] for each in sizes))
    return size


def conformable(*shapes: Shape) -> Truth:
    """Tell whether the shapes broadcast; one impossible pair decides, whatever is unsure."""
    return _conformable(*map(tuple, shapes))


@functools.lru_cache(maxsize=4096)
def _conformable(*shapes: tuple[Size, ...]) -> Truth:
    if _broadcast_ints(shapes) is not None:
        return True
    rank = builtins.max((len(shape) for shape in shapes), default=0)
    columns = zip(*(align(shape, rank) for shape in shapes), strict=True)
    return conjunction(
        disjunction([a == b, a == 1, b == 1])
        for column in columns
        for a, b in itertools.combinations(column, 2)
    )


def contracted_shape(equation: str, shapes: Sequence[Shape]) -> list[Size]:
    """Give the shape of a sum of products, `ij,jk->ik`; sizes of one are repeated."""
    found = _label_sizes(equation, shapes)
    return [broadcast_size(found[label]) for label in parts(equation)[1]]


def contractible(equation: str, shapes: Sequence[Shape]) -> Truth:
    """Tell whether the dimensions of each label agree: they are equal, or one where others are not.

    A label that a term repeats runs along a diagonal, whose sizes are equal.
    """
    terms, _ = parts(equation)
    twice = [
        conjunction(a == b for (x, a), (y, b) in itertools.combinations(pairs, 2) if x == y)
        for pairs in (
            list(zip(term, s, strict=True)) for term, s in zip(terms, shapes, strict=True)
        )
    ]
    every = _label_sizes(equation, shapes).values()
    return conjunction([*twice, *(conformable(*([size] for size in sizes)) for sizes in every)])


def products(equation: str, shapes: Sequence[Shape]) -> Size:
    """Give how many products a sum of products adds up: one for each value of all labels."""
    sizes = [broadcast_size(each) for each in _label_sizes(equation, shapes).values()]
    found: Size = prod(sizes)
    return found


def _label_sizes(equation: str, shapes: Sequence[Shape]) -> dict[str, list[Size]]:
    """All sizes of each label."""
    found: dict[str, list[Size]] = {}
    for term, shape in zip(parts(equation)[0], shapes, strict=True):
        for label, size in zip(term, shape, strict=True):
            found.setdefault(label, []).append(size)
    return found


def ceildiv(size: Size | float, by: Size | float) -> Size:
    """Give the quotient, rounded up. A `Dim` is divided by the nearest simple fraction."""
    if isinstance(size, Dim) and isinstance(by, float):
        fraction = Fraction(by).limit_denominator()
        return -(-size * fraction.denominator // fraction.numerator)
    if isinstance(size, float) or isinstance(by, float):
        return math.ceil(size / by)  # type: ignore[operator]  # a float beside a Dim fails
    return (size + by - 1) // by if (by >= 1) is True else -(-size // by)


def scaled_size(size: Size, factor: Size | float) -> Size:
    """Give `floor(size * factor)`, also beyond floats; for a `Dim`, by the nearest fraction."""
    if not isinstance(factor, float):
        return size * factor
    if not isinstance(size, Dim):
        return math.floor(size * (factor if abs(factor) < 1e280 else Fraction(factor)))
    # A product of floats may round up to the next number; sizes have only exact arithmetic.
    fraction = Fraction(factor).limit_denominator()
    return size * fraction.numerator // fraction.denominator


def count(values: Iterable[object], value: object) -> int:
    """Count the entries that are certainly equal to the value."""
    return sum((each == value) is True for each in values)


def inverse(permutation: Sequence[int]) -> list[int]:
    """Give the permutation that undoes a permutation."""
    if sorted(permutation) != list(range(len(permutation))):
        raise ValueError(f"{list(permutation)} is not a permutation")
    return sorted(range(len(permutation)), key=permutation.__getitem__)


_fresh: ContextVar[Iterator[int]] = ContextVar("fresh symbols", default=itertools.count())  # noqa: B039


@contextlib.contextmanager
def fresh_symbols(first: int = 0) -> Iterator[None]:
    """Name the unknown sizes inside from `_0` on, so that equal programs have equal names."""
    token = _fresh.set(itertools.count(first))
    try:
        yield
    finally:
        _fresh.reset(token)


def unknown(low: Size = 0, high: Size | None = None) -> Dim:
    """Give a size that depends on data, of which only bounds are known."""
    lowest = (low.low or 0) if isinstance(low, Dim) else low
    highest = high.high if isinstance(high, Dim) else high
    return symbol(f"_{next(_fresh.get())}", lowest, highest)


def is_int(value: object) -> "TypeIs[int]":
    """Tell whether a value is a number that is known now, and not a list or a `Dim`."""
    return isinstance(value, int) and not isinstance(value, bool)


SMALLEST_OF_SIZES = 32  # bits of a dtype in which sizes are data


def in_range(value: object, of: "dtype") -> bool:
    """Tell whether a dtype of integers can hold a number, but for its fraction.

    What is no number that is known now is in range, and so is all where there are no integers; a
    size that a call tells is looked at where the dtype is smaller than those of sizes.
    """
    if isinstance(value, Dim) and of.kind == "integer" and of.bits < SMALLEST_OF_SIZES:
        return bool(of.lowest <= value <= of.highest)
    number = getattr(getattr(value, "value", value), "number", value)
    if of.kind != "integer" or not isinstance(number, (int, float)):
        return True
    return math.isfinite(number) and of.lowest <= int(number) <= of.highest


def integer(value: Any) -> Size:
    """Give a number without its fraction; a `Dim` has none."""
    return value if isinstance(value, Dim) else int(value)


def largest(*values: Any) -> Any:
    """Give the largest of the arguments, or of one list, as Python's `max`."""
    return _extreme(values, maximum, builtins.max)


def smallest(*values: Any) -> Any:
    """Give the smallest of the arguments, or of one list, as Python's `min`."""
    return _extreme(values, minimum, builtins.min)


def every(values: Iterable[Any]) -> Truth:
    """Give Python's `all`, where one false value decides whatever is undecided beside it."""
    return conjunction(map(_truth, values))


def some(values: Iterable[Any]) -> Truth:
    """Give Python's `any`, where one true value decides whatever is undecided beside it."""
    return disjunction(map(_truth, values))


def _truth(value: Any) -> Truth:
    if value is True or value is False:  # as nearly all are
        return value
    if isinstance(value, Dim):
        return negation(value == 0)
    return value if isinstance(value, Condition) else bool(value)


def _extreme(
    values: tuple[Any, ...], of_sizes: Callable[..., Size], of_anything: Callable[..., Any]
) -> Any:
    listed = list(values[0] if len(values) == 1 else values)
    return of_sizes(*listed) if any(isinstance(e, Dim) for e in listed) else of_anything(listed)


SHAPE_FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "align": align,
        "all": every,
        "any": some,
        "broadcast": broadcast,
        "broadcast_size": broadcast_size,
        "ceildiv": ceildiv,
        "conformable": conformable,
        "contracted_shape": contracted_shape,
        "contractible": contractible,
        "count": count,
        "drop": drop,
        "in_range": in_range,
        "insert": insert,
        "int": integer,
        "inverse": inverse,
        "is_int": is_int,
        "max": largest,
        "min": smallest,
        "prod": prod,
        "products": products,
        "quotient": quotient,
        "replace": replace,
        "scaled_size": scaled_size,
        "select": select,
        "unknown": unknown,
    }
)
