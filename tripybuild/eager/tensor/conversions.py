"""Tensors as Python's own: truth, numbers, rows, and sizes that count.

What is asked for is computed, so that a tensor that depends on an input of a graph refuses.
"""

from collections.abc import Callable, Iterator
from typing import Any, Self

from tripybuild import frontend
from tripybuild.eager.evaluate.evaluate import array_of
from tripybuild.eager.evaluate.subgraph import symbol_error
from tripybuild.eager.tensor.device import device as Device  # noqa: N812
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.checks.argument_error import argument_error, caller_diagnostic
from tripybuild.frontend.checks.messages import python_hint
from tripybuild.frontend.checks.python_numbers import python_number
from tripybuild.frontend.sizes import exact_number, in_trace
from tripybuild.frontend.tensor import PACKAGES, Tensor as Traced
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import constant
from tripybuild.trace.location import PythonLocation, caller_location
from tripybuild.trace.values import Size, Value
from tripybuild.types.dtypes import from_numpy, int32
from tripybuild.types.shapes import is_int


class TruthError(DiagnosticError, ValueError):
    """A tensor of several elements is neither true nor false."""


class NumberError(DiagnosticError, TypeError):
    """A tensor of several elements is no number."""


class IterationError(DiagnosticError, TypeError):
    """A tensor is no sequence of Python's."""


class Conversions:
    """The half of Tensor that Python's own functions ask: `bool`, `int`, `round`, `list`."""

    value: Value

    def __iter__(self) -> Iterator[Any]:
        """The rows, of which there must be a number that is known.

        Raises:
            IterationError: There is no dimension, or its size is known only when a graph runs.
        """
        type, place = self.value.type, caller_location(PACKAGES)
        in_python = isinstance(place, PythonLocation)
        if not type.shape:
            message = "a tensor of rank 0 has no rows"
            hint = "`float(tensor)` and `int(tensor)` take its only element"
            raise IterationError(Diagnostic("not-iterable", message, place.span(), hint=hint))
        if in_python and is_int(type.shape[0]):
            return self._rows(int(type.shape[0]))
        message = f"{type} cannot be iterated over: its size may be known only when it runs"
        hint = "take rows by their index, or `split(...)` it"
        hint = python_hint(hint) if in_python else hint
        raise IterationError(Diagnostic("not-iterable", message, place.span(), hint=hint))

    def _rows(self, many: int) -> Iterator[Any]:
        """Each row; of what is computed already, without an operation for each."""
        if in_trace():
            tensor: Any = self
            return (tensor[row] for row in range(many))
        rows, place = array_of(self.value), caller_location(PACKAGES)
        kind, sizes = from_numpy(rows.dtype), rows.shape[1:]
        found = (rows[at : at + 1].reshape(sizes) for at in range(many))
        return (Traced.of(constant(row, kind, place)) for row in found)

    def __bool__(self) -> bool:
        """Whether the only element is true.

        Raises:
            TruthError: There are several elements, or none.
            TypeError: A specification asks, whose tensors are known only when it runs.
        """
        try:
            array = array_of(self.value)
            if array.size == 1:
                return bool(array)
            message = (
                f"whether {self.value.type} is true is ambiguous: it has {array.size} elements"
            )
            hint = "ask `tp.all(...)` or `tp.any(...)` of it"
            raise TruthError(caller_diagnostic("ambiguous-truth", message, hint))
        except DiagnosticError as error:
            if isinstance(caller_location(PACKAGES), PythonLocation):
                raise
            message = "whether a tensor is true is known only when it runs; use `where`"
            raise TypeError(message) from error

    def __len__(self) -> int:
        """The size of the first dimension.

        Raises:
            IterationError: There is no dimension.
            DiagnosticError: The size is known only when the graph runs.
        """
        if not self.value.type.shape:
            message = "a tensor of rank 0 has no length"
            raise IterationError(caller_diagnostic("not-iterable", message))
        size: Any = Traced.of_size(self.value.type.shape[0])
        return int(size)

    def __int__(self) -> int:
        """The only element as an integer.

        Raises:
            NumberError: There are several elements, or none.
        """
        return int(self._only())

    def __float__(self) -> float:
        """The only element as a number.

        Raises:
            NumberError: There are several elements, or none.
        """
        return float(self._only())

    def __index__(self) -> int:
        """The only element of a tensor of integers of rank 0, where Python counts with it.

        Raises:
            NumberError: It has a rank, or is of another dtype.
        """
        type = self.value.type
        if type.shape or type.dtype.kind != "integer":
            message = f"{type} is no integer: one is of rank 0, and of an integer dtype"
            raise NumberError(caller_diagnostic("wrong-type", message))
        return int(self._only())

    def __round__(self, digits: int | None = None) -> Any:
        """The only element as Python rounds it.

        Raises:
            NumberError: There are several elements, or none; `tp.round` rounds each.
        """
        return round(self._only(), digits)

    def _only(self) -> Any:
        array = array_of(self.value)
        if array.size == 1:
            return array.item()
        message = f"{self.value.type} is not a number: it has {array.size} elements"
        hint = "take one of them by its index, or `tolist()`"
        raise NumberError(caller_diagnostic("wrong-type", message, hint))

    def __format__(self, how: str) -> str:
        """The only element as a number is formatted (`f"{loss:.3f}"`), or all as `str` shows it.

        Raises:
            NumberError: A number's format is asked for, and there are several elements, or none.
        """
        return format(self._only(), how) if how else str(self)


