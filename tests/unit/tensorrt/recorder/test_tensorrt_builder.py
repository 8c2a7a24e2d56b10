"""Networks that lowerings record: arguments, dtypes, shapes, operators, text."""

import numpy as np
import pytest
from network_printer import print_network

from tripybuild.symbolic.dims import symbol
from tripybuild.tensorrt import layers as trt
from tripybuild.types.dtypes import boolean, float8, float16, float32, int8, int32, int64

B, S = symbol("B", 1, 8), symbol("S", 1, 64)


def recorded(build, *shapes, dtype=float32):
    """What `build` records for inputs of the shapes, as the lines between the braces."""
    network = trt.Network({}, {f"x{i}": (dtype, shape) for i, shape in enumerate(shapes)})
    with network:
        result = build(*network.inputs.values())
    network.finish({"y": result} if isinstance(result, trt.Value) else {})
    lines = print_network(network).splitlines()
    return [line.strip() for line in lines[1:-2]], result


def unknown(x):
    """A value of which nobody knows the rank."""
    return trt.if_(x, lambda: [x], lambda: [trt.reduce(x, [0], "sum")], [])[0]


def test_a_network_is_printed():
    """Weights first, numbered values, attributes that are not the default, named outputs."""
    network = trt.Network({"w": (float32, (4, 8))}, {"x": (float32, (B, 4))})
    with network:
        hidden = trt.matrix_multiply(network.inputs["x"], network.weights["w"])
        values, places = trt.top_k(hidden, k=2, axis=1, kind="max")
        network.finish({"best": trt.softmax(values, 1), "places": places})
    assert print_network(network) == (
        "network(%0 w: float32[4, 8], %1 x: float32[B, 4]) {\n"
        "  %2 = trt.matrix_multiply(%1, %0)\n"
        "  %3:2 = trt.top_k(%2) {k = 2, axis = 1, kind = kMAX}\n"
        "  %4 = trt.softmax(%3#0) {axis = 1}\n"
        "  return %4 best, %3#1 places\n"
        "}\n"
    )
    assert places.dtype is int32
    assert places.shape == values.shape == (B, 2)


def test_layers_remember_where_they_come_from():
    """The innermost place that was open."""
    network = trt.Network({}, {"x": (float32, (2,))})
    with network:
        with network.location("a", "spec.yaml", 1, 2):
            with network.location("b", "spec.yaml", 3, 4):
                trt.unary(network.inputs["x"], "exp")
            trt.unary(network.inputs["x"], "log")
        trt.unary(network.inputs["x"], "sqrt")
    places = [layer.location for layer in network.layers]
    assert places == [("b", "spec.yaml", 3, 4), ("a", "spec.yaml", 1, 2), None]


def test_floats_are_cut_off_by_the_sign():
    """Down above zero, up below: of NaN the branch does not matter."""
    lines, result = recorded(trt.truncate, (2, 3))
    assert [line.split("trt.")[1].split("(")[0] for line in lines] == [
        *("constant", "element_wise", "unary", "unary", "select"),
    ]
    assert "kind = kLESS" in lines[1]
    assert (result.dtype, result.shape) == (float32, (2, 3))


def test_remainders_of_integers_need_no_cut():
    """TensorRT cuts off the quotient of integers itself; that of floats is cut off here."""
    lines, result = recorded(trt.remainder, (3, 1), (4,), dtype=int64)
    kinds = [line.split("kind = ")[1].strip("}") for line in lines if "element_wise" in line]
    assert kinds == ["kDIV", "kPROD", "kSUB"]
    assert (result.dtype, result.shape) == (int64, (3, 4))
    lines, _ = recorded(lambda x: trt.remainder(x, 2.0), (3,))
    assert sum("trt.select" in line for line in lines) == 2


