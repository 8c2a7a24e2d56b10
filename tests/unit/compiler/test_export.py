"""Exported models: where their weights are, what replaces what, and what is in the file."""

import json
import os

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import external_data_helper, numpy_helper
from written import write

import tripybuild
from tripybuild.artifact import container
from tripybuild.compiler.export import export as exporting, outputs, weight_places
from tripybuild.compiler.export.export import ExportRequest, export_executable
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.process.atomic_write import SUFFIX
from tripybuild.weights import safetensors

LINEAR = """
    types:
      F: float32
    inputs:
      x: F[B, 3]
    ranges:
      B: {min: 1, opt: 2, max: 8}
    weights: %s
    define:
      Scale:
        inputs:
          x: F[B, 3]
        weights:
          matrix: F[3, 5]
          bias: F[5]
        outputs:
          out: matmul(x, matrix) + bias
    parts:
      scale: Scale()
    outputs:
      y: scale(x)
"""
MATRIX = np.arange(15, dtype=np.float32).reshape(3, 5) / 7
BIAS = np.arange(5, dtype=np.float32)
X = np.arange(6, dtype=np.float32).reshape(2, 3)
WANTED = X @ MATRIX + BIAS


def save(path, **arrays):
    """A file of weights."""
    arrays = arrays or {"scale.matrix": MATRIX, "scale.bias": BIAS}
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(safetensors.encode(arrays))
    return path


def model(folder, weights="tiny.safetensors"):
    """A spec whose weights are beside it, or below."""
    save(folder / weights)
    return write(folder, LINEAR % weights)


def locations(path):
    """The files and the places in which a model's weights are."""
    graph = onnx.load(path, load_external_data=False).graph
    held = (each for each in graph.initializer if external_data_helper.uses_external_data(each))
    return {e.name: {f.key: f.value for f in e.external_data} for e in held}


def weights_of(path):
    """The weights as ONNX reads them."""
    graph = onnx.load(path).graph
    return {each.name: numpy_helper.to_array(each) for each in graph.initializer}


def run(path, **arrays):
    """What ONNX Runtime gives, after ONNX's checker has found nothing."""
    onnx.checker.check_model(path, full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, arrays), strict=True))


def test_weights_stay_in_their_file(tmp_path):
    """Below the folder of the model, in their dtype; the file is as it was."""
    spec = model(tmp_path, "weights/tiny.safetensors")
    before = (tmp_path / "weights" / "tiny.safetensors").read_bytes()
    made = tripybuild.export(spec, tmp_path / "tiny.onnx")
    assert made.data is None
    assert [each.name for each in made.weights] == ["tiny.safetensors"]
    found = locations(tmp_path / "tiny.onnx")
    assert {each["location"] for each in found.values()} == {"weights/tiny.safetensors"}
    assert found["scale.matrix"]["length"] == "60"
    assert (tmp_path / "weights" / "tiny.safetensors").read_bytes() == before
    np.testing.assert_allclose(run(tmp_path / "tiny.onnx", x=X)["y"], WANTED, rtol=1e-6)
    assert not list(tmp_path.glob(f".*{SUFFIX}"))


def test_weights_elsewhere_are_written_beside_the_model(tmp_path):
    """ONNX names no file outside of the folder; pages begin where weights do."""
    spec = model(tmp_path)
    (tmp_path / "out").mkdir()
    made = tripybuild.export(spec, tmp_path / "out" / "tiny.onnx")
    assert made.data == tmp_path / "out" / "tiny.onnx.data"
    assert made.weights == ()
    found = locations(tmp_path / "out" / "tiny.onnx")
    assert {each["location"] for each in found.values()} == {"tiny.onnx.data"}
    assert all(int(each["offset"]) % weight_places.ALIGNMENT == 0 for each in found.values())
    np.testing.assert_allclose(run(tmp_path / "out" / "tiny.onnx", x=X)["y"], WANTED, rtol=1e-6)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_links_are_not_named(link, tmp_path):
    """ONNX's checker refuses both kinds."""
    spec = model(tmp_path)
    (tmp_path / "out").mkdir()
    link(tmp_path / "tiny.safetensors", tmp_path / "out" / "linked.safetensors")
    weights = tmp_path / "out" / "linked.safetensors"
    made = tripybuild.export(spec, tmp_path / "out" / "tiny.onnx", weights=weights)
    assert made.data is not None
    np.testing.assert_allclose(run(tmp_path / "out" / "tiny.onnx", x=X)["y"], WANTED, rtol=1e-6)


