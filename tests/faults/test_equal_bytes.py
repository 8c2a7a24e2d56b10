"""One model is one file: from any cold cache, after anything else, by any spelling of its path."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.artifact import container
from tripybuild.errors.diagnostics import portable_path
from tripybuild.targets.xla import payload as pjrt_payload, pjrt
from tripybuild.worker import compiler_process

TEXT = """
inputs:
  x: float32[B, 64]
ranges:
  B: {min: 1, opt: 3, max: 9}
parts:
  a: Linear(64, 64)
  b: Linear(64, 64)
  c: Conv(3, 4, [3, 3])
outputs:
  y: softmax(b(gelu(a(x))), 1)
  ends: cumsum(exp(x), 1)
  image: mean(relu(c(ones([2, 3, 8, 8]) * mean(x, [0, 1]))), [2, 3])
weights: w.safetensors
"""
OTHER = """
inputs:
  x: float32[4]
outputs:
  y: exp(x + x) * 2
"""
RTX = "tensorrt-rtx:sm89"


@pytest.fixture
def model(tmp_path):
    """A model and its weights, in a folder below."""
    folder = tmp_path / "specs"
    folder.mkdir()
    random = np.random.default_rng(1)
    shapes = {"a.weight": (64, 64), "a.bias": 64, "b.weight": (64, 64), "b.bias": 64}
    shapes |= {"c.weight": (4, 3, 3, 3), "c.bias": 4}
    arrays = {name: random.random(shape, np.float32) for name, shape in shapes.items()}
    save_file(arrays, folder / "w.safetensors")
    return written.write(folder, TEXT)


def cold(monkeypatch, folder):
    """An empty cache."""
    shutil.rmtree(folder, ignore_errors=True)
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(folder))


def test_cold_caches_give_equal_bytes(model, tmp_path, monkeypatch):
    """Whichever of XLA's threads was first, and whatever its process compiled before."""
    x = np.random.default_rng(2).random((3, 64), np.float32)
    files, results = [], []
    for index in range(3):
        cold(monkeypatch, tmp_path / "cache")
        if index == 1:
            compiler_process.session().close()
        if index == 2:
            (tmp_path / "other").mkdir()
            tripybuild.compile(written.write(tmp_path / "other", OTHER))
        path = tmp_path / f"{index}.tpb"
        tripybuild.compile(model, shapes=[{"B": 5}], output=path)
        files.append(path.read_bytes())
        results.append(tripybuild.load(path)(x=x))
    assert len(set(files)) == 1
    for name in results[0]:
        assert len({result[name].tobytes() for result in results}) == 1


def spellings(model, tmp_path):
    """The path of a model from the folder above it, in several ways."""
    yield from ("specs/tiny.yaml", "./specs/../specs/./tiny.yaml", str(model))
    yield os.path.relpath(model, tmp_path / "elsewhere")


@pytest.mark.parametrize("target", ["cpu", "reference", RTX])
def test_how_a_path_is_spelled_is_not_in_the_file(model, tmp_path, monkeypatch, target):
    """Places are relative to the folder of the model, of which the file says nothing else."""
    if target == RTX:
        pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    cold(monkeypatch, tmp_path / "cache")
    (tmp_path / "elsewhere").mkdir()
    shutil.copytree(model.parent, tmp_path / "copy")
    found = set()
    for spelling in [*spellings(model, tmp_path), str(tmp_path / "copy" / "tiny.yaml")]:
        monkeypatch.chdir(tmp_path / "elsewhere" if spelling.startswith("..") else tmp_path)
        tripybuild.compile(spelling, target=target, output=tmp_path / "a.tpb")
        found.add((tmp_path / "a.tpb").read_bytes())
    assert len(found) == 1
    assert str(tmp_path).encode() not in found.pop()
    with container.open(tmp_path / "a.tpb") as file:
        texts = [bytes(file.read(name)) for name in file.manifest.members if "weights" not in name]
    assert any(b"tiny.yaml" in text for text in texts)


PROGRAM = """
import sys
import tripyapi as tp
from inner.part import part

tp.compile(lambda x: tp.exp(part(x)), args=[tp.InputInfo((2,), tp.float32)]).save(sys.argv[1])
"""


def test_programs_are_no_exception(tmp_path):
    """Whose modules are called as they are imported."""
    out = []
    for name in ("one", "two"):
        folder = tmp_path / name
        (folder / "inner").mkdir(parents=True)
        (folder / "main.py").write_text(PROGRAM)
        (folder / "inner" / "part.py").write_text("def part(x):\n    return x + x\n")
        command = [sys.executable, str(folder / "main.py"), str(tmp_path / f"{name}.tpb")]
        subprocess.run(command, check=True, cwd=tmp_path if name == "one" else folder)
        out.append((tmp_path / f"{name}.tpb").read_bytes())
    assert out[0] == out[1]
    assert b"inner/part.py" in out[0]
    assert str(tmp_path).encode() not in out[0]


def test_paths_elsewhere_keep_what_python_imports(tmp_path, monkeypatch):
    """And else their name only."""
    monkeypatch.syspath_prepend(tmp_path / "path")
    for path, shown in {
        tmp_path / "model" / "a" / "b.yaml": "a/b.yaml",
        tmp_path / "path" / "c" / "d.py": "c/d.py",
        Path("/somewhere/else/e.py"): "e.py",
        "<stdin>": "<stdin>",
    }.items():
        assert portable_path(str(path), tmp_path / "model") == shown


def test_a_program_in_another_form_stays_as_it_is():
    """What a later version of XLA writes is not guessed at."""
    real = pjrt._serialize
    payloads = []

    def kept(loaded):
        payloads.append(real(loaded))
        return payloads[-1]

    function = "func.func public @main(%x: tensor<2xf32>) -> tensor<2xf32>"
    module = f"module {{ {function} {{ return %x : tensor<2xf32> }} }}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pjrt, "_serialize", kept)
        pjrt.compile(module)
    (payload,) = payloads
    made = pjrt_payload.canonicalize(payload)
    assert pjrt_payload.canonicalize(made) == made
    for other in (b"", b"\x00", b"\xff" * 40, payload[:-1], payload[:40], payload + b"\x07"):
        assert pjrt_payload.canonicalize(other) == other
