"""Elements of dense constants, as arrays and as bytes.

Invariant: xDSL keeps each element in whole bytes, least significant first; integers shorter than a
byte fill it with their sign, so true is 255. Arrays of such types are those of `ml_dtypes`, and
bits survive both ways: infinities, payloads of NaN and the sign of zero. A splat that would be
larger than `LARGEST_SPLAT` is its one element, and as an array one whose strides are zero, so that
a short text is never a large one in memory.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerType,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.parser import Parser

from tripybuild.types.dtypes import BY_NAME, numpy_dtype

Array = NDArray[Any]

LARGEST_SPLAT = 1 << 20  # bytes

# The floating-point types of MLIR's that no tensor of ours has.
_OTHER_FLOATS = (
    *("f8E3M4", "f8E4M3", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU"),
    *("f6E2M3FN", "f6E3M2FN"),
)
DTYPES: dict[str, np.dtype[Any]] = {
    **{each.mlir: each.numpy for each in BY_NAME.values()},
    **{name: numpy_dtype(f"float{name[1]}_{name[2:].lower()}") for name in _OTHER_FLOATS},
    "ui4": numpy_dtype("uint4"),
    "index": np.dtype(np.int64),
    **{f"{sign}i{8 << n}": np.dtype(f"i{1 << n}") for sign in ("", "s") for n in range(4)},
    **{f"ui{8 << n}": np.dtype(f"u{1 << n}") for n in range(4)},
}


@cache
def known_dtype(element: Attribute) -> np.dtype[Any] | None:
    """Give the array's type for an element type, or None where there is none."""
    return DTYPES.get(str(element))


def dtype_of(element: Attribute) -> np.dtype[Any]:
    """Give the array's type for an element type; `TypeError` where there is none."""
    found = known_dtype(element)
    if found is None:
        raise TypeError(f"no array holds elements of `{element}`")
    return found


def to_numpy(attribute: DenseIntOrFPElementsAttr) -> Array:
    """Give the elements as an array that cannot be written to.

    Only what is shorter than a byte is copied.
    """
    return array(attribute.data.data, attribute.type.element_type, attribute.get_shape())


def array(data: bytes, element: Attribute, shape: Sequence[int]) -> Array:
    """Give bytes, kept as xDSL keeps them, as an array."""
    if len(data) == size_of(element) and count_of(shape) > 1:
        return np.broadcast_to(array(data, element, ()), tuple(shape))
    dtype = dtype_of(element)
    if not isinstance(element, IntegerType) or element.bitwidth >= 8:
        return np.frombuffer(data, dtype).reshape(shape)
    found = np.frombuffer(data, np.int8).astype(dtype)
    found.flags.writeable = False
    return found.reshape(shape)


def from_numpy(array: Array, type: Attribute | None = None) -> DenseIntOrFPElementsAttr:
    """Give the constant of an array, which has the type's own dtype and shape.

    Args:
        array: The elements.
        type: A tensor type, or an element type; found from the array where it is not given.
    """
    tensor = _tensor_type(array, type)
    dtype = dtype_of(tensor.element_type)
    if array.dtype != dtype or array.shape != tensor.get_shape():
        raise TypeError(f"an array of {array.dtype}{list(array.shape)} does not fit `{tensor}`")
    if is_splat_array(array):
        one = _to_xdsl_bytes(np.ascontiguousarray(array[(0,) * array.ndim]), tensor.element_type)
        return DenseIntOrFPElementsAttr(tensor, BytesAttr(splat_bytes(one, array.size)))
    data = _to_xdsl_bytes(np.ascontiguousarray(array), tensor.element_type)
    size = size_of(tensor.element_type)
    if len(data) > LARGEST_SPLAT and is_splat(data, size):
        data = data[:size]
    return DenseIntOrFPElementsAttr(tensor, BytesAttr(data))


def is_splat_array(array: Array) -> bool:
    """Whether an array is one element, seen again and again."""
    return array.size > 1 and not any(array.strides)


