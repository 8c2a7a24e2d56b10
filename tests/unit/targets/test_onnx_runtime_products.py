"""Products with matrices of few bits in `cpu:onnxruntime`: no other number is rounded."""

import numpy as np
import onnx
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.targets.onnx_runtime import session

MODEL = """
    inputs:
      x: F[*A, 192]
    parts:
      few: few
    outputs:
      y: few(x)
    define:
      few:
        inputs:
          x: F[*A, 192]
        weights:
          weight: F[64, 192]
          bias: F[64]
        prepared:
          scale: SCALE
          codes: quantize(weight, scale, TYPE, DIM)
        outputs:
          out: quantized_linear(x, codes, scale, bias, DIM)
    weights:
      file: w.safetensors
    """
TURNED = """
    inputs:
      x: F[N, 64]
    parts:
      few: few
    outputs:
      y: few(x)
    define:
      few:
        inputs:
          x: F[N, 64]
        weights:
          weight: F[64, 192]
        prepared:
          scale: max(abs(reshape(weight, [2, 32, 192])), 1) / 7.0
          codes: quantize(weight, scale, int4)
        outputs:
          out: x @ dequantize(codes, scale, F)
    weights:
      file: w.safetensors
    """
GROUPS = "max(abs(reshape(weight, [64, {0}, 192 // {0}])), 2) / 7.0"
ROWS = "max(abs(weight), 1) / {0}.0"


def weight_and_scale(groups, most):
    """A matrix, and the scales of its groups, a column for each."""
    matrix = np.random.default_rng(3).normal(size=(64, 192)).astype(np.float32)
    parts = matrix.reshape(64, groups, -1)
    scale = np.abs(parts).max(2, keepdims=True) / np.float32(most)
    return matrix, (np.rint(parts / scale).clip(-most - 1, most) * scale).reshape(64, 192)


def operators(monkeypatch, folder, text):
    """An executable, and the operators that ONNX Runtime runs for it."""
    real, file = session.session_options, folder / "optimized.onnx"

    def options(threads):
        made = real(threads)
        made.optimized_model_filepath = str(file)
        return made

    monkeypatch.setattr(session, "session_options", options)
    made = tripybuild.compile(written.write(folder, text), target="cpu:onnxruntime,threads=1")
    return made, {node.op_type: node for node in onnx.load(file).graph.node}


@pytest.mark.parametrize(
    ("scale", "dtype", "dim", "groups", "block"),
    [
        (GROUPS.format(6), "int4", None, 6, 32),
        # ONNX Runtime has no blocks of 96 columns.
        (GROUPS.format(2), "int4", None, 2, 32),
        (ROWS.format(7), "int4", 0, 1, 64),
        (ROWS.format(127), "int8", 0, 1, None),
    ],
)
def test_products_are_those_of_float32(monkeypatch, tmp_path, scale, dtype, dim, groups, block):
    """And no matrix is made of the four bits in a call."""
    matrix, near = weight_and_scale(groups, 127 if dtype == "int8" else 7)
    bias = np.arange(64, dtype=np.float32)
    save_file({"few.weight": matrix, "few.bias": bias}, tmp_path / "w.safetensors")
    text = MODEL.replace("SCALE", scale).replace("TYPE", dtype).replace("DIM", str(dim))
    for shape in ((1, 192), (2, 5, 192)):
        sizes = text.replace("*A", ", ".join("BCD"[: len(shape) - 1]), 1)
        made, kinds = operators(monkeypatch, tmp_path, sizes)
        x = np.random.default_rng(4).normal(size=shape).astype(np.float32)
        np.testing.assert_allclose(made(x=x)["y"], x @ near.T + bias, rtol=1e-4, atol=1e-4)
        assert not {"DequantizeLinear", "Cast"} & kinds.keys()
        if block is not None:
            said = {each.name: each.i for each in kinds["MatMulNBits"].attribute}
            assert (said["block_size"], said["accuracy_level"]) == (block, 1)


