"""`DimensionSize`: a size as a scalar tensor, fixed or symbolic."""

from typing import Any, Self

from tripybuild import frontend
from tripybuild.eager.evaluate.subgraph import symbol_error
from tripybuild.eager.tensor.device import device as Device  # noqa: N812 - it is a class
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend.checks.argument_error import argument_error
from tripybuild.frontend.checks.python_numbers import python_number
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.values import Size, Value
from tripybuild.types.dtypes import int32
from tripybuild.types.shapes import is_int


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

    def __int__(self) -> int:
        """The size as Python's integer."""
        return self.__index__()

    def tolist(self) -> Any:
        """The size as Python's integer."""
        return self.__index__()

    def __reduce__(self) -> tuple[Any, ...]:
        """What Python keeps of it: its size."""
        return type(self), (self.__index__(),)

    def __str__(self) -> str:
        return str(self.dimension)

    def __repr__(self) -> str:
        return f"dimension_size({self.dimension})"
