"""What the engine `cpu:onnxruntime` makes of graphs, as far as ONNX Runtime's kernels tell."""

from collections import Counter

import numpy as np
import onnx
import pytest
import written

import tripybuild
from tripybuild.targets.cpu import onnx_runtime
from tripybuild.targets.onnx_runtime import session

RESIDUAL = """
    inputs:
      x: float32[B, S, 16]
      y: float32[B, S, 16]
    ranges: {B: {min: 1, opt: 2}, S: {min: 1, opt: 3}}
    outputs:
      z: layernorm(x + y, ones([16]), zeros([16]))
    """


@pytest.fixture
def kernels(monkeypatch, tmp_path):
    """Compile a model: the executable, and how often each operator is in what is run."""
    file = tmp_path / "optimized.onnx"
    options = session.session_options

    def with_file(threads):
        made = options(threads)
        made.optimized_model_filepath = str(file)
        return made

    def compiled(text):
        monkeypatch.setattr(session, "session_options", with_file)
        made = tripybuild.compile(written.write(tmp_path, text), target="cpu:onnxruntime")
        return made, Counter(node.op_type for node in onnx.load(file).graph.node)

    return compiled


def test_a_sum_and_its_normalization_are_two_kernels(kernels):
    """Their fused kernel is slower."""
    made, found = kernels(RESIDUAL)
    assert found["LayerNormalization"] == found["Add"] == 1
    x, y = np.random.default_rng(0).standard_normal((2, 2, 3, 16)).astype(np.float32)
    total = x + y
    wanted = (total - total.mean(-1, keepdims=True)) / np.sqrt(total.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(made(x=x, y=y)["z"], wanted, 1e-4, 1e-5)


WINDOWS = """
    inputs:
      x: float32[B, 16, H, W]
    ranges: {B: {min: 1, opt: 2}, H: {min: 3, opt: 9}, W: {min: 3, opt: 8}}
    outputs:
      y: maxpool(relu(x), [3, 2], [2, 1], [[1, 1], [0, 1]])
    """


def test_windows_behind_relu_stay_in_the_layout_of_convolutions(kernels, tmp_path):
    """Each has NaN where there is one in it, and the largest value beside infinities."""
    made, found = kernels(WINDOWS)
    assert not found.keys() & {"If", "IsNaN"}
    assert found["ReorderInput"] == found["ReorderOutput"] == 1
    reference = tripybuild.compile(written.write(tmp_path, WINDOWS), target="reference")
    random = np.random.default_rng(0)
    for sizes in ((2, 16, 9, 8), (1, 16, 3, 17)):
        x = random.standard_normal(sizes).astype(np.float32)
        rare = random.random(sizes) < 0.05
        x[rare] = random.choice([np.nan, np.inf, -np.inf, 3e38, -3e38], rare.sum())
        wanted = reference(x=x)["y"]
        assert np.isnan(wanted).any()
        assert np.isposinf(wanted).any()
        np.testing.assert_array_equal(made(x=x)["y"], wanted)


LINES = """
    inputs:
      x: float32[B, 128, L]
    ranges: {B: {min: 1, opt: 2}, L: {min: 9, opt: 40}}
    prepared:
      filters: ones([32, 64, 8]) * 0.5
      few: ones([32, 128, 3]) * 0.5
    outputs:
      y: convolution(x, filters, None, [3], [[4, 2]], 2)
      z: convolution(x, few)
    """


def test_long_filters_of_one_dimension_have_the_layout_of_images(kernels, tmp_path):
    """Others are as fast, and what follows them is fused with them."""
    made, found = kernels(LINES)
    assert (found["Conv"], found["ReorderOutput"]) == (2, 1)
    x = np.random.default_rng(0).standard_normal((1, 128, 23)).astype(np.float32)
    wanted = tripybuild.compile(written.write(tmp_path, LINES), target="reference")(x=x)
    for name, result in made(x=x).items():
        np.testing.assert_allclose(result, wanted[name], 1e-4, 1e-4)


ROUNDED = """
    inputs:
      x: float32[N]
    outputs:
      signed: quantize(x, 0.5, int8)
      rectified: quantize(relu(x), 0.5, int8)
      whole: cast(x, int32)
    """


def test_zero_in_the_place_of_nan_is_one_kernel_behind_relu(kernels):
    """A choice takes nine times as long."""
    made, found = kernels(ROUNDED)
    assert not found.keys() & {"IsNaN"}
    assert found["ThresholdedRelu"] == 3  # the other two are of one value
    x = np.float32([np.nan, np.inf, -np.inf, 3.0, -3.0, -0.0, 1e-45])
    results = made(x=x)
    assert results["signed"].tolist() == [0, 127, -128, 6, -6, 0, 0]
    assert results["rectified"].tolist() == [0, 127, 0, 6, 0, 0, 0]
    assert results["whole"].tolist() == [0, 2**31 - 1, -(2**31), 3, -3, 0, 0]


def test_values_between_have_their_types(monkeypatch, tmp_path):
    """ONNX Runtime does more where it knows that sizes are the same."""
    models = []
    encode = onnx_runtime.encode_model
    monkeypatch.setattr(
        onnx_runtime, "encode_model", lambda model: models.append(model) or encode(model)
    )
    tripybuild.compile(written.write(tmp_path, RESIDUAL), target="cpu:onnxruntime")
    values = {each.name: each.shape for model in models for each in model.graph.values}
    assert ("B", "S", 16) in values.values()