def map_elements(compute: Callable[..., Any], *arrays: Array) -> Array:
    """Compute something of each element; of arrays that repeat one, once."""
    if not all(map(is_splat_array, arrays)):
        return np.asarray(compute(*arrays))
    found = compute(*(array[(0,) * array.ndim] for array in arrays))
    return np.broadcast_to(np.asarray(found), arrays[0].shape)


def splat_bytes(one: bytes, count: int) -> bytes:
    """Give the bytes of an element that is there so many times, if that is not large."""
    return one if count > 0 and len(one) * count > LARGEST_SPLAT else one * count


def _tensor_type(array: Array, type: Attribute | None) -> TensorType[Any]:
    if isinstance(type, TensorType):
        return type
    element = element_type(array.dtype) if type is None else type
    return TensorType(element, array.shape)


def element_type(dtype: np.dtype[Any]) -> Attribute:
    """Give the element type that an array's type stands for."""
    for name, known in DTYPES.items():
        if known == dtype and name != "index":
            return element_of(name)
    raise TypeError(f"no element type stands for {dtype}")


@cache
def element_of(name: str) -> Attribute:
    """Give the element type of a name: `f32`, `ui8`."""
    return Parser(Context(), name).parse_type()


def is_splat(data: bytes, size: int) -> bool:
    """Whether bytes hold one element of a size again and again: compared bit by bit, as in MLIR."""
    if data[:size] != data[-size:]:
        return False
    return bool(data) and data == data[:size] * (len(data) // size)


def size_of(element: Attribute) -> int:
    """Give the bytes that an element takes."""
    return cast("int", cast("Any", element).compile_time_size)


def to_mlir_bytes(data: bytes, element: Attribute) -> bytes:
    """Give bytes as MLIR stores them: eight truth values to the byte, no sign above an i4."""
    if is_i1(element):
        return np.packbits(np.frombuffer(data, np.uint8), bitorder="little").tobytes()
    if isinstance(element, IntegerType) and element.bitwidth < 8:
        mask = (1 << element.bitwidth) - 1
        return bytes(np.frombuffer(data, np.uint8) & mask)
    return data


def from_mlir_bytes(data: bytes, element: Attribute, count: int) -> bytes | None:
    """Give the elements of MLIR's bytes, or None where they are not `count` elements, or one.

    Truth values may be packed, eight to the byte, or have a byte each.
    """
    if is_i1(element):
        return _bool_bytes(data, count)
    size = size_of(element)
    alone = len(data) == size
    if alone:
        data = splat_bytes(data, count)
    elif len(data) != size * count:
        return None
    if isinstance(element, IntegerType) and element.bitwidth < 8:
        return _to_xdsl_bytes(np.frombuffer(data, dtype_of(element)), element)
    return data


def _bool_bytes(data: bytes, count: int) -> bytes | None:
    if len(data) == 1 and data[0] in {0, 255}:
        return splat_bytes(b"\xff" if data[0] else b"\0", count)
    if len(data) == -(-count // 8):
        bits = np.unpackbits(np.frombuffer(data, np.uint8), count=count, bitorder="little")
        return (bits * np.uint8(255)).tobytes()
    if len(data) == count and not data.strip(b"\0\1"):
        return data.replace(b"\1", b"\xff")
    return None


def _to_xdsl_bytes(array: Array, element: Attribute) -> bytes:
    """Give the bytes of an array as xDSL keeps them."""
    if is_i1(element):
        return (array.view(np.uint8) * np.uint8(255)).tobytes()
    if isinstance(element, IntegerType) and element.bitwidth < 8:
        return array.astype(np.int8).tobytes()
    return array.tobytes()


def is_i1(element: Attribute) -> bool:
    """Whether an element type is i1."""
    return isinstance(element, IntegerType) and element.bitwidth == 1


def count_of(shape: Sequence[int]) -> int:
    """Give the number of elements of a static shape."""
    return math.prod(shape)
