"""Guarded NumPy functions for references: the result's size is checked first.

A third party's registry is data: no word of it may ask for unbounded memory. What only rearranges
or reduces is handed on as it is; what creates, repeats or broadcasts is measured first.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from types import SimpleNamespace
from typing import Any

import numpy as np

from tripybuild.language.vocabulary import NUMPY

MOST_ELEMENTS = 1 << 28
MOST_SIZES = 1 << 10
# What a reference gives by no position: where to write, and what elements are.
_REFUSED = ("out", "dtype", "order", "like", "casting", "subok")
_UNBOUNDED = "OSUMmFDG"  # objects, texts, times, and complex numbers
Sizes = Callable[..., int]
_symbols: ContextVar[type | None] = ContextVar("symbols", default=None)


class TooLargeError(ValueError):
    """The result would have more elements than a reference may have."""


def guard_functions(names: Iterable[str]) -> Mapping[str, Any]:
    """NumPy's functions and constants by name, measured where they can make much of little."""
    return {name: _guard(getattr(np, name)) for name in names}


def check_elements(count: float) -> None:
    """Refuse a number of elements that no reference needs."""
    if count > MOST_ELEMENTS:
        raise TooLargeError(f"a reference may make {MOST_ELEMENTS:,} elements, not {count:,.0f}")


def _guard(function: Any) -> Any:
    """A function that measures first, and that gets no array by position to write into."""
    if isinstance(function, np.ufunc) and function.signature is None:
        return _elementwise(function)
    if not callable(function):
        return function
    sizes, most = _SIZES.get(function), _plain(function)

    @wraps(function, updated=())
    def check_and_call(*given: Any, **named: Any) -> Any:
        if most is not None and len(given) > most:
            raise TypeError(f"`{function.__name__}` takes at most {most} arguments by position")
        if sizes is not None:
            check_elements(sizes(*given, **named))
        return _check_numeric(function(*given, **named))

    return check_and_call


def _elementwise(function: Any) -> Any:
    """A ufunc: of one array, the result is no larger; two may broadcast to what is."""
    if function.nin == 1:

        @wraps(function, updated=())
        def single(array: Any, /, **named: Any) -> Any:
            if function in _ROUNDED and getattr(array, "dtype", _FLOATS).kind == "O":
                return _check_numeric(array)
            return _check_numeric(function(array, **named))

        return single

    of_symbols = _OF_SYMBOLS.get(function, function)

    @wraps(function, updated=())
    def broadcast(lhs: Any, rhs: Any, /, **named: Any) -> Any:
        if getattr(lhs, "shape", ()) != getattr(rhs, "shape", ()):
            check_elements(_broadcast(lhs, rhs))
        chosen = function if _symbols.get() is None else of_symbols
        return _check_numeric(chosen(lhs, rhs, **named))

    return broadcast


def _truncated_rest(lhs: Any, rhs: Any) -> Any:
    """What a quotient that is rounded toward zero leaves, of integers and symbols."""
    is_positive = bool(lhs >= 0)
    rest = (lhs if is_positive else -lhs) % (rhs if rhs > 0 else -rhs)
    return rest if is_positive else -rest


_FLOATS = np.dtype(np.float64)
# What leaves integers and symbols as they are.
_ROUNDED = frozenset({np.ceil, np.floor, np.rint, np.trunc})
_truncated_rests = np.frompyfunc(_truncated_rest, 2, 1)
# NumPy asks objects for a method of this name, which neither integers nor symbols have.
_OF_SYMBOLS: Mapping[Any, Callable[..., Any]] = {
    np.fmod: lambda lhs, rhs: np.asarray(_truncated_rests(lhs, rhs), object)
}


@contextmanager
def allow_symbols(kind: type) -> Iterator[None]:
    """References that are called inside may make small arrays of integers and of these objects."""
    token = _symbols.set(kind)
    try:
        yield
    finally:
        _symbols.reset(token)


def _check_numeric(result: Any) -> Any:
    """Refuse arrays of Python's objects and texts, whose elements have no bounded size."""
    kind = getattr(result, "dtype", None)
    if kind is not None and kind.char in _UNBOUNDED:
        allowed = _symbols.get()
        if kind.char == "O" and allowed is not None and _are_sizes(result, allowed):
            return result
        raise TypeError("a reference computes with numbers that a dtype holds")
    return result