def test_python_operators_record_layers():
    """Numbers become constants of the value's dtype and rank; ranks are aligned."""
    lines, result = recorded(lambda x, y: 2 * x + y, (B, 4), (4,))
    assert lines == [
        "%2 = trt.constant() {value = 2, dtype = float32, shape = [1, 1]}",
        "%3 = trt.element_wise(%2, %0) {kind = kPROD}",
        "%4 = trt.unsqueeze(%1) {axes = [0]}",
        "%5 = trt.element_wise(%3, %4) {kind = kSUM}",
    ]
    assert result.shape == (B, 4)
    assert repr(result) == "Value(float32[B, 4])"
    lines, _ = recorded(lambda x: -((x % 3) ** 2) / 1 // 1 - 1, (4,), dtype=int32)
    kinds = [line.split("kind = ")[1][:-1] for line in lines if "kind" in line]
    assert kinds == ["kFLOOR_DIV", "kPROD", "kSUB", "kPOW", "kNEG", "kDIV", "kFLOOR_DIV", "kSUB"]
    lines, _ = recorded(lambda x: ~(x & x | x ^ x), (4,), dtype=boolean)
    assert [line.split("kind = ")[1][:-1] for line in lines] == ["kAND", "kXOR", "kOR", "kNOT"]


def test_numbers_beside_int8_are_cast():
    """TensorRT takes constants of int8 only where they are dequantized."""
    lines, result = recorded(lambda x: x + 1, (2, 3), dtype=int8)
    assert [line.split(" = ")[1].split("(")[0] for line in lines] == [
        "trt.constant",
        "trt.cast",
        "trt.element_wise",
    ]
    assert result.dtype is int8


def test_the_matrix_operator_marks_vectors():
    """A vector is no row of a matrix."""
    lines, result = recorded(lambda x, y: x @ y, (3, 4), (4,))
    assert lines == ["%2 = trt.matrix_multiply(%0, %1) {op1 = kVECTOR}"]
    assert result.shape == (3,)
    lines, result = recorded(lambda x, y: x @ y, (B, S, 4), (4, 5))
    assert len(lines) == 2
    assert result.shape == (B, S, 5)


def test_ranks_can_be_raised():
    """For layers that need two dimensions."""
    lines, result = recorded(lambda x: trt.at_least(x, 3), (S,))
    assert lines == ["%1 = trt.unsqueeze(%0) {axes = [0, 1]}"]
    assert result.shape == (1, 1, S)
    assert recorded(lambda x: trt.at_least(x, 1), (S,))[0] == []


def test_a_value_is_fitted_into_a_shape():
    """Nothing is recorded where nothing changes."""
    assert recorded(lambda x: trt.crop_or_pad(x, [B, 3]), (B, 3))[0] == []
    lines, result = recorded(lambda x: trt.crop_or_pad(x, [B, 5]), (B, 3))
    assert lines == ["%1 = trt.slice(%0) {start = [0, 0], size = [B, 5], mode = kFILL}"]
    assert result.shape == (B, 5)


@pytest.mark.parametrize(
    ("build", "shapes", "expected"),
    [
        (lambda x: trt.reduce(x, [1], "sum"), [(B, S, 4)], (B, 4)),
        (lambda x: trt.reduce(x, [1], "sum", keep_dimensions=True), [(B, S, 4)], (B, 1, 4)),
        (lambda x, y: trt.element_wise(x, y, "sum"), [(B, 1), (1, S)], (B, S)),
        (lambda x: trt.reshape(x, [B * S, 4]), [(B, S, 4)], (B * S, 4)),
        (lambda x: trt.transpose(x, [2, 0, 1]), [(B, S, 4)], (4, B, S)),
        (lambda x, y: trt.concatenation([x, y], axis=1), [(B, S), (B, 3)], (B, S + 3)),
        (lambda x: trt.slice(x, [0, 0], [B, 2]), [(B, S)], (B, 2)),
        (lambda x: trt.squeeze(x, [-1]), [(B, 1)], (B,)),
        (trt.shape, [(B, S)], (2,)),
        (trt.non_zero, [(B, S)], (2, None)),
        (lambda x: trt.broadcast(x, [B, 3], broadcast_dims=range(1, 2)), [(3,)], (B, 3)),
        (
            lambda x, w: trt.convolution(x, w, stride=[2, 1], pre_padding=[1, 0]),
            [(B, 3, 8, S), (6, 3, 3, 2)],
            (B, 6, 4, S - 1),
        ),
        (
            lambda x, w: trt.deconvolution(x, w, stride=[2, 2], num_groups=2),
            [(B, 4, 5, 5), (4, 3, 3, 3)],
            (B, 6, 11, 11),
        ),
        (lambda x: trt.pooling(x, "max", [2, 2], stride=[2, 2]), [(B, 3, 8, 9)], (B, 3, 4, 4)),
        (lambda x: trt.resize_linear(x, shape=[1, 1, 4, 4]), [(1, 1, 2, 2)], (1, 1, 4, 4)),
        (lambda x: trt.resize_linear(x, scales=[1, 2]), [(2, S)], (2, S * 2)),
        (lambda x: trt.resize_linear(x, scales=[1.5, 1.5]), [(3, S)], (4, None)),
        (lambda x: trt.dynamic_quantize(x, dtype=float8, axis=1)[1], [(B, 32)], (B, 2)),
        (lambda x: trt.shuffle(x, [1, 0], [S, 2, B], [2, 1, 0]), [(B * 2, S)], (B, 2, S)),
        (lambda x: trt.all_gather(x, 4), [(S, 2)], (S * 4, 2)),
        (lambda x, y: trt.nms(x, x, y)[0], [(B, S, 4), ()], (None, 3)),
        (trt.grid_sample, [(B, 3, 4, 4), (B, S, 5, 2)], (B, 3, S, 5)),
        (trt.attention, [(B, 2, S, 8)] * 3, (B, 2, S, 8)),
        (lambda x, y: trt.einsum([x, y], "ij,jk->ik"), [(2, 3), (3, S)], (2, S)),
    ],
)
def test_shapes_follow_simple_rules(build, shapes, expected):
    """Sizes stay symbolic; None where no rule knows."""
    _, result = recorded(build, *shapes)
    assert result.shape == expected


def test_dtypes_follow_the_table():
    """From the first operand, from an argument, or fixed."""
    network = trt.Network({}, {"x": (float16, (2, 4)), "i": (int32, (2,))})
    with network:
        x, i = network.inputs.values()
        found = [
            trt.element_wise(x, x, "kLESS"),
            trt.unary(x, "kISNAN"),
            trt.cast(x, int64),
            trt.gather(x, i, axis=0),
            trt.select(trt.cast(x, boolean), x, x),
            trt.quantize(x, trt.constant(1, float16), int8),
            trt.linspace([3], 0, [1]),
            trt.linspace([3], trt.constant(0.5, float32), [1.0]),
            *trt.dynamic_quantize(x, None, float8, 1, scale_dtype=float32),
            trt.shape(x),
            trt.gather(trt.constant(np.zeros((3, 2), np.float32), float32), i, axis=0),
        ]
    dtypes = [value.dtype for value in found]
    assert dtypes == [
        boolean, boolean, int64, float16, float16, int8, int32, float32, float8, float32, int32,
        float32,
    ]  # fmt: skip
    assert found[-1].shape == (2, 2)


def test_regions_are_recorded_inside_their_layer():
    """Functions on values become layers of a region, which may use what is outside."""
    network = trt.Network({}, {"x": (float32, (2,)), "p": (boolean, ())})
    with network:
        x, p = network.inputs.values()
        (chosen,) = trt.if_(p, lambda v: [v * v], lambda v: [trt.identity(x)], [x])
        i = trt.constant(0, int32)
        looped = trt.for_(i, i, i, [chosen], lambda n, v: [v + chosen])
        last, _ = trt.while_(
            [looped[0], i], lambda v, n: trt.element_wise(n, n, "kLESS"), lambda v, n: (v, n)
        )
        trt.assertion(p, "p holds")
        network.finish({"y": last})
    assert print_network(network).splitlines()[1:-1] == [
        "  %4 = trt.if_(%1, [%0]) {",
        "    %2 = trt.element_wise(%0, %0) {kind = kPROD}",
        "    give %2",
        "  } {",
        "    %3 = trt.identity(%0)",
        "    give %3",
        "  }",
        "  %5 = trt.constant() {value = 0, dtype = int32}",
        "  %9 = trt.for_(%5, %5, %5, [%4]) {",
        "    take %6, %7",
        "    %8 = trt.element_wise(%7, %4) {kind = kSUM}",
        "    give %8",
        "  }",
        "  %15:2 = trt.while_([%9, %5]) {",
        "    take %10, %11",
        "    %12 = trt.element_wise(%11, %11) {kind = kLESS}",
        "    give %12",
        "  } {",
        "    take %13, %14",
        "    give %13, %14",
        "  }",
        '  trt.assertion(%1) {message = "p holds"}',
        "  return %15#0 y",
    ]


def test_plugins_say_what_they_give():
    """Ranks and dtypes are arguments; sizes are not known."""
    lines, results = recorded(
        lambda x: trt.opaque_plugin([x], "Roi", outputs=[(2, float16)], creator_params={"n": 1}),
        (2, 2),
    )
    assert lines[0].startswith('%1 = trt.opaque_plugin([%0]) {plugin_name = "Roi"')
    assert "creator_params = {n: 1}" in lines[0]
    assert (results[0].dtype, results[0].shape) == (float16, (None, None))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (trt.softmax, "`trt.softmax` needs `axis`"),
        (lambda x: trt.softmax(x, axis=1, dim=2), "cannot take `dim`"),
        (lambda x: trt.softmax(3, axis=1), "needs a tensor for `input`, not 3"),
        (lambda x: trt.softmax(x, axis=B), "needs an integer for `axis`"),
        (lambda x: trt.unary(x, "kNO"), "needs one of kEXP"),
        (lambda x: trt.reshape(x, [1.5]), "needs a list of sizes"),
        (lambda x: trt.cast(x, "float32"), "needs a dtype"),
        (lambda x: trt.align(1, 2), "must be a tensor"),
        (lambda x: unknown(x) + 1, "is not known"),
        (lambda x: trt.at_least(unknown(x), 2), "is not known"),
        (lambda x: trt.element_wise(x, trt.constant([[1], [2], [3]], float32), "sum"), "`trt.el"),
        (lambda x: trt.transpose(x, [0, 0]), "`trt.transpose`: expected .* a permutation"),
        (lambda x: trt.reduce(x, [2], "sum"), "`trt.reduce`: expected each element"),
        (lambda x: trt.reshape(x, [5]), r"`trt.reshape`: \[2, 3\] and \[5\] have not as many"),
        (lambda x: trt.reshape(x, [-1]), "`trt.reshape`: sizes are 0 or more"),
        (lambda x: trt.unsqueeze(x, [0, 0]), r"`trt.unsqueeze`: \[0, 0\] are not different dim"),
        (lambda x: trt.squeeze(x, [2]), r"`trt.squeeze`: \[2\] are not different dimensions of 2"),
        (lambda x: trt.squeeze(x, [1]), "`trt.squeeze`: the size of dimension 1 is 3, and not 1"),
        (lambda x: trt.einsum([x], "ijk->i"), "`trt.einsum`: each tensor dimension must have a l"),
        (lambda x: trt.if_(x, lambda: [x], lambda: [trt.shape(x)], []), "branches give"),
        (lambda x: trt.while_([x], lambda v: v, lambda v: [trt.shape(v)]), "cannot continue"),
    ],
)
def test_wrong_arguments_are_value_errors(build, message):
    """They name the layer and the parameter."""
    with pytest.raises(ValueError, match=message):
        recorded(build, (2, 3))


def test_nothing_is_recorded_outside_of_a_network():
    """A builder without a network is a mistake of the caller."""
    with pytest.raises(RuntimeError, match="no network has begun"):
        trt.constant(1, float32)
