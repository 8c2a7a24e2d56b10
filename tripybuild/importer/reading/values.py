"""Values of foreign arguments as expressions see them: tensors whose elements may not be known.

Invariant: what an expression computes of elements is never a guess. A tensor whose elements are not
known has a dtype and a shape, and everything else that is asked of it raises `UnknownDataError`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from types import EllipsisType
from typing import Any

import numpy as np

from tripybuild.importer.call_program import CallValue
from tripybuild.language.vocabulary import Vocabulary
from tripybuild.reference.numerics.arrays import round_cast
from tripybuild.symbolic.conditions import Truth, conjunction
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.values import Shape, TensorType
from tripybuild.types.dtypes import BY_NAME, dtype
from tripybuild.types.vocabulary import SHAPE

# No attribute that is given as a tensor has more: what is longer is data, and not an argument.
MOST_ELEMENTS = 1 << 16
# Ends of a slice that stand for no end: the largest integers of 32 and of 64 bits.
NO_END = (1 << 31) - 1


class UnknownDataError(Exception):
    """An argument is wanted as a number or a list, and its elements are not known."""


def elements(value: CallValue) -> Any:
    """The elements of a tensor as a number, or as a list of numbers, sizes or lists.

    Raises:
        UnknownDataError: They are not known here, or too many.
    """
    count: Any = 1
    for size in value.shape:
        count = count * size
    if not isinstance(count, int) or count > MOST_ELEMENTS:
        raise UnknownDataError(f"{_tensor_text(value)} is data, and an argument must be known")
    data = value.data
    if data is None and value.weight is not None:
        data = value.weight.load()
    if data is None:
        raise UnknownDataError(f"{_tensor_text(value)} is computed, and an argument must be known")
    return data.tolist()


def _tensor_text(value: CallValue) -> str:
    return f"`{value.name}`" if value.name else f"a {value.type}"


class Elements:
    """A tensor in an expression: its type, and its elements wherever these are asked for."""

    __slots__ = ("tensor",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tensor: CallValue) -> None:
        self.tensor = tensor

    @property
    def dtype(self) -> dtype:
        """The dtype of the tensor."""
        return self.tensor.dtype

    @property
    def shape(self) -> Shape:
        """The sizes of the tensor."""
        return self.tensor.shape

    @property
    def rank(self) -> int:
        """How many dimensions the tensor has."""
        return self.tensor.rank

    def __bool__(self) -> bool:
        return bool(elements(self.tensor))

    def __len__(self) -> int:
        return len(elements(self.tensor))

    def __iter__(self) -> Iterator[Any]:
        return iter(elements(self.tensor))

    def __getitem__(self, index: int | slice) -> Any:
        return elements(self.tensor)[index]

    def __contains__(self, value: object) -> bool:
        return value in elements(self.tensor)

    def __neg__(self) -> Any:
        return -elements(self.tensor)


def _operation(name: str) -> Callable[[Elements, Any], Any]:
    def method(self: Elements, other: Any) -> Any:
        value = elements(self.tensor)
        other = elements(other.tensor) if isinstance(other, Elements) else other
        return getattr(value, name)(other)

    return method


for _name in ("eq", "ne", "lt", "le", "gt", "ge", "add", "radd", "sub", "rsub", "mul", "rmul"):
    setattr(Elements, f"__{_name}__", _operation(f"__{_name}__"))
for _name in ("truediv", "rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow"):
    setattr(Elements, f"__{_name}__", _operation(f"__{_name}__"))


def wrap(value: Any) -> Any:
    """A value for expressions, in which tensors are `Elements`."""
    if isinstance(value, CallValue):
        return Elements(value)
    if isinstance(value, (list, tuple)):
        return [wrap(each) for each in value]
    return value


def unwrap(value: Any) -> Any:
    """A value of an expression, in which `Elements` are tensors again."""
    if isinstance(value, Elements):
        return value.tensor
    if isinstance(value, (list, tuple)):
        return [unwrap(each) for each in value]
    return value


def plain(value: Any) -> Any:
    """A value in the place of an attribute: what tensors hold, as numbers and lists.

    Raises:
        UnknownDataError: Some of it is not known.
    """
    if isinstance(value, CallValue):
        return elements(value)
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def same(one: Any, other: Any) -> Truth:
    """Whether two values of a parameter are the same, as far as their sizes decide it."""
    if one is other:
        return True
    if isinstance(one, CallValue) or isinstance(other, CallValue):
        return _same_tensors(one, other)
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        if len(one) != len(other):
            return False
        return conjunction(same(a, b) for a, b in zip(one, other, strict=True))
    if one is None or other is None or isinstance(one, dtype) or isinstance(other, dtype):
        return bool(one == other)
    if isinstance(one, Dim) or isinstance(other, Dim):
        numbers = isinstance(one, (int, Dim)) and isinstance(other, (int, Dim))
        return one == other if numbers else False
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124 - NaN


def _same_tensors(one: Any, other: Any) -> Truth:
    """A tensor is what it holds, if that is known, whether or not it is one there, too."""
    tensors = [each for each in (one, other) if isinstance(each, CallValue)]
    if any(each is None for each in (one, other)):
        return False
    if len(tensors) == 2 and tensors[0].type != tensors[1].type:
        return False
    try:
        return same(plain(one), plain(other))
    except UnknownDataError:
        return False


def constant(value: Any, type: dtype) -> CallValue:
    """A number, or a list of them, as a tensor."""
    data = round_cast(np.asarray(value), type)
    return CallValue(TensorType(type, data.shape), data=data)


def dtype_of(value: Elements) -> dtype:
    """The dtype of a tensor."""
    return value.dtype


def at(dim: int, entry: Any) -> tuple[Any, ...]:
    """The index that takes `entry` of one dimension, and all of the others."""
    everything = slice(None)
    if dim < 0:
        return (..., entry, *[everything] * (-dim - 1))
    return (*[everything] * dim, entry)


def span(start: Any = None, end: Any = None, step: Any = None) -> slice:
    """The slice of some bounds; numbers that are no bound are left out."""
    is_back = isinstance(step, int) and step < 0
    if isinstance(start, int) and (start >= NO_END if is_back else start in {0, -NO_END - 1}):
        start = None
    if isinstance(end, int) and (end <= -NO_END if is_back else end >= NO_END):
        end = None
    return slice(start, end, None if step == 1 else step)


def known(value: Any) -> Any:
    """The elements of a tensor, which must be known; any other value as it is."""
    return plain(unwrap(value))


def is_known(value: Any) -> bool:
    """Whether the elements of a tensor are known; those of any other value are."""
    try:
        known(value)
    except UnknownDataError:
        return False
    return True


def sizes_of(value: Any, result: Any) -> Any:
    """The sizes that a tensor holds; where they are not known, those that a result states."""
    return known(value) if result is None or is_known(value) else list(result.shape)


def reduced_dims(shape: Sequence[Any], result: Sequence[Any]) -> list[int]:
    """The dimensions over which a reduction of a shape gives another one.

    Raises:
        UnknownDataError: They could be others as well.
    """
    if len(shape) == len(result):
        return [dim for dim, size in enumerate(result) if same(size, 1) is True]
    every = combinations(range(len(shape)), len(shape) - len(result))
    kept = [(each, [n for dim, n in enumerate(shape) if dim not in each]) for each in every]
    fitting = [list(each) for each, left in kept if same(left, list(result)) is True]
    if len(fitting) != 1:
        raise UnknownDataError("the dimensions of a reduction are computed, and could be several")
    return fitting[0]


_TENSORS = ((Elements, CallValue, TensorType), frozenset({"dtype", "rank", "shape"}))
IndexEntry = int | Dim | slice | EllipsisType | None
INDEX_WORDS: Mapping[str, Callable[..., Any]] = {
    "at": at,
    "is_known": is_known,
    "known": known,
    "reduced_dims": reduced_dims,
    "sizes_of": sizes_of,
    "span": span,
}
"""The functions of compositions beside those of `decompose:`."""
EXPRESSIONS = SHAPE | Vocabulary(
    functions={"tensor": constant, "dtype_of": dtype_of, **INDEX_WORDS},
    attributes=tuple((kind, _TENSORS[1]) for kind in _TENSORS[0]),
    constants=BY_NAME,
)
"""What conditions and inverses of aliases reach."""


def is_tensor(value: Any) -> bool:
    """Whether a value is a tensor, or some tensors."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(each, CallValue) for each in value)
    return isinstance(value, CallValue)
