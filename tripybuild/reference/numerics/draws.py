"""Random-number helpers of references. Each has a test of its own.

With a seed, the numbers are those of every engine that knows seeds: Threefry-2x32 with twenty
rounds (Salmon et al., 2011) encrypts the position of each element.
"""

import math
from collections.abc import Sequence

import numpy as np

from tripybuild.reference.numerics.arrays import Array
from tripybuild.reference.numerics.numpy_guard import check_elements

MASK = np.uint64(0xFFFFFFFF)
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def threefry(counters: tuple[Array, Array], key: tuple[int, int]) -> tuple[Array, Array]:
    """Encrypt pairs of 32 bits, which are held in uint64 so that sums keep their carries."""
    schedule = [np.uint64(k) for k in (*key, key[0] ^ key[1] ^ 0x1BD11BDA)]
    x, y = ((c.astype(np.uint64) + k) & MASK for c, k in zip(counters, schedule, strict=False))
    for four in range(5):
        for turn in ROTATIONS[four % 2]:
            x = (x + y) & MASK
            y = ((y << np.uint64(turn) | y >> np.uint64(32 - turn)) & MASK) ^ x
        x = (x + schedule[(four + 1) % 3]) & MASK
        y = (y + schedule[(four + 2) % 3] + np.uint64(four + 1)) & MASK
    return x, y


def draw_uniform(shape: Sequence[int], low: float, high: float, seed: int | None) -> Array:
    """Numbers from `low` up to, but without, `high`, each as likely as any other."""
    first, _ = _units(shape, seed)
    return low + first * (high - low)


def draw_normal(shape: Sequence[int], mean: float, std: float, seed: int | None) -> Array:
    """Numbers of a normal distribution, by the transformation of Box and Muller."""
    first, second = _units(shape, seed)
    standard: Array = np.sqrt(-2 * np.log(first + 2.0**-24)) * np.cos(2 * np.pi * second)
    return mean + standard * std


def _units(shape: Sequence[int], seed: int | None) -> tuple[Array, Array]:
    """Two numbers of 24 bits from 0 up to 1 for each element; new ones where there is no seed."""
    count = math.prod(shape)
    check_elements(count)
    if seed is None:
        random = np.random.default_rng()
        words = tuple(random.integers(0, 2**32, (2, count), np.uint64))
    else:
        index = np.arange(count, dtype=np.uint64)
        key = seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF
        words = threefry((index, np.zeros_like(index)), key)
    first, second = ((word >> np.uint64(8)).reshape(shape) * 2.0**-24 for word in words)
    return first, second
