"""A small Llama from its spec, token by token, beside the same network written in PyTorch."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

import tripybuild
from tripybuild.model.graph_builder import build

torch = pytest.importorskip("torch", reason="torch is not installed")
F = torch.nn.functional

SPEC = Path(__file__).resolve().parent.parent / "specs" / "llama.yaml"
SIZES = {
    "vocab": 64,
    "width": 32,
    "heads": 4,
    "groups": 2,
    "hidden": 48,
    "depth": 2,
    "context": 16,
    "theta": 100.0,
}
HEAD = 8


@pytest.fixture
def spec(tmp_path):
    """The spec with weights of its own beside it."""
    text = SPEC.read_text(encoding="utf-8").replace(
        "\ndefine:", "\nweights: w.safetensors\ndefine:"
    )
    (tmp_path / "llama.yaml").write_text(text)
    save_file(weights(), tmp_path / "w.safetensors")
    return tmp_path / "llama.yaml"


def weights(**sizes):
    """Random ones, under the names that the public checkpoints have."""
    random = np.random.default_rng(5)
    shapes = {n: tuple(v.shape) for n, v in build(SPEC, SIZES | sizes).graph.weights.items()}
    found = {
        name: random.normal(0, shape[-1] ** -0.5, shape).astype(np.float32)
        for name, shape in shapes.items()
    }
    return {n: w + 1 if n.endswith("norm.weight") else w for n, w in found.items()}


def turned(x, places):
    """Rotated as in the public implementation: the second half of a head belongs to the first."""
    speeds = 100.0 ** (-torch.arange(0, HEAD, 2) / HEAD)
    angles = (places[:, None] * speeds).repeat(1, 2)
    halves = torch.cat([-x[..., HEAD // 2 :], x[..., : HEAD // 2]], -1)
    return x * angles.cos() + halves * angles.sin()


def scores(tokens):
    """All tokens at once, without a cache."""
    given = {name: torch.from_numpy(each) for name, each in weights().items()}
    batch, length = tokens.shape
    x = given["model.embed_tokens.weight"][torch.from_numpy(tokens).long()]

    def normal(x, name):
        return x * (x.pow(2).mean(-1, keepdim=True) + 1e-5).rsqrt() * given[f"{name}.weight"]

    for layer in range(2):
        path = f"model.layers.{layer}"
        seen = normal(x, f"{path}.input_layernorm")
        q, k, v = [
            F.linear(seen, given[f"{path}.self_attn.{name}_proj.weight"])
            .reshape(batch, length, -1, HEAD)
            .transpose(1, 2)
            for name in "qkv"
        ]
        q, k = turned(q, torch.arange(length)), turned(k, torch.arange(length))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        mixed = mixed.transpose(1, 2).reshape(batch, length, -1)
        x = x + F.linear(mixed, given[f"{path}.self_attn.o_proj.weight"])
        seen = normal(x, f"{path}.post_attention_layernorm")
        gate, up = [F.linear(seen, given[f"{path}.mlp.{n}_proj.weight"]) for n in ("gate", "up")]
        x = x + F.linear(F.silu(gate) * up, given[f"{path}.mlp.down_proj.weight"])
    return F.linear(normal(x, "model.norm"), given["lm_head.weight"]).numpy()


@pytest.mark.parametrize("pieces", [(7,), (3, 1, 1, 2), (1,) * 7])
def test_a_cache_stands_for_what_came_before(spec, pieces):
    """However the tokens are cut into calls, each is scored as if all were given at once."""
    tokens = np.random.default_rng(8).integers(0, 64, (2, 7)).astype(np.int32)
    model = tripybuild.compile(spec, sizes=SIZES, shapes=[])
    state = {
        f"model.layers.{layer}.self_attn.{name}": np.zeros((2, 2, 16, HEAD), np.float32)
        for layer in range(2)
        for name in ("keys", "values")
    }
    found, start = [], 0
    for count in pieces:
        part = tokens[:, start : start + count]
        results = model(tokens=part, position=np.int32(start), **state)
        state = {name: results[f"{name}.next"] for name in state}
        found.append(results["logits"])
        start += count
    np.testing.assert_allclose(np.concatenate(found, 1), scores(tokens), rtol=1e-4, atol=1e-4)


def test_words_are_scored_by_their_own_embedding(spec):
    """`tied: true` takes the head away."""
    names = build(SPEC, SIZES | {"tied": True}).graph.weights
    assert "lm_head.weight" not in names
    assert len(names) == len(weights()) - 1


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_an_engine_is_built_with_symbols(spec, dtype):
    """The layers of TensorRT for attention, rotation and caches, with ranges of sizes."""
    pytest.importorskip("tensorrt_rtx", reason="TensorRT-RTX is not installed")
    text = spec.read_text().replace("F: float32", f"F: {dtype}")
    text = text.replace("weights: w.safetensors", "weights: {file: w.safetensors, convert: true}")
    spec.write_text(text)
    engine = tripybuild.compile(spec, sizes=SIZES, target="tensorrt-rtx")
    assert engine.manifest["target"] == "tensorrt-rtx"
    assert len(engine.entry().states) == 4
