"""What programs for nvtripy do that ours once refused or answered otherwise, one test for each."""

import copy
import dataclasses
import inspect
import json
import math
import pickle
import typing

import numpy as np
import pytest

import tripyapi as tp

Tuple = typing.Tuple  # noqa: UP006 - as nvtripy annotates
X = tp.Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


def info(*shape):
    return tp.InputInfo(shape, tp.float32)


# --- operators ---


@pytest.mark.parametrize("pad", [(3, 0), (0, 3), (4, 9)])
def test_padding_mirrors_as_often_as_it_takes(pad):
    """As TensorRT's `REFLECT` does; a single element repeats."""
    row = np.float32([1, 2, 3])
    for size in (3, 2, 1):
        wanted = np.pad(row[:size], pad, "reflect")
        np.testing.assert_array_equal(tp.pad(tp.Tensor(row[:size]), [pad], "reflect"), wanted)
        made = tp.compile(lambda x: tp.pad(x, [pad], "reflect"), args=[info((1, 2, 3))])
        np.testing.assert_array_equal(made(row[:size]), wanted)
    with pytest.raises(tp.TripyException, match="slice/something-inside"):
        tp.pad(tp.ones([0]), [pad], "reflect")


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_the_variance_of_one_element(shape):
    """It is NaN, as nothing is divided by nothing, and 0 without the correction."""
    x = tp.ones(shape)
    assert math.isnan(float(tp.var(x)))
    assert np.isnan(tp.var(x, keepdim=True)).shape == shape
    assert float(tp.var(x, correction=0)) == 0
    made = tp.compile(tp.var, args=[info(*[(1, 1, 2)] * len(shape))])
    assert math.isnan(float(made(x)))


# --- modules ---


@pytest.mark.parametrize("kind", [tp.Conv, tp.ConvTranspose])
def test_the_bias_of_a_convolution_stands_first(kind):
    made = kind(2, 3, (1, 1))
    assert list(made.state_dict()) == ["bias", "weight"]
    assert str(made).index("bias: ") < str(made).index("weight: ")


# --- what is printed ---


def test_what_depends_on_an_input_is_printed_as_what_it_is(capsys):
    """With a warning that says why, once for each place; its elements are refused as before."""

    def doubled(x):
        y = x * 2.0
        for _ in range(2):
            print(x, y, f"{y} of {x.shape[0]}")  # noqa: T201 - what is asked
        return y

    made = tp.compile(doubled, args=[info((1, 2, 3))])
    out, err = capsys.readouterr()
    y = "<tensor: tensor<x_0xf32>>"
    assert out == f"<tensor x: tensor<x_0xf32>> {y} {y} of x_0\n" * 2
    assert err.count("warning[not-known-yet]: this cannot be computed now: it depends on") == 2
    assert "print(x, y" in err
    assert made(tp.Tensor([1.0])).tolist() == [2.0]
    with pytest.raises(tp.TripyException, match="depends on the input `x`"):
        tp.compile(lambda x: tp.Tensor((x * 2.0).tolist()), args=[info(1)])


def test_what_depends_on_a_parameter_that_is_not_there_is_printed(capsys):
    layer = tp.Linear(1, 2)
    assert str(layer.bias) == "<tensor Linear.bias: tensor<2xf32>>"
    assert str(layer.bias + 1.0) == "<tensor: tensor<2xf32>>"
    assert "the parameter `Linear.bias`" in capsys.readouterr().err


# --- how things are called ---


class Own(tp.Module):
    """With a `__call__` of its own, as nvtripy's diffusion models have."""

    def __call__(self, x: tp.Tensor, times: float = 2.0) -> tp.Tensor:
        return x * times


def test_a_module_is_called_as_its_forward():
    """An instance; the class is called as its constructor."""
    found = inspect.signature(tp.Linear(2, 3))
    assert str(found) == str(inspect.signature(tp.Linear.forward)).replace("self, ", "")
    assert list(found.parameters) == ["x"]
    assert list(inspect.signature(Own()).parameters) == ["x", "times"]
    assert list(inspect.signature(tp.Sequential(Own())).parameters) == ["input"]
    assert list(inspect.signature(tp.Linear).parameters)[:2] == ["in_features", "out_features"]
    assert list(inspect.signature(Own).parameters) == []


def test_an_executable_says_how_many_tensors_come_back():
    def several(x, count):
        return [x] * count

    for count in (1, 3):
        made = tp.compile(several, args=[info(1), count])
        assert inspect.signature(made).return_annotation == Tuple[(tp.Tensor,) * count]
    nested = tp.compile(lambda x: (x, [x, {"y": x}]), args=[info(1)])
    wanted = Tuple[tp.Tensor, Tuple[tp.Tensor, dict]]
    assert inspect.signature(nested).return_annotation == wanted
    alone = tp.compile(lambda x: x, args=[info(1)])
    assert inspect.signature(alone).return_annotation is tp.Tensor


