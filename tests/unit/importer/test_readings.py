"""What calls of other systems are read as, and what is refused rather than guessed."""

import numpy as np
import pytest

from tripybuild.importer.call_program import CallValue
from tripybuild.importer.reading.readings import (
    CallReading,
    CompositionReading,
    Readings,
    UnreadCall,
)
from tripybuild.packages.builtin import builtin_registry
from tripybuild.symbolic.dims import symbol
from tripybuild.trace.values import TensorType
from tripybuild.types.dtypes import bool as boolean, float32, int64

BATCH = symbol("B", 1, 16)
NONE_LEFT_OUT = "cannot be None"


@pytest.fixture(scope="module")
def readings():
    """Readings of a system and an opset, of the built-in registry."""
    registry = builtin_registry()
    found = {}

    def of(system, opset=None):
        if (system, opset) not in found:
            found[system, opset] = Readings(registry, system, opset)
        return found[system, opset]

    return of


def tensor(*shape, of=float32, name="x", data=None):
    return CallValue(TensorType(of, shape), name, data=data)


def integers(*values):
    data = np.array(values, np.int64)
    return CallValue(TensorType(int64, data.shape), "axes", data=data)


X = tensor(BATCH, 8)
IMAGE = tensor(BATCH, 3, 8, 8)


def call(reading):
    assert isinstance(reading, CallReading), reading
    return reading.operator.name, dict(reading.arguments)


def first_reason(readings, *call):
    """Why the first alias does not say a call."""
    return next(iter(readings.candidates(*call)))


def refused(reading, words):
    assert isinstance(reading, UnreadCall), reading
    assert any(words in each for each in reading.reasons), reading.reasons


def test_arguments_by_name(readings):
    aten = readings("aten")
    assert call(aten.read("add.Tensor", {"self": X, "other": 2.0})) == (
        "add",
        {"lhs": X, "rhs": 2.0},
    )
    assert call(aten.read("view", {"self": X, "size": [BATCH, -1, 4]})) == (
        "reshape",
        {"input": X, "shape": [BATCH, -1, 4]},
    )
    found = aten.read(
        "native_layer_norm",
        dict(
            zip(
                ("input", "normalized_shape", "weight", "bias", "eps"),
                (X, [8], X, X, 1e-5),
                strict=True,
            )
        ),
    )
    assert found.result == 0


def test_a_parameter_of_which_nothing_speaks_must_have_its_default(readings):
    heads = {name: tensor(BATCH, 4, 8, 2) for name in ("query", "key", "value")}
    given = {**heads, "dropout_p": 0.1}
    refused(readings("aten").read("scaled_dot_product_attention", given), "dropout_p=0.1")
    volumes = tensor(BATCH, 3, 8, 8, 8)
    whole = {"self": volumes, "kernel_size": [2, 2, 2], "divisor_override": 3}
    refused(readings("aten").read("avg_pool3d", whole), "divisor_override=3")
    given = {"size": [BATCH], "fill_value": 1.0, "device": "cpu", "pin_memory": False}
    stated = [TensorType(float32, (BATCH,))]
    assert call(readings("aten").read("full", given, stated))[1]["dtype"] is float32


def test_one_head_of_keys_serves_all_others(readings):
    """PyTorch broadcasts it, without a word; other numbers are grouped on demand."""
    one = tensor(BATCH, 1, 8, 2)
    named = {"query": tensor(BATCH, 4, 8, 2), "key": one, "value": one}
    aten = readings("aten")
    assert call(aten.read("scaled_dot_product_attention", named))[0] == "attention"
    two = named | {"key": tensor(BATCH, 2, 8, 2), "value": tensor(BATCH, 2, 8, 2)}
    refused(aten.read("scaled_dot_product_attention", two), "does not hold")


def test_a_tensor_of_another_rank_is_refused(readings):
    given = {"input": X, "weight": tensor(8)}
    refused(readings("aten").read("linear", given), "of rank 1")


def test_no_axes_are_all_axes(readings):
    for dim in ([], None):
        found = readings("aten").read("sum.dim_IntList", {"self": X, "dim": dim}, [X.type])
        assert call(found)[1]["dim"] == [0, 1]
    assert call(readings("aten").read("amax", {"self": X, "dim": []}))[1]["dim"] == [0, 1]
    onnx = readings("onnx")
    for given in ({}, {"axes": integers()}):
        assert call(onnx.read("ReduceSum", {"data": X, **given}))[1]["dim"] == [0, 1]
    found = onnx.read("ReduceSum", {"data": X, "axes": integers(-1), "keepdims": 0})
    assert call(found) == ("sum", {"input": X, "dim": [-1], "keepdim": False})
    axes = {"data": X, "axes": integers(), "noop_with_empty_axes": 1}
    assert "noop_with_empty_axes=1" in first_reason(onnx, "ReduceSum", axes)


