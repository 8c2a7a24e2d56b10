"""What lowerings to ONNX take care of: tensors without elements, narrow floats, places, loops."""

import itertools

import numpy as np
import onnx
import onnx_models
import pytest
from test_onnx_lowering import agree, floats, graph_of, operators

import tripyapi as tp
from tripybuild.reference.execute import execute
from tripybuild.symbolic.dims import symbol
from tripybuild.types import dtypes

B, S = symbol("B", 1), symbol("S", 1)


@pytest.mark.parametrize("shape", [(2, 0, 4), (0, 3, 4), (2, 3, 0)])
def test_nothing_is_computed_of_tensors_without_elements(shape):
    """ONNX Runtime's `InstanceNormalization` of nothing ends the process."""

    def function(x, scale):
        return tp.instancenorm(x, scale, scale, shape[1])

    graph = graph_of(function, (dtypes.float32, shape), (dtypes.float32, shape[1:2]))
    model = agree(graph, ({}, floats(*shape), floats(shape[1])))
    assert operators(model) == ["Identity"]


def test_a_result_without_elements_has_the_other_sizes():
    """Symbols among them are those of the inputs."""
    graph = graph_of(lambda x: tp.softmax(tp.slice(x, [0, 0], [x.shape[0], 0]), 1),
                     (dtypes.float32, (B, 4)))  # fmt: skip
    agree(graph, ({"B": 3}, floats(3, 4)), ({"B": 1}, floats(1, 4)))


def test_a_size_of_zero_is_not_copied():
    """`Reshape` takes a 0 for the size that was there."""
    shape = (2, 3, 0)
    graph = graph_of(tp.linear, (dtypes.float32, shape), (dtypes.float32, (4, 0)),
                     (dtypes.float32, (4,)))  # fmt: skip
    model = agree(graph, ({}, floats(*shape), floats(4, 0), floats(4)))
    (first,) = [each for each in model.graph.node if each.op_type == "Gemm"][:1]
    (producer,) = [each for each in model.graph.node if first.input[0] in each.output]
    assert [(each.name, each.i) for each in producer.attribute] == [("allowzero", 1)]


@pytest.mark.parametrize("dtype", [dtypes.float16, dtypes.bfloat16])
def test_narrow_floats_are_widened_where_onnx_has_none(dtype):
    """`Celu` is one of float32 alone; its result is rounded once."""
    graph = graph_of(tp.celu, (dtype, (B, 4)))
    text = onnx_models.lowered(graph)
    model = onnx.load_from_string(text)
    assert operators(model) == ["Cast", "Celu", "Cast"]
    assert onnx_models.lowered(graph_of(tp.elu, (dtypes.float16, (B, 4))))
    given = floats(3, 4).astype(dtype.numpy)
    if dtype is dtypes.float16:
        (want,) = execute(graph.substitute({"B": 3}), {"x0": given}).values()
        np.testing.assert_array_equal(onnx_models.run(text, {"x0": given})[0], want)


PLACES = [*itertools.product((1, 7, 14), (1, 2, 4, 13, 38, 39))]


@pytest.mark.parametrize("rounding", ["floor", "ceil", "half_up", "half_down"])
@pytest.mark.parametrize("coordinates", ["align_corners", "asymmetric", "half_pixel"])
def test_nearest_elements_are_those_of_the_sizes(coordinates, rounding):
    """In float32 some places lie beside the whole numbers that they are: 14 to 38 elements."""
    inputs = [(dtypes.float32, (B,))] * len(PLACES)

    def function(*given):
        pairs = zip(given, PLACES, strict=True)
        return [
            tp.resize_nearest(tp.slice(x, [0], [n]), [m], None, coordinates, "formula", rounding)
            for x, (n, m) in pairs
        ]

    row = np.arange(14, dtype=np.float32)
    agree(graph_of(function, *inputs), ({"B": 14}, *[row] * len(PLACES)))


@pytest.mark.parametrize("kind", ["resize_nearest", "resize_linear", "resize_cubic"])
def test_sizes_of_images_are_symbols(kind):
    """One model resizes images of all sizes to all sizes that follow from theirs."""

    def function(x):
        return getattr(tp, kind)(x, [2, 3, B * 2 + 1, S * 2])

    graph = graph_of(function, (dtypes.float32, (2, 3, B, S)))
    agree(graph, *[({"B": b, "S": s}, floats(2, 3, b, s)) for b, s in ((5, 4), (3, 7))])


