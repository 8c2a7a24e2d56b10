"""Random numbers: fresh at each call, or determined by a seed.

Invariant: with a seed, element `i` follows from the seed and from `i` alone, by the twenty rounds
of Threefry-2x32 (Salmon et al., 2011); every compiler gives the same numbers. Numbers are drawn as
float32 and rounded once to the dtype.
"""

import math
from collections.abc import Sequence

from tripybuild.stablehlo.comparison import convert
from tripybuild.stablehlo.constants import constant, iota
from tripybuild.stablehlo.elementwise import (
    cosine,
    log,
    or_,
    shift_left,
    shift_right_logical,
    sqrt,
    xor,
)
from tripybuild.stablehlo.module import current, emit
from tripybuild.stablehlo.shapes import reshape
from tripybuild.stablehlo.value import HloValue
from tripybuild.types import dtypes

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA
ROUNDS_OF_FOUR = 5


def random_uniform(
    shape: Sequence[int], low: float, high: float, dtype: dtypes.dtype, seed: int | None = None
) -> HloValue:
    """Numbers from `low` up to, but without, `high`, each as likely as any other."""
    if seed is None:
        return _rng("UNIFORM", low, high, shape, dtype)
    words, _ = _words(math.prod(shape), seed)
    return convert(reshape(_unit(words) * (high - low) + low, shape), dtype)


def random_normal(
    shape: Sequence[int], mean: float, std: float, dtype: dtypes.dtype, seed: int | None = None
) -> HloValue:
    """Numbers of a normal distribution, by the transformation of Box and Muller."""
    if seed is None:
        return _rng("NORMAL", mean, std, shape, dtype)
    words, others = _words(math.prod(shape), seed)
    radius = sqrt(log(_unit(words) + 2.0**-24) * -2.0)  # of a number that is not zero
    normal = radius * cosine(_unit(others) * (2 * math.pi))
    return convert(reshape(normal * std + mean, shape), dtype)


def _rng(
    kind: str, first: float, second: float, shape: Sequence[int], dtype: dtypes.dtype
) -> HloValue:
    operands = [constant(float(each), dtypes.float32) for each in (first, second)]
    sizes = constant(list(shape), dtypes.int64)
    attributes = {
        "rng_distribution": current().parse_attribute(f"#stablehlo<rng_distribution {kind}>")
    }
    drawn = emit("stablehlo.rng", (*operands, sizes), dtypes.float32, tuple(shape), attributes)
    return convert(drawn, dtype)


def _words(count: int, seed: int) -> tuple[HloValue, HloValue]:
    """Two words of 32 random bits for each element: its position, encrypted by the seed."""
    low, high = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
    keys = (low, high, low ^ high ^ PARITY)
    left = iota([count], 0, dtypes.int32) + _as_int32(low)
    right = constant(_as_int32(high), dtypes.int32, [count])
    for block in range(ROUNDS_OF_FOUR):
        for bits in ROTATIONS[block % 2]:
            left = left + right
            rotated = or_(shift_left(right, bits), shift_right_logical(right, 32 - bits))
            right = xor(rotated, left)
        left = left + _as_int32(keys[(block + 1) % 3])
        right = right + _as_int32(keys[(block + 2) % 3] + block + 1)
    return left, right


def _as_int32(word: int) -> int:
    """The int32 of the same bits."""
    return (word + 2**31) % 2**32 - 2**31


def _unit(words: HloValue) -> HloValue:
    """Numbers from 0 up to, but without, 1: the upper 24 bits, which float32 holds exactly."""
    return convert(shift_right_logical(words, 8), dtypes.float32) * 2.0**-24
