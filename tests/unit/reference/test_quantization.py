"""Quantization against ml_dtypes, and what must be known when an engine is built."""

import ml_dtypes
import numpy as np
import pytest

import tripyapi as tp
from tripyapi.tensor import Tensor
from tripybuild import stablehlo as hlo
from tripybuild.artifact.graph_json import from_data, to_data
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.reference.execute import execute
from tripybuild.testing import batch
from tripybuild.trace.generated_code import operation_class
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value, is_static
from tripybuild.types.dtypes import float4, float8, float16, float32, from_numpy, int4, int8

RANGES = {int8: (-128, 127), int4: (-8, 7), float8: (-448, 448), float4: (-6, 6)}


class Call:
    """A function on arrays, as a graph and its data."""

    def __init__(self, function, *arrays):
        values = [Value(TensorType(from_numpy(a.dtype), a.shape)) for a in arrays]
        names = [f"x{i}" for i in range(len(arrays))]
        result = function(*map(Tensor.of, values))
        self.graph = Graph("g", dict(zip(names, values, strict=True)), {}, {"y": result.value})
        self.data = dict(zip(names, arrays, strict=True))


def both(function, *arrays):
    """What `cpu` and the references give."""
    call = Call(function, *arrays)
    ((compiled,),) = batch.run([call])
    return compiled, execute(call.graph, call.data)["y"]


def given(name="x", *, weight=False):
    return Tensor.of(Value(TensorType(float32, (2, 3)), name=name, weight=weight))


def refused(function):
    with pytest.raises(DiagnosticError) as raised:
        function()
    (found,) = raised.value.diagnostics
    return found


def numbers(*shape):
    """Numbers of all sizes, halves and ends of ranges among them."""
    random = np.random.default_rng(7)
    some = (random.normal(size=shape) * 10.0 ** random.integers(-3, 4, shape)).astype(np.float32)
    some.flat[:8] = [0.5, 1.5, -2.5, np.inf, -np.inf, 0.0, 448.0, 464.1]
    return some


# --- values ---


@pytest.mark.parametrize("dtype", RANGES, ids=str)
@pytest.mark.parametrize(
    ("scale", "spread", "dim"),
    [
        (0.5, np.float32(0.5), None),
        ([0.5, 2.0, 0.25, 1.0], np.float32([[0.5], [2.0], [0.25], [1.0]]), 0),
        ([0.5, 2.0, 0.25, 1.0, 3.0, 0.1], np.float32([0.5, 2.0, 0.25, 1.0, 3.0, 0.1]), -1),
    ],
)
def test_rounding_is_that_of_ml_dtypes(dtype, scale, spread, dim):
    """Within the range, the nearest number that the type has; beyond it, its end."""
    x, (low, high) = numbers(4, 6), RANGES[dtype]
    inside = np.clip(x / spread, low, high)
    real = dtype.kind == "float"
    wanted = (inside if real else np.rint(inside)).astype(dtype.numpy)
    for found in both(lambda x: tp.quantize(x, scale, dtype, dim), x):
        assert found.dtype == dtype.numpy
        assert found.tobytes() == wanted.tobytes()
    wide = wanted.astype(np.float32) * spread
    for found in both(lambda q: tp.dequantize(q, scale, float32, dim), wanted):
        np.testing.assert_array_equal(found, wide)


