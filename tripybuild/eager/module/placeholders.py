"""Uninitialized parameters: dtype and shape are known, data is not."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.frontend import Tensor
from tripybuild.frontend.checks.argument_error import (
    argument_error,
    caller_diagnostic,
    dtype_argument,
)
from tripybuild.trace.constants import Constant, Data
from tripybuild.trace.generated_code import BUILT_IN
from tripybuild.trace.location import UnknownLocation
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import dtype, dtype as DType, float32  # noqa: N812 - it is a class
from tripybuild.types.shapes import is_int

HINT = "set it by assignment, `load_state_dict`, `load_weights` or `initialize_dummy_parameters`"


class PlaceholderValue(Value):
    """Value of an uninitialized parameter.

    Args:
        type: What is to be given.
        ranks: Those that it may have instead.
        optional: Whether it may stay unset.
    """

    __slots__ = ("optional", "ranks")

    def __init__(
        self, type: TensorType, ranks: Sequence[int] = (), *, optional: bool = False
    ) -> None:
        super().__init__(type, weight=True)
        self.ranks, self.optional = frozenset(ranks), optional


def is_placeholder(tensor: Tensor) -> bool:
    """Whether a tensor is an uninitialized parameter."""
    return isinstance(tensor.value, PlaceholderValue)


def is_optional(value: object) -> bool:
    """Whether a value is an optional parameter without a value."""
    kept = value.value if isinstance(value, Tensor) else None
    return isinstance(kept, PlaceholderValue) and kept.optional


def parameter_of(value: PlaceholderValue) -> Tensor:
    """The `Parameter` of programs that stands for a value."""
    made: Tensor = object.__new__(import_module(f"{BUILT_IN}.tensor").Parameter)
    made.value = value
    return made


def fits(before: Tensor, after: Tensor) -> bool:
    """Whether a tensor can take the place of another one as a parameter."""
    value = before.value
    ranks = value.ranks if isinstance(value, PlaceholderValue) else frozenset[int]()
    return after.type == before.type or (after.dtype is before.dtype and after.rank in ranks)


def dummy(tensor: Tensor) -> Tensor:
    """A tensor of ones like another one."""
    filled = Constant(Data(1, tensor.type)).with_types(tensor.type).with_location(UnknownLocation())
    return Tensor.of(filled.outputs[0])


def missing_parameter(name: str, type: TensorType, span: Span | None) -> Diagnostic:
    """Error for the use of an uninitialized parameter."""
    message = f"the parameter `{name}`, of {type}, is not initialized"
    return Diagnostic("weight-missing", message, span, hint=HINT)


def require_parameters(values: Mapping[str, Value], place: Callable[[], Span]) -> None:
    """Report all uninitialized parameters at once.

    Args:
        values: The parameters, by their paths.
        place: Gives the place where they are needed.

    Raises:
        DiagnosticError: There are some.
    """
    unset = {path: value for path, value in values.items() if isinstance(value, PlaceholderValue)}
    if unset:
        span = place()
        raise DiagnosticError(
            *(missing_parameter(path, each.type, span) for path, each in unset.items())
        )


class Parameter:
    """The half of `Parameter` that is written by hand; the public class says what it takes."""

    def __init__(
        self,
        value: Tensor | Sequence[int],
        dtype: dtype = float32,
        *,
        ranks: Sequence[int] = (),
        optional: bool = False,
    ) -> None:
        if isinstance(value, Tensor):
            vars(self).update(vars(value))
            self.value: Value = value.value
            return
        if not isinstance(dtype, DType):
            dtype = dtype_argument("Parameter", "dtype", dtype)
        sizes: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
        if any(not is_int(size) or size < 0 for size in sizes):
            data = hasattr(value, "__array__") or any(isinstance(each, float) for each in sizes)
            hint = "make a tensor of it: `tp.Tensor(...)`" if data else None
            wanted = "a tensor, or a list of sizes"
            negative = next((each for each in sizes if is_int(each) and each < 0), None)
            if negative is not None:
                message = f"`{negative}` in the shape of a `Parameter` is not a size"
                raise DiagnosticError(caller_diagnostic("wrong-value", message))
            raise argument_error("Parameter", "value", wanted, value, hint, code="wrong-value")
        self.value = PlaceholderValue(
            TensorType(dtype, tuple(map(int, sizes))), ranks, optional=optional
        )
