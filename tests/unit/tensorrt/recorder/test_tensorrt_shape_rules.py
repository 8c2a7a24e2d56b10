"""Shapes of results: by hand, against NumPy and a plain loop, and with symbols for sizes.

Law: a rule on symbols, with numbers put in, is the rule on the numbers.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tripybuild.symbolic.dims import Dim, same, substitute, symbol
from tripybuild.tensorrt.shape_rules import (
    ShapeError,
    agree,
    arithmetic,
    compatible,
    differ,
    einsum,
    linear,
    quantization,
    reductions,
    sources,
    windows,
)

N = symbol("N", low=1)
M = symbol("M", low=1)
SMALL = st.integers(1, 6)


def tensor(shape):
    """A tensor of a shape, for NumPy."""
    return np.zeros(shape)


def test_broadcasting_knows_what_it_can():
    """Numbers win over symbols and unknown sizes; one symbol is itself; two are nothing."""
    assert arithmetic.broadcast((2, 1, None), (1, 3, 4)) == (2, 3, 4)
    assert same(arithmetic.broadcast((N, 1, N), (N, N, 7)), (N, N, 7))
    assert arithmetic.broadcast((N,), (M,)) == (None,)
    assert arithmetic.broadcast((None,), (1,)) == (None,)
    assert arithmetic.broadcast((0,), (1,)) == (0,)
    assert arithmetic.broadcast((2, 1), (1, 1), (1, 5)) == (2, 5)
    with pytest.raises(ShapeError):
        arithmetic.broadcast((2,), (3,))
    with pytest.raises(ShapeError):
        arithmetic.broadcast((2,), (2, 1))
    with pytest.raises(ShapeError, match="failed to determine expected shape"):
        arithmetic.elementwise((2,), (3,))


@given(shapes=st.integers(0, 4).flatmap(lambda r: st.tuples(*[st.tuples(*[SMALL] * r)] * 2)))
def test_broadcasting_is_that_of_numpy(shapes):
    """For shapes of one rank."""
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        assert not arithmetic.broadcastable(*shapes)
    else:
        assert arithmetic.broadcast(*shapes) == expected


@given(batch=st.tuples(SMALL), m=SMALL, k=SMALL, n=SMALL, ops=st.tuples(*[st.booleans()] * 2))
def test_products_are_those_of_numpy(batch, m, k, n, ops):
    """Of collections of matrices, transposed or not."""
    left, right = (*batch, m, k), (*batch, k, n)
    expected = np.matmul(tensor(left), tensor(right)).shape
    words = ["kTRANSPOSE" if transposed else "kNONE" for transposed in ops]
    given_shapes = [
        (shape[0], shape[2], shape[1]) if transposed else shape
        for shape, transposed in zip((left, right), ops, strict=True)
    ]
    assert linear.matrix_multiply(*given_shapes, *words) == expected


def test_vectors_bring_no_dimension():
    """On either side."""
    assert linear.matrix_multiply((5, 4), (5, 4, 6), "kVECTOR", "kNONE") == (5, 6)
    assert linear.matrix_multiply((5, 3, 4), (1, 4), "kNONE", "kVECTOR") == (5, 3)
    assert linear.matrix_multiply((4,), (4,), "kVECTOR", "kVECTOR") == ()
    assert linear.matrix_multiply((2, None), (7, 3), "kNONE", "kNONE") == (2, 3)
    with pytest.raises(ShapeError, match="rank of at least 2 for kNONE"):
        linear.matrix_multiply((4,), (4, 4), "kNONE", "kNONE")
    with pytest.raises(ShapeError, match="number of collection dims doesn't match"):
        linear.matrix_multiply((2, 4, 4), (4, 4), "kNONE", "kNONE")
    with pytest.raises(ShapeError, match="consistent sizes for the contraction"):
        linear.matrix_multiply((4, 5), (4, 4), "kNONE", "kNONE")


EQUATIONS = ["ij->ji", "ij->", "ij", "ji", "i,i->", "ij,jk", "ij,jk->ik", "bij,bjk->bik", "zj,jl"]


@given(equation=st.sampled_from(EQUATIONS), numbers=st.lists(SMALL, min_size=26, max_size=26))
def test_sums_are_those_of_numpy(equation, numbers):
    """With and without an arrow."""
    size = dict(zip("abcdefghijklmnopqrstuvwxyz", numbers, strict=True))
    inputs = equation.split("->")[0].split(",")
    shapes = [tuple(size[label] for label in subscript) for subscript in inputs]
    expected = np.einsum(equation, *map(tensor, shapes)).shape
    assert einsum.einsum(equation, *shapes) == expected


def test_labels_of_unknown_size():
    """A known size wins, and sizes of one are repeated."""
    assert einsum.einsum("ij,jk->ijk", (None, 4), (None, N)) == (None, 4, N)
    assert einsum.einsum("i,i->i", (1,), (4,)) == (4,)


def count_windows(size, kernel, stride, before, after, dilation):
    """How many windows fit, by counting."""
    reach = dilation * (kernel - 1) + 1
    starts = range(-before, size + after)
    return sum(1 for start in starts[::stride] if start + reach <= size + after)


@given(
    size=st.integers(4, 12),
    kernel=st.integers(1, 4),
    stride=st.integers(1, 3),
    padding=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    dilation=st.integers(1, 2),
)
def test_windows_are_counted(size, kernel, stride, padding, dilation):
    """A convolution has a place for each; pooling too; and a deconvolution undoes it."""
    before, after = padding
    count = count_windows(size, kernel, stride, before, after, dilation)
    steps = windows.Windows([stride] * 2, [before] * 2, [after] * 2, [dilation] * 2)
    if count > 0:
        shape = windows.convolution((1, 3, size, size), (5, 3, kernel, kernel), steps)
        assert shape == (1, 5, count, count)
        back = windows.deconvolution(shape, (5, 3, kernel, kernel), steps)
        assert 0 <= size - back[2] < stride
    if dilation == 1 and count > 0:
        shape = windows.pool((1, 3, size, size), [kernel] * 2, steps)
        assert shape == (1, 3, count, count)


def test_windows_need_numbers_for_each_dimension():
    """Rank, lists and strides are checked; what does not fit is refused."""
    steps = windows.Windows([1, 1], [0, 0], [0, 0])
    for shape, kernel, message in [
        ((1, 3, 8), (5, 3, 3, 3), "Input must be 4D or 5D"),
        ((1, 3, 8, 8), (5, 3, 3), "Kernel must be 4D or 5D"),
        ((1, 3, 8, 8, 8), (5, 3, 3, 3), "failed to compute output shape"),
        ((1, 3, 8, 8), (5, 3, 10, 3), "failed to compute output shape"),
    ]:
        with pytest.raises(ShapeError, match=message):
            windows.convolution(shape, kernel, steps)
    still = windows.Windows([0, 1], [0, 0], [0, 0])
    with pytest.raises(ShapeError, match="deconvolution"):
        windows.deconvolution((1, 3, 8, 8), (3, 5, 3, 3), still)
    with pytest.raises(ShapeError, match="of pooling operation"):
        windows.pool((1, 3, 8, 8), [3, 3], still)


def test_windows_of_unknown_sizes():
    """A known part is computed; groups multiply the filters of a deconvolution."""
    steps = windows.Windows([2, 1], [0, 1], [0, 1])
    assert windows.convolution((None, 4, None, 8), (6, 2, 3, 3), steps) == (None, 6, None, 8)
    assert windows.convolution((1, 4, 8, 8), (None, 2, None, 3), steps) == (1, None, None, 8)
    assert windows.deconvolution((1, 4, None, 8), (4, 3, 3, 3), steps, 2) == (1, 6, None, 8)
    assert windows.deconvolution((1, 4, 8, 8), (4, None, 3, 3), steps, 2) == (1, None, 17, 8)


@given(shape=st.lists(SMALL, max_size=4), keep=st.booleans(), data=st.data())
def test_reductions_are_those_of_numpy(shape, keep, data):
    """With the reduced dimensions kept or dropped."""
    axes = sorted(data.draw(st.sets(st.integers(0, max(len(shape) - 1, 0))))) if shape else []
    expected = tensor(shape).sum(axis=tuple(axes), keepdims=keep).shape
    assert reductions.reduce(shape, axes, keep_dimensions=keep) == expected


def test_extremes_and_other_axes():
    """One size is another; an axis that is not there is refused."""
    assert reductions.top_k((2, None, 4), 3, 1) == (2, 3, 4)
    assert reductions.arg_extreme((2, N), 0) == (1, N)
    assert reductions.ragged_softmax((2, 3, 4), (2, 3, 1)) == (2, 3, 4)
    for axis in (-1, 2):
        with pytest.raises(ShapeError, match="axis to be in the range"):
            reductions.top_k((2, 3), 1, axis)
    with pytest.raises(ShapeError, match=r"smaller than input type rank \(2\)"):
        reductions.reduce((2, 3), [2])
    with pytest.raises(ShapeError, match="rank 3"):
        reductions.ragged_softmax((2, 3), (2, 3))


def test_fills_and_scales():
    """A shape's length is a rank; a block of sixteen has one scale."""
    assert sources.fill((3,)) == (None, None, None)
    for wrong in ((), (None,), (2, 2)):
        with pytest.raises(ShapeError, match="rank 1 with static dim size"):
            sources.fill(wrong)
    assert quantization.block_scales((4, 32), 1, 16) == (4, 2)
    assert quantization.block_scales((None, 32), 0, 16) == (None, 32)


