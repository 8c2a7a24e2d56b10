"""Element encodings: dtype names and packing in safetensors files and in memory."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripybuild.types.dtypes import BY_NAME, int4, numpy_dtype

Array = npt.NDArray[Any]
Octets = npt.NDArray[np.uint8]
DType = np.dtype[Any]

DTYPES = {each.safetensors: each.numpy for each in BY_NAME.values() if each.safetensors} | {
    "F8_E5M2": numpy_dtype("float8_e5m2"),
    "F8_E8M0": numpy_dtype("float8_e8m0fnu"),
    "F8_E4M3FNUZ": numpy_dtype("float8_e4m3fnuz"),
    "F8_E5M2FNUZ": numpy_dtype("float8_e5m2fnuz"),
    "F6_E2M3": numpy_dtype("float6_e2m3fn"),
    "F6_E3M2": numpy_dtype("float6_e3m2fn"),
    "C64": numpy_dtype("complex64"),
    "I16": numpy_dtype("int16"),
    "U64": numpy_dtype("uint64"),
    "U32": numpy_dtype("uint32"),
    "U16": numpy_dtype("uint16"),
}
SPELLINGS = {dtype: spelled for spelled, dtype in DTYPES.items()}
BITS = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6}  # the others fill their bytes
INT4 = int4.numpy  # the format lacks it, and holds it as I8
ALIGNMENT = 64  # what the CPU runtime wants of an address to share the memory


def aligned_buffer(size: int) -> Octets:
    """Return so much memory, at an address that the CPU runtime uses without a copy."""
    space = np.empty(size + ALIGNMENT, np.uint8)
    start = -space.ctypes.data % ALIGNMENT
    return space[start : start + size]


def dtype_name(dtype: DType) -> str:
    """Return the format's name of a dtype, or raise ValueError where it has none."""
    stored = np.dtype(np.int8) if dtype == INT4 else dtype.newbyteorder("=")
    if stored not in SPELLINGS or BITS.get(SPELLINGS[stored]) == 6:
        raise ValueError(f"safetensors cannot hold {dtype.name}")
    return SPELLINGS[stored]


def packed_size(dtype: DType, shape: Sequence[int]) -> int:
    """Return how many bytes an array has in a file, or raise ValueError where it cannot be."""
    count = math.prod(shape)
    if BITS.get(dtype_name(dtype)) != 4:
        return count * dtype.itemsize
    if count % 2:
        raise ValueError("safetensors cannot hold an odd number of float4 values")
    return count // 2


def pack(array: Array) -> Octets:
    """Return the bytes of an array as a file has them: little-endian, row by row."""
    if array.dtype == INT4:
        array = array.astype(np.int8)
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    octets: Octets = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    if BITS.get(dtype_name(array.dtype)) == 4:
        pairs: Octets = (octets[::2] & 15) | (octets[1::2] << 4)  # type: ignore[assignment]
        return pairs
    return octets


def unpack(octets: Octets, spelled: str, dtype: DType) -> Array:
    """Turn the bytes of a file into elements, without a copy where that can be.

    Raises:
        ValueError: There are values that the dtype does not have.
    """
    if spelled == "BOOL" and np.any(octets > 1):
        raise ValueError("holds bytes that are neither true nor false")
    if BITS.get(spelled) == 6:
        raise ValueError(f"has dtype `{spelled}`, which cannot be read")
    if BITS.get(spelled) == 4:
        octets = np.stack((octets & 15, octets >> 4), axis=-1).reshape(-1)
    if dtype == INT4:
        values = octets.view(np.int8)
        if np.any((values < -8) | (values > 7)):
            raise ValueError("holds values outside of int4")
        return values.astype(INT4)
    if octets.ctypes.data % dtype.alignment:
        octets = octets.copy()
    return octets.view(dtype)
