"""Test data generators: arrays from a dtype, a shape and the `sample`'s generator."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np

from tripybuild.language.evaluate import evaluate
from tripybuild.language.grammar import Program
from tripybuild.language.vocabulary import Vocabulary
from tripybuild.reference.numerics.arrays import Array, round_cast
from tripybuild.types.dtypes import dtype
from tripybuild.types.vocabulary import SHAPE

Generator = Callable[[np.random.Generator, tuple[int, ...], dtype], Array]


def uniform(low: float, high: float) -> Generator:
    """Numbers between two bounds; whole ones for integers."""

    def draw(random: np.random.Generator, shape: tuple[int, ...], type: dtype) -> Array:
        if type.kind == "float":
            return random.uniform(low, high, shape)
        return random.integers(int(np.ceil(low)), int(np.floor(high)) + 1, shape)

    return draw


def integers(low: int, high: int) -> Generator:
    """Whole numbers, the upper bound excluded."""

    def draw(random: np.random.Generator, shape: tuple[int, ...], type: dtype) -> Array:  # noqa: ARG001
        return random.integers(low, high, shape) if 0 not in shape else np.zeros(shape)

    return draw


def distinct() -> Generator:
    """Whole numbers of which no two are equal, in any order."""

    def draw(random: np.random.Generator, shape: tuple[int, ...], type: dtype) -> Array:
        count = int(np.prod(shape))
        start = 0 if type.lowest >= 0 else -(count // 2)
        return random.permutation(count).reshape(shape) + start

    return draw


def permutation(count: int) -> Generator:
    """The numbers below `count` in any order, anew in each row."""

    def draw(random: np.random.Generator, shape: tuple[int, ...], type: dtype) -> Array:  # noqa: ARG001
        rows = int(np.prod(shape[:-1]))
        return np.array([random.permutation(count)[: shape[-1]] for _ in range(rows)]).reshape(
            shape
        )

    return draw


def places(sizes: Sequence[int]) -> Generator:
    """Vectors of positions inside a shape, of which no two are equal, along the last dimension."""

    def draw(random: np.random.Generator, shape: tuple[int, ...], type: dtype) -> Array:  # noqa: ARG001
        count = int(np.prod(shape[:-1]))
        cells = random.permutation(int(np.prod(sizes)))[:count]
        return np.stack(np.unravel_index(cells, tuple(sizes)), -1).reshape(shape)

    return draw


GENERATORS = Vocabulary(
    functions={
        "uniform": uniform,
        "integers": integers,
        "distinct": distinct,
        "permutation": permutation,
        "places": places,
    }
)


def generate_array(
    program: Program | None,
    names: Mapping[str, object],
    shape: tuple[int, ...],
    type: dtype,
    seed: str,
) -> Array:
    """An array of a shape and a dtype; without a program, small numbers around zero."""
    chosen: Any = _usual(type) if program is None else evaluate(program, names, SHAPE | GENERATORS)
    random = np.random.default_rng(crc32(seed.encode()))
    if not callable(chosen):
        return np.broadcast_to(round_cast(chosen, type), shape).copy()
    return round_cast(chosen(random, shape, type), type)


def _usual(type: dtype) -> Generator:
    if type.kind == "boolean":
        return integers(0, 2)
    if type.kind == "integer":
        return integers(0 if type.lowest >= 0 else -5, 6)
    return uniform(-2, 2)
