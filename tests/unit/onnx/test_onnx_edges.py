"""What runtimes of ONNX disagree on, or die of, is what the declarations say: at the edges."""

from functools import partial

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx_models import Level, agree, floats, graph_of, lowered, run, session

import tripyapi as tp
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.reference.execute import execute
from tripybuild.symbolic.dims import symbol
from tripybuild.types import dtypes

B = symbol("B", 1)
N = symbol("N")  # which may be 0
LEAST = {dtypes.int32: -(2**31), dtypes.int64: -(2**63)}
INF, NAN = np.inf, np.nan


def answers(function, *arrays, opset=20):
    """What ONNX Runtime gives for a function of these arrays."""
    types = [(dtypes.from_numpy(each.dtype), each.shape) for each in arrays]
    graph = graph_of(function, *types)
    return run(lowered(graph, opset, types=True), dict(zip(graph.inputs, arrays, strict=True)))


def f32(*values):
    return np.array(values, np.float32)


def operators(model):
    return [node.op_type for node in model.graph.node]


@pytest.mark.parametrize("kind", LEAST)
def test_integers_are_divided_without_a_trap(kind):
    """By zero, and the least one by -1: of those, processors raise a signal."""
    a = np.array([7, -7, LEAST[kind], 5, -7], kind.numpy)
    b = np.array([2, 2, -1, 0, -2], kind.numpy)
    divided, floored, rest, sign = answers(
        lambda x, y: (x / y, x // y, tp.mod(x, y), tp.fmod(x, y)), a, b
    )
    inside = [0, 1, 2, 4]
    np.testing.assert_array_equal(divided[inside], [3, -3, LEAST[kind], 3])
    np.testing.assert_array_equal(floored[inside], [3, -4, LEAST[kind], 3])
    np.testing.assert_array_equal(rest[inside], [1, 1, 0, -1])
    np.testing.assert_array_equal(sign[inside], [1, -1, 0, -1])


def test_a_divisor_that_is_a_safe_number_is_not_guarded():
    """One node says the division, as with a tensor of floats."""
    graphs = [graph_of(partial(tp.div, rhs=by), (dtypes.int32, (B,))) for by in (3, -7, -1)]
    models = [agree(graph, ({"B": 2}, np.array([7, -9], np.int32))) for graph in graphs]
    assert [operators(model) == ["Div"] for model in models] == [True, True, False]


def test_booleans_are_carried_as_integers():
    """Arithmetic of them, and their order."""

    def function(x, y):
        return x + y, x * y, x - y, tp.maximum(x, y), x < y, x >= y, tp.floordiv(x, y | ~y)

    values = np.array([[True, True, False, False], [True, False, True, False]])
    agree(graph_of(function, *[(dtypes.bool, (4,))] * 2), ({}, *values))


def test_what_an_opset_lacks_is_computed_in_a_wider_dtype():
    """`Sin` takes bfloat16 since opset 22, and is there for it in each."""
    graph = graph_of(tp.sin, (dtypes.bfloat16, (3,)))
    wider, own = (onnx.load_from_string(lowered(graph, opset)) for opset in (20, 22))
    assert operators(wider) == ["Cast", "Sin", "Cast"]
    assert operators(own) == ["Sin"]
    found = answers(lambda x: tp.cast(tp.sin(tp.cast(x, tp.bfloat16)), tp.float32), f32(0, 1))
    np.testing.assert_array_equal(found[0], np.sin(f32(0, 1)).astype(ml_dtypes.bfloat16))


def test_what_no_wider_dtype_carries_is_a_diagnostic():
    """No opset before 21 has int4."""
    graph = graph_of(lambda x: tp.permute(x, [1, 0]), (dtypes.int4, (2, 2)))
    with pytest.raises(DiagnosticError) as caught:
        lowered(graph, 20)
    assert caught.value.diagnostics[0].hint == "opset 21 has them"
    assert lowered(graph, 21)


@pytest.mark.parametrize("kind", [dtypes.float32, dtypes.float16], ids=str)
def test_nan_is_where_the_references_have_it(kind):
    """In the largest and the smallest, their places, in what is sorted, and in signs."""

    def function(x):
        found = [tp.max(x, 1), tp.min(x, 1), tp.argmax(x, 1), tp.argmin(x, 1), tp.sign(x)]
        sorted_ = [*tp.sort(x, 1), *tp.sort(x, 1, descending=True), *tp.topk(x, 2, 1)]
        return [*found, *sorted_, x >= 1.0, x <= 1.0, tp.isfinite(x)]

    rows = [
        [1, NAN, 3, -INF],
        [NAN, INF, NAN, 2],
        [-INF, NAN, -INF, NAN],
        [INF, 1, INF, -INF],
        [2, 2, 1, 1],
    ]
    data = np.array(rows, kind.numpy)
    agree(graph_of(function, (kind, (B, 4))), ({"B": 5}, data))


def test_floats_become_integers_within_their_range():
    """What is not a number becomes 0; a truth is what is not zero."""
    data = f32(NAN, INF, -INF, 2**31, -(2**31), 2.0**63, 1.9, -1.9, 300, -300, 0.5, -0.0)

    def function(x):
        return [tp.cast(x, kind) for kind in (tp.int32, tp.int64, tp.int8, tp.bool)]

    agree(graph_of(function, (dtypes.float32, (B,))), ({"B": len(data)}, data))


def test_indices_beyond_the_ends_are_brought_inside():
    """Those below zero count from the end; no runtime sees another one."""
    data, index = f32(10, 20, 30), np.array([-9, -3, -1, 0, 2, 3, 2**31 - 1], np.int32)
    inside = np.array([0, 0, 2, 0, 2, 2, 2])
    (taken,) = answers(lambda x, i: tp.gather(x, 0, i), data, index)
    (along,) = answers(lambda x, i: tp.gather_elements(x, 0, i), data, index)
    (by_vector,) = answers(lambda x, i: tp.gather_nd(x, tp.reshape(i, [7, 1])), data, index)
    for found in (taken, along, by_vector):
        np.testing.assert_array_equal(found, data[inside])
    for function in (
        lambda x, i, y: tp.scatter_elements(x, 0, i, y),
        lambda x, i, y: tp.scatter_nd(x, tp.reshape(i, [1, 1]), y),
    ):
        (found,) = answers(function, data, np.array([99], np.int32), f32(7))
        np.testing.assert_array_equal(found, [10, 20, 7])


def test_integers_wrap_around_and_are_exact():
    """Sums, products of 32 bits, and powers that 64 bits hold."""
    most = np.array([[2**31 - 1, 2**31 - 1, 3]], np.int32)
    agree(
        graph_of(lambda x: (tp.sum(x, 1), tp.prod(x[:, 1:], 1)), (dtypes.int32, (1, 3))), ({}, most)
    )
    large = np.array([[2**53 + 1, 2, -1], [2**63 - 1, 2**62, 5], [-(2**63), -1, 3]], np.int64)
    agree(graph_of(lambda x: (tp.sum(x, 0), tp.sum(x, 1)), (dtypes.int64, (3, 3))), ({}, large))
    base = np.array([3, -3, 2, -1, -1, 0, 1, -1, 2, 7], np.int64)
    exponent = np.array([39, 39, 62, 101, -3, 0, -5, 2**40, -1, 1], np.int64)
    graph = graph_of(lambda x, y: x**y, *[(dtypes.int64, (10,))] * 2)
    agree(graph, ({}, base, exponent))


FACTORS = [[3**20, 3**15, -7, 2**62, 5], [-1, 2**63 - 1, 11, 3, 1], [13, 17, -(2**63), 9, 7]]


@pytest.mark.parametrize("columns", [5, symbol("S")])
@pytest.mark.parametrize("kind", LEAST)
def test_products_of_integers_wrap_around_and_are_exact(kind, columns):
    """ONNX Runtime multiplies in float64 and keeps them in range; sizes are numbers or symbols."""

    def function(x):
        several = tp.prod(x, [0, 1]), tp.prod(x, [0, 1], keepdim=True), tp.cumprod(x, 1)
        return tp.prod(x, 1), tp.prod(x, 0, keepdim=True), *several

    data = np.array(FACTORS, np.int64).astype(kind.numpy)
    widths = [5] if isinstance(columns, int) else [5, 1, 0]
    cases = [({"B": 3, "S": width}, data[:, :width]) for width in widths]
    graph = graph_of(function, (kind, (B, columns)))
    agree(graph, *cases)
    for _, rows in cases:  # as float64, `agree` compares few digits of them
        feeds = {"x0": rows}
        wanted = execute(graph.substitute(dict(zip("BS", rows.shape, strict=True))), feeds)
        for got, want in zip(run(lowered(graph), feeds), wanted.values(), strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", [dtypes.float32, dtypes.float16], ids=str)
def test_largest_values_of_windows_are_those_of_the_references(kind):
    """Where a window has NaN, and where it has nothing above the negative infinity."""

    def function(x):
        padded = tp.maxpool(x, [2, 2], [2, 2], [(1, 1), (1, 1)])
        over_all = tp.global_maxpool(x), tp.adaptive_maxpool(x, [1, 2])
        return tp.maxpool(x, [2, 2]), padded, *over_all, tp.max_average_blend_pool(x, [2, 1], 0.5)

    images = [
        [1, NAN, 3, 2],
        [-INF, -INF, -INF, -INF],
        [-INF, INF, NAN, 1],
        [-INF, kind.lowest, -INF, -INF],
        [INF, -INF, 0, -1],
        [4, 3, -2, 1],
    ]
    data = np.array(images, kind.numpy).reshape(6, 1, 2, 2)
    graph = graph_of(function, (kind, (B, 1, 2, 2)))
    agree(graph, *[({"B": 1}, data[[i]]) for i in range(6)], ({"B": 6}, data))


@pytest.mark.parametrize("opset", [7, 8, 9])
def test_windows_are_compared_where_an_opset_can_say_what_is_not_a_number(opset):
    """`MaxPool` has one result in opset 7; `IsNaN` is there since opset 9."""
    graph = graph_of(lambda x: tp.maxpool(x, [2, 2]), (dtypes.float32, (B, 1, 2, 2)))
    if opset < 9:
        with pytest.raises(DiagnosticError) as caught:
            lowered(graph, opset)
        assert caught.value.diagnostics[0].hint == "opset 9 has it"
    else:
        assert "MaxPool" in operators(onnx.load_from_string(lowered(graph, opset)))


def test_windows_behind_a_relu_have_no_second_look_in_openvino():
    """Its `Relu` makes zero of NaN; where nothing does, or in another engine, NaN is looked for."""

    def of_anything(x):
        return tp.maxpool(x, [2, 2])

    def of_rectified(x):
        return tp.maxpool(tp.maxpool(tp.relu(x), [1, 2]), [2, 1])

    type = dtypes.float32, (B, 1, 4, 4)
    for function, runtime, has in (
        (of_rectified, "openvino", False),
        (of_anything, "openvino", True),
        (of_rectified, "onnxruntime", True),
    ):
        made = onnx.load_from_string(lowered(graph_of(function, type), 22, runtime=runtime))
        assert ("If" in operators(made)) == has


@pytest.mark.parametrize("opset", [20, 21])
def test_what_is_not_a_number_is_quantized_as_zero(opset):
    """`QuantizeLinear` and `Cast` make another integer of it."""
    data = f32(NAN, INF, -INF, 1).reshape(2, 2)

    def function(x):
        found = [tp.quantize(x, 0.5, tp.int8), tp.quantize(x, [0.5, 2.0], tp.int8, 0)]
        if opset > 20:
            scale = [[0.5, 0.25]]
            found.append(tp.dequantize(tp.quantize(x, scale, tp.int4), scale, tp.float32))
            found.append(tp.cast(tp.cast(x, tp.int4), tp.float32))
        return found

    agree(graph_of(function, (dtypes.float32, (2, 2))), ({}, data), opset=opset)


def test_reductions_of_nothing():
    """Also where a size may be 0, or is not."""

    def function(x):
        kinds = (tp.sum, tp.prod, tp.max, tp.min, tp.mean)
        return [*[each(x, 1) for each in kinds], tp.any(x > 0.0, 1), tp.all(x > 0.0, 1)]

    sizes = [({"N": count}, np.ones((2, count), np.float32)) for count in (0, 3)]
    agree(graph_of(function, (dtypes.float32, (2, N))), *sizes)


@pytest.mark.parametrize(
    ("start", "size", "step", "mode"),
    [
        (1, 3, 1, "strict"),
        (4, 3, -2, "strict"),
        (3, 4, -1, "strict"),
        (-2, 9, 1, "fill"),
        (7, 4, -3, "fill"),
        (-4, 14, 1, "reflect"),
        (-4, 14, 1, "wrap"),
        (-4, 5, 3, "clamp"),
        (2, 0, 2, "strict"),
    ],
)
def test_slices(start, size, step, mode):
    """Backwards, beyond the ends, and of no elements; of sizes that are numbers and symbols."""
    data = np.arange(5, dtype=np.float32)
    for length in (5, symbol("N", 1)):
        graph = graph_of(
            lambda x: tp.slice(x, [start], [size], [step], mode), (dtypes.float32, (length,))
        )
        agree(graph, ({"N": 5}, data))


def test_places_around_nothing():
    """Of a size that may be 0, a remainder is asked for; of another, it is not guarded."""

    def function(x):
        return tp.roll(x, 1, 0), tp.tile(x, [2])

    agree(graph_of(function, (dtypes.float32, (N,))), *[({"N": n}, floats(n)) for n in (0, 3)])
    model = agree(graph_of(function, (dtypes.float32, (B,))), ({"B": 3}, floats(3)))
    assert "Max" not in operators(model)


def test_slices_to_an_end_that_is_not_known():
    """Nothing is computed for them: the end of `Slice` is that of any dimension."""
    graph = graph_of(lambda x: x[:, 1:], (dtypes.float32, (B, symbol("S", 2))))
    model = agree(graph, ({"B": 2, "S": 4}, np.ones((2, 4), np.float32)))
    assert operators(model) == ["Slice"]
    reverse = graph_of(lambda x: tp.flip(x, 0), (dtypes.float32, (N,)))
    agree(reverse, ({"N": 4}, f32(1, 2, 3, 4)), ({"N": 0}, f32()))


def test_shapes_are_said_with_few_nodes():
    """A size that stays in its place, and one that follows from the others, are not computed."""
    length = symbol("S", 1)

    def function(x):
        return tp.reshape(x, [B, length, 2, 3]), tp.reshape(x, [B * length, 6])

    graph = graph_of(function, (dtypes.float32, (B, length, 6)))
    data = np.ones((2, 4, 6), np.float32)
    assert operators(agree(graph, ({"B": 2, "S": 4}, data))) == ["Reshape", "Reshape"]
    empty = graph_of(lambda x: tp.reshape(x, [N * 2, 3]), (dtypes.float32, (N, 6)))
    agree(empty, *[({"N": n}, np.ones((n, 6), np.float32)) for n in (0, 2)])


def test_seeds_give_the_numbers_of_each_engine():
    """In a shape with a symbol, too."""

    def function(x):
        shape = [x.shape[0], 3]
        return tp.random_normal(shape, 1.0, 2.0, seed=7), tp.random_uniform(shape, seed=2**40 + 1)

    agree(graph_of(function, (dtypes.float32, (B,))), ({"B": 4}, f32(1, 2, 3, 4)))


def test_numbers_without_a_seed_are_new_each_time():
    """And distributed as they are asked for."""
    graph = graph_of(lambda x: tp.random_uniform([x.shape[0]], 1.0, 3.0), (dtypes.float32, (B,)))
    feeds = {"x0": np.zeros(4000, np.float32)}
    answer = session(lowered(graph))
    (first,), (second,) = (answer.run(None, feeds) for _ in range(2))
    assert not np.array_equal(first, second)
    assert 1 <= first.min() < 1.1 < 1.9 < first.mean() < 2.1 < 2.9 < first.max() < 3


@pytest.mark.parametrize("level", [Level.ORT_DISABLE_ALL, Level.ORT_ENABLE_ALL])
@pytest.mark.parametrize("opset", [20, 23])
def test_rows_of_no_elements_are_normalized(level, opset):
    """Kernels want an element; those of a size that is not 0 are used as they are."""

    def function(x, w):
        return tp.layernorm(x, w, w), tp.rmsnorm(x, w)

    types = [(dtypes.float32, (2, N)), (dtypes.float32, (N,))]
    graph = graph_of(function, *types)
    agree(graph, *[({"N": n}, floats(2, n), floats(n)) for n in (0, 3)], opset=opset)
    feeds = {"x0": floats(2, 0), "x1": floats(0)}
    found = session(lowered(graph, opset if opset < 23 else 22), level).run(None, feeds)
    assert [each.shape for each in found] == [(2, 0), (2, 0)]
    whole = graph_of(function, (dtypes.float32, (2, B)), (dtypes.float32, (B,)))
    assert "LayerNormalization" in operators(onnx.load_from_string(lowered(whole, opset)))


@pytest.mark.parametrize("size", [1, 3])
def test_rewrites_of_onnx_runtime_keep_the_numbers(size):
    """It takes `1 / x * y` for `y / x`, and 0 in the shape of `Expand` for a size that stays."""

    def function(x, y):
        turned = tp.roll(x, 2, 0)
        none = tp.cast(tp.expand(tp.cast(turned[:1], tp.int32), [0, 3]), tp.bool)
        return turned, tp.div(1, y) * 6, none

    graph = graph_of(function, (dtypes.float32, (B, 3)), (dtypes.int32, (4,)))
    feeds = {"x0": np.arange(3.0 * size, dtype=np.float32).reshape(size, 3)}
    feeds["x1"] = np.array([1, 2, -1, 0], np.int32)
    turned, divided, none = session(lowered(graph), Level.ORT_ENABLE_ALL).run(None, feeds)
    np.testing.assert_array_equal(turned, np.roll(feeds["x0"], 2, 0))
    np.testing.assert_array_equal(divided, [6, 0, -6, 0])
    assert none.shape == (0, 3)
