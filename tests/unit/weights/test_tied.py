"""Weights with the same data are in an executable once, whatever they are called."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.artifact import container
from tripybuild.compiler import executable
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.targets.tensorrt import model as tensorrt_model, weights as engine_weights
from tripybuild.weights import safetensors
from tripybuild.weights.checkpoint import check_weights

TIED = """
    inputs:
      tokens: int32[B, S]
    ranges:
      B: {max: 4}
      S: {max: 4}
    parts:
      wte: Embedding(200, 64)
      lm_head: Linear(64, 200, bias=False)
    outputs:
      y: lm_head(wte(tokens))
    weights:
      file: w.safetensors
      RENAME
    """
RENAME = "rename: {lm_head.weight: wte.weight}"
TABLE = np.random.default_rng(1).normal(size=(200, 64)).astype(np.float32)


def compiled(folder, arrays, *, rename=True, **how):
    save_file(arrays, folder / "w.safetensors")
    path = written.write(folder, TIED.replace("RENAME", RENAME if rename else ""))
    tripybuild.compile(path, output=folder / "tiny.tpb", **how)
    return tripybuild.load(folder / "tiny.tpb")


@pytest.mark.parametrize("target", ["cpu", "reference"])
@pytest.mark.parametrize("rename", [True, False])
def test_tied_weights_are_stored_once(tmp_path, target, rename):
    """Two names of one tensor, and two tensors of equal bytes."""
    names = ["wte.weight"] if rename else ["wte.weight", "lm_head.weight"]
    exe = compiled(tmp_path, dict.fromkeys(names, TABLE), rename=rename, target=target)
    tokens = np.array([[3, 199, 0]], np.int32)

    stored = safetensors.decode(exe.member("weights.safetensors"), "weights")
    assert sum(each.nbytes for each in stored.values()) == TABLE.nbytes
    assert exe.manifest.get("tied", {}) == ({} if rename else {"wte.weight": "lm_head.weight"})
    np.testing.assert_allclose(exe(tokens=tokens)["y"], TABLE[tokens] @ TABLE.T, rtol=1e-4)
    assert len({each.ctypes.data for each in exe.weights.values()}) == 1


def test_a_rebuilt_executable_has_them_once(tmp_path):
    """The file that is written of it has the same weights."""
    compiled(tmp_path, {"wte.weight": TABLE, "lm_head.weight": TABLE}, rename=False)

    again = executable.load(tmp_path / "tiny.tpb", rebuild=True)
    again.save(tmp_path / "again.tpb")

    tokens = np.array([[5]], np.int32)
    got = tripybuild.load(tmp_path / "again.tpb")(tokens=tokens)["y"]
    np.testing.assert_allclose(got, TABLE[tokens] @ TABLE.T, rtol=1e-4)
    assert (tmp_path / "again.tpb").stat().st_size < 1.9 * TABLE.nbytes


def test_an_engine_has_one_constant(tmp_path):
    """TensorRT gets a graph in which the two are one weight."""
    save_file({"wte.weight": TABLE}, tmp_path / "w.safetensors")
    built = build(written.write(tmp_path, TIED.replace("RENAME", RENAME)))
    same = check_weights(built).same_data(built.graph.weights)
    graph = built.graph.merge_weights(same, built.graph.weights)
    entry = replace(built.entry(), graph=graph)

    text = tensorrt_model.module_text(tensorrt_model.engine_module(built, entry))

    assert same == {"lm_head.weight": "wte.weight"}
    assert list(graph.weights) == ["wte.weight"]
    assert set(re.findall(r"dense_resource<([^>]*)>", text)) == {"wte.weight"}


def test_equal_weights_of_other_types_are_others(tmp_path):
    """As bytes they are alike; small ones are not worth a look."""
    zeros = {
        "a": np.zeros((64, 32), np.float32),
        "b": np.zeros((32, 64), np.float32),
        "c": np.zeros((64, 64), np.float16),
        "d": np.zeros((64, 32), np.float32),
        "e": np.zeros(4, np.float32),
        "f": np.zeros(4, np.float32),
    }
    encoder = safetensors.Encoder({n: (z.dtype, z.shape) for n, z in zeros.items()}, share=True)

    kept = {name: encoder.add(name, zeros[name]) for name in encoder.order}

    assert kept == {**{name: name for name in zeros}, "d": "a"}
    read = safetensors.decode(encoder.content(), "file")
    assert {name: (each.dtype, each.shape) for name, each in read.items()} == {
        name: (zeros[name].dtype, zeros[name].shape) for name in "abcef"
    }
    (tmp_path / "w.safetensors").write_bytes(encoder.content())
    assert safetensors.read_index(tmp_path / "w.safetensors").keys() == read.keys()


@pytest.mark.parametrize(
    "tied", [{"wte.weight": "nothing"}, {"lm_head.weight": "lm_head.weight"}, ["wte.weight"]]
)
def test_an_altered_manifest_is_refused(tmp_path, tied):
    """It names a weight that is not there, or one that is."""
    exe = compiled(tmp_path, {"wte.weight": TABLE, "lm_head.weight": TABLE}, rename=False)
    manifest = json.loads(json.dumps({**exe.manifest, "tied": tied}, default=dict))
    manifest = {key: value for key, value in manifest.items() if key not in ("format", "members")}
    container.write(tmp_path / "bad.tpb", manifest, exe.members)

    with pytest.raises(DiagnosticError, match="does not describe its model"):
        tripybuild.load(tmp_path / "bad.tpb")(tokens=np.zeros((1, 1), np.int32))


def test_prepared_weights_of_tied_ones_are_tied(tmp_path):
    """What is computed in the same way of the same data is computed once."""
    text = """
        inputs:
          x: F[B, 4]
        parts:
          h: normed * 2
        outputs:
          y: h(x)
        weights:
          file: w.safetensors
          rename: {h.*.v: v}
        define:
          normed:
            inputs:
              x: F[B, 4]
            weights:
              v: F[4, 4]
              g: F[()]
            prepared:
              w: v / sqrt(sum(v * v))
              scaled: w * g
            outputs:
              out: x @ w + x @ scaled
        """
    random = np.random.default_rng(2)
    v = random.normal(size=(4, 4)).astype(np.float32)
    save_file(
        {"v": v, "h.0.g": np.array(2.0, np.float32), "h.1.g": np.array(3.0, np.float32)},
        tmp_path / "w.safetensors",
    )
    x = np.ones((1, 4), np.float32)

    exe = tripybuild.compile(written.write(tmp_path, text), target="reference")

    assert set(exe.weights) == {"h.0.w", "h.0.scaled", "h.1.scaled"}
    w = v / np.linalg.norm(v)
    wanted = (x @ (w * 3)) @ (w * 4)
    np.testing.assert_allclose(exe(x=x)["y"], wanted, rtol=1e-5)


def test_engines_read_few_weights_ahead():
    """In their order; those that are written meanwhile need not be in memory."""
    begun, taken = [], []

    class Read:
        def __call__(self, names):
            begun.extend(names)
            return {name: np.array(int(name)) for name in names}

        def compute(self, names):
            return iter(())

    for name, array in engine_weights.read_ahead(Read(), map(str, range(20))):
        taken.append(name)
        assert int(name) == array
        assert len(begun) - len(taken) <= engine_weights.CONVERTERS + 1

    assert taken == [str(number) for number in range(20)]
