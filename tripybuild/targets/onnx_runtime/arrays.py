"""Arrays in ONNX Runtime: NumPy's own as they are, those of other dtypes as bytes of a type.

Two values of 4 bits share a byte there, low half first, while an array has a byte for each.
"""

import ctypes
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from tripybuild.onnx.table import CODES
from tripybuild.process.per_process import process
from tripybuild.targets.onnx_runtime.library import binding
from tripybuild.types.dtypes import dtype

Array = npt.NDArray[Any]


class KeptTensor:
    """A result that stays where ONNX Runtime computed it, to be an argument of a later call.

    A call may write a result over its memory: it is given away then.

    Args:
        value: ONNX Runtime's value.
        type: Its dtype.
        memory: The array that has its memory; None where ONNX Runtime has it.
    """

    __slots__ = ("dtype", "is_given_away", "mark", "memory", "ndim", "shape", "type", "value")

    def __init__(self, value: Any, type: dtype, memory: Array | None = None) -> None:
        self.value, self.type, self.memory, self.mark = value, type, memory, process.mark
        self.shape, self.dtype = tuple(value.shape()), type.numpy
        self.ndim, self.is_given_away = len(self.shape), False

    @classmethod
    def over(cls, array: Array, type: dtype) -> "KeptTensor":
        """An array whose memory nothing else reads."""
        memory = prepared(array, type)
        return cls(tensor(memory, type), type, memory)

    def update(self) -> "KeptTensor":
        """What a call wrote over its memory."""
        return KeptTensor(self.value, self.type, self.memory)

    def read_kept(self) -> Array:
        """A copy, which no later call changes."""
        return read(self.value, self.type).copy()


def is_native(type: dtype) -> bool:
    """Whether NumPy itself has the dtype, so that arrays go in and out as they are."""
    return type.numpy.isbuiltin == 1


def code(type: dtype) -> int:
    """The number of a dtype."""
    return CODES[type.onnx]


def prepared(array: Array, type: dtype) -> Array:
    """An array as values can be over its memory: 4 bits are packed."""
    if type.itemsize < 1:
        return _pack(array)
    return array if array.flags.c_contiguous else array.copy()


def tensor(array: Array, type: dtype) -> Any:
    """A value over the memory of a prepared array, which must be kept as long."""
    return binding().OrtValue.ortvalue_from_numpy_with_onnx_type(array, code(type))


def read(value: Any, type: dtype) -> Array:
    """A value as an array over its memory, which keeps it; of 4 bits it is a copy."""
    if is_native(type):
        found: Array = value.numpy()
        return found
    shape, target = value.shape(), type.numpy
    count = math.prod(shape)
    if count == 0:
        return np.empty(shape, target)
    size = math.ceil(count * type.itemsize)
    memory: Any = (ctypes.c_char * size).from_address(value.data_ptr())
    if type.itemsize < 1:
        octets = np.frombuffer(bytes(memory), np.uint8)
        halves = np.stack((octets & 15, octets >> 4), axis=-1).reshape(-1)[:count]
        return halves.view(target).reshape(shape)
    memory.owner = value  # the array keeps the value alive
    return np.ndarray(shape, target, memory)


def _pack(array: Array) -> npt.NDArray[np.uint8]:
    """An array of the same shape, whose memory begins with the packed values.

    ONNX Runtime takes the shape from the array. Pages behind the values are never touched.
    """
    count = array.size
    octets = np.zeros(count + count % 2, np.uint8)
    octets[:count] = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & 15
    space = np.empty(array.shape, np.uint8)
    space.reshape(-1)[: octets.size // 2] = octets[::2] | (octets[1::2] << 4)
    return space