@pytest.mark.parametrize("blocks", [(2, 6), (4, 3), (4, 6), (1, 6)])
@pytest.mark.parametrize("lead", [(), (2,)])
def test_blocks_lie_along_one_of_the_last_dimensions(blocks, lead):
    x = numbers(*lead, 4, 6)
    scale = np.arange(1, 1 + np.prod((*lead, *blocks)), dtype=np.float32).reshape(*lead, *blocks)
    spread = np.kron(scale, np.ones((4 // blocks[0], 6 // blocks[1]), np.float32))
    wanted = np.rint(np.clip(x / spread, -8, 7))
    for found in both(lambda x: tp.quantize(x, Tensor(scale), int4), x):
        np.testing.assert_array_equal(found.astype(np.float32), wanted)
    small = wanted.astype(ml_dtypes.int4)
    for found in both(lambda q: tp.dequantize(q, Tensor(scale), float32), small):
        np.testing.assert_array_equal(found, wanted * spread)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_scales_have_scales_of_their_own(dim):
    """Each block of 16 is told by its largest value, in units that are told once for all."""
    x = numbers(2, 32, 32)
    x[~np.isfinite(x)] = 0
    x[0, :16, :16] = 0
    unit = np.float32(np.abs(x).max() / 6 / 448)
    if dim == 0:
        found = refused(lambda: tp.dynamic_quantize(Tensor(x), unit.item(), 0))
        assert found.code == "dynamic_quantize/late-dimension"
        return
    rows = np.moveaxis(x, dim, -1).reshape(2, 32, 2, 16)
    scales = np.abs(rows).max(-1) / 6 / unit
    near = scales.astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    steps = np.where(near == 0, 1, near * unit)[..., None]
    small = np.clip(rows / steps, -6, 6).astype(ml_dtypes.float4_e2m1fn).astype(np.float32)
    small = np.where(near[..., None] == 0, 0, small).reshape(2, 32, 32)

    def there(x, which):
        return tp.dynamic_quantize(x, unit.item(), dim)[which]

    def back(x):
        small, scales = tp.dynamic_quantize(x, unit.item(), dim)
        return tp.dequantize(small, tp.dequantize(scales, unit.item(), float32), float32)

    for found in both(lambda x: there(x, 0), x):
        np.testing.assert_array_equal(found.astype(np.float32), np.moveaxis(small, -1, dim))
    for found in both(lambda x: there(x, 1), x):
        np.testing.assert_array_equal(found.astype(np.float32), np.moveaxis(near, -1, dim))
    wanted = small * np.repeat(near * unit, 16, -1)
    for found in both(back, x):
        np.testing.assert_allclose(found, np.moveaxis(wanted, -1, dim), rtol=1e-6)


def test_what_is_not_a_number_becomes_zero_in_integers():
    for found in both(lambda x: tp.quantize(x, 1.0, int8), np.float32([np.nan, 1])):
        assert found.tolist() == [0, 1]
    for found in both(lambda x: tp.quantize(x, 1.0, float8), np.float32([np.nan, 1])):
        assert np.isnan(found.astype(np.float32)).tolist() == [True, False]


def test_nothing_is_quantized_to_nothing():
    for found in both(lambda x: tp.quantize(x, [], int8, 0), np.zeros((0, 3), np.float32)):
        assert found.shape == (0, 3)


def test_scales_that_fit_no_blocks():
    module = hlo.HloModule({}, {"x": (float32, (3, 4))})
    with module, pytest.raises(ValueError, match=r"\(3, 4\) are not for blocks of \(4, 4\)"):
        hlo.spread_scale(module.inputs["x"], (4, 4))


# --- what is known when an engine is built ---


def test_weights_and_what_is_made_of_constants_are_known():
    weight, input = given(weight=True), given()
    made = tp.sum(weight * 2.0 + tp.ones([2, 3]))
    assert is_static(made.value)
    assert is_static((made / 2.0).value)
    assert not is_static((made + input).value)
    assert not is_static(((made + input) * 2.0).value)
    tp.quantize(input, made, int8)


def test_a_stored_graph_knows_its_weights():
    weight = Value(TensorType(float32, (3,)), name="scale", weight=True)
    x = given()
    y = tp.quantize(x, Tensor.of(weight), int8, dim=1)
    graph = Graph("g", {"x": x.value}, {"scale": weight}, {"y": y.value})
    again = from_data(*to_data(graph), {}, operation_class)
    assert str(again.outputs["y"].type) == "tensor<2x3xi8>"
    (operation,) = graph.substitute({}).operations
    assert is_static(operation.scale)


@pytest.mark.parametrize(
    ("scale", "code", "label"),
    [
        (given("scale"), "scale", "`scale` is an input of the model"),
        (given("scale") * 2.0, "scale", "`scale` is the result of a step"),
        ([[1.0], [2.0, 3.0]], "scale", "found [[1.0], [2.0, 3.0]]"),
        ([[[1.0]]], "scale", "found [[[1.0]]]"),
        ("large", "scale", "found 'large'"),
        (Tensor(np.ones(3, np.float16)), "F", None),
    ],
)
def test_a_scale_is_known_and_of_the_inputs_dtype(scale, code, label):
    found = refused(lambda: tp.quantize(given(), scale, int8, dim=1))
    assert found.code == f"quantize/{code}"
    assert label is None or found.label == label


def test_a_dtype_that_is_chosen_binds_the_scale():
    small = tp.cast(given(), int8)
    found = refused(lambda: tp.dequantize(small, Tensor([0.5]), float16, dim=1))
    assert found.code == "dequantize/F"
    assert found.message == "`scale` of `dequantize` must be float16"
    whole = tp.dequantize(small, 2, float16)
    assert whole.dtype is float16
