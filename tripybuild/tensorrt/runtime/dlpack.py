"""DLPack exchange: zero-copy GPU arrays, and dtypes that NumPy cannot export.

The capsule is kept, not consumed: its producer frees the array with the capsule. The
producer is told the default stream, which all blocking streams wait for.
"""

import ctypes
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from tripybuild.types.dtypes import BY_NAME

CUDA = 2  # kDLCUDA
DEFAULT_STREAM = 1
BYTE = 8  # bits
# Our dtypes by DLPack's code and bits, and the one more that other libraries often have.
KINDS = {each.dlpack: each.numpy for each in BY_NAME.values() if each.bits >= BYTE}
KINDS[0, 16] = np.dtype(np.int16)
# What NumPy has no code for, and DLPack has; it goes as the whole numbers of the same size.
_OTHERWISE = {
    each.numpy_name: (f"u{each.bits // BYTE}", each.dlpack)
    for each in BY_NAME.values()
    if each.bits >= BYTE and each.numpy.isbuiltin != 1
}


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype = ctypes.c_void_p
_pointer_of.argtypes = (ctypes.py_object, ctypes.c_char_p)


@dataclass(frozen=True, slots=True)
class DeviceArray:
    """An array in a GPU's memory; as much of an array as checking its type needs."""

    address: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    owner: Any
    device: int = 0

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)


def on_gpu(value: Any) -> bool:
    """Tell whether something with DLPack lies in a GPU's memory."""
    device = getattr(value, "__dlpack_device__", None)
    return device is not None and int(device()[0]) == CUDA


def device_array(value: Any) -> DeviceArray:
    """Return the array of another library, without a copy.

    Raises:
        ValueError: Its elements are of no type known here, or do not lie one after the other.
    """
    capsule = value.__dlpack__(stream=DEFAULT_STREAM)
    address, shape, kind = capsule_layout(capsule)
    if kind not in KINDS:
        raise ValueError(f"its elements are of DLPack's type {kind}")
    device = int(value.__dlpack_device__()[1])
    return DeviceArray(address, shape, KINDS[kind], (capsule, value), device)


def capsule_layout(capsule: Any) -> tuple[int, tuple[int, ...], tuple[int, int]]:
    """Return what a capsule tells: an address, sizes, and the code and bits of the elements.

    Raises:
        ValueError: The elements do not lie one after the other.
    """
    address, shape, strides, kind = _strided_layout(capsule)
    if not _is_contiguous(shape, strides):
        raise ValueError("its elements do not lie one after the other")
    return address, shape, kind


def host_array(value: Any) -> np.ndarray[Any, Any]:
    """Copy another library's array in the processor's memory, in whatever order it lies there.

    Raises:
        ValueError: Its elements are of no type known here.
        BufferError: The other library does not give it away.
    """
    capsule = value.__dlpack__()
    address, shape, strides, kind = _strided_layout(capsule)
    if kind not in KINDS:
        raise ValueError("its elements are of a dtype that no tensor has")
    found: Any = KINDS[kind]
    if 0 in shape:
        return np.zeros(shape, found)
    ends = sum(stride * (size - 1) for stride, size in zip(strides, shape, strict=True))
    memory = (ctypes.c_char * ((ends + 1) * found.itemsize)).from_address(address)
    steps = [stride * found.itemsize for stride in strides]
    return np.ndarray(shape, found, memory, strides=steps).copy()


def _strided_layout(capsule: Any) -> tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, int]]:
    """An address, sizes, how many elements lie between two along each, and their code and bits."""
    tensor = _DLTensor.from_address(_pointer_of(capsule, b"dltensor"))
    if tensor.lanes != 1:
        raise ValueError("its elements are vectors")
    shape = tuple(tensor.shape[: tensor.ndim])
    rows = tuple(prod(shape[place + 1 :]) for place in range(len(shape)))
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else rows
    return (tensor.data or 0) + tensor.byte_offset, shape, strides, (tensor.code, tensor.bits)


def capsule_of(array: np.ndarray[Any, Any], **options: Any) -> Any:
    """Give an array to another library, also of a dtype that NumPy does not give away.

    Its bytes go as whole numbers; the capsule, of the oldest version, is then told what they are.

    Args:
        array: The array.
        options: Those of `__dlpack__`.

    Raises:
        BufferError: DLPack has no code for the dtype, or an option cannot be met.
    """
    if array.dtype.name not in _OTHERWISE:
        return array.__dlpack__(**options)
    numbers, (code, bits) = _OTHERWISE[array.dtype.name]
    options.pop("max_version", None)
    capsule = array.view(numbers).__dlpack__(**options)
    tensor = _DLTensor.from_address(_pointer_of(capsule, b"dltensor"))
    tensor.code, tensor.bits = code, bits
    return capsule


def _is_contiguous(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Tell whether elements lie row by row; the strides of sizes of one say nothing."""
    wanted = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 0:
            return True
        if size != 1 and stride != wanted:
            return False
        wanted *= size
    return True
