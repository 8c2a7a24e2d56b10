"""Sizes as tensors: operators evaluated on sizes without recording an operation."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from operator import is_
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend.checks.argument_error import caller_diagnostic
from tripybuild.frontend.tensor import Tensor
from tripybuild.trace.values import Size

_tracing: ContextVar[bool] = ContextVar("tracing", default=False)
Given = TypeVar("Given")  # the class of sizes, which only generated code knows


class StaticSize(int):
    """A size of a tensor that is known: Python's integer, with all that a `DimensionSize` has.

    What operators of Python's make of it and other integers is one again, but for `/`, which gives
    Python's floats.
    """

    __slots__ = ()

    @property
    def dimension(self) -> int:
        """The number alone."""
        return int(self)

    if not TYPE_CHECKING:  # a type checker knows the members of integers

        def __getattr__(self, name: str) -> Any:
            """A member of the tensor that it stands for, but for what tells tensors apart."""
            if name.startswith("_") or name in ("type", "value"):
                message = f"`{type(self).__name__}` has no attribute `{name}`"
                raise AttributeError(message, name=name, obj=self)
            return getattr(Tensor.of_size(int(self)), name)


def _size_operator(operator: Callable[..., Any]) -> Callable[..., Any]:
    """An operator of integers that gives sizes."""

    def operate(*operands: Any) -> Any:
        found = operator(*operands)
        return found if found is NotImplemented else StaticSize(found)

    return operate


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    for _method in (f"__{_name}__", f"__r{_name}__"):
        setattr(StaticSize, _method, _size_operator(getattr(int, _method)))
for _method in ("__neg__", "__abs__"):
    setattr(StaticSize, _method, _size_operator(getattr(int, _method)))


@lru_cache(maxsize=4096)
def static_sizes(shape: tuple[Size, ...]) -> tuple[Size, ...]:
    """The sizes of a shape for programs; symbols stay as they are."""
    return tuple([StaticSize(size) if isinstance(size, int) else size for size in shape])


def with_tensors(arguments: Sequence[Any]) -> list[Any] | None:
    """Arguments with a tensor for each known size, also in lists; None if there is no size."""
    tensors = [
        [*map(_as_tensor, each)]
        if isinstance(each, (list, tuple)) and StaticSize in map(type, each)
        else _as_tensor(each)
        for each in arguments
    ]
    return None if all(map(is_, tensors, arguments)) else tensors


def with_numbers(arguments: Sequence[Any]) -> list[Any] | None:
    """Arguments with a number for each size that is recorded and known; None if there is none.

    What is left must have a tensor among it, which says what the numbers become.
    """
    numbers = [_as_number(each) for each in arguments]
    changed = not all(map(is_, numbers, arguments))
    return numbers if changed and any(isinstance(each, Tensor) for each in numbers) else None


def _as_number(argument: Any) -> Any:
    if isinstance(argument, Tensor) and hasattr(type(argument), "dimension"):
        size: Any = argument
        return exact_number(size) if isinstance(size.dimension, int) else argument
    return argument


def exact_number(size: Any) -> int:
    """The number that a known size is.

    Raises:
        DiagnosticError: It is a quotient without its fraction, which a number would have.
    """
    if size.inexact:
        message = f"`/` of sizes cuts the fraction off here, and gives {size.dimension}"
        hint = "divide Python's integers: `int(...)` makes one of a size that is known"
        raise DiagnosticError(caller_diagnostic("wrong-value", message, hint)) from None
    return int(size.dimension)


def _as_tensor(argument: Any) -> Any:
    return Tensor.of_size(int(argument)) if isinstance(argument, StaticSize) else argument


def are_sizes(*values: object) -> bool:
    """Whether all are sizes or integers, and some are sizes of a tensor."""
    some = False
    for value in values:
        if hasattr(type(value), "dimension"):
            some = True
        elif not isinstance(value, int) or isinstance(value, bool):
            return False
    return some


def size_of(value: Any) -> Any:
    """The number or symbol that a size is; of an integer, itself."""
    return value.dimension if hasattr(type(value), "dimension") else value


def dimension(size: Size) -> Given:  # type: ignore[type-var]
    """A tensor that stands for a size."""
    return cast("Given", Tensor.of_size(size))


@contextmanager
def trace_mode() -> Iterator[None]:
    """What runs inside is recorded to be compiled."""
    token = _tracing.set(True)
    try:
        yield
    finally:
        _tracing.reset(token)


def in_trace() -> bool:
    """Whether a function is being recorded now."""
    return _tracing.get()
