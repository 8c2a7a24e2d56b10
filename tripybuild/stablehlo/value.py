"""Values of lowering snippets: an SSA value, its dtype and its static shape.

Invariant: a Value says nothing that its MLIR type does not say; it only says it without asking C++.
"""

from collections.abc import Callable
from typing import Any

from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import same
from tripybuild.types import dtypes

# What `+` and its kin do is filled in by the modules that build it, so that this one imports none.
OPERATORS: dict[str, Callable[..., "HloValue"]] = {}


def _operator(
    name: str,
) -> tuple[
    Callable[["HloValue", "Operand"], "HloValue"], Callable[["HloValue", "Number"], "HloValue"]
]:
    """The methods of an operator: with the value on the left, and on the right of a number."""

    def left(self: "HloValue", other: "Operand") -> "HloValue":
        return OPERATORS[name](self, other)

    def right(self: "HloValue", other: "Number") -> "HloValue":
        return OPERATORS[name](other, self)

    return left, right


def same_sizes(left: object, right: object) -> bool:
    """Whether two sizes, or two shapes, are one, whatever symbols stand for."""
    try:
        return bool(left == right)
    except UndecidedSize:
        return same(left, right)


class HloValue:
    """One tensor of a module that is being built."""

    __slots__ = ("dtype", "mlir", "shape")

    def __init__(self, mlir: Any, dtype: dtypes.dtype, shape: tuple[int, ...]) -> None:
        self.mlir = mlir
        self.dtype = dtype
        self.shape = shape

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"Value({self.dtype.name}[{', '.join(map(str, self.shape))}])"

    def __bool__(self) -> bool:
        raise TypeError("the elements of a Value are not known while a module is being built")

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("subtract")
    __mul__, __rmul__ = _operator("multiply")
    __truediv__, __rtruediv__ = _operator("divide")
    __floordiv__, __rfloordiv__ = _operator("floor_divide")
    __mod__, __rmod__ = _operator("modulo")
    __pow__, __rpow__ = _operator("power")
    __and__, __rand__ = _operator("and_")
    __or__, __ror__ = _operator("or_")
    __xor__, __rxor__ = _operator("xor")

    def __matmul__(self, other: "HloValue") -> "HloValue":
        return OPERATORS["matmul"](self, other)

    def __neg__(self) -> "HloValue":
        return OPERATORS["negate"](self)

    def __invert__(self) -> "HloValue":
        return OPERATORS["not_"](self)


Number = bool | int | float
Operand = HloValue | Number
