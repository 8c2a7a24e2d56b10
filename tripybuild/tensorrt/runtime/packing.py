"""Element packing in engine memory: two 4-bit elements per byte, low nibble first."""

import math
from typing import Any

import numpy as np

from tripybuild.types.dtypes import dtype

Array = np.ndarray[Any, Any]
HALF, BYTE = 4, 8  # bits


def size_of(kind: dtype, shape: tuple[int, ...]) -> int:
    """Return how many bytes a tensor takes."""
    count = math.prod(shape)
    return (count + 1) // 2 if kind.bits == HALF else count * int(kind.numpy.itemsize)


def pack_elements(array: Array, kind: dtype) -> Array:
    """Return an array whose memory is as the engine reads it; nothing is copied without need."""
    whole = np.ascontiguousarray(array)
    if kind.bits != HALF:
        return whole
    halves = whole.reshape(-1).view(np.uint8) & 15
    even = np.append(halves, np.uint8(0)) if halves.size % 2 else halves
    return even[0::2] | (even[1::2] << HALF)


def memory(kind: dtype, shape: tuple[int, ...]) -> Array:
    """Return an array for an engine to write a tensor to; `unpacked` makes the tensor of it."""
    if kind.bits != HALF:
        return np.empty(shape, kind.numpy)
    return np.empty(size_of(kind, shape), np.uint8)


def unpack_elements(written: Array, kind: dtype, shape: tuple[int, ...]) -> Array:
    """Return the tensor that an engine wrote to `memory`."""
    if kind.bits != HALF:
        return written
    halves = np.stack((written & 15, written >> HALF), axis=-1).reshape(-1)
    return halves[: math.prod(shape)].view(kind.numpy).reshape(shape).copy()
