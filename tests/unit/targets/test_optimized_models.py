"""What ONNX Runtime made of a model is kept in the cache: found, mapped, and never believed."""

import math
import os
import subprocess
import sys
import textwrap
import threading
from contextlib import nullcontext
from mmap import mmap

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.artifact.members import measure
from tripybuild.cache.files import MAGIC
from tripybuild.cache.keys import key
from tripybuild.cache.store import seal_digest, seal_path
from tripybuild.process.hashing import ALGORITHMS, algorithm
from tripybuild.targets.cpu import onnx_runtime
from tripybuild.targets.cpu.optimized_models import OptimizedModels
from tripybuild.targets.onnx_runtime import optimized_file, session
from tripybuild.targets.onnx_runtime.optimized_file import OptimizedFile

ENGINE = "cpu:onnxruntime,threads=2"
CONVOLUTIONS = """
    inputs:
      x: F[B, 8, H, H]
    ranges:
      H: {min: 3, opt: 8}
    parts:
      first: Conv(8, 64, [3, 3], padding=1)
      norm: BatchNorm(64)
      last: Conv(64, 96, [3, 3])
      head: Linear(96, 40)
    outputs:
      y: head(mean(last(relu(norm(first(x)))), [2, 3]))
    weights:
      file: w.safetensors
    """
SHAPES = {
    "first.weight": (64, 8, 3, 3),
    "first.bias": (64,),
    "norm.weight": (64,),
    "norm.bias": (64,),
    "norm.running_mean": (64,),
    "norm.running_var": (64,),
    "last.weight": (96, 64, 3, 3),
    "last.bias": (96,),
    "head.weight": (40, 96),
    "head.bias": (40,),
}
X = np.random.default_rng(3).normal(size=(2, 8, 9, 9)).astype(np.float32)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Compile a model of convolutions with an empty cache; return its file and what it gives."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(onnx_runtime, "WORTH", 1)
    random = np.random.default_rng(0)
    arrays = {n: random.uniform(0.5, 1.5, s).astype(np.float32) / 4 for n, s in SHAPES.items()}
    save_file(arrays, tmp_path / "w.safetensors")
    path = written.write(tmp_path, CONVOLUTIONS)
    compiled = tripybuild.compile(path, target=ENGINE, output=tmp_path / "c.tpb")
    return tmp_path / "c.tpb", compiled(x=X)["y"]


@pytest.fixture
def ways(monkeypatch):
    """Return the list of how sessions began."""
    found = []
    for name in ("_initialize", "_initialize_optimized"):
        real = getattr(session, name)

        def initialize(*given, name=name, real=real):
            found.append(name)
            return real(*given)

        monkeypatch.setattr(session, name, initialize)
    return found


def entries():
    """The files of the cache that have seals."""
    folder = OptimizedModels().folder
    return [place for place in folder.glob("??/*") if seal_path(place).exists()]


def loaded(file):
    """What a file gives, in a new session, and the warnings."""
    model = tripybuild.load(file)
    return model(x=X)["y"], [each.code for each in model.warnings]


def test_what_was_made_is_mapped(made, ways):
    """Also when another process has removed its name since; executables hold none of it."""
    file, wanted = made
    (place,) = entries()
    model = tripybuild.load(file)
    assert set(model.members) == {"trace.json", "weights.safetensors"}
    np.testing.assert_array_equal(model(x=X)["y"], wanted)
    assert ways == ["_initialize_optimized"]
    place.unlink()
    np.testing.assert_array_equal(model(x=X)["y"], wanted)


@pytest.mark.parametrize("sizes", [(2, 9), (1, 4), (5, 17)])
def test_it_is_what_is_computed_without_it(made, ways, monkeypatch, sizes):
    """For all sizes, to the last bit."""
    x = np.random.default_rng(1).normal(size=(sizes[0], 8, sizes[1], sizes[1])).astype(np.float32)
    found = tripybuild.load(made[0])(x=x)["y"]
    monkeypatch.setattr(onnx_runtime, "WORTH", 1 << 40)
    np.testing.assert_array_equal(found, tripybuild.load(made[0])(x=x)["y"])
    assert ways == ["_initialize_optimized", "_initialize"]