def test_a_link_to_a_file_below_is_that_file(tmp_path):
    spec = model(tmp_path)
    (tmp_path / "other.safetensors").symlink_to(tmp_path / "tiny.safetensors")
    tripybuild.export(spec, tmp_path / "tiny.onnx", weights=tmp_path / "other.safetensors")
    found = locations(tmp_path / "tiny.onnx")
    assert {each["location"] for each in found.values()} == {"tiny.safetensors"}
    onnx.checker.check_model(tmp_path / "tiny.onnx")


def test_shards_are_named_each(tmp_path):
    """And what only one of them can say is in the file beside the model."""
    spec = model(tmp_path)
    save(tmp_path / "a.safetensors", **{"scale.matrix": MATRIX})
    save(tmp_path / "b.safetensors", **{"scale.bias": BIAS})
    index = {"weight_map": {"scale.matrix": "a.safetensors", "scale.bias": "b.safetensors"}}
    (tmp_path / "m.index.json").write_text(json.dumps(index), encoding="utf-8")
    made = tripybuild.export(spec, tmp_path / "t.onnx", weights=tmp_path / "m.index.json")
    assert [each.name for each in made.weights] == ["a.safetensors", "b.safetensors"]
    np.testing.assert_allclose(run(tmp_path / "t.onnx", x=X)["y"], WANTED, rtol=1e-6)


def test_weights_that_are_converted_are_written(tmp_path):
    spec = model(tmp_path)
    text = spec.read_text("utf-8").replace(
        "weights: tiny", "weights:\n  convert: true\n  file: tiny"
    )
    spec.write_text(text, encoding="utf-8")
    made = tripybuild.export(spec, tmp_path / "t.onnx", sizes={"F": "float16"})
    assert made.data is not None
    found = weights_of(tmp_path / "t.onnx")
    np.testing.assert_array_equal(found["scale.matrix"], MATRIX.astype(np.float16))


PREPARED = """
    inputs:
      x: float32[3]
    weights: tiny.safetensors
    define:
      Scale:
        inputs:
          x: float32[3]
        weights:
          a: float32[3]
          b: float32[3]
        prepared:
          both: a * b
        outputs:
          out: x * both + a
    parts:
      scale: Scale()
    outputs:
      y: scale(x)
"""


def test_prepared_weights_are_written_and_others_stay(tmp_path):
    ones = np.arange(3, dtype=np.float32)
    save(tmp_path / "tiny.safetensors", **{"scale.a": ones, "scale.b": ones + 2})
    made = tripybuild.export(write(tmp_path, PREPARED), tmp_path / "t.onnx")
    found = locations(tmp_path / "t.onnx")
    assert found["scale.a"]["location"] == "tiny.safetensors"
    assert found["scale.both"]["location"] == made.data.name == "t.onnx.data"
    np.testing.assert_array_equal(
        run(tmp_path / "t.onnx", x=ones)["y"], ones**2 * (ones + 2) + ones
    )


def test_embedded_weights_are_inside(tmp_path):
    spec = model(tmp_path)
    made = tripybuild.export(spec, tmp_path / "t.onnx", embed=True)
    assert (made.data, made.weights) == (None, ())
    assert locations(tmp_path / "t.onnx") == {}
    (tmp_path / "tiny.safetensors").unlink()
    np.testing.assert_allclose(run(tmp_path / "t.onnx", x=X)["y"], WANTED, rtol=1e-6)