# --- sizes ---


@pytest.mark.parametrize("x", [X, X + 1.0, tp.ones((2, 3)), (X * 2.0).eval()])
def test_the_sizes_of_a_tensor_are_integers_and_sizes(x):
    """Of a list and of what is computed: Python's integers with all that a `DimensionSize` has."""
    rows, columns = x.shape
    assert x.shape == (2, 3)
    assert {x.shape: "key"}[2, 3] == "key"
    assert json.dumps(x.shape) == str(list(x.shape)) == "[2, 3]"
    assert np.zeros(x.shape).shape == x.shape
    assert np.array(x.shape).dtype == np.array([2, 3]).dtype
    for size, number in [
        (rows, 2), (rows + 1, 3), (1 + rows, 3), (rows * columns, 6), (7 // rows, 3), (7 % rows, 1),
        (columns - rows, 1), (-rows, -2), (abs(-rows), 2), (math.prod(x.shape), 6),
    ]:  # fmt: skip
        assert isinstance(size, int)
        assert isinstance(size, tp.DimensionSize)
        assert (size, size.tolist(), size.eval().tolist()) == (number,) * 3
        assert (size.dtype, size.shape, size.rank) == (tp.int32, (), 0)
        assert size.device.kind == "cpu"
    assert not isinstance(2, tp.DimensionSize)
    assert not isinstance(rows, tp.Tensor)
    assert rows / 4 == 0.5
    with pytest.raises(AttributeError):
        _ = rows.no_such_name


def test_a_size_is_a_number_or_a_tensor_as_an_operator_wants():
    """A number beside tensors, which takes their dtype; where only a tensor can be, a tensor."""
    rows, columns = (X + 1.0).shape
    assert (X * rows).dtype == (rows * X).dtype == tp.float32
    assert (tp.Tensor([1]) + rows).tolist() == [3]
    assert tp.cast(rows * columns, tp.float32).tolist() == rows.cast(tp.float32).tolist() * 3 == 6.0
    assert tp.stack([rows, columns]).tolist() == [2, 3]
    assert tp.reshape(rows, (1,)).tolist() == [2]
    assert tp.rsqrt(tp.cast(X.shape[0], tp.float32)).tolist() == pytest.approx(2**-0.5)
    assert isinstance(tp.maximum(rows, 5), tp.DimensionSize)
    assert tp.ones((tp.maximum(rows, 5), columns)).shape == (5, 3)
    made = tp.compile(lambda x, n: x[:n], args=[info(4), tp.DimensionInputInfo((1, 2, 4))])
    assert made(tp.ones((4,)), rows).shape == (2,)
    for wrong, code in [
        (lambda: tp.cast(rows, "flot32"), "cast/dtype"),
        (lambda: tp.cast(2, tp.float32), "cast/input"),
        (lambda: tp.reshape(X, (rows, 7)), "reshape/same-volume"),
        (lambda: tp.exp(rows), "exp/T"),
    ]:
        with pytest.raises(tp.TripyException) as caught:
            wrong()
        assert [each.code for each in caught.value.diagnostics] == [code]
        assert caught.value.diagnostics[0].span.path == __file__
        assert caught.value.__context__ is None


def test_calls_with_sizes_are_known_ones():
    """They are checked once, as those with other integers."""
    x = X + 1.0
    first = tp.reshape(x, (3, 2)).value.producer
    again = tp.reshape(x, (x.shape[1], x.shape[0])).value.producer
    assert again.shape == first.shape
    assert {type(size) for size in (*again.shape, *again.outputs[0].type.shape)} == {int}
    assert {type(size) for size in tp.Parameter(x.shape).value.type.shape} == {int}


def test_floats_that_are_whole_are_sizes():
    """As `x.shape[0] / 2` gives; others are refused, with the operator that gives integers."""
    half = X.shape[1] / 1.5
    assert tp.reshape(X, (3.0, half)).shape == (3, 2)
    assert tp.reshape(X, (-1.0,)).shape == (6,)
    assert tp.ones((2.0, 1)).shape == tp.full((half, 1), 1.0).shape == (2, 1)
    assert tp.expand(tp.ones((1, 3)), (np.float32(2), -1)).shape == (2, 3)
    made = tp.compile(lambda x: tp.reshape(x, (x.shape[0], 6 / 2)), args=[info((1, 2, 3), 3)])
    assert made(X).shape == (2, 3)
    for wrong in (1.5, float("inf"), float("nan")):
        with pytest.raises(tp.TripyException) as caught:
            tp.ones((2, wrong))
        assert caught.value.diagnostics[0].span.path == __file__
    with pytest.raises(tp.TripyException, match="`//` divides integers to integers"):
        tp.reshape(X, (X.shape[1] / 2, 4))


LAYERS = [
    tp.Linear(2, 3),
    tp.Conv(1, 1, (1, 1)),
    tp.ConvTranspose(1, 1, (1, 1)),
    tp.LayerNorm(2),
    tp.GroupNorm(1, 2),
    tp.InstanceNorm(2),
    tp.BatchNorm(2),
    tp.Embedding(2, 2),
    tp.Sequential(tp.Linear(1, 1)),
]


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
def test_layers_are_data_classes(layer):
    """Their fields are what they hold; each is equal to itself alone, and can be a key."""
    assert dataclasses.is_dataclass(layer)
    assert dataclasses.is_dataclass(type(layer))
    names = [field.name for field in dataclasses.fields(layer)]
    assert {name for name, _ in layer.named_parameters()} <= set(names)
    assert all(hasattr(layer, name) for name in names)
    assert layer == layer != copy.copy(layer)
    assert repr(layer) == str(layer)


def test_programs_make_data_classes_of_modules():
    @dataclasses.dataclass
    class Scaled(tp.Module):
        linear: tp.Linear
        scale: tp.Tensor
        times: float = 2.0

        def forward(self, x):
            return self.linear(x) * self.scale * self.times

    linear = tp.Linear(1, 1)
    linear.initialize_dummy_parameters()
    made = Scaled(linear, tp.Tensor([3.0]))
    assert made(tp.Tensor([[1.0]])).tolist() == [[12.0]]
    assert list(made.state_dict()) == ["scale", "linear.weight", "linear.bias"]
    assert list(inspect.signature(made).parameters) == ["x"]
    assert not dataclasses.is_dataclass(tp.Module)


# --- parameters ---


def test_parameters_are_tensors_once_they_are_given():
    """As nvtripy's documentation says of `initialize_dummy_parameters`; they can be used before."""
    layer = tp.Linear(2, 2)
    for parameter in (layer.weight, layer.state_dict()["bias"], tp.Parameter((2,))):
        assert not isinstance(parameter, tp.Tensor)
        assert isinstance(parameter, tp.Parameter)
        assert (parameter + 1.0).dtype == tp.float32
    layer.bias = tp.Tensor([1.0, 2.0])
    layer.initialize_dummy_parameters()
    assert isinstance(layer.weight, tp.Tensor)
    assert layer.weight.tolist() == [[1.0, 1.0]] * 2
    assert layer.bias.tolist() == [1.0, 2.0]
    assert isinstance(tp.Parameter(tp.ones((2,))), tp.Tensor)


def test_the_state_of_a_quantized_layer_has_the_scale_of_its_input():
    """Which nobody has to give: it is no weight of an executable, and in no file, until then."""
    layer = tp.Linear(2, 2, quant_dtype=tp.int8)
    model = tp.Sequential(layer, tp.Linear(2, 2))
    names = ["weight", "bias", "weight_scale", "input_scale"]
    assert [name for name, _ in layer.named_parameters()] == names
    assert list(model.state_dict()) == [*(f"0.{name}" for name in names), "1.weight", "1.bias"]
    scale = layer.state_dict()["input_scale"]
    assert (scale.shape, scale.dtype, layer.input_scale) == ((), tp.float32, None)
    assert "input_scale: Parameter = (shape=(), dtype=float32)" in str(layer)
    assert not isinstance(scale, tp.Tensor)
    model.initialize_dummy_parameters()
    assert layer.input_scale is None
    assert model.load_state_dict(model.state_dict()) == (set(), set())
    assert layer.input_scale is None
    made = tp.compile(model, args=[info(1, 2)])
    assert "0.input_scale" not in made.program.entry().manifest["arguments"]
    assert made(tp.ones((1, 2))).tolist() == model(tp.ones((1, 2))).tolist()
    layer.input_scale = tp.Tensor(0.5)
    assert list(layer.state_dict()) == names
    assert isinstance(layer.state_dict()["input_scale"], tp.Tensor)
    assert "input_scale" not in tp.Linear(2, 2).state_dict()


def test_files_have_the_parameters_that_are_given(tmp_path):
    """What nobody has to give may be missing; Python keeps what it would be."""
    layer = tp.Linear(2, 1, quant_dtype=tp.int8)
    layer.initialize_dummy_parameters()
    layer = pickle.loads(pickle.dumps(layer))
    assert list(layer.state_dict()) == ["weight", "bias", "weight_scale", "input_scale"]
    layer.save_weights(tmp_path / "weights.safetensors")
    layer.input_scale = tp.Tensor(0.5)
    again = pickle.loads(pickle.dumps(layer))
    assert again.input_scale.tolist() == 0.5
    missing = again.load_weights(tmp_path / "weights.safetensors", strict=False)
    assert missing == ({"input_scale"}, set())
