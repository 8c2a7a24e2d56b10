"""Arrays on the CPU device: their types, and results as NumPy's."""

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tripybuild.process.per_process import process
from tripybuild.types.dtypes import BY_NAME, numpy_dtype

# XLA calls them as NumPy does; the last ones are of modules that others wrote.
_NAMES = (
    *(each.numpy_name for each in BY_NAME.values()),
    *("uint4", "int16", "uint16", "uint32", "uint64"),
)
DTYPES = {name: numpy_dtype(name) for name in _NAMES}
# Two values in a byte, low half first.
PACKED = frozenset({"uint4", *(each.numpy_name for each in BY_NAME.values() if each.bits == 4)})

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class ArrayType:
    """The type of one argument or result; also what the client reads as an abstract value."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak_type: bool = False

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


class KeptArray:
    """A result that stays where it was computed, to be an argument of a later call.

    A program may take its memory for a result (`tf.aliasing_output`): it is given away then.
    """

    __slots__ = ("_read", "buffer", "dtype", "mark", "ndim", "shape")

    def __init__(self, buffer: Any, type: ArrayType, read: Callable[[Any], Array]) -> None:
        self.buffer, self.shape, self.dtype = buffer, type.shape, type.dtype
        self.ndim, self.mark, self._read = len(type.shape), process.mark, read

    @property
    def is_given_away(self) -> bool:
        """Whether a call has taken the memory."""
        found: bool = self.buffer.is_deleted()
        return found

    def read_kept(self) -> Array:
        """A copy, which no later call changes."""
        return self._read(self.buffer).copy()


def byte_size(type: ArrayType) -> int:
    """The bytes of an array on the device."""
    count = math.prod(type.shape)
    return (count + 1) // 2 if type.dtype.name in PACKED else count * type.dtype.itemsize


def reader(type: ArrayType) -> Callable[[Any], Array]:
    """Return a function from a result on the device to an array over the same memory."""
    shape, dtype = type.shape, type.dtype
    count = math.prod(shape)
    packed = dtype.name in PACKED
    block = ctypes.c_char * byte_size(type)
    at, array = block.from_address, np.ndarray

    def read(buffer: Any) -> Array:
        buffer.block_until_ready()
        memory = at(buffer.unsafe_buffer_pointer())
        memory.owner = buffer  # type: ignore[attr-defined] # the array keeps the buffer alive
        return array(shape, dtype, memory)  # type: ignore[arg-type]

    def unpack(buffer: Any) -> Array:
        buffer.block_until_ready()
        octets = np.frombuffer(bytes(at(buffer.unsafe_buffer_pointer())), np.uint8)
        halves = np.stack((octets & 15, octets >> 4), axis=-1).reshape(-1)[:count]
        return halves.view(dtype).reshape(shape)

    def empty(buffer: Any) -> Array:
        buffer.block_until_ready()
        return np.empty(shape, dtype)

    return empty if count == 0 else unpack if packed else read
