"""Tensors of OpenVINO over the memory of arrays, of every dtype that models have.

Invariant: a tensor does not keep its array alive. The caller holds the array as long.
"""

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tripybuild.onnx.constants import element_bytes
from tripybuild.targets.openvino.library import library
from tripybuild.types.dtypes import dtype

Array = npt.NDArray[Any]
HALF = 4  # bits


def element_type(kind: dtype) -> Any:
    """OpenVINO's name of a dtype."""
    return getattr(library().Type, TYPES[kind.name])


TYPES = {
    "bool": "boolean",
    "int4": "i4",
    "int8": "i8",
    "uint8": "u8",
    "int32": "i32",
    "int64": "i64",
    "float4": "f4e2m1",
    "float8": "f8e4m3",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
}


def tensor_over(array: Array, kind: dtype, shape: Sequence[int]) -> Any:
    """A tensor over the bytes of an array, which may be read-only; two of 4 bits share one."""
    size = max(array.nbytes, 1)
    octets = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(array.ctypes.data))
    found = library()
    return found.Tensor(octets, found.Shape(list(shape)), element_type(kind))


def pack(array: Array, kind: dtype) -> Array:
    """The bytes of an array as tensors have them: row by row, two elements of 4 bits in one."""
    array = np.ascontiguousarray(array)
    if kind.bits != HALF:
        return array
    return np.frombuffer(element_bytes(array, kind), np.uint8)


def allocate(kind: dtype, shape: Sequence[int]) -> Array:
    """An array that a tensor of a dtype is made over."""
    if kind.bits != HALF:
        return np.empty(shape, kind.numpy)
    return np.empty((math.prod(shape) + 1) // 2, np.uint8)


def unpack(array: Array, kind: dtype, shape: Sequence[int]) -> Array:
    """An array of a dtype and shape, of what `allocate` gave."""
    if kind.bits != HALF:
        return array
    halves = np.stack((array & 15, array >> HALF), axis=-1).reshape(-1)[: math.prod(shape)]
    return np.ascontiguousarray(halves).view(kind.numpy).reshape(shape)