def test_kernels_read_weights_in_whole_lines(made, monkeypatch):
    """Where one begins within a line of the cache, they read a copy; all others where they are."""
    large = math.prod(SHAPES["last.weight"]) * 4
    for least, are_copies in ((large, {False}), (1, {False, True})):
        monkeypatch.setattr(optimized_file, "LARGE", least)
        for each in entries():
            each.unlink()
        np.testing.assert_array_equal(loaded(made[0])[0], made[1])
        file = OptimizedFile(OptimizedModels().find(entry_key()))
        arrays = {name: array for name, (_, array) in file.weights.items()}
        assert large in {each.nbytes for each in arrays.values()}
        assert all(each.ctypes.data % 64 == 0 for each in arrays.values())
        assert {not isinstance(memory_of(each), mmap) for each in arrays.values()} == are_copies
        np.testing.assert_array_equal(loaded(made[0])[0], made[1])


def entry_key():
    """The key of the one entry."""
    (place,) = entries()
    return place.parent.name + place.name


def memory_of(array):
    """What an array is a part of."""
    while isinstance(array, np.ndarray):
        array = array.base
    return array.obj if isinstance(array, memoryview) else array


def test_what_is_shared_or_small_is_not_kept(made, tmp_path, monkeypatch):
    """To begin with it is as fast without."""
    for each in entries():
        each.unlink()
        seal_path(each).unlink()
    monkeypatch.setattr(onnx_runtime, "WORTH", 1 << 23)
    loaded(made[0])
    save_file({"p.weight": np.ones((64, 64), np.float32)}, tmp_path / "w.safetensors")
    text = """
    inputs:
      x: F[N, 64]
    parts:
      p: Linear(64, 64, bias=False)
    outputs:
      y: p(x)
    weights:
      file: w.safetensors
    """
    monkeypatch.setattr(onnx_runtime, "WORTH", 1)
    tripybuild.compile(written.write(tmp_path, text), target=ENGINE)
    assert entries() == []


BRANCH = """
    inputs:
      x: F[B, 16, H, H]
    ranges:
      H: {min: 3, opt: 8}
    parts:
      first: Conv(16, 16, [3, 3], padding=1, bias=False)
    steps:
      seen: first(x)
    outputs:
      y: cond(any(x > 0.0), narrow, wide, [seen])
    weights:
      file: w.safetensors
    define:
      narrow:
        doc: Two windows.
        inputs:
          x: F[B, 16, H, H]
        outputs:
          y: avgpool(relu(x), [3, 3], [1, 1], [[1, 1], [1, 1]])
      wide:
        doc: Twice as much.
        inputs:
          x: F[B, 16, H, H]
        outputs:
          y: x * 2.0
    """


def test_what_the_library_would_not_load_is_not_kept(made, ways, tmp_path):
    """In a branch it repeats the names that it has given to what it lays out anew outside of it."""
    for each in entries():
        each.unlink()
        seal_path(each).unlink()
    random = np.random.default_rng(0).normal(size=(16, 16, 3, 3)).astype(np.float32)
    save_file({"first.weight": random}, tmp_path / "w.safetensors")
    path = written.write(tmp_path, BRANCH)
    x = np.random.default_rng(1).normal(size=(1, 16, 8, 8)).astype(np.float32)
    found = tripybuild.compile(path, target=ENGINE)(x=x)["y"]
    wanted = tripybuild.compile(path, target="reference")(x=x)["y"]
    np.testing.assert_allclose(found, wanted, 1e-4, 1e-4)
    assert ways == ["_initialize"]
    assert entries() == []