def test_equal_models_are_equal_bytes(tmp_path):
    spec = model(tmp_path)
    for name in ("a", "b"):
        tripybuild.export(spec, tmp_path / f"{name}.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_executables_are_exported_with_their_weights(tmp_path):
    """From a folder without the spec: the graph and the weights are in the file."""
    spec = model(tmp_path)
    tripybuild.compile(spec, target="reference", output=tmp_path / "tiny.tpb")
    spec.unlink()
    (tmp_path / "tiny.safetensors").unlink()
    made = export_executable(tmp_path / "tiny.tpb", ExportRequest(tmp_path / "t.onnx"))
    assert made.data == tmp_path / "t.onnx.data"
    np.testing.assert_allclose(run(tmp_path / "t.onnx", x=X)["y"], WANTED, rtol=1e-6)
    ranges = json.loads(onnx.load(tmp_path / "t.onnx").metadata_props[0].value)
    assert ranges == {"B": {"min": 1, "opt": 2, "max": 8, "multiple_of": 1}}


def test_executables_and_specs_are_the_same_model(tmp_path):
    """Nodes with their names and places, and all that is said of them."""
    spec = model(tmp_path)
    tripybuild.compile(spec, target="reference", output=tmp_path / "tiny.tpb")
    tripybuild.export(spec, tmp_path / "a.onnx", embed=True)
    export_executable(tmp_path / "tiny.tpb", ExportRequest(tmp_path / "b.onnx", embed=True))
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


NAMES = """
    inputs:
      x: float32[4]
    steps:
      z: x + 1.0
    outputs:
      x: z
      same: z
      y: x * 2.0
"""


def test_names_are_there_once(tmp_path):
    """An output with the name of an input has another one; the order is that of the spec."""
    tripybuild.export(write(tmp_path, NAMES), tmp_path / "t.onnx")
    found = run(tmp_path / "t.onnx", x=np.zeros(4, np.float32))
    assert list(found) == ["x_2", "same", "y"]
    assert found["x_2"].tolist() == found["same"].tolist() == [1.0] * 4


TIED = """
    inputs:
      x: float32[4]
    weights:
      file: tiny.safetensors
      rename: {first: shared, second: shared}
    define:
      Add:
        inputs:
          x: float32[4]
        weights:
          bias: float32[4]
        outputs:
          out: x + bias
    parts:
      first: Add()
      second: Add()
    outputs:
      y: second(first(x))
"""


@pytest.mark.parametrize("source", ["spec", "executable"])
def test_tied_weights_are_there_once(source, tmp_path):
    save(tmp_path / "tiny.safetensors", **{"shared.bias": np.ones(4, np.float32)})
    spec = write(tmp_path, TIED)
    if source == "spec":
        tripybuild.export(spec, tmp_path / "t.onnx")
    else:
        tripybuild.compile(spec, target="reference", output=tmp_path / "tiny.tpb")
        export_executable(tmp_path / "tiny.tpb", ExportRequest(tmp_path / "t.onnx"))
    assert len(locations(tmp_path / "t.onnx")) == 1
    assert run(tmp_path / "t.onnx", x=np.zeros(4, np.float32))["y"].tolist() == [2.0] * 4


def test_engines_hold_no_graph(tmp_path, monkeypatch):
    """What has only an engine in its file is refused."""
    spec = model(tmp_path)
    tripybuild.compile(spec, target="reference", output=tmp_path / "tiny.tpb")
    monkeypatch.setattr(exporting, "holds_graphs", lambda _: False)
    with pytest.raises(DiagnosticError) as raised:
        export_executable(tmp_path / "tiny.tpb", ExportRequest(tmp_path / "t.onnx"))
    (found,) = raised.value.diagnostics
    assert found.code == "target-unfit"
    assert "holds no graph" in found.message


def test_what_stood_there_stays_if_the_disk_is_full(tmp_path, monkeypatch):
    """Neither the model nor the weights beside it are replaced, and nothing is left over."""
    spec = model(tmp_path)
    (tmp_path / "out").mkdir()
    output = tmp_path / "out" / "t.onnx"
    tripybuild.export(spec, output)
    before = {path.name: path.read_bytes() for path in output.parent.iterdir()}
    save(tmp_path / "tiny.safetensors", **{"scale.matrix": MATRIX * 2, "scale.bias": BIAS})

    def full(model):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporting, "encode_parts", full)
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.export(spec, output)
    assert [each.code for each in raised.value.diagnostics] == ["output-unwritable"]
    assert {path.name: path.read_bytes() for path in output.parent.iterdir()} == before


def test_weights_that_change_meanwhile_are_refused(tmp_path, monkeypatch):
    """What is named was compared with the model."""
    spec = model(tmp_path)
    lower = exporting.lower_onnx

    def slow(*arguments):
        save(tmp_path / "tiny.safetensors", **{"scale.matrix": MATRIX, "scale.bias": BIAS + 1})
        os.utime(tmp_path / "tiny.safetensors", ns=(1, 1))
        return lower(*arguments)

    monkeypatch.setattr(exporting, "lower_onnx", slow)
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.export(spec, tmp_path / "t.onnx")
    assert [each.code for each in raised.value.diagnostics] == ["weights-changed"]
    assert not (tmp_path / "t.onnx").exists()


