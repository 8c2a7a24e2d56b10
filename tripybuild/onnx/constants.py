"""Elements of constants as files of ONNX hold them: little endian, 4-bit ones two in a byte."""

import struct
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from tripybuild.types.dtypes import boolean, dtype, float32, int64, uint8

# Dtypes that need no NumPy.
_FORMATS = {int64: "q", float32: "f", boolean: "?"}


def number_bytes(values: Sequence[float], kind: dtype) -> bytes:
    """The bytes of numbers as `element_bytes` has those of arrays.

    Raises:
        ValueError: The dtype does not hold one of them.
    """
    wanted = _FORMATS.get(kind)
    try:
        if wanted is not None:
            return struct.pack(f"<{len(values)}{wanted}", *values)
        return element_bytes(import_module("numpy").array(values, kind.numpy), kind)
    except (struct.error, OverflowError) as error:
        raise ValueError(f"{kind} does not hold all of {list(values)}") from error


def element_bytes(array: Any, kind: dtype) -> bytes:
    """The bytes of an array that has the dtype, row by row.

    Args:
        array: An array of NumPy's, in which elements of 4 bits have bytes of their own.
        kind: The dtype.
    """
    if kind.bits >= 8:
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        found: bytes = little.tobytes()
        return found
    octets = array.reshape(-1).view(uint8.numpy) & 15
    high = octets[1::2].copy()
    high.resize(octets[::2].size, refcheck=False)  # an odd one out has zero beside it
    packed: bytes = (octets[::2] | (high << 4)).tobytes()
    return packed
