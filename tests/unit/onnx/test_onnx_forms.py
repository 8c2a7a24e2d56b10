"""Forms that runtimes are fast in compute what the references do."""

import numpy as np
import pytest
from onnx_models import agree, floats, graph_of, lowered, operators, run

import tripyapi as tp
from tripybuild.symbolic.dims import symbol
from tripybuild.types import dtypes

B, H, W = symbol("B", 0), symbol("H", 1), symbol("W", 1)
N, M = symbol("N", 0), symbol("M", 0)


@pytest.mark.parametrize("coordinates", ["asymmetric", "half_pixel"])
@pytest.mark.parametrize("rounding", ["floor", "half_up", "half_down"])
def test_pixels_that_are_repeated_have_constant_scales(coordinates, rounding):
    """Whatever the sizes of the image are."""
    options = {"coordinates": coordinates, "rounding": rounding}
    graph = graph_of(
        lambda x: tp.resize_nearest(x, scales=[1, 1, 2, 3], **options),
        (dtypes.float32, (B, 2, H, W)),
    )
    model = agree(
        graph,
        ({"B": 2, "H": 3, "W": 5}, floats(2, 2, 3, 5)),
        ({"B": 0, "H": 3, "W": 5}, floats(0, 2, 3, 5)),
    )
    assert operators(model).count("Resize") == 1
    assert "Gather" not in operators(model)
    scales = [each for each in model.graph.initializer if each.data_type == 1]
    assert [list(np.frombuffer(each.raw_data, np.float32)) for each in scales] == [[1, 1, 2, 3]]


def test_elements_that_are_repeated_are_joined():
    """ONNX Runtime expands a last dimension of one element slowly."""
    graph = graph_of(lambda x: tp.repeat(x, 2, 1), (dtypes.float32, (B, W)))
    model = agree(graph, ({"B": 2, "W": 3}, floats(2, 3)), ({"B": 0, "W": 3}, floats(0, 3)))
    assert "Expand" not in operators(model)
    graph = graph_of(lambda x: tp.expand(x, [4, H, 3]), (dtypes.float32, (1, H, 1)))
    model = agree(graph, ({"H": 5}, floats(1, 5, 1)))
    assert operators(model)[-2:] == ["Expand", "Concat"]
    graph = graph_of(lambda x: tp.expand(x, [-1, 70]), (dtypes.float32, (H, 1)))
    assert operators(agree(graph, ({"H": 5}, floats(5, 1))))[-1] == "Expand"


def bodies(model):
    """The operators of the branches of a model."""
    branches = [
        each for node in model.graph.node if node.op_type == "If" for each in node.attribute
    ]
    return [[node.op_type for node in each.g.node] for each in branches]


SIDES = [((5, 4), (9, 8)), ((1, 1), (1, 3)), ((9, 7), (4, 1)), ((3, 2), (0, 3)), ((3, 70), (6, 35))]


@pytest.mark.parametrize("coordinates", ["align_corners", "asymmetric", "half_pixel"])
@pytest.mark.parametrize("selector", ["formula", "upper"])
@pytest.mark.parametrize("kind", ["resize_linear", "resize_cubic"])
def test_images_are_interpolated_by_matrices(kind, coordinates, selector):
    """Of any sizes, but for long sides, and not where something is not finite."""
    options = {"coordinates": coordinates, "selector": selector}

    def resized(x, like):
        return getattr(tp, kind)(x, [*x.shape[:2], *like.shape], **options)

    graph = graph_of(resized, (dtypes.float32, (B, 2, H, W)), (dtypes.float32, (N, M)))
    inputs = [
        (dict(zip("BHWNM", (2, *old, *new), strict=True)), floats(2, 2, *old), floats(*new))
        for old, new in SIDES
    ]
    model = agree(graph, *inputs, absolute=1e-5, runtime="onnxruntime")
    assert sorted(("MatMul" in each, "Resize" in each) for each in bodies(model)) == [
        (False, True),
        (True, False),
    ]
    assert operators(agree(graph, inputs[0])).count("Resize") == 1
    strange = inputs[0][1].copy()
    strange[0, 0, 1, 2], strange[1, 1, 3, 0] = np.nan, np.inf
    both = [
        run(lowered(graph, **settings), {"x0": strange, "x1": inputs[0][2]})[0]
        for settings in ({}, {"runtime": "onnxruntime"})
    ]
    np.testing.assert_array_equal(*both)
    assert np.isfinite(both[0]).any()