class DimensionTensor:
    """The half of `DimensionSize` that is written by hand: an int32 tensor of rank 0.

    What operators that know sizes give for it is one again, and records nothing: only where it is
    used as data does it become an operation.

    Args:
        data: The size.
        name: What it is called where graphs are printed.

    Raises:
        DiagnosticError: It is no size.
    """

    dimension: Size = 0  # of the class, too: a lookup does not reach the tensor
    inexact = False  # whether `/` cut a fraction off, as nvtripy's does

    def __init__(self, data: Size, name: str | None = None) -> None:
        data = python_number(data)
        if not isinstance(data, Dim) and not is_int(data):
            raise argument_error("DimensionSize", "data", "an integer", data)
        if name is not None and not isinstance(name, str):
            raise argument_error("DimensionSize", "name", "a string", name)
        self.dimension = data
        self.value: Value = frontend.tensor(data, int32).value
        self.value.name = name

    @property
    def device(self) -> Device:
        """Sizes are always on the CPU."""
        return Device("cpu")

    def eval(self) -> Self:
        """Nothing is left to be computed."""
        return self

    def __index__(self) -> int:
        """The size as Python's integer.

        Raises:
            DiagnosticError: It is known only when the graph runs.
        """
        if isinstance(self.dimension, Dim):
            raise DiagnosticError(symbol_error(self.dimension))
        return self.dimension

    __int__ = __index__

    def tolist(self) -> Any:
        """The size as Python's integer."""
        return self.__index__()

    def __reduce__(self) -> tuple[Any, ...]:
        """What Python keeps of it: its size."""
        return type(self), (self.__index__(),)

    def _with_number(self, method: str, other: Any) -> Any:
        """What Python makes of a known size and a number, where the tensor would refuse it.

        As of `n ** 0.5` and `n * 0.5`, which no dtype of integers holds.
        """
        power = method in ("__pow__", "__rpow__")
        if isinstance(self.dimension, int) and isinstance(other, (int, float) if power else float):
            exact_number(self)
            return getattr(type(other), method)(type(other)(self.dimension), other)
        found = getattr(super(), method)(other)
        if isinstance(found, DimensionTensor):
            fraction = method.endswith("truediv__") and has_fraction(self, other, found.dimension)
            found.inexact = self.inexact or getattr(other, "inexact", False) or fraction
        return found

    def __str__(self) -> str:
        return str(self.dimension)

    def __repr__(self) -> str:
        return f"dimension_size({self.dimension})"


def has_fraction(one: DimensionTensor, other: Any, quotient: Size) -> bool:
    """Whether a quotient of known sizes, whichever is divided, is not all of it."""
    size, by = one.dimension, getattr(other, "dimension", other)
    if not (isinstance(quotient, int) and isinstance(size, int) and isinstance(by, int)):
        return False
    return size != quotient * by and by != quotient * size


def _number_operator(method: str) -> Callable[[DimensionTensor, Any], Any]:
    def operate(size: DimensionTensor, other: Any) -> Any:
        return size._with_number(method, other)  # noqa: SLF001 - of this module

    return operate


for _name in ("add", "sub", "mul", "truediv", "pow"):
    for _method in (f"__{_name}__", f"__r{_name}__"):
        setattr(DimensionTensor, _method, _number_operator(_method))
