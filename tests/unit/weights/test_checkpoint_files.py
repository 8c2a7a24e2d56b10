"""Checkpoints of several files: shards with an index, lists, folders, and paths from outside."""

import json
import os
import time

import numpy as np
import pytest
import written
from safetensors.numpy import save_file

import tripybuild
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.model.graph_builder import build
from tripybuild.weights.checkpoint import check_weights

TEXT = """
inputs:
  x: F[2, 4]
parts:
  h: Linear(4, 4) * 3
outputs:
  y: h(x)
WEIGHTS
"""
INDEX = "model.safetensors.index.json"


def tensors():
    random = np.random.default_rng(1)
    shapes = {"weight": (4, 4), "bias": (4,)}
    return {
        f"h.{i}.{name}": random.normal(size=shape).astype(np.float32)
        for i in range(3)
        for name, shape in shapes.items()
    }


def save_shards(folder, count=3):
    """Write a checkpoint as the hub has it; return what it holds and the index."""
    stored = tensors()
    names = list(stored)
    files = [f"model-{i + 1:05}-of-{count:05}.safetensors" for i in range(count)]
    found = {name: files[at % count] for at, name in enumerate(names)}
    for file in files:
        save_file({n: stored[n] for n in names if found[n] == file}, folder / file)
    index = {"metadata": {"total_size": 0}, "weight_map": found}
    (folder / INDEX).write_text(json.dumps(index))
    return stored, index


def spec(folder, weights=f"weights: {INDEX}"):
    return written.write(folder, TEXT.replace("WEIGHTS", weights))


def read(folder, weights=f"weights: {INDEX}", path=None):
    built = build(spec(folder, weights))
    return check_weights(built, path)(built.graph.weights)


def problem(folder, weights=f"weights: {INDEX}", path=None):
    with pytest.raises(DiagnosticError) as raised:
        read(folder, weights, path)
    (found,) = raised.value.diagnostics
    return found


def check_equal(got, stored):
    assert set(got) == set(stored)
    for name, array in stored.items():
        np.testing.assert_array_equal(got[name], array)


def test_an_index_of_shards(tmp_path):
    """Each tensor is read from the shard that the index names."""
    stored, _ = save_shards(tmp_path)

    check_equal(read(tmp_path), stored)


def test_the_index_decides(tmp_path):
    """A tensor that a shard holds beside, and the index does not place there, is not read."""
    stored, index = save_shards(tmp_path)
    other = "model-00001-of-00003.safetensors"
    held = {n: stored[n] for n, file in index["weight_map"].items() if file == other}
    save_file(held | {"h.0.bias": np.zeros(4, np.float32), "old": np.zeros(1)}, tmp_path / other)

    check_equal(read(tmp_path), stored)


def test_a_list_of_files(tmp_path):
    """Files without an index; a tensor in two of them is an error."""
    stored, _ = save_shards(tmp_path, 2)
    files = sorted(path.name for path in tmp_path.glob("*.safetensors"))
    entry = f"weights:\n  file: {files}"

    check_equal(read(tmp_path, entry), stored)
    check_equal(read(tmp_path, f"weights: {files}"), stored)

    save_file({"h.0.bias": stored["h.0.bias"]}, tmp_path / "more.safetensors")
    found = problem(tmp_path, f"weights:\n  file: {[*files, 'more.safetensors']}")
    assert found.code == "weights-malformed"
    assert "the tensor `h.0.bias` is in" in found.message


@pytest.mark.parametrize("target", ["cpu", "tensorrt-rtx"])
def test_targets_read_all_shards(tmp_path, target):
    """Whether they are copied into the executable, or mapped by the compiler's process."""
    stored, _ = save_shards(tmp_path)
    built = tripybuild.compile(spec(tmp_path), target=target)
    if target == "cpu":
        x = expected = np.ones((2, 4), np.float32)
        for i in range(3):
            expected = expected @ stored[f"h.{i}.weight"].T + stored[f"h.{i}.bias"]
        np.testing.assert_allclose(np.asarray(built(x=x)["y"]), expected, rtol=1e-4)


def damage(folder, index, fault):
    """Put a fault into a checkpoint."""
    shard = "model-00002-of-00003.safetensors"
    path = folder / INDEX
    if fault == "no shard":
        (folder / shard).unlink()
    elif fault == "no tensor":
        index["weight_map"]["h.0.wieght"] = index["weight_map"].pop("h.0.weight")
        path.write_text(json.dumps(index))
    elif fault == "twice":
        text = json.dumps(index)
        path.write_text(text.replace('"h.0.weight"', f'"h.0.bias": "{shard}", "h.0.weight"'))
    elif fault == "no JSON":
        path.write_text("{")
    elif fault == "no map":
        path.write_text("[]")
    elif fault == "no file name":
        path.write_text('{"weight_map": {"a": 3}}')
    elif fault == "no UTF-8":
        path.write_bytes(b"\xff{}")
    else:
        index["weight_map"]["h.0.weight"] = fault
        path.write_text(json.dumps(index))


