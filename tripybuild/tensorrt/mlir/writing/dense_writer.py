"""Printer of dense constants: splat, nested lists, or hexadecimal data.

Invariant: truth values are always listed. Releases of MLIR differ in how they pack them.
"""

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
)

from tripybuild.tensorrt.mlir import elements, floats

LONGEST_LIST = 100


def dense(attribute: DenseIntOrFPElementsAttr) -> str:
    """Give `dense<...>`, without the type."""
    element, data = attribute.type.element_type, attribute.data.data
    shape, size = attribute.get_shape(), elements.size_of(element)
    if not data:
        return "dense<>"
    if elements.is_splat(data, size):
        return f"dense<{_words(data[:size], element)[0]}>"
    if elements.count_of(shape) > LONGEST_LIST and not elements.is_i1(element):
        return f'dense<"0x{elements.to_mlir_bytes(data, element).hex().upper()}">'
    return f"dense<{_nest(_words(data, element), shape)}>"


def _nest(words: Sequence[str], shape: Sequence[int]) -> str:
    """Give lists in lists, the innermost first."""
    for length in reversed(shape):
        rows = range(0, len(words), length)
        words = [f"[{', '.join(words[row : row + length])}]" for row in rows]
    return words[0]


def _words(data: bytes, element: Any) -> list[str]:
    if isinstance(element, IntegerType | IndexType):
        return _integers(data, element)
    if isinstance(element, ComplexType):
        words = iter(_words(data, element.element_type))
        return [f"({real},{next(words)})" for real in words]
    return _floats(data, cast("AnyFloat", element))


def _integers(data: bytes, element: IntegerType | IndexType) -> list[str]:
    if elements.is_i1(element):
        return ["true" if value else "false" for value in data]
    return [str(value) for value in element.iter_unpack(data)]


def _floats(data: bytes, element: AnyFloat) -> list[str]:
    """Infinities and the kinds of NaN are written as they are stored."""
    size = elements.size_of(element)
    words = []
    for index, value in enumerate(element.iter_unpack(data)):
        if math.isfinite(value):
            words.append(floats.text(value, element))
        else:
            bits = int.from_bytes(data[index * size : (index + 1) * size], "little")
            words.append(f"0x{bits:X}")
    return words
