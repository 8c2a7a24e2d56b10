"""Modules of the registry inside of models: what they compute, and engines of them."""

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import save_file

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.weights.safetensors import encode

ATTENTION = """\
tripybuild: 1
model: looking
inputs:
  x: F[2, 5, 6]
  y: F[2, 4, 6]
  seen: bool[5, 4]
parts:
  attention: MultiHeadAttention(6, 2{more})
outputs:
  self: attention(x, x, x)
  cross: attention(x, y, y, {mask})
weights: w.safetensors
"""
LINEAR = """\
tripybuild: 1
model: rounded
inputs:
  x: F[B, 6]
ranges:
  B: {{max: 8}}
parts:
  linear: Linear(6, 4, quant_dtype={dtype}{more})
outputs:
  y: linear(x)
weights: w.safetensors
"""


def model(folder, text, random):
    """A model with weights, random where none are given, and the weights."""
    path = folder / "model.yaml"
    path.write_text(text)
    weights = {
        name: random.normal(size=value.shape).astype(np.float32)
        for name, value in build(path).graph.weights.items()
    }
    scales = {n: np.abs(w) / 20 + 0.01 for n, w in weights.items() if n.endswith("_scale")}
    weights |= {name: np.asarray(scale) for name, scale in scales.items()}
    save_file(weights, folder / "w.safetensors")
    return path, weights


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("causal", [True, False])
def test_attention_is_pytorchs(tmp_path, bias, causal):
    """With the state of PyTorch's own module."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    random = np.random.default_rng(2)
    mask = "None" if causal else "seen"
    text = ATTENTION.format(more=f", {bias}, causal={causal}", mask=mask)
    path, weights = model(tmp_path, text, random)
    theirs = torch.nn.MultiheadAttention(6, 2, bias=bias, batch_first=True)
    state = {n.removeprefix("attention."): torch.from_numpy(w) for n, w in weights.items()}
    theirs.load_state_dict(state)
    x, y = (random.normal(size=(2, n, 6)).astype(np.float32) for n in (5, 4))
    seen = random.random((5, 4)) > 0.3
    seen[:, 0] = True

    found = tripybuild.compile(path)(x=x, y=y, seen=seen)

    own, other = (torch.triu(torch.ones(5, n, dtype=torch.bool), 1) for n in (5, 4))
    masks = [own, other] if causal else [None, torch.from_numpy(~seen)]
    for name, key, hidden in zip(("self", "cross"), (x, y), masks, strict=True):
        asked, offered = torch.from_numpy(x), torch.from_numpy(key)
        wanted, _ = theirs(asked, offered, offered, attn_mask=hidden)
        np.testing.assert_allclose(found[name], wanted.detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("dtype", "more", "dim", "given"),
    [
        ("int8", ", weight_quant_dim=0", 0, False),
        ("int4", ", weight_quant_dim=1", 1, False),
        ("int8", ", input_scale=True", None, True),
        ("float8", ", weight_quant_dim=0, input_scale=True", 0, True),
    ],
)
def test_a_linear_layer_is_rounded(tmp_path, dtype, more, dim, given):
    """Both factors are those that the narrow type has; engines of TensorRT are built, too."""
    random = np.random.default_rng(4)
    path, weights = model(tmp_path, LINEAR.format(dtype=dtype, more=more), random)
    low, high = {"int8": (-128, 127), "int4": (-8, 7), "float8": (-448, 448)}[dtype]

    def near(array, scale):
        inside = np.clip(array / scale, low, high)
        if dtype == "float8":
            return inside.astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * scale
        return np.rint(inside) * scale

    scale = weights["linear.weight_scale"]
    matrix = near(weights["linear.weight"], scale[:, None] if dim == 0 else scale)
    x = random.normal(size=(3, 6)).astype(np.float32)
    seen = near(x, weights["linear.input_scale"]) if given else x
    assert set(weights) >= {"linear.weight", "linear.bias", "linear.weight_scale"}
    assert ("linear.input_scale" in weights) is given

    found = tripybuild.compile(path, shapes=[])(x=x)["y"]

    np.testing.assert_allclose(
        found, seen @ matrix.T + weights["linear.bias"], rtol=1e-5, atol=1e-5
    )
    pytest.importorskip("tensorrt_rtx", reason="TensorRT-RTX is not installed")
    assert tripybuild.compile(path, target="tensorrt-rtx").manifest["target"] == "tensorrt-rtx"


def test_without_a_dtype_nothing_is_rounded(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text(LINEAR.format(dtype="None", more=", input_scale=True"))
    assert set(build(path).graph.weights) == {"linear.weight", "linear.bias"}


def test_heads_that_do_not_divide_are_refused(tmp_path):
    """In the user's own words: the module's lines are not theirs."""
    path = tmp_path / "model.yaml"
    path.write_text(
        ATTENTION.format(more="", mask="None").replace("Attention(6, 2", "Attention(6, 4")
    )
    with pytest.raises(DiagnosticError) as raised:
        build(path)
    assert {each.span.path for each in raised.value.diagnostics} == {str(path)}


SMALL = """\
tripybuild: 1
model: small
types:
  F: {real}
inputs:
  x: F[B, 32]
ranges:
  B: {{max: 8}}
parts:
  matrix: scaled
outputs:
  y: x @ transpose(matrix(), 0, 1)
weights: w.safetensors
define:
  scaled:
    weights:
      weight: float4[6, 32]
      scales: float8[6, 2]
      unit: F[()]
    outputs:
      out: dequantize(weight, dequantize(scales, unit, F), F)
"""


@pytest.mark.parametrize("real", ["float32", "bfloat16"])
def test_weights_of_four_bits_have_scales_of_eight(tmp_path, real):
    """They stay packed in the file, in the executable and in TensorRT's network."""
    random = np.random.default_rng(6)
    path = tmp_path / "model.yaml"
    path.write_text(SMALL.format(real=real))
    wide = ml_dtypes.bfloat16 if real == "bfloat16" else np.float32
    weights = {
        "matrix.weight": random.normal(0, 3, (6, 32)).astype(ml_dtypes.float4_e2m1fn),
        "matrix.scales": random.uniform(1, 300, (6, 2)).astype(ml_dtypes.float8_e4m3fn),
        "matrix.unit": np.array(0.0078125, wide),
    }
    (tmp_path / "w.safetensors").write_bytes(encode(weights))
    steps = np.repeat(weights["matrix.scales"].astype(np.float64) * 0.0078125, 16, 1)
    x = random.normal(size=(3, 32)).astype(wide)

    found = tripybuild.compile(path, shapes=[])(x=x)["y"]

    wanted = x.astype(np.float64) @ (weights["matrix.weight"].astype(np.float64) * steps).T
    near = 1e-5 if real == "float32" else 2e-2
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=near, atol=near * 10)
    pytest.importorskip("tensorrt_rtx", reason="TensorRT-RTX is not installed")
    assert tripybuild.compile(path, target="tensorrt-rtx").manifest["target"] == "tensorrt-rtx"
