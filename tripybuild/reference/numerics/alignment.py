"""Aligned arrays: addresses that engines accept without a copy."""

import math
from typing import Any

import numpy as np

ALIGNMENT = 64  # bytes: XLA copies an array at any other address, each time that it is read
LARGE = 1 << 16  # bytes: a smaller array is copied in less time than it takes to place it


def aligned_copy(array: "np.ndarray[Any, Any]", dtype: "np.dtype[Any]") -> "np.ndarray[Any, Any]":
    """Copy an array of any layout.

    Args:
        array: Its elements.
        dtype: What they become; numbers of another order of bytes are turned.

    Returns:
        An array whose elements lie in order, at a multiple of 64 where it is large.
    """
    octets = math.prod(array.shape) * dtype.itemsize
    if octets < LARGE:
        return array.astype(dtype, order="C")
    space = np.empty(octets + ALIGNMENT, np.uint8)
    start = -space.ctypes.data % ALIGNMENT
    copied = space[start : start + octets].view(dtype).reshape(array.shape)
    np.copyto(copied, array)
    return copied