def test_data_that_is_not_known_is_refused(readings):
    axes = tensor(1, of=int64, name="axes")
    refused(readings("onnx").read("ReduceSum", {"data": X, "axes": axes}), "`axes` is computed")
    onnx = readings("onnx")
    assert "`axes` is computed" in first_reason(onnx, "Reshape", {"data": X, "shape": axes})
    assert "must be known" in first_reason(onnx, "Unsqueeze", {"data": X, "axes": axes})


def test_an_epsilon_that_is_left_out_is_not_ours(readings):
    """PyTorch's is that of the dtype, and ours 1e-6."""
    given = {"input": X, "normalized_shape": [8], "weight": tensor(8)}
    found = readings("aten").read("rms_norm", given)
    assert isinstance(found, UnreadCall) or call(found)[1]["eps"] == pytest.approx(2**-23)


def test_attributes_of_old_opsets(readings):
    found = readings("onnx", 11).read("ReduceSum", {"data": X, "axes": [1]})
    assert call(found)[1] == {"input": X, "dim": [1], "keepdim": True}
    assert call(readings("onnx", 11).read("Unsqueeze", {"data": X, "axes": [0]}))[1]["dim"] == 0
    old, new = readings("onnx", 12), readings("onnx", 13)
    assert isinstance(old.read("Softmax", {"input": X}), CompositionReading)
    assert call(new.read("Softmax", {"input": X})) == ("softmax", {"input": X, "dim": -1})


def test_several_tensors_are_all_read(readings):
    onnx = readings("onnx")
    assert call(onnx.read("Max", {"data_0": [X, X]})) == ("maximum", {"lhs": X, "rhs": X})
    assert "data_0" in first_reason(onnx, "Max", {"data_0": [X, X, X]})
    found = onnx.read("Concat", {"inputs": [X, X, X], "axis": 1})
    assert call(found) == ("concatenate", {"tensors": [X, X, X], "dim": 1})


def test_many_calls_that_are_one(readings):
    aten = readings("aten")
    for stride, padding in (([], [1]), ([2, 2], [1, 1])):
        given = {"self": IMAGE, "kernel_size": [2, 2], "stride": stride, "padding": padding}
        found = call(aten.read("max_pool2d", given))[1]
        assert found["stride"] == [2, 2]
        assert [list(pair) for pair in found["padding"]] == [[1, 1], [1, 1]]
    heads = [tensor(BATCH, 4, 8, 2) for _ in range(3)]
    given = dict(zip(("query", "key", "value"), heads, strict=True))
    assert call(aten.read("scaled_dot_product_attention", given))[0] == "attention"
    given["query"] = tensor(BATCH, 8, 8, 2)
    refused(aten.read("scaled_dot_product_attention", given), "enable_gqa")
    assert aten.read("scaled_dot_product_attention", {**given, "enable_gqa": True})


def test_compositions(readings):
    aten = readings("aten")
    found = aten.read("addmm", {"self": X, "mat1": X, "mat2": X, "alpha": 2})
    assert isinstance(found, CompositionReading)
    assert found.names == {"self": X, "mat1": X, "mat2": X, "alpha": 2, "beta": 1}
    assert isinstance(aten.read("clone", {"self": X, "memory_format": 3}), CompositionReading)
    refused(aten.read("dropout", {"input": X, "p": 0.5, "train": True}), "does not hold")
    assert isinstance(
        aten.read("embedding", {"weight": X, "indices": integers(1)}), CompositionReading
    )


def test_dtypes_are_words_of_conditions(readings):
    stated = [TensorType(float32, (BATCH, 2))]
    given = {"self": X, "indices": [None, integers(1, 2)]}
    assert isinstance(readings("aten").read("index.Tensor", given, stated), CompositionReading)
    mask = {"self": X, "indices": [tensor(BATCH, of=boolean)]}
    refused(readings("aten").read("index.Tensor", mask, stated), "does not hold")


def test_what_there_is_no_word_for(readings):
    assert readings("aten").read("no.such", {}) == UnreadCall()
    assert "addmm" in readings("aten").names
    assert "Softmax" in readings("onnx").names


def test_truth_is_a_number_in_onnx(readings):
    given = {"input": tensor(3, 3), "k": integers(1), "upper": 0}
    assert isinstance(readings("onnx").read("Trilu", given), CallReading)
    mask = tensor(BATCH, 1, 8, 8, of=boolean)
    heads = {name: tensor(BATCH, 4, 8, 2) for name in ("Q", "K", "V")}
    found = readings("onnx").read("Attention", {**heads, "attn_mask": mask, "is_causal": 1})
    assert call(found)[1]["causal"] is True
