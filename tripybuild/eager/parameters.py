"""Parameters of modules that nobody has given yet: what they are is known, not what they hold."""

from collections.abc import Sequence
from typing import Any

from tripybuild.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.frontend import Tensor
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.trace.constants import Constant, Data
from tripybuild.trace.location import Unknown, here
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import dtype, float32
from tripybuild.types.shapes import is_int

HINT = "give it by assignment, `load_state_dict`, `load_weights` or `initialize_dummy_parameters`"


class Unset(Value):
    """The value of a parameter that nobody has given yet."""

    __slots__ = ()


def Parameter(  # noqa: N802 - the name by which programs know it, where it was a class
    value: Tensor | Sequence[int], dtype: dtype = float32
) -> Any:
    """A tensor for an attribute of a module.

    ```python
    self.scale = tp.Parameter((3, 4), tp.float16)  # to be given later
    self.shift = tp.Parameter(tp.zeros((4,)))
    ```

    Args:
        value: The tensor, or the shape of one that is to be given later.
        dtype: The type of the elements of one that is to be given later.

    Raises:
        DiagnosticError: A size is no whole number, or is negative.
    """
    if isinstance(value, Tensor):
        return value
    sizes: list[Any] = list(value) if isinstance(value, (list, tuple)) else [value]
    if any(not is_int(size) or size < 0 for size in sizes):
        message = f"the shape of a parameter is a list of sizes, but this is {value!r}"
        raise DiagnosticError(Diagnostic("wrong-value", message, here(PACKAGES).span()))
    return Tensor.of(Unset(TensorType(dtype, tuple(sizes)), weight=True))


def is_unset(tensor: Tensor) -> bool:
    """Whether a tensor stands for a parameter that nobody has given yet."""
    return isinstance(tensor.value, Unset)


def dummy(tensor: Tensor) -> Tensor:
    """A tensor of ones like another one."""
    filled = Constant(Data(1, tensor.type)).gives(tensor.type).placed(Unknown())
    return Tensor.of(filled.outputs[0])


def missing(name: str, type: TensorType, span: Span | None) -> Diagnostic:
    """What is said where a parameter is used that nobody has given."""
    message = f"the parameter `{name}`, of {type}, has not been given yet"
    return Diagnostic("weight-missing", message, span, hint=HINT)
