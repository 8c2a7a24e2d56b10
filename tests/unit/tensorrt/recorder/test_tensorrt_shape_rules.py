"""Shapes of results: by hand, against NumPy and a plain loop, and with symbols for sizes.

Law: a rule on symbols, with numbers put in, is the rule on the numbers.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tripybuild.symbolic.dims import Dim, same, substitute, symbol
from tripybuild.tensorrt.layers import (
    linear,
    quantization,
    reductions,
    sources,
    windows,
)
from tripybuild.tensorrt.shape_rules import (
    ShapeError,
    Windows,
    agree,
    broadcast,
    broadcastable,
    compatible,
    differ,
    elementwise_shape,
)

N = symbol("N", low=1)
M = symbol("M", low=1)
SMALL = st.integers(1, 6)


def summed(equation, *shapes):
    """The shape of a sum of products."""
    return linear.EinsumOp.result_shape(equation, shapes)


def pooled(shape, window, steps):
    """The shape of one element of each window."""
    lists = steps.stride, steps.pre_padding, steps.post_padding
    return windows.PoolingOp.result_shape(shape, window, *lists)


def tensor(shape):
    """A tensor of a shape, for NumPy."""
    return np.zeros(shape)


def test_broadcasting_knows_what_it_can():
    """Numbers win over symbols and unknown sizes; one symbol is itself; two are nothing."""
    assert broadcast((2, 1, None), (1, 3, 4)) == (2, 3, 4)
    assert same(broadcast((N, 1, N), (N, N, 7)), (N, N, 7))
    assert broadcast((N,), (M,)) == (None,)
    assert broadcast((None,), (1,)) == (None,)
    assert broadcast((0,), (1,)) == (0,)
    assert broadcast((2, 1), (1, 1), (1, 5)) == (2, 5)
    with pytest.raises(ShapeError):
        broadcast((2,), (3,))
    with pytest.raises(ShapeError):
        broadcast((2,), (2, 1))
    with pytest.raises(ShapeError, match="failed to determine expected shape"):
        elementwise_shape((2,), (3,))


@given(shapes=st.integers(0, 4).flatmap(lambda r: st.tuples(*[st.tuples(*[SMALL] * r)] * 2)))
def test_broadcasting_is_that_of_numpy(shapes):
    """For shapes of one rank."""
    try:
        expected = np.broadcast_shapes(*shapes)
    except ValueError:
        assert not broadcastable(*shapes)
    else:
        assert broadcast(*shapes) == expected


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
    assert linear.MatrixMultiplyOp.result_shape(*given_shapes, *words) == expected


def test_vectors_bring_no_dimension():
    """On either side."""
    assert linear.MatrixMultiplyOp.result_shape((5, 4), (5, 4, 6), "kVECTOR", "kNONE") == (5, 6)
    assert linear.MatrixMultiplyOp.result_shape((5, 3, 4), (1, 4), "kNONE", "kVECTOR") == (5, 3)
    assert linear.MatrixMultiplyOp.result_shape((4,), (4,), "kVECTOR", "kVECTOR") == ()
    assert linear.MatrixMultiplyOp.result_shape((2, None), (7, 3), "kNONE", "kNONE") == (2, 3)
    with pytest.raises(ShapeError, match="rank of at least 2 for kNONE"):
        linear.MatrixMultiplyOp.result_shape((4,), (4, 4), "kNONE", "kNONE")
    with pytest.raises(ShapeError, match="number of collection dims doesn't match"):
        linear.MatrixMultiplyOp.result_shape((2, 4, 4), (4, 4), "kNONE", "kNONE")
    with pytest.raises(ShapeError, match="consistent sizes for the contraction"):
        linear.MatrixMultiplyOp.result_shape((4, 5), (4, 4), "kNONE", "kNONE")


EQUATIONS = ["ij->ji", "ij->", "ij", "ji", "i,i->", "ij,jk", "ij,jk->ik", "bij,bjk->bik", "zj,jl"]


@given(equation=st.sampled_from(EQUATIONS), numbers=st.lists(SMALL, min_size=26, max_size=26))
def test_sums_are_those_of_numpy(equation, numbers):
    """With and without an arrow."""
    size = dict(zip("abcdefghijklmnopqrstuvwxyz", numbers, strict=True))
    inputs = equation.split("->")[0].split(",")
    shapes = [tuple(size[label] for label in subscript) for subscript in inputs]
    expected = np.einsum(equation, *map(tensor, shapes)).shape
    assert summed(equation, *shapes) == expected


def test_labels_of_unknown_size():
    """A known size wins, and sizes of one are repeated."""
    assert summed("ij,jk->ijk", (None, 4), (None, N)) == (None, 4, N)
    assert summed("i,i->i", (1,), (4,)) == (4,)


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
    steps = Windows([stride] * 2, [before] * 2, [after] * 2, [dilation] * 2)
    if count > 0:
        shape = windows.convolution_shape((1, 3, size, size), (5, 3, kernel, kernel), steps)
        assert shape == (1, 5, count, count)
        back = windows.deconvolution_shape(shape, (5, 3, kernel, kernel), steps)
        assert 0 <= size - back[2] < stride
    if dilation == 1 and count > 0:
        shape = pooled((1, 3, size, size), [kernel] * 2, steps)
        assert shape == (1, 3, count, count)


def test_windows_need_numbers_for_each_dimension():
    """Rank, lists and strides are checked; what does not fit is refused."""
    steps = Windows([1, 1], [0, 0], [0, 0])
    for shape, kernel, message in [
        ((1, 3, 8), (5, 3, 3, 3), "Input must be 4D or 5D"),
        ((1, 3, 8, 8), (5, 3, 3), "Kernel must be 4D or 5D"),
        ((1, 3, 8, 8, 8), (5, 3, 3, 3), "failed to compute output shape"),
        ((1, 3, 8, 8), (5, 3, 10, 3), "failed to compute output shape"),
    ]:
        with pytest.raises(ShapeError, match=message):
            windows.convolution_shape(shape, kernel, steps)
    still = Windows([0, 1], [0, 0], [0, 0])
    with pytest.raises(ShapeError, match="deconvolution"):
        windows.deconvolution_shape((1, 3, 8, 8), (3, 5, 3, 3), still)
    with pytest.raises(ShapeError, match="of pooling operation"):
        pooled((1, 3, 8, 8), [3, 3], still)


def test_windows_of_unknown_sizes():
    """A known part is computed; groups multiply the filters of a deconvolution."""
    steps = Windows([2, 1], [0, 1], [0, 1])
    assert windows.convolution_shape((None, 4, None, 8), (6, 2, 3, 3), steps) == (None, 6, None, 8)
    assert windows.convolution_shape((1, 4, 8, 8), (None, 2, None, 3), steps) == (1, None, None, 8)
    assert windows.deconvolution_shape((1, 4, None, 8), (4, 3, 3, 3), steps, 2) == (1, 6, None, 8)
    assert windows.deconvolution_shape((1, 4, 8, 8), (4, None, 3, 3), steps, 2) == (1, None, 17, 8)


@given(shape=st.lists(SMALL, max_size=4), keep=st.booleans(), data=st.data())
def test_reductions_are_those_of_numpy(shape, keep, data):
    """With the reduced dimensions kept or dropped."""
    axes = sorted(data.draw(st.sets(st.integers(0, max(len(shape) - 1, 0))))) if shape else []
    expected = tensor(shape).sum(axis=tuple(axes), keepdims=keep).shape
    assert reductions.ReduceOp.result_shape(shape, axes, keep_dimensions=keep) == expected


def test_extremes_and_other_axes():
    """One size is another; an axis that is not there is refused."""
    assert reductions.TopKOp.result_shape((2, None, 4), 3, 1) == ((2, 3, 4), (2, 3, 4))
    assert reductions.ArgMaxOp.result_shape((2, N), 0)[0] == (1, N)
    assert reductions.RaggedSoftMaxOp.result_shape((2, 3, 4), (2, 3, 1)) == (2, 3, 4)
    for axis in (-1, 2):
        with pytest.raises(ShapeError, match="axis to be in the range"):
            reductions.TopKOp.result_shape((2, 3), 1, axis)
    with pytest.raises(ShapeError, match=r"smaller than input type rank \(2\)"):
        reductions.ReduceOp.result_shape((2, 3), [2])
    with pytest.raises(ShapeError, match="rank 3"):
        reductions.RaggedSoftMaxOp.result_shape((2, 3), (2, 3))


def test_fills_and_scales():
    """A shape's length is a rank; a block of sixteen has one scale."""
    assert sources.fill_shape((3,)) == (None, None, None)
    for wrong in ((), (None,), (2, 2)):
        with pytest.raises(ShapeError, match="rank 1 with static dim size"):
            sources.fill_shape(wrong)
    assert quantization.DynamicQuantizeOp.result_shape((4, 32), 1)[1] == (4, 2)
    assert quantization.DynamicQuantizeOp.result_shape((None, 32), 0)[1] == (None, 32)


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


