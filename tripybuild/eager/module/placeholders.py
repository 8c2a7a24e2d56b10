"""Uninitialized parameters: dtype and shape are known, data is not."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.frontend import Tensor
from tripybuild.trace.constants import Constant, Data
from tripybuild.trace.generated_code import BUILT_IN
from tripybuild.trace.location import UnknownLocation
from tripybuild.trace.values import TensorType, Value

HINT = "set it by assignment, `load_state_dict`, `load_weights` or `initialize_dummy_parameters`"


class PlaceholderValue(Value):
    """The value of a parameter that nobody has given yet.

    Args:
        type: What is to be given.
        ranks: Those that it may have instead.
        optional: Whether nobody has to give it.
    """

    __slots__ = ("optional", "ranks")

    def __init__(
        self, type: TensorType, ranks: Sequence[int] = (), *, optional: bool = False
    ) -> None:
        super().__init__(type, weight=True)
        self.ranks, self.optional = frozenset(ranks), optional


def is_placeholder(tensor: Tensor) -> bool:
    """Whether a tensor stands for a parameter that nobody has given yet."""
    return isinstance(tensor.value, PlaceholderValue)


def is_optional(value: object) -> bool:
    """Whether a value stands for a parameter that nobody has to give."""
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
    """What is said where a parameter is used that nobody has given."""
    message = f"the parameter `{name}`, of {type}, is not initialized"
    return Diagnostic("weight-missing", message, span, hint=HINT)


def require_parameters(values: Mapping[str, Value], place: Callable[[], Span]) -> None:
    """Say at once which parameters nobody has given.

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