def test_what_onnx_runtime_joins_itself_keeps_its_precision(monkeypatch, tmp_path):
    """Its own default makes int8 of what is multiplied by a dequantized matrix."""
    matrix = np.random.default_rng(3).normal(size=(64, 192)).astype(np.float32)
    save_file({"few.weight": matrix}, tmp_path / "w.safetensors")
    scale = np.abs(matrix.reshape(2, 32, 192)).max(1, keepdims=True) / np.float32(7)
    near = (np.rint(matrix.reshape(2, 32, 192) / scale) * scale).reshape(64, 192)
    x = np.random.default_rng(4).normal(size=(3, 64)).astype(np.float32)
    made, kinds = operators(monkeypatch, tmp_path, TURNED)
    assert "MatMulNBits" in kinds
    np.testing.assert_allclose(made(x=x)["y"], x @ near, rtol=1e-4, atol=1e-4)
    monkeypatch.setattr(session, "CONFIGURATION", {})
    rounded = operators(monkeypatch, tmp_path, TURNED)[0](x=x)["y"]
    assert np.abs(rounded - x @ near).max() > 1e-3


LAYER = """
    inputs:
      x: F[N, 64]
    parts:
      layer: Linear(64, 32, quant_dtype=int4, weight_quant_dim=0)
    outputs:
      y: layer(x)
    weights:
      file: w.safetensors
    """


def test_layers_of_few_bits_are_such_products(monkeypatch, tmp_path):
    """Their matrix is rounded when the model is loaded."""
    random = np.random.default_rng(5)
    matrix, bias = (random.normal(size=size).astype(np.float32) for size in [(32, 64), 32])
    scale = np.abs(matrix).max(1) / np.float32(7)
    arrays = {"weight": matrix, "bias": bias, "weight_scale": scale}
    save_file({f"layer.{n}": each for n, each in arrays.items()}, tmp_path / "w.safetensors")
    made, kinds = operators(monkeypatch, tmp_path, LAYER)
    x = random.normal(size=(3, 64)).astype(np.float32)
    near = np.rint(matrix / scale[:, None]) * scale[:, None]
    np.testing.assert_allclose(made(x=x)["y"], x @ near.T + bias, rtol=1e-4, atol=1e-4)
    assert kinds.keys() == {"MatMulNBits"}


FILTERS = """
    inputs:
      x: F[N, 4, 8, 8]
    parts:
      filters: filters
      norm: BatchNorm(16)
    outputs:
      y: norm(filters(x))
    define:
      filters:
        inputs:
          x: F[N, 4, 8, 8]
        weights:
          weight: F[16, 4, 3, 3]
          scale: F[16]
        prepared:
          few: quantize(weight, scale, int8, 0)
        outputs:
          out: convolution(x, dequantize(few, scale, F, 0))
    weights:
      file: w.safetensors
    """


def test_filters_of_int8_take_the_norm_behind_them(monkeypatch, tmp_path):
    """They are dequantized at the load, and their products are in the layout of convolutions."""
    random = np.random.default_rng(6)
    arrays = {
        f"norm.{n}": 1 + random.random(16).astype(np.float32)
        for n in ("weight", "bias", "running_mean", "running_var")
    }
    arrays["filters.weight"] = random.normal(size=(16, 4, 3, 3)).astype(np.float32)
    arrays["filters.scale"] = np.full(16, 0.03, np.float32)
    save_file(arrays, tmp_path / "w.safetensors")
    made, kinds = operators(monkeypatch, tmp_path, FILTERS)
    assert not {"BatchNormalization", "DequantizeLinear"} & kinds.keys()
    x = random.normal(size=(2, 4, 8, 8)).astype(np.float32)
    wanted = tripybuild.compile(tmp_path / "tiny.yaml", target="reference")(x=x)["y"]
    np.testing.assert_allclose(made(x=x)["y"], wanted, rtol=1e-4, atol=1e-4)