def test_weights_are_not_written_over_themselves(tmp_path):
    """Their file has the name that the one beside the model would have."""
    save(tmp_path / "t.onnx.data")
    spec = write(tmp_path, LINEAR % "t.onnx.data")
    text = spec.read_text("utf-8").replace("weights: t", "weights:\n  convert: true\n  file: t")
    spec.write_text(text, encoding="utf-8")
    before = (tmp_path / "t.onnx.data").read_bytes()
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.export(spec, tmp_path / "t.onnx", sizes={"F": "float16"})
    assert [each.code for each in raised.value.diagnostics] == ["output-unwritable"]
    assert (tmp_path / "t.onnx.data").read_bytes() == before
    assert not (tmp_path / "t.onnx").exists()


def test_large_constants_are_refused_as_well(tmp_path, monkeypatch):
    """Whatever makes the file too large, nothing that cannot be read is written."""
    spec = model(tmp_path)
    monkeypatch.setattr(weight_places, "LARGEST_FILE", 100)
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.export(spec, tmp_path / "t.onnx")
    assert [each.code for each in raised.value.diagnostics] == ["onnx-too-large"]
    assert not (tmp_path / "t.onnx").exists()


SMALL = """
    inputs:
      x: float32[4, 3]
    weights: tiny.safetensors
    define:
      Rows:
        inputs:
          x: float32[4, 3]
        weights:
          whole: int4[4, 3]
          empty: float32[0, 3]
        outputs:
          out: concatenate([x + cast(whole, float32), empty], 0)
    parts:
      rows: Rows()
    outputs:
      y: rows(x)
"""


def test_weights_of_four_bits_and_of_no_elements(tmp_path):
    """The first are packed, two in a byte; the others have no place in any file."""
    whole = np.arange(-6, 6).reshape(4, 3)
    arrays = {
        "rows.whole": whole.astype(safetensors.INT4),
        "rows.empty": np.zeros((0, 3), np.float32),
    }
    save(tmp_path / "tiny.safetensors", **arrays)
    made = tripybuild.export(write(tmp_path, SMALL), tmp_path / "t.onnx", opset=21)
    assert made.data is not None
    assert locations(tmp_path / "t.onnx")["rows.whole"]["length"] == "6"
    zeros = np.zeros((4, 3), np.float32)
    np.testing.assert_array_equal(run(tmp_path / "t.onnx", x=zeros)["y"], whole)


def weights_that_begin_as_models(path):
    """A file of weights whose first bytes are 08 01: its header has 0x0108 bytes."""
    arrays = {"scale.matrix": MATRIX, "scale.bias": BIAS}
    content = bytes(safetensors.encode(arrays))
    size = int.from_bytes(content[:8], "little")
    assert size <= 0x108
    header = content[8 : 8 + size].ljust(0x108)
    path.write_bytes((0x108).to_bytes(8, "little") + header + content[8 + size :])
    return path


@pytest.mark.parametrize("embed", [False, True])
@pytest.mark.parametrize("name", ["tiny.safetensors", "soft", "hard", "tiny.yaml"])
def test_what_is_read_is_not_written_over(name, embed, tmp_path):
    """Nor under another name, whatever the file begins with."""
    spec = write(tmp_path, LINEAR % "tiny.safetensors")
    weights = weights_that_begin_as_models(tmp_path / "tiny.safetensors")
    (tmp_path / "soft").symlink_to(weights)
    os.link(weights, tmp_path / "hard")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.export(spec, tmp_path / name, embed=embed)
    assert [each.code for each in raised.value.diagnostics] == ["output-unwritable"]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_inputs_that_look_like_models_stay(tmp_path):
    """Whatever is in a file: what is read is not replaced."""
    model_file = tmp_path / "t.onnx"
    model_file.touch()
    with pytest.raises(DiagnosticError, match="the export reads it"):
        outputs.check_inputs_stay([tmp_path / "." / "t.onnx"], [model_file])
    outputs.check_inputs_stay([tmp_path / "u.onnx"], [model_file])