def _flip(place):
    content = bytearray(place.read_bytes())
    content[len(content) // 2] ^= 1
    place.write_bytes(content)


def _shorten(place):
    place.write_bytes(place.read_bytes()[:-1])


def _empty(place):
    place.write_bytes(b"")


def _fold(place):
    place.unlink()
    place.mkdir()


def _pipe(place):
    place.unlink()
    os.mkfifo(place)


def _rename(place):
    """The entry of another key, with its seal."""
    content = place.read_bytes()
    digest = ALGORITHMS[algorithm(len(content))](content).hexdigest()
    seal = seal_digest(key({"other": "model"}), digest)
    seal_path(place).write_bytes(MAGIC + len(content).to_bytes(8, "little") + seal)


@pytest.mark.parametrize("damage", [_flip, _shorten, _empty, _fold, _pipe, _rename])
def test_a_damaged_entry_is_made_again(made, ways, damage):
    """With a warning; no native code reads it."""
    file, wanted = made
    (place,) = entries()
    damage(place)
    found, warnings = loaded(file)
    np.testing.assert_array_equal(found, wanted)
    assert (warnings, ways) == (["cache-damaged"], ["_initialize"])
    assert loaded(file)[1] == []
    assert ways[1:] == ["_initialize_optimized"]


NO_GRAPH = b"\x08\x09"  # the model of a version, and nothing else


@pytest.mark.parametrize(
    ("content", "is_asked"),
    [
        (NO_GRAPH + len(NO_GRAPH).to_bytes(8, "little"), True),
        (b"no model" * 100, False),
        (b"no model" + (8).to_bytes(8, "little"), False),
        (bytes(9), False),
        (b"?", False),
    ],
)
def test_what_the_library_does_not_load_is_made_again(made, ways, content, is_asked):
    """Though it is what was stored, by its digest."""
    file, wanted = made
    (place,) = entries()
    place.write_bytes(content)
    seal = seal_digest(place.parent.name + place.name, measure(place.read_bytes()).digest)
    seal_path(place).write_bytes(MAGIC + len(content).to_bytes(8, "little") + seal)
    np.testing.assert_array_equal(loaded(file)[0], wanted)
    assert ways == ["_initialize_optimized"] * is_asked + ["_initialize"]
    ways.clear()
    loaded(file)
    assert ways == ["_initialize_optimized"]


@pytest.mark.parametrize(
    "changed", ["processor", "library", "configuration", "fusions", "mapped", "weights"]
)
def test_another_environment_has_another_entry(made, ways, monkeypatch, tmp_path, changed):
    """Native code depends on the processor, on the library and its settings, and on the data."""
    file, _ = made
    if changed == "processor":
        monkeypatch.setattr(onnx_runtime, "processor_identity", lambda: "another one")
    elif changed == "library":
        monkeypatch.setattr(onnx_runtime.runtime(), "__version__", "1.99.0")
    elif changed == "configuration":
        monkeypatch.setitem(session.CONFIGURATION, "session.intra_op.allow_spinning", "0")
    elif changed == "fusions":
        monkeypatch.setattr(session, "_SLOWER_FUSIONS", ())
    elif changed == "mapped":
        monkeypatch.setattr(session, "_MAPPED_LEVEL", "ORT_ENABLE_BASIC")
    else:
        arrays = {n: np.ones(s, np.float32) for n, s in SHAPES.items()}
        save_file(arrays, tmp_path / "w.safetensors")
        tripybuild.compile(tmp_path / "tiny.yaml", target=ENGINE, output=file)
        ways.clear()
    loaded(file)
    assert ways == ["_initialize_optimized" if changed == "weights" else "_initialize"]
    assert len(entries()) == 2


def test_without_a_cache_it_runs(made, ways, monkeypatch, tmp_path):
    """Nothing is stored, and nothing is said: it is a cache."""
    file, wanted = made
    (tmp_path / "none").write_text("no folder")
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "none"))
    found, warnings = loaded(file)
    np.testing.assert_array_equal(found, wanted)
    assert (warnings, ways) == ([], ["_initialize"])


@pytest.mark.parametrize("place", ["/dev/full", "absent/file"])
def test_where_it_cannot_be_written_it_runs(made, ways, monkeypatch, tmp_path, place):
    """A full disk is no reason to refuse a model."""
    file, wanted = made
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "other"))
    monkeypatch.setattr(OptimizedModels, "place", lambda *_: nullcontext(tmp_path / place))
    np.testing.assert_array_equal(loaded(file)[0], wanted)
    assert (ways, entries()) == (["_initialize", "_initialize"], [])


def test_threads_that_make_the_same_at_once(made, ways):
    """And find it afterwards; nothing is left of what they wrote."""
    file, wanted = made
    for each in entries():
        each.unlink()
    results = []
    threads = [threading.Thread(target=lambda: results.append(loaded(file))) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(results) == 4
    for found, warnings in results:
        np.testing.assert_array_equal(found, wanted)
        assert warnings == []
    ways.clear()
    np.testing.assert_array_equal(loaded(file)[0], wanted)
    assert ways == ["_initialize_optimized"]
    assert list((OptimizedModels().folder / "partial").iterdir()) == []


FORK = """
    import os, signal, sys
    signal.alarm(60)
    import numpy as np
    import tripybuild
    from tripybuild.targets.cpu import onnx_runtime
    onnx_runtime.WORTH = 1
    model = tripybuild.load(sys.argv[1])
    x = np.ones((1, 8, 9, 9), np.float32)
    wanted = model(x=x)["y"]
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if np.array_equal(model(x=x)["y"], wanted) else 3)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_maps_it_again(made):
    """It has the file open, too."""
    words = [sys.executable, "-c", textwrap.dedent(FORK), str(made[0])]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"]
