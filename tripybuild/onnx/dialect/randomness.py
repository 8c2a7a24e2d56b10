"""Random numbers of the ONNX dialect: fresh at each call, or determined by a seed.

Invariant: with a seed, element `i` follows from the seed and from `i` alone, by the twenty rounds
of Threefry-2x32 (Salmon et al., 2011), as for each other engine. ONNX has no shifts of 32 bits that
all runtimes have, so words are int64 of which 32 bits are used.
"""

import math
from collections.abc import Sequence

from tripybuild.onnx.dialect.calls import call, convert
from tripybuild.onnx.dialect.compositions import full
from tripybuild.onnx.dialect.indexing import arange, reshape
from tripybuild.onnx.value import OnnxValue, Size
from tripybuild.types import dtypes
from tripybuild.types.dtypes import dtype

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = 0x1BD11BDA
ROUNDS_OF_FOUR = 5
MASK = 0xFFFFFFFF


def random_uniform(
    shape: Sequence[Size], low: float, high: float, dtype: dtype, seed: int | None = None
) -> OnnxValue:
    """Numbers from `low` up to, but without, `high`, each as likely as any other."""
    if seed is None:
        return _fresh("RandomUniformLike", shape, dtype, low=low, high=high)
    words, _ = _words(math.prod(shape), seed)
    return convert(reshape(_unit(words) * (high - low) + low, shape), dtype)


def random_normal(
    shape: Sequence[Size], mean: float, std: float, dtype: dtype, seed: int | None = None
) -> OnnxValue:
    """Numbers of a normal distribution, by the transformation of Box and Muller."""
    if seed is None:
        return _fresh("RandomNormalLike", shape, dtype, mean=mean, scale=std)
    words, others = _words(math.prod(shape), seed)
    radius = call("Sqrt", call("Log", _unit(words) + 2.0**-24) * -2.0)  # no logarithm of zero
    normal = radius * call("Cos", _unit(others) * (2 * math.pi))
    return convert(reshape(normal * std + mean, shape), dtype)


def _fresh(name: str, shape: Sequence[Size], dtype: dtype, **parameters: float) -> OnnxValue:
    """New numbers at each call, in a shape that may have symbols."""
    like = full(0.0, dtypes.float32, shape)
    return convert(call(name, like, dtype=dtypes.float32, **parameters), dtype)


def _unit(words: OnnxValue) -> OnnxValue:
    """The 24 highest of 32 bits as a number from 0 up to 1."""
    return convert(words / 256, dtypes.float32) * 2.0**-24


def _words(count: Size, seed: int) -> tuple[OnnxValue, OnnxValue]:
    """Two words of 32 bits for each position, encrypted with the seed."""
    key = [seed & MASK, seed >> 32 & MASK]
    schedule = [*key, key[0] ^ key[1] ^ PARITY]
    left = _low(arange(count, dtypes.int64) + schedule[0])
    right = full(schedule[1], dtypes.int64, [count])
    for four in range(ROUNDS_OF_FOUR):
        for turn in ROTATIONS[four % 2]:
            left = _low(left + right)
            right = _rotate(right, turn) ^ left
        left = _low(left + schedule[(four + 1) % 3])
        right = _low(right + (schedule[(four + 2) % 3] + four + 1))
    left.shape = right.shape = (count,)
    return left, right


def _low(word: OnnxValue) -> OnnxValue:
    """The lower 32 bits."""
    return word & MASK


def _rotate(word: OnnxValue, bits: int) -> OnnxValue:
    """A word with its bits moved to the left, and around."""
    wide = word * 2**bits
    turned: OnnxValue = _low(wide) + wide / 2**32
    return turned
