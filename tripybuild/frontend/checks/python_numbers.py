"""Python scalars in place of tensors: allowed dtypes, and the shape."""

from numbers import Number
from sys import float_info
from types import NoneType
from typing import Any

from tripybuild.trace.values import is_tensor
from tripybuild.types.dtypes import boolean, dtype, float32, int32, int64

_OWN = frozenset({NoneType, bool, int, float, str})
# What is given for a tensor, by how deep it is nested.
NESTED = ("a number", "a list of numbers", "a list of lists of numbers")


def python_number(value: Any) -> Any:
    """A scalar of NumPy, also as an array, or an integer of any class, as Python's own number.

    All else stays as it is.
    """
    if type(value) in _OWN:
        return value
    if isinstance(value, int):  # of a class of its own, as a size
        return int(value)
    if isinstance(value, (float, str)):
        return value
    # NumPy registers its numbers as such, but for its truths.
    scalar = isinstance(value, Number) or type(value).__name__ in ("bool", "bool_")
    scalar |= type(value).__name__ == "ndarray" and value.shape == () and value.dtype.isbuiltin == 1
    return value.item() if scalar and hasattr(value, "item") else value


def is_representable(number: bool | float, type: dtype) -> bool:
    """Whether a number is one of a dtype without being another; floats are only rounded."""
    if type.kind == "integer":
        return not isinstance(number, float) and type.lowest <= number <= type.highest
    if type.kind == "boolean":
        return isinstance(number, bool)
    return isinstance(number, float) or abs(number) <= float_info.max


def default_dtype(number: bool | float) -> dtype:
    """The dtype that a Python number has where it stands alone."""
    if isinstance(number, bool):
        return boolean
    if isinstance(number, float):
        return float32
    return int32 if -(2**31) <= number < 2**31 else int64


def flatten_numbers(value: object) -> tuple[list[int] | None, list[Any]]:
    """The shape of nested numbers, None where they have none, and all of the numbers in order."""
    if isinstance(value, (bool, int, float)):
        return [], [value]
    if not isinstance(value, (tuple, list)) or not value:
        return ([0], []) if isinstance(value, (tuple, list)) else (None, [])
    shapes, numbers = zip(*map(flatten_numbers, value), strict=True)
    if shapes[0] is None or any(shape != shapes[0] for shape in shapes):
        return None, []
    return [len(value), *shapes[0]], [each for part in numbers for each in part]


def is_data(value: object) -> bool:
    """Whether a tensor can be made of a value: of numbers, not of words or of tensors."""
    if isinstance(value, (tuple, list)):
        return bool(value) and all(map(is_data, value))
    if is_tensor(value):
        return False
    return isinstance(value, (bool, int, float)) or hasattr(value, "__array__")
