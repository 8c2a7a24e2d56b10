"""Weights that are written to while a model is compiled of them: refused, and nothing is kept."""

import os
import shutil
import sys

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.targets.tensorrt import build as engine
from tripybuild.weights import checkpoint, safetensors
from tripybuild.weights.checkpoint import check_weights
from tripybuild.worker import compiler_process

TEXT = """
inputs:
  x: float32[2, 4]
parts:
  h: Linear(4, 4)
outputs:
  y: h(x)
weights: w.safetensors
"""
RTX = "tensorrt-rtx:sm89"
OLD, NEW = 1.0, 2.0


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model with weights and a cache of its own."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    store(tmp_path, OLD)
    return written.write(tmp_path, TEXT)


def store(folder, value, dtype=np.float32, shape=(4, 4), bias=np.float32):
    """Write weights of one value into the file that is there."""
    arrays = {"h.weight": np.full(shape, value, dtype), "h.bias": np.zeros(4, bias)}
    save_file(arrays, folder / "new.safetensors")
    with (folder / "w.safetensors").open("wb") as file:
        file.write((folder / "new.safetensors").read_bytes())


def replaced(folder):
    """Put another file in the place of the weights, with the time of the old one."""
    status = (folder / "w.safetensors").stat()
    store(folder, NEW)
    os.utime(folder / "w.safetensors", ns=(status.st_atime_ns, status.st_mtime_ns))


def refusal(call):
    """The one diagnostic that a call ends in."""
    with pytest.raises(DiagnosticError) as caught:
        call()
    (found,) = caught.value.diagnostics
    return found


def entries(folder):
    """What the cache keeps."""
    files = (path for path in (folder / "cache").rglob("*") if path.is_file())
    return [path for path in files if path.suffix != ".lock"]


def plan(path):
    """The engine of a model."""
    return bytes(tripybuild.compile(path, target=RTX).member(engine.PLAN))


def before(monkeypatch, owner, name, act):
    """Act once before a function runs."""
    real, acts = getattr(owner, name), [act]

    def first(*arguments, **named):
        if acts:
            acts.pop()()
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, first)


@pytest.mark.parametrize("change", [lambda folder: store(folder, NEW), replaced])
def test_an_engine_of_changed_weights_is_refused(model, tmp_path, monkeypatch, change):
    """And the cache holds nothing of it: the same weights are built anew, and right."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    with monkeypatch.context() as patch:
        before(patch, engine, "_request_engine", lambda: change(tmp_path))
        found = refusal(lambda: plan(model))
    assert (found.code, found.span.path) == ("weights-changed", str(model))
    assert str(tmp_path / "w.safetensors") in found.message
    assert entries(tmp_path) == []

    new = plan(model)
    store(tmp_path, OLD)
    old = plan(model)
    assert old != new
    shutil.rmtree(tmp_path / "cache")
    assert plan(model) == old


def test_weights_that_changed_and_changed_back_are_refused(model, tmp_path, monkeypatch):
    """Their digest is the same, and what was built may be of others."""
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    real = engine._request_engine

    def ask(*arguments):
        store(tmp_path, NEW)
        reply = real(*arguments)
        store(tmp_path, OLD)
        return reply

    with monkeypatch.context() as patch:
        patch.setattr(engine, "_request_engine", ask)
        assert refusal(lambda: plan(model)).code == "weights-changed"
    assert entries(tmp_path) == []


def test_a_file_that_becomes_shorter_under_the_compiler_is_named(model, tmp_path):
    """SIGBUS is the end of the process, and says which file was mapped."""
    command = (
        sys.executable,
        "-c",
        "import os, signal; input(); os.kill(os.getpid(), signal.SIGBUS)",
    )
    with compiler_process.CompilerProcess(command=command) as process:
        asked = {"mapped": (str(tmp_path / "w.safetensors"),)}
        found = refusal(lambda: process.compile("tensorrt-rtx", b"\n", **asked))
    assert found.code == "weights-changed"
    assert f"`{tmp_path / 'w.safetensors'}`" in found.message
    assert "SIGBUS" in " ".join(found.notes)


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: store(folder, NEW),
        lambda folder: store(folder, NEW, np.int32),
        lambda folder: store(folder, NEW, shape=(2, 8)),
        lambda folder: store(folder, NEW, bias=np.float16),
        lambda folder: store(folder, NEW, np.float64),
    ],
    ids=["values", "kind", "shape", "narrower", "wider"],
)
@pytest.mark.parametrize("target", ["cpu", "reference", RTX])
def test_weights_that_are_replaced_behind_the_check_are_refused(
    model, tmp_path, monkeypatch, target, change
):
    """What is read is what was compared with the model, in each dtype and shape."""
    if target == RTX:
        pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
    name = "read_entries" if target == RTX else "read"
    before(monkeypatch, checkpoint.safetensors, name, lambda: change(tmp_path))
    found = refusal(lambda: tripybuild.compile(model, target=target))
    assert (found.code, found.span.line) == ("weights-changed", 9)


def test_types_are_compared_where_the_time_is_not_told(model, tmp_path):
    """Who sets a file's time, and keeps its size, is found by the types of its tensors."""
    built = build(model)
    read = check_weights(built)
    (shard,) = read.files.shards
    status = shard.path.stat()
    store(tmp_path, 7, np.int32)
    os.utime(shard.path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert safetensors.file_state(shard.path) == shard.state
    for look in (read, read.file_entries):
        assert refusal(lambda look=look: look(built.graph.weights)).code == "weights-changed"


def test_weights_that_change_while_they_are_read_are_refused(model, tmp_path, monkeypatch):
    """Else an executable for the CPU might hold some of these and some of those."""
    count = []

    def between():
        count.append(1)
        if len(count) == 2:
            os.utime(tmp_path / "w.safetensors")

    real = safetensors._read_tensor
    monkeypatch.setattr(safetensors, "_read_tensor", lambda *given: (between(), real(*given))[1])
    assert refusal(lambda: tripybuild.compile(model)).code == "weights-changed"
    assert len(count) == 2