def test_sizes_agree_unless_they_are_different_numbers():
    """What is not known agrees with everything, and differs from nothing."""
    assert agree(None, 3)
    assert agree(N, 3)
    assert agree(3, 3)
    assert not agree(2, 3)
    assert differ(2, 3)
    assert not differ(None, 3)
    assert not differ(N, 3)
    assert compatible((None, 3), (2, 3))
    assert not compatible((None, 3), (2, 3, 1))


STEPS = windows.Windows([2, 1], [1, 0], [1, 2], [1, 2])
PLAIN = windows.Windows([2, 1], [1, 0], [1, 2])
RULES = {
    "broadcast": lambda n, m: arithmetic.broadcast((n, m, 1), (1, m, n)),
    "choice": lambda n, m: arithmetic.elementwise((n, m), (n, 1), (1, m)),
    "product": lambda n, m: linear.matrix_multiply((n, m, 4), (n, 4, m), "kNONE", "kNONE"),
    "vectors": lambda n, m: linear.matrix_multiply((n, m), (n, m, 3), "kVECTOR", "kNONE"),
    "sum": lambda n, m: einsum.einsum("ij,jk->ki", (n, m), (m, 5)),
    "convolution": lambda n, m: windows.convolution((n, 3, m, m + n), (m, 3, 1, 2), STEPS),
    "deconvolution": lambda n, m: windows.deconvolution((n, 3, m, n), (3, m, 2, 3), STEPS, 2),
    "pooling": lambda n, m: windows.pool((n, m, m + 2, n + m), [2, 3], PLAIN),
    "reduction": lambda n, m: reductions.reduce((n, m, n), [1], keep_dimensions=True),
    "extreme": lambda n, m: reductions.top_k((n, m), 3, 0),
    "scales": lambda n, m: quantization.block_scales((n, m * 16), 1, 16),
}


