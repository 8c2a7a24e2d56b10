"""Conversions of a tensor into Python's own: truth, numbers, rows.

What is asked for is computed, so that a tensor that depends on an input of a graph refuses.
"""

from collections.abc import Iterator
from typing import Any

from tripybuild.eager.evaluate.evaluate import array_of
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.checks.argument_error import caller_diagnostic
from tripybuild.frontend.checks.messages import python_hint
from tripybuild.frontend.sizes import in_trace
from tripybuild.frontend.tensor import PACKAGES, Tensor as Traced
from tripybuild.trace.constants import constant
from tripybuild.trace.location import PythonLocation, caller_location
from tripybuild.trace.values import Value
from tripybuild.types.dtypes import from_numpy
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
        return (Traced.of(constant(rows[at].reshape(sizes), kind, place)) for at in range(many))

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
