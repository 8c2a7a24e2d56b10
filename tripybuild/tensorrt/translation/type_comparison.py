"""Type comparison of MLIR and TensorRT: element types, and partially known shapes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX

from tripybuild.tensorrt.translation.library import DTYPES, Library
from tripybuild.types.dtypes import BY_MLIR


class ElementKind(NamedTuple):
    """An element type: as MLIR writes it, its name in tripybuild, and the library's data type."""

    element: str
    name: str
    dtype: Any


def kind_of(element: Any, library: Library) -> ElementKind:
    """Return what an element type is; quantized ones are their integers."""
    word = "i8" if element.name == "quant.uniform" else str(element)
    return ElementKind(word, str(BY_MLIR.get(word, word)), library.dtype(word))


def merge_shapes(expected: Sequence[int], found: Sequence[int]) -> list[int | None] | None:
    """Return the sizes that one of two shapes knows, or None if they contradict each other."""
    if len(expected) != len(found):
        return None
    sizes: list[int | None] = []
    for one, other in zip(expected, found, strict=True):
        if other < 0:
            sizes.append(None if one == DYNAMIC_INDEX else one)
        elif one in (DYNAMIC_INDEX, other):
            sizes.append(other)
        else:
            return None
    return sizes


def type_text(shape: Sequence[int], dtype: Any, library: Library) -> str:
    """Return TensorRT's type of a tensor as MLIR would write it."""
    sizes = "".join(f"{'?' if size < 0 else size}x" for size in shape)
    known = (word for word in DTYPES if library.dtype(word) == dtype)
    return f"tensor<{sizes}{next(known, str(dtype))}>"