STEPS = Windows([2, 1], [1, 0], [1, 2], [1, 2])
PLAIN = Windows([2, 1], [1, 0], [1, 2])
RULES = {
    "broadcast": lambda n, m: broadcast((n, m, 1), (1, m, n)),
    "choice": lambda n, m: elementwise_shape((n, m), (n, 1), (1, m)),
    "product": lambda n, m: linear.MatrixMultiplyOp.result_shape(
        (n, m, 4), (n, 4, m), "kNONE", "kNONE"
    ),
    "vectors": lambda n, m: linear.MatrixMultiplyOp.result_shape(
        (n, m), (n, m, 3), "kVECTOR", "kNONE"
    ),
    "sum": lambda n, m: summed("ij,jk->ki", (n, m), (m, 5)),
    "convolution": lambda n, m: windows.convolution_shape((n, 3, m, m + n), (m, 3, 1, 2), STEPS),
    "deconvolution": lambda n, m: windows.deconvolution_shape((n, 3, m, n), (3, m, 2, 3), STEPS, 2),
    "pooling": lambda n, m: pooled((n, m, m + 2, n + m), [2, 3], PLAIN),
    "reduction": lambda n, m: reductions.ReduceOp.result_shape(
        (n, m, n), [1], keep_dimensions=True
    ),
    "extreme": lambda n, m: reductions.TopKOp.result_shape((n, m), 3, 0)[1],
    "scales": lambda n, m: quantization.DynamicQuantizeOp.result_shape((n, m * 16), 1)[1],
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
        lambda s: broadcast(s, s),
        lambda s: reductions.ReduceOp.result_shape(s, [1]),
        lambda s: linear.MatrixMultiplyOp.result_shape(s, (s[0], s[2], 7), "kNONE", "kNONE"),
        lambda s: summed("abc->cb", s),
    ):
        assert compatible(rule(shape), rule(known))


def test_every_permutation_of_an_equation_is_a_shape():
    """Labels may be in any order."""
    for order in itertools.permutations("abc"):
        expected = tuple({"a": 2, "b": 3, "c": N}[label] for label in order)
        assert same(summed("abc->" + "".join(order), (2, 3, N)), expected)