def _are_sizes(array: np.ndarray[Any, Any], symbol: type) -> bool:
    few = array.size <= MOST_SIZES
    return few and all(
        isinstance(each, symbol) or (isinstance(each, int) and -(1 << 63) <= each < 1 << 63)
        for each in array.flat
    )


def _plain(function: Any) -> int | None:
    """How many arguments stand before the first that a reference cannot give."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    names = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    refused = [names.index(name) for name in _REFUSED if name in names]
    return min(refused, default=None)


def _volume(shape: Any) -> int:
    sizes: list[int] = np.atleast_1d(np.asarray(shape, dtype=object)).tolist()
    return math.prod(int(size) for size in sizes)


def _broadcast(*arrays: Any, **_named: Any) -> int:
    shapes = {getattr(array, "shape", None) for array in arrays}
    if len(shapes) == 1 and None not in shapes:  # as they mostly are; NumPy needs 10 µs to say so
        return math.prod(shapes.pop())  # type: ignore[arg-type]
    shape: tuple[int, ...] = np.broadcast_shapes(*(np.shape(array) for array in arrays))
    return math.prod(shape)


def _matmul(lhs: Any, rhs: Any, **_named: Any) -> int:
    left, right = np.shape(lhs), np.shape(rhs)
    batch: tuple[int, ...] = np.broadcast_shapes(left[:-2], right[:-2])
    return int(math.prod(batch) * math.prod(left[-2:-1]) * math.prod(right[-1:]))


def _arange(start: float, stop: float | None = None, step: float = 1, **_named: Any) -> int:
    first, last = (0, start) if stop is None else (start, stop)
    return max(0, math.ceil((last - first) / step)) if step else 0


def _repeat(array: Any, repeats: Any, **_named: Any) -> int:
    return int(np.size(array) * np.max(repeats, initial=0))


def _pad(array: Any, pad_width: Any, *_given: Any, **_named: Any) -> int:
    widths = np.broadcast_to(np.asarray(pad_width, dtype=object), (np.ndim(array), 2))
    return math.prod(
        size + int(low) + int(high)
        for size, (low, high) in zip(np.shape(array), widths.tolist(), strict=True)
    )


def _einsum(equation: str, *arrays: Any, **_named: Any) -> int:
    terms, arrow, result = equation.replace(" ", "").partition("->")
    sizes = {
        label: size
        for term, array in zip(terms.split(","), arrays, strict=False)
        for label, size in zip(term, np.shape(array), strict=False)
    }
    kept = result if arrow else "".join(sizes)
    return math.prod(sizes.get(label, 1) for label in kept)


def _take(array: Any, indices: Any, axis: int | None = None, **_named: Any) -> int:
    along = np.size(array) if axis is None else np.shape(array)[axis]
    return np.size(indices) * (np.size(array) // max(along, 1))


def _total(arrays: Iterable[Any], *_given: Any, **_named: Any) -> int:
    return sum(np.size(array) for array in arrays)


_SIZES: Mapping[Any, Sizes] = {
    np.arange: _arange,
    np.broadcast_arrays: lambda *arrays, **named: _broadcast(*arrays, **named) * len(arrays),
    np.concatenate: _total,
    np.diag: lambda array, *_given, **_named: (np.size(array) + 1) ** 2,
    np.einsum: _einsum,
    np.eye: lambda rows, columns=None, *_given, **_named: rows * (columns or rows),
    np.full: lambda shape, *_given, **_named: _volume(shape),
    np.identity: lambda rows, *_given, **_named: rows * rows,
    np.linspace: lambda _start, _stop, num=50, *_given, **_named: num,
    np.matmul: _matmul,
    np.ones: lambda shape, *_given, **_named: _volume(shape),
    np.outer: lambda lhs, rhs, *_given, **_named: np.size(lhs) * np.size(rhs),
    np.pad: _pad,
    np.repeat: _repeat,
    np.stack: _total,
    np.take: _take,
    np.tile: lambda array, reps, *_given, **_named: np.size(array) * _volume(reps),
    np.where: _broadcast,
    np.zeros: lambda shape, *_given, **_named: _volume(shape),
}

numpy = SimpleNamespace(**guard_functions(NUMPY))
"""NumPy as references know it: the functions of their vocabulary, and nothing else."""