@pytest.mark.parametrize("kind", ["notes", "weights", "weights of another model", "data"])
def test_data_replace_only_those_of_the_model(kind, tmp_path):
    """That stands there and names them; weights stay even then."""
    spec = model(tmp_path)
    (tmp_path / "out").mkdir()
    output, data = tmp_path / "out" / "t.onnx", tmp_path / "out" / "t.onnx.data"
    if kind == "data":
        tripybuild.export(spec, output)
        data.write_bytes(b"something else")
    elif kind == "notes":
        data.write_text("not to be lost", encoding="utf-8")
    else:
        save(data)
        if kind != "weights":
            tripybuild.export(spec, output, weights=data)
            assert locations(output)["scale.bias"]["location"] == data.name
    before = data.read_bytes()
    if kind == "data":
        tripybuild.export(spec, output)
        np.testing.assert_array_equal(weights_of(output)["scale.bias"], BIAS)
        return
    with pytest.raises(DiagnosticError, match="is not the data of a model") as raised:
        tripybuild.export(spec, output)
    assert [each.code for each in raised.value.diagnostics] == ["output-unwritable"]
    assert data.read_bytes() == before


def test_entries_have_data_of_another_name(tmp_path):
    """An entry called `data` has the name that the data would have."""
    with pytest.raises(DiagnosticError, match="would have this name"):
        outputs.check_data_file(tmp_path / "a.data.data", [tmp_path / "a.data.data"])


ODD = os.fsdecode(b"b\xff")


def test_weights_whose_name_is_not_utf8_are_written(tmp_path):
    spec = write(tmp_path, LINEAR % "tiny.safetensors")
    save(tmp_path / f"{ODD}.safetensors")
    made = tripybuild.export(spec, tmp_path / "t.onnx", weights=tmp_path / f"{ODD}.safetensors")
    assert (made.data, made.weights) == (tmp_path / "t.onnx.data", ())
    np.testing.assert_allclose(run(tmp_path / "t.onnx", x=X)["y"], WANTED, rtol=1e-6)


def test_data_are_not_written_to_a_name_that_is_not_utf8(tmp_path):
    """No model could name them; one that has all of them inside may be called like that."""
    spec = model(tmp_path)
    (tmp_path / "out").mkdir()
    with pytest.raises(DiagnosticError, match="not UTF-8"):
        tripybuild.export(spec, tmp_path / "out" / f"{ODD}.onnx")
    assert not list((tmp_path / "out").iterdir())
    tripybuild.export(spec, tmp_path / "out" / f"{ODD}.onnx", embed=True)
    assert len(list((tmp_path / "out").iterdir())) == 1


def test_executables_are_exported_from_python(tmp_path):
    """As the command does it, by what the file is."""
    spec = model(tmp_path)
    tripybuild.compile(spec, target="reference", output=tmp_path / "tiny.tpb")
    (tmp_path / "tiny.tpb").rename(tmp_path / "renamed")
    tripybuild.export(str(tmp_path / "renamed"), tmp_path / "t.onnx")
    np.testing.assert_allclose(run(tmp_path / "t.onnx", x=X)["y"], WANTED, rtol=1e-6)
    with pytest.raises(DiagnosticError, match="takes no `sizes`"):
        tripybuild.export(tmp_path / "renamed", tmp_path / "t.onnx", sizes={"F": "float16"})


def altered(folder, edit):
    """An executable whose digests are right, and whose content is not what was compiled."""
    path = folder / "tiny.tpb"
    tripybuild.compile(model(folder), target="reference", output=path)
    with container.open(path) as file:
        members = {name: bytes(file.read(name)) for name in file.manifest.members}
        content = dict(file.manifest.content)
    edit(content, members)
    container.write(path, content, members)
    return path


def test_halves_of_characters_in_a_graph_are_refused(tmp_path):
    """A graph has names, which are UTF-8 in any file that we write."""

    def edit(_, members):
        (graph,) = (name for name, held in members.items() if b'"tiny.yaml"' in held)
        members[graph] = members[graph].replace(b'"tiny.yaml"', rb'"\ud800.yaml"')

    path = altered(tmp_path, edit)
    with pytest.raises(DiagnosticError) as raised:
        tripybuild.export(path, tmp_path / "t.onnx")
    assert [each.code for each in raised.value.diagnostics] == ["executable-altered"]


def test_remarks_of_executables_are_escaped(tmp_path):
    """What only people read of a manifest, which may hold paths that are no UTF-8."""
    path = altered(tmp_path, lambda content, _: content.update(doc="\udcff"))
    tripybuild.export(path, tmp_path / "t.onnx")
    assert onnx.load(tmp_path / "t.onnx").doc_string == "\\udcff"
