"""Tensor construction from Python numbers, nested lists, and arrays of any library.

Lists take the dtype of their first number, as nvtripy's do: int32 for an integer (int64 if it needs
it), float32 for a float, bool for a truth. A number that this dtype cannot hold is refused at its
place, never changed. A number of NumPy's is a number, too.
"""

import builtins
from collections.abc import Iterator, Sequence
from itertools import chain
from math import prod
from sys import float_info
from typing import Any

import numpy as np

from tripybuild.frontend.checks.python_numbers import default_dtype, python_number
from tripybuild.process.memory import limit
from tripybuild.reference.numerics.arrays import Array
from tripybuild.trace.values import is_tensor
from tripybuild.types import dtypes
from tripybuild.types.dtypes import dtype, from_numpy

ALIGNMENT = 64  # bytes: XLA copies an array at any other address, each time that it is read
LARGE = 1 << 16  # bytes: a smaller array is copied in less time than it takes to place it
CPU = 1  # kDLCPU
SEQUENCES = (list, tuple, range)
MANY, NUMBER = 1 << 24, 8  # numbers in lists, and the bytes of a reference to one
DEEPEST = 64  # dimensions of an array
SHOWN = 30  # letters of an element, in a message


class DataError(ValueError):
    """A tensor cannot be made of this; the text says why, and the hint what to do."""

    def __init__(
        self, why: str, hint: str | None = None, place: Sequence[int] | None = None
    ) -> None:
        super().__init__(why)
        self.hint = hint
        self.place = place  # of the element to blame


def array_of(data: Any, type: dtype | None = None) -> Array:
    """Create an array that has no other writable reference.

    Args:
        data: A number, nested sequences of numbers, or an array with DLPack.
        type: The dtype to take; numbers that it cannot hold are refused.

    Raises:
        DataError: It is no data, or not of one shape and dtype.
    """
    if hasattr(data, "__dlpack__"):
        found = _import_array(data)
        if type is None or found.dtype == type.numpy:
            return found
        if _holds(type, found):
            with np.errstate(over="ignore"):  # a float is rounded, if need be to an infinite one
                return found.astype(type.numpy)
        hint = f"cast the tensor: `tp.cast(tp.Tensor(...), tp.{type})`"
        raise DataError(f"its elements are {found.dtype}, and not all of {type}", hint)
    shape = list(_shape(data))
    if prod(shape) > MANY and (met := limit()) and prod(shape) * NUMBER > met.size:
        raise MemoryError(f"it has {prod(shape)} numbers; {met.reason}")
    flat = _of_one_class(data, shape)
    kind = type or default_dtype(flat[0] if flat else 0.0)
    if not flat or not _fit(flat, kind):
        numbers = list(_numbers(data, ()))
        kind = type or default_dtype(numbers[0][1] if numbers else 0.0)
        for place, number in numbers:
            _check(place, number, kind, given=type is not None)
        flat = [number for _, number in numbers]
    wide = np.array(flat, None if kind.kind == "float" else kind.numpy)
    if wide.dtype == object:  # integers beyond 64 bits
        wide = np.array(flat, np.float64)
    with np.errstate(over="ignore"):  # a float is rounded, if need be to an infinite one
        return wide.astype(kind.numpy).reshape(shape)


def _holds(kind: dtype, array: Array) -> bool:
    """Whether a dtype holds the elements of an array, as it does a list's: floats are rounded."""
    of = from_numpy(array.dtype)
    if kind.kind != "integer":
        return kind.kind == "float" or of is kind
    if of.kind == "integer" and array.size:
        return bool(kind.lowest <= array.min() and array.max() <= kind.highest)
    return of.kind != "float"


def _of_one_class(data: Any, shape: Sequence[int]) -> list[Any]:
    """All numbers, if they are of one class of Python's and in lists of one shape, as most are.

    A look at each of them takes a hundred times as long; it is for those that are to be blamed.
    """
    level = [data]
    for length in shape:
        if not all(isinstance(each, SEQUENCES) for each in level) or {*map(len, level)} != {length}:
            return []
        level = list(chain.from_iterable(level))
    kinds = {*map(builtins.type, level)}
    return level if len(kinds) == 1 and kinds <= {bool, int, float} else []


def _fit(numbers: Sequence[Any], kind: dtype) -> bool:
    """Whether a dtype holds numbers of one class as they are; where unsure, it does not."""
    if kind.kind == "float":
        return isinstance(numbers[0], float) or max(map(abs, numbers)) <= float_info.max
    if kind.kind == "boolean":
        return isinstance(numbers[0], bool)
    whole = not isinstance(numbers[0], float)
    return whole and kind.lowest <= min(numbers) and max(numbers) <= kind.highest