def test_sides_that_are_known_to_be_long_are_resized():
    """Then there is no branch."""
    graph = graph_of(lambda x: tp.resize_linear(x, [9, 140]), (dtypes.float32, (3, 70)))
    model = agree(graph, ({}, floats(3, 70)), absolute=1e-5, runtime="onnxruntime")
    assert operators(model) == ["Resize"]


def masks(kind, size):
    """Masks of words, of which there are none, of one sentence, and of none of the words."""
    seen = np.ones((size, 1, 1, 5), bool)
    seen[1:, ..., 3:] = False
    seen[2:] = False
    return seen if kind is dtypes.bool else np.where(seen, 0.5, -np.inf).astype(np.float32)


@pytest.mark.parametrize("kind", [dtypes.bool, dtypes.float32])
@pytest.mark.parametrize("heads", [4, 2])
def test_nothing_is_computed_of_weights_that_are_no_normal_numbers(kind, heads):
    """What a mask hides counts for nothing, even where the values are huge."""
    graph = graph_of(
        tp.attention,
        (dtypes.float32, (B, 4, H, 8)),
        (dtypes.float32, (B, heads, W, 8)),
        (dtypes.float32, (B, heads, W, 3)),
        (kind, (B, 1, 1, W)),
    )
    cases = []
    for size in (0, 1, 3):
        values = floats(size, heads, 5, 3)
        values[2:, ..., 3:, :] = 3e38
        arrays = (floats(size, 4, 2, 8), floats(size, heads, 5, 8), values, masks(kind, size))
        cases.append(({"B": size, "H": 2, "W": 5}, *arrays))
    model = agree(graph, *cases, runtime="onnxruntime")
    assert sorted("Max" in each for each in bodies(model)) == [False, True]
    assert not bodies(agree(graph, *cases))


@pytest.mark.parametrize(("hidden", "lowest"), [(-np.inf, -np.inf), (-1e9, dtypes.float32.lowest)])
def test_what_a_mask_of_floats_hides_counts_for_nothing(hidden, lowest):
    """Also where the value is huge, where all is hidden, and where all scores are -inf."""
    graph = graph_of(
        tp.attention,
        (dtypes.float32, (1, 1, 4, 3)),
        (dtypes.float32, (1, 1, W, 3)),
        (dtypes.float32, (1, 1, W, 3)),
        (dtypes.float32, (4, W)),
    )
    query, key, value = floats(1, 1, 4, 3), np.abs(floats(1, 1, 5, 3)), floats(1, 1, 5, 3)
    query[..., 3, :] = -np.inf
    value[..., 2, :] = 1e38
    mask = np.zeros((4, 5), np.float32)
    mask[:, 2], mask[1, 2:], mask[2] = hidden, hidden, lowest
    mask[2, 2] = -np.inf
    agree(graph, ({"W": 5}, query, key, value, mask), runtime="onnxruntime")


def test_later_words_are_hidden_without_a_branch():
    """Some are, in each call."""
    graph = graph_of(
        lambda *given: tp.attention(*given, causal=True),
        *[(dtypes.float32, (B, 4, H, 8))] * 3,
    )
    case = ({"B": 2, "H": 5}, *[floats(2, 4, 5, 8)] * 3)
    assert operators(agree(graph, case, runtime="onnxruntime")).count("Max") == 1
    assert "Max" not in operators(agree(graph, case))


@pytest.mark.parametrize("combine", [tp.sum, tp.mean])
def test_many_numbers_are_added_in_float64(combine):
    """In float32, the fourth digit would be wrong; a few are added as they are."""
    size = 2**18

    def along(dim, *shape):
        graph = graph_of(lambda x: combine(x, dim), (dtypes.float32, shape))
        numbers = {"N": size, "M": size // 2**9, "K": 2}
        sizes = [numbers.get(str(each), each) for each in shape]
        array = np.full(sizes, 0.1, np.float32)
        return agree(graph, (numbers, array), runtime="onnxruntime")

    assert operators(along(0, size)).count("Cast") == 2
    assert operators(along(0, size, 2)).count("Cast") == 2
    for model in (along(0, N), along(0, N, 2), along([0, 2], M, 1, 2**9)):
        assert sorted("Cast" in each for each in bodies(model)) == [False, True]
    bounded = symbol("K", 1, 2**8)
    assert "Cast" not in operators(along([0, 1], 2**8, bounded)) + operators(along(1, N, 3))