@pytest.mark.parametrize("kind", ["resize_linear", "resize_cubic"])
def test_channels_may_be_a_symbol_whose_number_is_given(kind):
    """That they stay as many is a law of each call; runtimes have no cubes of curves."""
    graph = graph_of(lambda x: getattr(tp, kind)(x, [2, 3, 7, 8]), (dtypes.float32, (2, B, 5, 6)))
    agree(graph, ({"B": 3}, floats(2, 3, 5, 6)))


def test_a_loop_over_no_rows_gives_what_it_began_with():
    """ONNX Runtime's `Scan` refuses to run."""

    def function(x, rows):
        return tp.scan(lambda a, row: [a + row, a * row], [x], [rows])

    graph = graph_of(function, (dtypes.float32, (4,)), (dtypes.float32, (0, 4)))
    model = agree(graph, ({}, floats(4), floats(0, 4)))
    assert "Scan" not in operators(model)


@pytest.mark.parametrize("start", [-3, 0, 2, 5, 100])
def test_rows_of_a_cache_are_written_inside_of_it(start):
    """A position that is beyond the end is the last one at which the update fits."""
    types = [(dtypes.float32, (B, 2, 8, 4)), (dtypes.float32, (B, 2, S, 4)), (dtypes.int32, (B,))]
    graph = graph_of(tp.kv_cache_update, *types)
    position = np.array([start, start + 1], np.int32)
    agree(graph, ({"B": 2, "S": 3}, floats(2, 2, 8, 4), floats(2, 2, 3, 4), position))
    one = (floats(1, 2, 8, 4), floats(1, 2, 1, 4), position[:1])
    agree(graph, ({"B": 1, "S": 1}, *one))


@pytest.mark.parametrize("heads", [2, 6])
@pytest.mark.parametrize("masked", ["bool", "float32"])
def test_a_query_without_keys_gets_zeros(heads, masked):
    """Also where heads of keys are for several heads of queries."""
    shapes = (B, 6, S, 4), (B, heads, 5, 4), (B, heads, 5, 3)
    types = [*[(dtypes.float32, each) for each in shapes], (dtypes.BY_NAME[masked], (S, 5))]
    seen = np.array([[1, 1, 0, 1, 0], [0] * 5, [1] * 5], bool)
    mask = seen if masked == "bool" else np.where(seen, 0.5, -np.inf).astype(np.float32)
    arrays = [floats(2, 6, 3, 4), floats(2, heads, 5, 4), floats(2, heads, 5, 3), mask]
    agree(graph_of(tp.attention, *types), ({"B": 2, "S": 3}, *arrays))


@pytest.mark.parametrize("opset", [20, 23])
@pytest.mark.parametrize("interleaved", [False, True])
def test_a_part_of_a_head_is_rotated(opset, interleaved):
    """Halves or neighbors, by angles for each place or by a table's rows."""

    def function(x, cosine, sine, position):
        both = tp.rotary_embedding(x, cosine, sine, position, interleaved)
        rows = [tp.slice(each, [0, 0], [4, 3]) for each in (cosine, sine)]
        return both, tp.rotary_embedding(x, *rows, None, interleaved)

    table = (dtypes.float32, (6, 3))
    types = (dtypes.float32, (B, 2, 4, 8)), table, table, (dtypes.int32, (B, 4))
    position = np.array([[0, 5, 3, 1]], np.int32)
    arrays = floats(1, 2, 4, 8), floats(6, 3), floats(6, 3) + 1, position
    agree(graph_of(function, *types), ({"B": 1}, *arrays), opset=opset)


@pytest.mark.parametrize("opset", [20, 21])
def test_quantized_values_are_rounded_to_even_and_saturate(opset):
    """By one scale, and by one for each row."""

    def function(x):
        whole = tp.quantize(x, 1.0, dtypes.int8)
        return (
            whole,
            tp.quantize(x, [0.5, 2.0], dtypes.int8, 0),
            tp.dequantize(whole, 0.25, dtypes.float32),
        )

    given = np.array([[0.5, 1.5, -2.5, 1e9], [127.5, -128.5, -1e9, 3.49]], np.float32)
    agree(graph_of(function, (dtypes.float32, (2, B))), ({"B": 4}, given), opset=opset)