@pytest.mark.parametrize("name", RULES)
@settings(max_examples=30)
@given(n=st.integers(1, 20), m=st.integers(1, 20))
def test_rules_on_symbols_are_rules_on_numbers(name, n, m):
    """Numbers put in before and after give the same."""
    rule = RULES[name]
    symbolic = rule(N, M)
    assert not any(size is None for size in symbolic)
    put_in = tuple(
        substitute(size, {"N": n, "M": m}) if isinstance(size, Dim) else size for size in symbolic
    )
    assert put_in == rule(n, m)


@given(
    known=st.lists(SMALL, min_size=3, max_size=3),
    hidden=st.lists(st.booleans(), min_size=3, max_size=3),
)
def test_what_is_unknown_never_contradicts(known, hidden):
    """With sizes hidden, a rule gives what it gave, or less."""
    shape = [None if hide else size for size, hide in zip(known, hidden, strict=True)]
    for rule in (
        lambda s: arithmetic.broadcast(s, s),
        lambda s: reductions.reduce(s, [1]),
        lambda s: linear.matrix_multiply(s, (s[0], s[2], 7), "kNONE", "kNONE"),
        lambda s: einsum.einsum("abc->cb", s),
    ):
        assert compatible(rule(shape), rule(known))


def test_every_permutation_of_an_equation_is_a_shape():
    """Labels may be in any order."""
    for order in itertools.permutations("abc"):
        expected = tuple({"a": 2, "b": 3, "c": N}[label] for label in order)
        assert same(einsum.einsum("abc->" + "".join(order), (2, 3, N)), expected)
