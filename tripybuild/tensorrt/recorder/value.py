"""Values of TensorRT lowerings: a tensor of the network being recorded.

Invariant: the dtype is always known; the shape where simple rules give it, with None for an unknown
size.
"""

from collections.abc import Callable
from typing import Any

from tripybuild.symbolic.dims import Dim
from tripybuild.types import dtypes

Size = int | Dim | None
Shape = tuple[Size, ...]

# What `+` and its kin record; `layers.compositions` fills it in, so this module imports no layer.
OPERATORS: dict[str, Callable[..., "NetworkValue"]] = {}


class NetworkValue:
    """One tensor of a network."""

    __slots__ = ("dtype", "name", "shape")

    def __init__(self, dtype: dtypes.dtype, shape: Shape | None, name: str = "") -> None:
        self.dtype = dtype
        self.shape = shape
        self.name = name

    @property
    def rank(self) -> int:
        """The number of dimensions; ValueError where no rule knows it."""
        if self.shape is None:
            raise ValueError(f"the rank of {self!r} is not known")
        return len(self.shape)

    def __repr__(self) -> str:
        sizes = "..." if self.shape is None else ", ".join(map(spell_size, self.shape))
        return f"Value({self.dtype.name}[{sizes}])"

    def __bool__(self) -> bool:
        raise TypeError("the elements of a Value are not known while a network is being recorded")

    def __add__(self, other: "Operand") -> "NetworkValue":
        return OPERATORS["kSUM"](self, other)

    def __radd__(self, other: "Number") -> "NetworkValue":
        return OPERATORS["kSUM"](other, self)

    def __sub__(self, other: "Operand") -> "NetworkValue":
        return OPERATORS["kSUB"](self, other)

    def __rsub__(self, other: "Number") -> "NetworkValue":
        return OPERATORS["kSUB"](other, self)

    def __mul__(self, other: "Operand") -> "NetworkValue":
        return OPERATORS["kPROD"](self, other)

    def __rmul__(self, other: "Number") -> "NetworkValue":
        return OPERATORS["kPROD"](other, self)

    def __truediv__(self, other: "Operand") -> "NetworkValue":
        return OPERATORS["kDIV"](self, other)

    def __rtruediv__(self, other: "Number") -> "NetworkValue":
        return OPERATORS["kDIV"](other, self)

    def __floordiv__(self, other: "Operand") -> "NetworkValue":
        return OPERATORS["kFLOOR_DIV"](self, other)

    def __rfloordiv__(self, other: "Number") -> "NetworkValue":
        return OPERATORS["kFLOOR_DIV"](other, self)

    def __mod__(self, other: "Operand") -> "NetworkValue":
        return OPERATORS["modulo"](self, other)

    def __rmod__(self, other: "Number") -> "NetworkValue":
        return OPERATORS["modulo"](other, self)

    def __pow__(self, other: "Operand") -> "NetworkValue":
        return OPERATORS["kPOW"](self, other)

    def __rpow__(self, other: "Number") -> "NetworkValue":
        return OPERATORS["kPOW"](other, self)

    def __and__(self, other: "Operand") -> "NetworkValue":
        return OPERATORS["kAND"](self, other)

    def __or__(self, other: "Operand") -> "NetworkValue":
        return OPERATORS["kOR"](self, other)

    def __xor__(self, other: "Operand") -> "NetworkValue":
        return OPERATORS["kXOR"](self, other)

    def __matmul__(self, other: "NetworkValue") -> "NetworkValue":
        return OPERATORS["matmul"](self, other)

    def __neg__(self) -> "NetworkValue":
        return OPERATORS["kNEG"](self)

    def __invert__(self) -> "NetworkValue":
        return OPERATORS["kNOT"](self)


def spell_size(size: Any) -> str:
    """A size as it is printed."""
    return "?" if size is None else str(size)


Number = bool | int | float
Operand = NetworkValue | Number