def _shape(data: Any) -> Iterator[int]:
    """The lengths of the first sequences at each depth."""
    depth = 0
    while isinstance(data, SEQUENCES):
        if depth == DEEPEST:
            raise DataError(f"its lists are nested more than {DEEPEST} deep")
        depth += 1
        yield len(data)
        if not data:
            return
        data = data[0]


def _numbers(data: Any, place: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Each number with its place; sequences at one depth must be of one length."""
    number = python_number(data)
    if isinstance(number, (bool, int, float)):
        yield place, number
        return
    if not isinstance(data, SEQUENCES):
        where = f"the element at {list(place)}" if place else "it"
        hint = "`tp.stack(...)` makes one tensor of several" if is_tensor(data) else None
        raise DataError(f"{where} is not a number but a {type(data).__name__}", hint, place)
    shapes = [list(_shape(each)) for each in data]
    for index, shape in enumerate(shapes):
        if shape != shapes[0]:
            at = [*place, index]
            message = f"the list at {at} has shape {shape}, and the first one {shapes[0]}"
            raise DataError(message, place=at)
    for index, each in enumerate(data):
        yield from _numbers(each, (*place, index))


def _check(place: Sequence[int], number: Any, kind: dtype, *, given: bool) -> None:
    """Refuse a number that a dtype would change."""
    fits = {
        "boolean": isinstance(number, bool) or (given and number in (0, 1)),
        "integer": not isinstance(number, float) and kind.lowest <= number <= kind.highest,
        "float": isinstance(number, float) or abs(number) <= float_info.max,
    }[kind.kind]
    if not fits:
        where = f"the element at {list(place)}, {str(number)[:SHOWN]}," if place else str(number)
        why = "requested dtype" if given else "dtype of the first element"
        hint = "write all numbers in one way"
        if kind.kind == "float":
            hint = "no dtype holds it"
        elif isinstance(number, int) and kind.kind == "integer":
            hint = f"{kind} holds numbers from {kind.lowest} to {kind.highest}"
        raise DataError(f"{where} is not of type {kind}, the {why}", hint, place)


def _import_array(data: Any) -> Array:
    """A copy of another library's array in this machine's memory."""
    array = _dlpack_array(data)
    if array is None:
        raise DataError("it lies in another device's memory", "copy it to the CPU first")
    native = array.dtype.newbyteorder("=")
    if not _has_dtype(native):
        near = _nearest(native)
        hint = f"cast it first, as to {near}" if near else None
        raise DataError(f"tensors of {native} are not supported", hint)
    return aligned_copy(array, native)


def aligned_copy(array: Array, dtype: "np.dtype[Any]") -> Array:
    """Copy an array of any layout.

    Args:
        array: Its elements.
        dtype: What they become; numbers of another order of bytes are turned.

    Returns:
        An array whose elements lie in order, at a multiple of 64 where it is large.
    """
    octets = prod(array.shape) * dtype.itemsize
    if octets < LARGE:
        return array.astype(dtype, order="C")
    space = np.empty(octets + ALIGNMENT, np.uint8)
    start = -space.ctypes.data % ALIGNMENT
    copied = space[start : start + octets].view(dtype).reshape(array.shape)
    np.copyto(copied, array)
    return copied


def _has_dtype(kind: "np.dtype[Any]") -> bool:
    """Whether tensors hold what NumPy holds as this."""
    try:
        from_numpy(kind)
    except ValueError:
        return False
    return True


def _dlpack_array(data: Any) -> Array | None:
    """Another library's array, unless it is elsewhere; also of what NumPy cannot exchange."""
    if isinstance(data, np.ndarray):
        return data
    from tripybuild.tensorrt.runtime.dlpack import host_array  # noqa: PLC0415 - when used

    try:
        if int(data.__dlpack_device__()[0]) != CPU:
            return None
        try:
            return np.from_dlpack(data)
        except (BufferError, RuntimeError, TypeError):
            return host_array(data)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        hint = "`detach()` it" if getattr(data, "requires_grad", False) else None
        raise DataError(f"its library does not export it: {error}", hint) from error


def _nearest(kind: "np.dtype[Any]") -> dtype | None:
    """Most useful supported dtype for an unsupported one."""
    integer = dtypes.int32 if kind.itemsize < dtypes.int32.itemsize else dtypes.int64
    return {"f": dtypes.float32, "i": integer, "u": integer}.get(kind.kind)
