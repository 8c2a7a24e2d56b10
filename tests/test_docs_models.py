"""The files of `docs/models.md` compile, and every key of a model's file is in one of them."""

from pathlib import Path

import numpy as np
import pytest
import sections
import yaml
from safetensors.numpy import save_file

import tripybuild
from tripybuild.compiler.session import compile_spec
from tripybuild.model.graph_builder import build
from tripybuild.packages.libraries import model_libraries
from tripybuild.schema.files import ModelFile, PartEntry
from tripybuild.weights import files
from tripybuild.weights.names import name_in_file

PAGE = Path(__file__).parent.parent / "docs" / "models.md"
FILES = {b.name: b.text for s in sections.sections(PAGE) for b in s.blocks if b.name is not None}
MODELS = [name for name, text in FILES.items() if "\nmodel: " in text]


@pytest.mark.parametrize("name", MODELS)
def test_each_file_compiles(name, tmp_path, monkeypatch):
    """With the weights that it names, and no others."""
    for each, text in FILES.items():
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).write_text(text, encoding="utf-8")
    own = model_libraries(None, tmp_path / name)
    built = build(tmp_path / name, homes=own)
    if built.weights is not None:
        weights = {
            name_in_file(path, built.weights): np.zeros(value.shape, np.float32)
            for path, value in built.stored_weights.items()
        }
        weights |= {each: np.zeros(1, np.float32) for each in built.weights.unused}
        save_file(weights, tmp_path / built.weights.file)
        if built.weights.package is not None:
            place = tmp_path / built.weights.file
            monkeypatch.setattr(files, "_find_in_package", lambda *_: place)

    made = compile_spec(tmp_path / name, target="reference", homes=own)

    assert name == f"{made.manifest['model']}.yaml"


def test_entries_are_called_as_the_page_calls_them(tmp_path, monkeypatch):
    """The state is one for the calls of its entry, and the embedding one for both entries."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "translator.yaml"
    path.write_text(FILES[path.name], encoding="utf-8")
    random = np.random.default_rng(0)
    weights = {
        name: random.standard_normal(value.shape, np.float32)
        for name, value in build(path).stored_weights.items()
    }
    save_file(weights, tmp_path / "translator.safetensors")
    (text,) = (
        block.text
        for section in sections.sections(PAGE)
        for block in section.blocks
        if block.language == "python" and "executable.encode(" in block.text
    )
    names = {"tripybuild": tripybuild, "tokens": np.array([[1, 2, 3]], np.int32)}
    names |= {"token": np.array([5], np.int32), "last": np.ones((1, 8), np.float32)}

    exec(text, names)

    table, found = weights["embedding.weight"], names["found"]
    rows = table[[1, 2, 3]] @ weights["encoder.weight"].T + weights["encoder.bias"]
    x = table[5] + rows.mean(0)
    wanted = np.tanh(x @ weights["decoder.gate.weight"].T + weights["decoder.gate.bias"] + 1)
    np.testing.assert_allclose(found["decoder.last.next"][0], wanted, rtol=1e-5)
    np.testing.assert_allclose(found["scores"][0], wanted @ table.T, rtol=1e-4, atol=1e-5)


def test_every_key_is_shown():
    """Those of a model, and those of a definition."""
    files = [yaml.safe_load(text) for text in FILES.values()]
    keys = {key for file in files for key in file}
    inner = {key for file in files for part in file.get("define", {}).values() for key in part}

    assert set(ModelFile.model_fields) - keys <= {"state", "next", "prepared"} <= inner
    assert set(PartEntry.model_fields) - inner <= {"types", "constants", "steps"} <= keys


def test_the_paths_that_the_page_names(tmp_path):
    """Weights are named by their paths; state is an input and an output."""
    for name in ("perceptron.yaml", "state.yaml"):
        (tmp_path / name).write_text(FILES[name], encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")

    perceptron = build(tmp_path / "perceptron.yaml").graph
    state = build(tmp_path / "state.yaml").graph

    for names in (perceptron.weights, state.inputs, state.outputs):
        *first, last = [f"`{name}`" for name in names]
        assert f"{', '.join(first)} and {last}" in page.replace("\n", " ")
