"""Hand-written base of the public Tensor; operators are generated into a subclass."""

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar, cast

from tripybuild.errors.user_frames import PACKAGES as PACKAGES  # noqa: PLC0414 - the front door to it
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.constants import Constant, Data
from tripybuild.trace.location import pinned_location
from tripybuild.trace.values import Size, TensorType, Value
from tripybuild.types.dtypes import dtype

if TYPE_CHECKING:
    from tripyapi.tensor import DimensionSize, Tensor as PublicTensor

    IntLike: TypeAlias = int | Dim | DimensionSize
else:  # annotations are not evaluated at run time
    IntLike = int | Dim

IndexEntry = IntLike | slice | EllipsisType | None
IndexLike = IndexEntry | Sequence[IndexEntry]
Placed = TypeVar("Placed", bound="Tensor")


class Tensor:
    """A tensor of a graph that is being recorded: what it is, not yet what it holds."""

    __slots__ = ("value",)
    NOUN: ClassVar = "a tensor"  # in messages of snippets
    value: Value
    _kind: ClassVar[type["Tensor"]]
    _size_kind: ClassVar[Callable[[Size], "Tensor"]]
    # NumPy must leave `array + tensor` to the tensor.
    __array_priority__ = 10_000

    def __init_subclass__(cls, *, of_values: bool = False, of_sizes: bool = False) -> None:
        """Say whether a class is the one that stands for values of graphs, or for their sizes."""
        if of_values:
            Tensor._kind = cls
        if of_sizes:
            Tensor._size_kind = cls

    @classmethod
    def of(cls, value: Value) -> "Tensor":
        """The tensor that stands for a value of a graph."""
        tensor = object.__new__(Tensor._kind)
        tensor.value = value
        return tensor

    @classmethod
    def of_size(cls, size: Size) -> "Tensor":
        """The tensor that stands for a size, which may be a symbol."""
        return Tensor._size_kind(size)

    @property
    def type(self) -> TensorType:
        """The dtype and shape."""
        return self.value.type

    @property
    def dtype(self) -> dtype:
        """The type of the elements."""
        return self.value.type.dtype

    @property
    def shape(self) -> tuple[Size, ...]:
        """The sizes, as numbers and symbols."""
        return self.value.type.shape

    def to_device(self, device: str) -> "Tensor":
        """Itself: in a graph, everything is where the engine computes."""
        del device
        return self

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.value.type.shape)

    ndim = rank

    def __iter__(self) -> Any:
        raise TypeError("a tensor cannot be iterated over: its size may be known only when it runs")

    def __bool__(self) -> bool:
        raise TypeError("whether a tensor is true is known only when it runs; use `where`")

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<tensor {self.value.name or ''}: {self.type}>".replace(" :", ":")


Tensor._kind = Tensor  # noqa: SLF001 - until the generated class exists


def tensor(value: IntLike | float, type: dtype) -> "PublicTensor":
    """A number, or a size that is known only when the graph runs, as a tensor of rank 0."""
    value = cast("Size | float", value)  # the checks of a call give no other
    if type.kind != "float" and not isinstance(value, Dim):
        value = bool(value) if type.kind == "boolean" else int(value)
    kind = TensorType(type, ())
    made = Constant(Data(value, kind)).with_types(kind).with_location(pinned_location())
    return cast("PublicTensor", Tensor.of(made.outputs[0]))


def to_device(tensor: Placed, device: str) -> Placed:
    """The same tensor, which says that it is on a device; in a graph there are none."""
    return cast("Placed", tensor.to_device(device))


def dtype_of(tensor: Tensor) -> dtype:
    """The type of a tensor's elements, where a declaration asks for it."""
    return tensor.dtype