@pytest.mark.parametrize(
    ("fault", "code", "part"),
    [
        ("no shard", "weights-not-found", "names the shard `model-00002-of-00003.safetensors`"),
        ("no tensor", "weights-malformed", "says that `h.0.wieght` is in"),
        ("twice", "weights-malformed", "it names `h.0.bias` twice"),
        ("no JSON", "weights-malformed", "it is not JSON"),
        ("no UTF-8", "weights-malformed", "it is not JSON"),
        ("no map", "weights-malformed", "has no `weight_map`"),
        ("no file name", "weights-malformed", "has no `weight_map`"),
        ("../out.safetensors", "weights-not-found", "which leads out of its folder"),
        ("/etc/hostname", "weights-not-found", "which leads out of its folder"),
    ],
)
@pytest.mark.parametrize("outside", [False, True])
def test_an_index_that_does_not_fit(tmp_path, fault, code, part, outside):
    """Each fault is one problem, at the line that names the index if a line does."""
    _, index = save_shards(tmp_path)
    damage(tmp_path, index, fault)

    found = problem(tmp_path, path=tmp_path / INDEX if outside else None)

    assert (found.code, found.span is None) == (code, outside)
    assert part in found.message


def test_a_path_from_outside(tmp_path):
    """What a person names may be anywhere, and links may lead out, as in the hub's cache."""
    blobs, snapshot, model = (tmp_path / name for name in ("blobs", "snapshot", "model"))
    for folder in (blobs, snapshot, model):
        folder.mkdir()
    stored, _ = save_shards(blobs)
    for at, path in enumerate(sorted(blobs.iterdir())):
        blob = blobs / str(at)
        (snapshot / path.name).symlink_to(blob)
        path.rename(blob)

    check_equal(read(model, "", snapshot / INDEX), stored)
    check_equal(read(model, "weights: other.safetensors", snapshot), stored)
    assert "is a link that leads out of" in problem(snapshot).message


def test_folders(tmp_path):
    """A folder has one file, or an index, under the names of the hub."""
    model, folder = tmp_path / "model", tmp_path / "checkpoint"
    model.mkdir()
    folder.mkdir()
    stored = tensors()

    assert "has no `model.safetensors`" in problem(model, path=folder).message
    save_file(stored, folder / "other.safetensors")
    check_equal(read(model, path=folder), stored)
    save_file({}, folder / "second.safetensors")
    assert problem(model, path=folder).hint == "name the file"
    save_file(stored, folder / "model.safetensors")
    check_equal(read(model, path=folder), stored)
    assert "there is no weights file" in problem(model, path=tmp_path / "none").message


@pytest.mark.parametrize(
    ("name", "kind", "hint"),
    [
        ("pytorch_model.bin", "a pickle of PyTorch", "torch.load('pytorch_model.bin'"),
        ("w.npz", "an archive of NumPy", "numpy.load('w.npz')"),
        ("w.gguf", "a file of GGML", None),
    ],
)
def test_other_formats(tmp_path, name, kind, hint):
    """What the file is, and what makes it one that can be read."""
    (tmp_path / name).write_bytes(b"\x80\x04")

    found = problem(tmp_path, f"weights: {name}")

    assert (found.code, found.span.line) == ("weights-malformed", 9)
    assert kind in found.message
    assert hint is None or hint in found.hint


def test_a_shard_that_changes_meanwhile(tmp_path):
    """Whichever it is, nothing is read of it."""
    stored, index = save_shards(tmp_path)
    built = build(spec(tmp_path))
    weights = check_weights(built)
    last = "model-00003-of-00003.safetensors"
    held = {n: stored[n] + 1 for n, file in index["weight_map"].items() if file == last}
    save_file(held, tmp_path / last)

    for attempt in (weights.verify, lambda: weights(built.graph.weights)):
        with pytest.raises(DiagnosticError) as raised:
            attempt()
        assert raised.value.diagnostics[0].code == "weights-changed"
        assert last in raised.value.diagnostics[0].message


def test_pipes_are_no_files(tmp_path):
    """A pipe is not waited for, whoever names it."""
    for name in ("w.safetensors", INDEX):
        os.mkfifo(tmp_path / name)
        assert "there is no" in problem(tmp_path, f"weights: {name}").message
        assert "there is no weights file" in problem(tmp_path, path=tmp_path / name).message
    assert problem(tmp_path, path=tmp_path).code == "weights-not-found"
    assert problem(tmp_path, path=tmp_path / "a\0b").code == "weights-not-found"


def test_a_file_is_judged_by_its_content(tmp_path):
    """A safetensors file may have any name."""
    save_file(tensors(), tmp_path / "pytorch_model.bin")

    check_equal(read(tmp_path, "weights: pytorch_model.bin"), tensors())


def test_one_shard_of_two_spellings(tmp_path):
    """All of its tensors are mapped."""
    stored, index = save_shards(tmp_path, 1)
    (file,) = set(index["weight_map"].values())
    index["weight_map"]["h.0.bias"] = f"./{file}"
    (tmp_path / INDEX).write_text(json.dumps(index))
    built = build(spec(tmp_path))
    weights = check_weights(built)

    check_equal(weights(built.graph.weights), stored)
    (entries,) = weights.file_entries(built.graph.weights).values()
    assert set(entries) == set(stored)


def test_large_indexes_are_read_in_linear_time(tmp_path):
    """Also one whose last name stands twice."""
    names = [f'"w{at}": "a.safetensors"' for at in range(60_000)]
    (tmp_path / INDEX).write_text(f'{{"weight_map": {{{", ".join([*names, names[-1]])}}}}}')
    began = time.process_time()

    assert "names `w59999` twice" in problem(tmp_path).message
    assert time.process_time() - began < 3


def test_weights_for_a_model_without_any(tmp_path):
    """They are refused, since nothing would read them."""
    path = written.write(tmp_path, "\ninputs:\n  x: F[4]\noutputs:\n  y: x + x\n")
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.compile(path, target="reference", weights=tmp_path / "none.safetensors")
    assert raised.value.diagnostics[0].hint == "leave out `--weights`"
