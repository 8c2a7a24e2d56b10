"""No word of a reference asks for unbounded memory: what would is refused before it is made."""

from typing import Any

import numpy as np
import pytest

from tripybuild.reference.numerics import arrays
from tripybuild.reference.numerics.numpy_guard import TooLargeError, allow_symbols, numpy
from tripybuild.symbolic.dims import Dim
from tripybuild.types.size_range import SizeRange

LONG = np.zeros(1_000_000)
BOMBS = [
    "np.zeros(10 ** 12)",
    "np.zeros([10 ** 6, 10 ** 6])",
    "np.ones([10 ** 9])",
    "np.full([10 ** 5, 10 ** 5], 1.0)",
    "np.eye(10 ** 6)",
    "np.identity(10 ** 6)",
    "np.arange(10 ** 12)",
    "np.arange(0, 1, 1.0e-12)",
    "np.linspace(0, 1, 10 ** 12)",
    "np.linspace(0, 1, num=10 ** 12)",
    "np.tile(x, 10 ** 6)",
    "np.tile(x, [10 ** 3, 10 ** 3])",
    "np.repeat(x, 10 ** 6)",
    "np.pad(x, 10 ** 12)",
    "np.pad(x, [(0, 10 ** 12)])",
    "np.outer(x, x)",
    "np.diag(x)",
    "np.add(np.reshape(x, [1000000, 1]), x)",
    "np.where(np.reshape(x, [1000000, 1]) > 0, x, 0.0)",
    "np.broadcast_arrays(np.reshape(x, [1000000, 1]), x)",
    "np.matmul(np.reshape(x, [1000000, 1]), np.reshape(x, [1, 1000000]))",
    "np.einsum('i,j->ij', x, x)",
    "np.einsum('i,j', x, x)",
    "np.take(x, np.zeros(10 ** 12))",
    "arrays.index_grid([0], [10 ** 12], [1])",
    "arrays.pick(np.zeros([2, 2]), arrays.index_grid([0, 0], [10 ** 6, 10 ** 6], [1, 1]), 'wrap')",
]


def computed(text: str) -> Any:
    """What a generated reference gets for an expression: its modules have these names."""
    return eval(text, {"np": numpy, "arrays": arrays, "x": LONG})


@pytest.mark.parametrize("text", BOMBS)
def test_large_results_are_refused(text: str) -> None:
    """The message says how many elements there may be."""
    with pytest.raises(TooLargeError, match="a reference may make"):
        computed(text)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("np.zeros([3, 4])", (3, 4)),
        ("np.arange(2, 8, 2)", (3,)),
        ("np.pad(np.zeros([2, 3]), [(0, 1), (2, 0)])", (3, 5)),
        ("np.add(np.zeros([3, 1]), np.zeros([4]))", (3, 4)),
        ("np.matmul(np.zeros([2, 3, 4]), np.zeros([4, 5]))", (2, 3, 5)),
        ("np.matmul(np.zeros([4]), np.zeros([4]))", ()),
        ("np.einsum('bij,bjk->bik', np.zeros([2, 3, 4]), np.zeros([2, 4, 5]))", (2, 3, 5)),
        ("np.take(np.zeros([7, 4]), np.zeros([2, 3], int32), axis=0)", (2, 3, 4)),
        ("np.repeat(np.zeros([2]), 3)", (6,)),
        ("np.tile(np.zeros([2]), [2, 2])", (2, 4)),
    ],
)
def test_small_results_are_what_numpy_gives(text: str, shape: tuple[int, ...]) -> None:
    """Measuring changes nothing else."""
    if "int32" in text:
        text = text.replace("np.zeros([2, 3], int32)", "np.argsort(np.zeros([2, 3]))")
    assert computed(text).shape == shape


def test_symbols_are_allowed_where_a_caller_says_so():
    """Arithmetic on shapes computes with sizes; no other object gets in, and no large integer."""
    symbols = np.array([SizeRange(1, 2, 3).symbol("B"), 6], object)
    with pytest.raises(TypeError):
        numpy.concatenate([symbols, symbols])
    with allow_symbols(Dim):
        assert numpy.concatenate([symbols, [2]]).tolist() == [*symbols, 2]
        for wrong in (["text"], [1 << 64], [[]]):
            with pytest.raises(TypeError):
                numpy.concatenate([symbols, np.array([*wrong, 1], object)[:1]])
