"""Equal models are equal engines: the same key, and for static sizes the same bytes."""

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.targets.table import parse_target
from tripybuild.targets.tensorrt import build as engine
from tripybuild.targets.tensorrt.build import PLAN
from tripybuild.targets.tensorrt.weights import EngineWeights
from tripybuild.tensorrt.runtime.gpu import Gpu
from tripybuild.worker import compiler_process

pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")

TEXT = """
inputs:
  x: F[2, 3, 8, 8]
parts:
  conv: Conv(3, 4, [3, 3])
  bn: BatchNorm(4)
  fc: Linear(4, 5)
outputs:
  y: softmax(fc(mean(relu(bn(conv(x))), [2, 3])), 1)
weights: {file: w.safetensors, convert: true}
"""
SHAPES = {
    "conv.weight": (4, 3, 3, 3),
    "fc.weight": (5, 4),
    "fc.bias": (5,),
    **dict.fromkeys(("conv.bias", "bn.weight", "bn.bias"), (4,)),
    **{f"bn.running_{name}": (4,) for name in ("mean", "var")},
}


def compiled(folder, monkeypatch, *, seed=1, dtype="float32"):
    """Compile in a folder with a cache of its own and a fresh child: the plan, and its key."""
    folder.mkdir()
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(folder / "cache"))
    compiler_process.session("tensorrt-rtx").close()
    random = np.random.default_rng(seed)
    weights = {name: random.random(shape, np.float32) for name, shape in SHAPES.items()}
    save_file(weights, folder / "w.safetensors")
    keys = []
    plain = engine.key

    def noted(parts):
        keys.append(plain(parts))
        return keys[-1]

    monkeypatch.setattr(engine, "key", noted)
    made = tripybuild.compile(
        written.write(folder, TEXT), target="tensorrt-rtx", sizes={"F": dtype}
    )
    monkeypatch.setattr(engine, "key", plain)
    return bytes(made.member(PLAN)), keys[0]


def test_two_folders_give_one_engine(tmp_path, monkeypatch):
    """Built twice, by two processes, of weights that are converted.

    Others are asked in `test_equal_models_are_equal_engines`.
    """
    first = compiled(tmp_path / "a", monkeypatch, dtype="float16")
    second = compiled(tmp_path / "b", monkeypatch, dtype="float16")
    assert first == second
    assert len(first[0]) > 10_000


def test_other_weights_are_another_engine(tmp_path, monkeypatch):
    """One seed apart, in the same file at the same place."""
    first, key = compiled(tmp_path / "a", monkeypatch)
    second, other = compiled(tmp_path / "b", monkeypatch, seed=2)
    assert first != second
    assert key != other


def test_measured_are_names_types_shapes_and_bytes():
    """Of constants in memory, as of weights in files."""
    zeros = np.zeros(4, np.float32)
    several = [
        {"a": zeros},
        {"b": zeros},
        {"a": zeros + 1},
        {"a": zeros.view(np.int32)},
        {"a": zeros.reshape(2, 2)},
        {"a": zeros[:2], "b": zeros[2:]},
        {},
    ]
    with EngineWeights("tensorrt-rtx") as weights:
        digests = [weights.with_arrays(arrays).digest for arrays in several]
        assert weights.with_arrays({"a": zeros.copy()}).digest == digests[0]
    assert len(set(digests)) == len(several)


@pytest.mark.parametrize(("target", "told_apart"), [("tensorrt", True), ("tensorrt-rtx", False)])
def test_what_is_built_for_the_gpu_that_is_here_is_kept_for_it(
    tmp_path, monkeypatch, target, told_apart
):
    """A cache that two machines share gives none of them the other's engine."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    keys = []

    class Session:
        def compile(self, *_arguments, **_keywords):
            raise DiagnosticError(Diagnostic("compiler-failed", "not asked"))

    plain = engine.key
    monkeypatch.setattr(engine.compiler_process, "session", lambda _: Session())
    monkeypatch.setattr(engine, "key", lambda parts: keys.append(plain(parts)) or keys[-1])
    for name in ("NVIDIA L4", "NVIDIA A10"):
        monkeypatch.setattr(engine.gpu, "find_gpu", lambda name=name: Gpu(name, "sm89"))
        with pytest.raises(DiagnosticError, match="not asked"):
            engine.build_engine(engine.EngineSource(b"module {}"), parse_target(target))
    assert (keys[0] != keys[-1]) == told_apart
