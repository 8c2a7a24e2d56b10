"""Executables of others: with `rebuild`, none of their native code is loaded, whatever it is."""

import json

import numpy as np
import pytest
import written
from safetensors.numpy import save_file
from typer.testing import CliRunner

import tripybuild
from tripybuild.artifact import container
from tripybuild.cli.main import app
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets.xla import pjrt

TEXT = """
inputs:
  x: float32[B, 4]
ranges:
  B: {min: 1, opt: 2, max: 9}
parts:
  h: Linear(4, 3)
outputs:
  y: exp(h(x))
weights: w.safetensors
"""
NATIVE = "cpu/B=2.bin"
CUSTOM = """
module {
  func.func public @main(%w: tensor<3xf32>, %v: tensor<3x4xf32>, %x: tensor<2x4xf32>)
      -> tensor<2x3xf32> {
    %0 = stablehlo.custom_call @xla_python_cpu_callback(%x) {backend_config = "81985529216486895"}
      : (tensor<2x4xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A compiled model, in a folder with a cache of its own."""
    found = tmp_path_factory.mktemp("rebuild")
    random = np.random.default_rng(3)
    arrays = {"h.weight": random.random((3, 4), np.float32), "h.bias": np.ones(3, np.float32)}
    save_file(arrays, found / "w.safetensors")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIPYBUILD_CACHE_DIR", str(found / "cache"))
        path = written.write(found, TEXT)
        tripybuild.compile(path, target="cpu:xla", output=found / "good.tpb")
        yield found


def rewritten(folder, path, change):
    """A file with other contents, and right digests."""
    with container.open(folder / "good.tpb") as file:
        members = {name: bytes(file.read(name)) for name in file.manifest.members}
        content = json.loads(json.dumps(dict(file.manifest.content)))
    change(content, members)
    container.write(path, content, members)
    return path


def inputs(size):
    """Some input."""
    return np.random.default_rng(size).random((size, 4), np.float32)


def refused(call, code):
    """The message of the one diagnostic that a call ends in."""
    with pytest.raises(DiagnosticError) as caught:
        call()
    (found,) = caught.value.diagnostics
    assert found.code == code
    return found.message


def test_native_code_of_a_file_is_never_loaded(folder, tmp_path, monkeypatch):
    """What stands there as native code may be anything, and no look at it is needed."""
    path = rewritten(folder, tmp_path / "evil.tpb", lambda _, m: m.update({NATIVE: b"\x90" * 99}))
    seen = []
    real = pjrt.load

    def load(payload, constants=()):
        seen.append(bytes(payload))
        return real(payload, constants)

    monkeypatch.setattr(pjrt, "load", load)
    run = tripybuild.load(path, rebuild=True)
    for size in (2, 5):
        expected = tripybuild.load(folder / "good.tpb")(x=inputs(size))["y"]
        np.testing.assert_array_equal(run(x=inputs(size))["y"], expected)
    assert b"\x90" * 99 not in seen
    refused(lambda: tripybuild.load(path)(x=inputs(2)), "executable-not-recognized")


def test_what_was_rebuilt_is_kept_and_saved(folder, tmp_path, monkeypatch):
    """The file that is written then holds this machine's code, and needs no second look."""
    path = rewritten(folder, tmp_path / "evil.tpb", lambda _, m: m.update({NATIVE: b"\x90" * 99}))
    tripybuild.load(path, rebuild=True).save(tmp_path / "clean.tpb")
    with container.open(tmp_path / "clean.tpb") as file:
        assert bytes(file.read(NATIVE)).startswith(pjrt.MAGIC)
    assert tripybuild.load(tmp_path / "clean.tpb")(x=inputs(2))["y"].shape == (2, 3)


@pytest.mark.parametrize("rebuild", [True, False])
def test_modules_of_others_compute_and_nothing_else(folder, tmp_path, monkeypatch, rebuild):
    """A custom call could call an address; neither a rebuild nor another processor runs it."""

    def change(content, members):
        members["stablehlo/B=2.mlirbc"] = CUSTOM.encode()
        content["entries"][0]["specialisations"][0]["identity"] = {"jaxlib": "0.0"}

    path = rewritten(folder, tmp_path / "evil.tpb", change)
    said = refused(
        lambda: tripybuild.load(path, rebuild=rebuild)(x=inputs(2)), "executable-altered"
    )
    assert "`stablehlo.custom_call`" in said


@pytest.mark.parametrize("content", [b"module {", b"ML\xefR\x00\x01", b"module { foo.bar }"])
def test_modules_that_are_none_are_refused(folder, tmp_path, content):
    """By the compiler's process, in words."""
    change = {"stablehlo/B=2.mlirbc": content}
    path = rewritten(folder, tmp_path / "evil.tpb", lambda _, members: members.update(change))
    refused(lambda: tripybuild.load(path, rebuild=True), "executable-altered")


def test_a_reference_has_nothing_to_rebuild(folder, tmp_path):
    """It is data, and computes as before."""
    path = folder / "reference.tpb"
    tripybuild.compile(folder / "tiny.yaml", target="reference", output=path)
    expected = tripybuild.load(path)(x=inputs(3))["y"]
    np.testing.assert_array_equal(tripybuild.load(path, rebuild=True)(x=inputs(3))["y"], expected)


def test_engines_are_refused(folder, tmp_path):
    """In words: their weights are in the engine alone."""

    def change(content, members):
        names = {"plan": "tensorrt/p", "record": "tensorrt/r", "module": "tensorrt/m"}
        content.update(target="tensorrt-rtx")
        content["entries"][0]["engine"] = names
        members.update(dict.fromkeys(names.values(), b"x"))

    path = rewritten(folder, tmp_path / "engine.tpb", change)
    said = refused(lambda: tripybuild.load(path, rebuild=True), "cannot-rebuild")
    assert "`tensorrt-rtx` cannot be rebuilt" in said


def test_the_command_line_rebuilds(folder, tmp_path, monkeypatch):
    """`tripybuild run --rebuild` gives what was compiled."""
    monkeypatch.chdir(tmp_path)
    rewritten(folder, tmp_path / "evil.tpb", lambda _, m: m.update({NATIVE: b"\x90" * 99}))
    np.save("x.npy", inputs(2))
    done = CliRunner().invoke(app, ["run", "evil.tpb", "--input", "x=x.npy", "--rebuild"])
    assert done.exit_code == 0, done.output
    assert "float32[2, 3]" in done.output
    failed = CliRunner().invoke(app, ["run", "evil.tpb", "--input", "x=x.npy"])
    assert failed.exit_code == 1
