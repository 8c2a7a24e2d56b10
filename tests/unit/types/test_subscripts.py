"""Equations of sums of products, beside NumPy's own reading of them."""

import numpy as np
import pytest

from tripybuild.symbolic.dims import symbol
from tripybuild.tensorrt import layers as trt
from tripybuild.types import shapes
from tripybuild.types.dtypes import float32
from tripybuild.types.subscripts import EquationError, explicit, pairwise, parts

EQUATIONS = {
    "ij,jk": [(2, 3), (3, 4)],
    "ba, c": [(2, 3), (4,)],
    "ii": [(3, 3)],
    "iij -> ji": [(2, 2, 3)],
    "...ij,...jk": [(2, 5, 3, 4), (5, 4, 2)],
    "a...b,b->...a": [(2, 5, 3, 4), (4,)],
    "...->...": [(2, 3)],
    ",i": [(), (3,)],
    "BC,CA->AB": [(2, 3), (3, 4)],
    "abcd,bd,ce,ae->be": [(2, 3, 4, 5), (3, 5), (4, 2), (2, 2)],
    "ij,jk->ik": [(2, 1), (3, 4)],
}


@pytest.fixture(params=EQUATIONS, ids=str)
def equation(request):
    """An equation, its explicit form, and tensors that it fits."""
    random = np.random.default_rng(7)
    arrays = [random.integers(-3, 4, shape) for shape in EQUATIONS[request.param]]
    return request.param, explicit(request.param, [a.ndim for a in arrays]), arrays


def test_the_explicit_form_means_the_same(equation):
    """It has an arrow and small letters, and nothing is left to be said."""
    text, found, arrays = equation

    assert set(found) <= set("abcdefghijklmnopqrstuvwxyz,->")
    assert [len(term) for term in parts(found)[0]] == [a.ndim for a in arrays]
    assert np.array_equal(np.einsum(found, *arrays), np.einsum(text, *arrays))
    assert explicit(found, [a.ndim for a in arrays]) == found


def test_steps_of_two_mean_the_same(equation):
    """One after another."""
    _, found, (first, *rest) = equation
    wanted = np.einsum(found, first, *rest)
    for step, other in zip(pairwise(found), rest or [None], strict=True):
        first = np.einsum(step, *[a for a in (first, other) if a is not None])

    assert np.array_equal(first, wanted)


def test_shapes_follow(equation):
    """What NumPy gives, and what the layers that are recorded give."""
    _, found, arrays = equation
    sizes = [list(a.shape) for a in arrays]
    wanted = list(np.einsum(found, *arrays).shape)

    assert shapes.contracted_shape(found, sizes) == wanted
    assert shapes.contractible(found, sizes) is True
    network = trt.Network({}, {f"x{i}": (float32, a.shape) for i, a in enumerate(arrays)})
    with network:
        result = trt.contraction(list(network.inputs.values()), found)
    assert list(result.shape) == wanted
    assert all(len(layer.arguments["inputs"]) <= 2 for layer in network.layers)
    assert all(trt.einsum.infer_shapes(layer.arguments) for layer in network.layers)


@pytest.mark.parametrize(
    ("text", "ranks", "wanted"),
    [
        ("ij,jk", [2], "a term for each of the 1 tensors"),
        ("ij", [3], "a term for 3 dimensions"),
        ("...ij", [1], "a term for 1 dimensions"),
        ("ij->ijj", [2], "labels of its terms in the result, each once"),
        ("ij->k", [2], "labels of its terms in the result, each once"),
        ("i1", [2], "letters"),
        ("i......", [2], "letters"),
        ("i->i->i", [1], "letters"),
        ("i.j", [2], "letters"),
        ("", [1], "a term for 1 dimensions"),
        ("abcdefghijklmnopqrstuvwxyzA", [27], "at most 26"),
    ],
)
def test_others_are_refused(text, ranks, wanted):
    """In words that say what is wanted."""
    with pytest.raises(EquationError, match=wanted):
        explicit(text, ranks)


def test_sizes_that_disagree_are_told():
    """As far as they are known; a diagonal needs equal ones."""
    batch = symbol("B", 1, 8)

    assert shapes.contractible("ij,jk->ik", [[2, 3], [4, 5]]) is False
    assert shapes.contractible("ii->i", [[1, 3]]) is False
    assert shapes.contractible("bi,bi->b", [[batch, 3], [batch, 3]]) is True
    assert shapes.contracted_shape("bi,bi->b", [[batch, 3], [1, 3]]) == [batch]
    assert shapes.contractible("bi,bi->b", [[batch, 3], [2, 3]]) not in (True, False)
