"""Values of ONNX lowerings: a tensor of the graph under construction.

Invariant: the dtype is always known; the shape where a declaration says it, else it is None.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tripybuild.symbolic.dims import Dim
from tripybuild.types.dtypes import dtype

if TYPE_CHECKING:
    from tripybuild.onnx.nodes import GraphNode

Size = int | Dim
Shape = tuple[Size, ...]

# What `+` and its kin call; `dialect.compositions` fills it in, and this module imports no builder.
OPERATORS: dict[str, Callable[..., "OnnxValue"]] = {}


class OnnxValue:
    """One tensor of a graph; `producer` is None for inputs, weights, constants and parameters."""

    __slots__ = ("dtype", "name", "producer", "shape")

    def __init__(
        self,
        dtype: dtype,
        shape: Shape | None = None,
        name: str = "",
        producer: "GraphNode | None" = None,
    ) -> None:
        self.dtype = dtype
        self.shape = shape
        self.name = name
        self.producer = producer

    @property
    def rank(self) -> int:
        """The number of dimensions; ValueError where no declaration says it."""
        if self.shape is None:
            raise ValueError(f"the rank of {self!r} is not known")
        return len(self.shape)

    def __repr__(self) -> str:
        sizes = "..." if self.shape is None else ", ".join(map(str, self.shape))
        return f"Value({self.dtype.name}[{sizes}])"

    def __bool__(self) -> bool:
        raise TypeError("the elements of a Value are not known while a graph is being built")

    def __add__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS["+"](self, other)

    def __radd__(self, other: "Number") -> "OnnxValue":
        return OPERATORS["+"](other, self)

    def __sub__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS["-"](self, other)

    def __rsub__(self, other: "Number") -> "OnnxValue":
        return OPERATORS["-"](other, self)

    def __mul__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS["*"](self, other)

    def __rmul__(self, other: "Number") -> "OnnxValue":
        return OPERATORS["*"](other, self)

    def __truediv__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS["/"](self, other)

    def __rtruediv__(self, other: "Number") -> "OnnxValue":
        return OPERATORS["/"](other, self)

    def __mod__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS["%"](self, other)

    def __rmod__(self, other: "Number") -> "OnnxValue":
        return OPERATORS["%"](other, self)

    def __pow__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS["**"](self, other)

    def __rpow__(self, other: "Number") -> "OnnxValue":
        return OPERATORS["**"](other, self)

    def __matmul__(self, other: "OnnxValue") -> "OnnxValue":
        return OPERATORS["@"](self, other)

    def __and__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS["&"](self, other)

    __rand__ = __and__

    def __or__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS["|"](self, other)

    __ror__ = __or__

    def __xor__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS["^"](self, other)

    __rxor__ = __xor__

    def __lt__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS["<"](self, other)

    def __le__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS["<="](self, other)

    def __gt__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS[">"](self, other)

    def __ge__(self, other: "Operand") -> "OnnxValue":
        return OPERATORS[">="](self, other)

    def __neg__(self) -> "OnnxValue":
        return OPERATORS["neg"](self)

    def __invert__(self) -> "OnnxValue":
        return OPERATORS["~"](self)


Number = bool | int | float
Operand = OnnxValue | Number
Argument = Any
"""What a call of an operator takes: a value, numbers, sizes, a dtype, text, or None."""
