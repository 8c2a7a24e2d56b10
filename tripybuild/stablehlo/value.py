"""Values of lowering snippets: an SSA value, its dtype and its static shape.

Invariant: a Value says nothing that its MLIR type does not say; it only says it without asking C++.
"""

from collections.abc import Callable
from typing import Any

from tripybuild.types import dtypes

# What `+` and its kin do is filled in by the modules that build it, so that this one imports none.
OPERATORS: dict[str, Callable[..., "HloValue"]] = {}


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

    def __add__(self, other: "Operand") -> "HloValue":
        return OPERATORS["add"](self, other)

    def __radd__(self, other: "Number") -> "HloValue":
        return OPERATORS["add"](other, self)

    def __sub__(self, other: "Operand") -> "HloValue":
        return OPERATORS["subtract"](self, other)

    def __rsub__(self, other: "Number") -> "HloValue":
        return OPERATORS["subtract"](other, self)

    def __mul__(self, other: "Operand") -> "HloValue":
        return OPERATORS["multiply"](self, other)

    def __rmul__(self, other: "Number") -> "HloValue":
        return OPERATORS["multiply"](other, self)

    def __truediv__(self, other: "Operand") -> "HloValue":
        return OPERATORS["divide"](self, other)

    def __rtruediv__(self, other: "Number") -> "HloValue":
        return OPERATORS["divide"](other, self)

    def __floordiv__(self, other: "Operand") -> "HloValue":
        return OPERATORS["floor_divide"](self, other)

    def __rfloordiv__(self, other: "Number") -> "HloValue":
        return OPERATORS["floor_divide"](other, self)

    def __mod__(self, other: "Operand") -> "HloValue":
        return OPERATORS["modulo"](self, other)

    def __rmod__(self, other: "Number") -> "HloValue":
        return OPERATORS["modulo"](other, self)

    def __pow__(self, other: "Operand") -> "HloValue":
        return OPERATORS["power"](self, other)

    def __rpow__(self, other: "Number") -> "HloValue":
        return OPERATORS["power"](other, self)

    def __and__(self, other: "Operand") -> "HloValue":
        return OPERATORS["and_"](self, other)

    def __rand__(self, other: "Number") -> "HloValue":
        return OPERATORS["and_"](other, self)

    def __or__(self, other: "Operand") -> "HloValue":
        return OPERATORS["or_"](self, other)

    def __ror__(self, other: "Number") -> "HloValue":
        return OPERATORS["or_"](other, self)

    def __xor__(self, other: "Operand") -> "HloValue":
        return OPERATORS["xor"](self, other)

    def __rxor__(self, other: "Number") -> "HloValue":
        return OPERATORS["xor"](other, self)

    def __matmul__(self, other: "HloValue") -> "HloValue":
        return OPERATORS["matmul"](self, other)

    def __neg__(self) -> "HloValue":
        return OPERATORS["negate"](self)

    def __invert__(self) -> "HloValue":
        return OPERATORS["not_"](self)


Number = bool | int | float
Operand = HloValue | Number
