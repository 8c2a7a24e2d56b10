"""A small Llama from its spec and a folder of `transformers`: shards, caches, padded prompts."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from oracles import libraries

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build

torch = pytest.importorskip("torch", reason="torch is not installed")

SPEC = Path(__file__).resolve().parent.parent / "specs" / "llama.yaml"
CONFIG = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 16,
    "rms_norm_eps": 1e-5,
    "rope_parameters": {
        "rope_type": "llama3",
        "rope_theta": 100.0,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32,
    },
}
SHARDS = 3


@pytest.fixture(autouse=True)
def _cache(shared_cache):
    """Nothing is found that another session compiled."""


@pytest.fixture(scope="module")
def llama():
    """A model of the library, in which everything is random."""
    make = libraries.find("transformers.LlamaForCausalLM")
    model = make(make.config_class(**CONFIG)).eval().requires_grad_(requires_grad=False)
    generator = torch.Generator().manual_seed(5)
    for each in model.parameters():
        normal = torch.randn(each.shape, generator=generator)
        each.copy_(normal * each.shape[-1] ** -0.5 + (each.ndim == 1))
    return model


@pytest.fixture(scope="module")
def folder(llama, tmp_path_factory):
    """What the library saves: its `config.json`, and the weights in shards with an index."""
    path = tmp_path_factory.mktemp("llama")
    llama.save_pretrained(path, max_shard_size="32KB")
    assert len(list(path.glob("model-*.safetensors"))) == SHARDS
    return path


@pytest.fixture(scope="module")
def compiled(folder):
    """The spec with that folder, and nothing else."""
    return tripybuild.compile(SPEC, weights=folder, shapes=[])


def scores(llama, tokens):
    """What the library gives for all tokens at once."""
    return llama(torch.from_numpy(tokens).long(), use_cache=False).logits.numpy()


def empty(batch):
    """The caches before the first call."""
    names = [f"model.layers.{i}.self_attn.{name}" for i in range(2) for name in ("keys", "values")]
    return {name: np.zeros((batch, 2, 16, 8), np.float32) for name in names}


def call(model, state, tokens, position):
    """The scores, and the caches after the call."""
    results = model(tokens=tokens, position=np.array(position, np.int32), **state)
    return results["logits"], {name: results[f"{name}.next"] for name in state}


def drawn(*shape):
    """Random tokens."""
    return np.random.default_rng(8).integers(0, 64, shape).astype(np.int32)


@pytest.mark.parametrize("pieces", [(7,), (3, 1, 1, 2), (1,) * 7])
def test_a_cache_stands_for_what_came_before(compiled, llama, pieces):
    """However the tokens are cut into calls, each is scored as if all were there at once."""
    tokens, state, found, start = drawn(2, 7), empty(2), [], 0
    for count in pieces:
        part = tokens[:, start : start + count]
        logits, state = call(compiled, state, part, [start, start])
        found.append(logits)
        start += count
    np.testing.assert_allclose(np.concatenate(found, 1), scores(llama, tokens), atol=1e-5)


def test_a_session_keeps_the_cache(compiled, llama):
    """It begins empty, and each call goes on where the one before ended."""
    tokens, session, found = drawn(2, 7), compiled.start(B=2), []
    for start, end in ((0, 4), (4, 5), (5, 7)):
        position = np.array([start, start], np.int32)
        found.append(session(tokens=tokens[:, start:end], position=position)["logits"])
    np.testing.assert_allclose(np.concatenate(found, 1), scores(llama, tokens), atol=1e-5)
    assert session.state.keys() == empty(2).keys()


def test_prompts_of_a_batch_may_differ_in_length(compiled, llama):
    """The shorter one is padded at its end, and goes on at a position of its own."""
    tokens = drawn(2, 6)
    prompts = tokens[:, :3].copy()
    prompts[1, 1:] = 63
    logits, state = call(compiled, empty(2), prompts, [0, 0])
    lengths, wanted = [3, 1], scores(llama, tokens)
    last = logits[[0, 1], [length - 1 for length in lengths]]
    np.testing.assert_allclose(last, wanted[[0, 1], [2, 0]], atol=1e-5)
    for _ in range(3):
        following = tokens[[0, 1], lengths][:, None]
        logits, state = call(compiled, state, following, lengths)
        np.testing.assert_allclose(logits[:, 0], wanted[[0, 1], lengths], atol=1e-5)
        lengths = [length + 1 for length in lengths]


def test_one_command_compiles_a_checkpoint_in_shards(folder, llama, tmp_path):
    """Sizes come from the folder's `config.json`, weights from all shards."""
    output = tmp_path / "llama.tpb"
    command = [sys.executable, "-m", "tripybuild", "compile", str(SPEC), "--weights", str(folder)]
    subprocess.run([*command, "-o", str(output)], check=True, capture_output=True, timeout=120)
    tokens = drawn(1, 1)
    logits, _ = call(tripybuild.load(output), empty(1), tokens, [0])
    np.testing.assert_allclose(logits, scores(llama, tokens), atol=1e-5)


def test_a_shard_that_is_missing_is_one_diagnostic(folder, tmp_path):
    """At the index that names it."""
    copy = tmp_path / "copy"
    copy.mkdir()
    for each in folder.iterdir():
        (copy / each.name).write_bytes(each.read_bytes())
    (copy / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(SPEC, weights=copy)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == "weights-not-found"
    assert "model-00002-of-00003.safetensors" in diagnostic.message


@pytest.mark.parametrize(
    ("change", "rotation", "law"),
    [
        ({"hidden_act": "gelu"}, {}, "llama/known-form"),
        ({"attention_bias": True}, {}, "llama/known-form"),
        ({"num_key_value_heads": 3}, {}, "llama/heads-divide"),
        ({}, {"rope_type": "yarn"}, "llama/known-rotation"),
    ],
)
def test_a_checkpoint_of_another_form_is_refused(folder, change, rotation, law):
    """What the spec does not have is found in the configuration, not in the numbers."""
    config = json.loads((folder / "config.json").read_text())
    config |= {**change, "rope_parameters": config["rope_parameters"] | rotation}
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(SPEC, weights=folder, config=config)
    assert [each.code for each in raised.value.diagnostics] == [law]


def test_words_may_be_scored_by_their_own_embeddings():
    """Then there is no head."""
    with_head = build(SPEC).graph.weights
    assert build(SPEC, {"tied": True}).graph.weights.keys() == with_head.keys() - {"lm_head.weight"}


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_an_engine_is_built_with_symbols(folder, dtype):
    """The layers of TensorRT for attention, rotation and caches, with ranges of sizes."""
    pytest.importorskip("tensorrt_rtx", reason="TensorRT-RTX is not installed")
    engine = tripybuild.compile(SPEC, weights=folder, sizes={"F": dtype}, target="tensorrt-rtx")
    assert engine.manifest["target"] == "tensorrt-rtx"
    assert len(engine.entry().states) == 4
