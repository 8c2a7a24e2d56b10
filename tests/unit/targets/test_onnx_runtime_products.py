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
