"""Files of MLIR's text as models: what the engine takes and gives is what its record says."""

import json
from pathlib import Path

import numpy as np
import pytest

import tripybuild
from tripybuild.artifact import container
from tripybuild.compiler import session
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.targets.executable_file import check_manifest
from tripybuild.targets.tensorrt.build import MODULE, PLAN
from tripybuild.targets.tensorrt.mlir_model import manifest_of_record
from tripybuild.targets.tensorrt.model import check_record

FILE = "softmax.mlir"
PROFILE = "#tensorrt.shape_profile<min = [{0}, 3], opt = [{1}, 3], max = [{2}, 3]>"
ONE, TWO = PROFILE.format(1, 2, 4), PROFILE.format(16, 16, 32)
SOFTMAX = """\
func.func @main(%arg0: tensor<?x3xf32> {{{attributes}}}) -> tensor<?x3xf32> {{
  %0 = tensorrt.softmax {{axis = {axis} : i64}} %arg0 : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}}
"""
PLAIN = SOFTMAX.format(attributes=f"tensorrt.shape_profile = {ONE}", axis=1)
NAMED = """\
func.func @main(
    %x: tensor<?x3xf32> {tripybuild.name = "left", tensorrt.dimension_names = {"0" = "B"},
      tensorrt.shape_profile = #tensorrt.shape_profile<min = [1, 3], opt = [2, 3], max = [4, 3]>},
    %y: tensor<?x3xf32> {tripybuild.name = "right", tensorrt.dimension_names = {"0" = "B"},
      tensorrt.shape_profile = #tensorrt.shape_profile<min = [1, 3], opt = [2, 3], max = [4, 3]>})
    -> (tensor<?x3xf32> {tripybuild.name = "sum"}) {
  %0 = tensorrt.element_wise <kSUM>(%x, %y : tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
"""
STORED = """\
func.func @main() -> tensor<2xf32> {
  %0 = tensorrt.constant dense_resource<w> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F00000040" } } #-}
"""


@pytest.fixture(scope="module", autouse=True)
def _library():
    pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")


def compiled(folder, text, name=FILE, **options):
    """An executable of a text."""
    (folder / name).write_text(text)
    return tripybuild.compile(folder / name, **{"target": "tensorrt-rtx", **options})


def refused(folder, text, **options):
    """What is wrong with a text."""
    with pytest.raises(DiagnosticError) as caught:
        compiled(folder, text, **options)
    return caught.value.diagnostics


def test_inputs_and_sizes_are_named_as_the_translator_names_them(tmp_path):
    """And what is dynamic is a symbol, within the profile."""
    made = compiled(tmp_path, PLAIN)
    assert made.entry().manifest["inputs"] == [
        {"name": "arg0", "dtype": "float32", "shape": ["arg0_0", 3]}
    ]
    (result,) = made.entry().manifest["outputs"]
    assert (result["name"], result["dtype"]) == ("result0", "float32")
    assert result["shape"][1] == 3
    limits = {"min": 1, "opt": 2, "max": 4, "multiple_of": 1}
    assert made.entry().manifest["ranges"] == {"arg0_0": limits}
    assert made.manifest["model"] == "softmax"


def test_names_in_the_text_are_the_executable_s(tmp_path):
    """Of inputs, of outputs, and of sizes: equal names are one size."""
    made = compiled(tmp_path, NAMED)
    assert list(made.inputs) == ["left", "right"]
    assert list(made.outputs) == ["sum"]
    assert [each["shape"] for each in made.entry().manifest["inputs"]] == [["B", 3], ["B", 3]]
    with pytest.raises(DiagnosticError) as caught:
        made(left=np.zeros((2, 3), np.float32), right=np.zeros((3, 3), np.float32))
    assert caught.value.diagnostics[0].code == "input-shape"


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (np.zeros((2, 3)), "input-dtype"),
        (np.zeros((2, 4), np.float32), "input-shape"),
        (np.zeros((5, 3), np.float32), "size-out-of-range"),
    ],
)
def test_what_does_not_fit_is_said_before_a_gpu_is_looked_for(tmp_path, array, code):
    """The signature is the engine's."""
    with pytest.raises(DiagnosticError) as caught:
        compiled(tmp_path, PLAIN)(arg0=array)
    assert [each.code for each in caught.value.diagnostics] == [code]


def test_sizes_between_two_profiles_are_refused(tmp_path):
    """Each profile takes what is in it, and nobody what is in none."""
    text = SOFTMAX.format(attributes=f"tensorrt.shape_profile = [{ONE}, {TWO}]", axis=1)
    made = compiled(tmp_path, text)
    limits = {"min": 1, "opt": 2, "max": 32, "multiple_of": 1}
    assert made.entry().manifest["ranges"] == {"arg0_0": limits}
    assert made.entry().manifest["shapes"] == [{"arg0_0": 2}, {"arg0_0": 16}]
    assert [
        made.signature.law_violations({"arg0_0": size}) == [] for size in (1, 4, 5, 15, 16, 32)
    ] == [*(True, True, False, False, True, True)]
    assert "no optimization profile" in made.signature.law_violations({"arg0_0": 9})[0].message


def test_the_file_is_read_again(tmp_path):
    """With the text that it was built from, and where that came from."""
    made = compiled(tmp_path, PLAIN, output=tmp_path / "a.tpb")
    loaded = tripybuild.load(tmp_path / "a.tpb")
    assert loaded.manifest == json.loads(json.dumps(dict(made.manifest)))
    assert bytes(loaded.member(MODULE)).decode() == PLAIN
    assert len(loaded.member(PLAN)) > 1000
    assert loaded.manifest["provenance"]["specification"] == FILE


def test_data_in_the_text_reaches_the_engine(tmp_path):
    """Another constant is another engine."""
    first = compiled(tmp_path, STORED)
    second = compiled(tmp_path, STORED.replace("00000040", "00004040"))
    assert bytes(first.member(PLAN)) != bytes(second.member(PLAN))
    assert np.float32([1, 2]).tobytes() in bytes(first.member(PLAN))


def test_a_copy_elsewhere_gives_the_same_engine(tmp_path):
    """Places are written without the folder."""
    (tmp_path / "other").mkdir()
    first, second = compiled(tmp_path, PLAIN), compiled(tmp_path / "other", PLAIN)
    assert bytes(first.member(PLAN)) == bytes(second.member(PLAN))


def test_problems_have_places_in_the_user_s_file(tmp_path, monkeypatch):
    """Those of the text, of its verifier and of TensorRT, as the user named the file."""
    monkeypatch.chdir(tmp_path)
    (syntax,) = refused(Path(), PLAIN.replace("softmax", "softmx"))
    (invalid,) = refused(Path(), SOFTMAX.format(attributes="", axis=7))
    (profile,) = refused(Path(), SOFTMAX.format(attributes="", axis=1))
    assert (syntax.code, str(syntax.span)) == ("mlir-syntax", f"{FILE}:2:8")
    assert (invalid.code, str(invalid.span)) == ("mlir-invalid", f"{FILE}:2:8")
    assert (profile.code, profile.span.path) == ("tensorrt-profile", FILE)


def test_a_file_that_is_not_there_or_no_text(tmp_path):
    """Is said like that of a spec."""
    with pytest.raises(DiagnosticError) as caught:
        tripybuild.compile(tmp_path / "none.mlir", target="tensorrt-rtx")
    assert caught.value.diagnostics[0].code == "file-not-found"
    (tmp_path / "bad.mlir").write_bytes(b"module {\n \xff}")
    with pytest.raises(DiagnosticError) as caught:
        tripybuild.compile(tmp_path / "bad.mlir", target="tensorrt-rtx")
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.span.line, problem.span.column) == ("not-utf8", 2, 2)


@pytest.mark.parametrize("target", ["cpu", "reference"])
def test_other_targets_are_refused_in_words(tmp_path, target):
    """The dialect is TensorRT's."""
    (problem,) = refused(tmp_path, PLAIN, target=target)
    assert problem.code == "target-unfit"
    assert "tensorrt-rtx" in problem.hint


def test_sizes_of_a_module_are_its_own(tmp_path):
    """Both flags are refused at once."""
    problems = refused(tmp_path, PLAIN, sizes={"B": 2}, shapes=[{"B": 2}])
    assert [each.code for each in problems] == ["unknown-size"] * 2


def test_the_text_after_the_pipeline(tmp_path):
    """It reads as the same engine would; other forms there are none."""
    (tmp_path / FILE).write_text(STORED)
    text = session.emit(tmp_path / FILE, "tensorrt")
    assert "dialect_resources" in text
    assert compiled(tmp_path, text).outputs
    with pytest.raises(DiagnosticError) as caught:
        session.emit(tmp_path / FILE, "stablehlo")
    assert caught.value.diagnostics[0].code == "target-unfit"


def port(name, shape, *profiles, names=None, **more):
    """An input in a record."""
    keys = ("min", "opt", "max")
    ranges = [dict(zip(keys, each, strict=True)) for each in profiles]
    named = {} if names is None else {"dimension_names": names}
    tensor = {"name": name, "dtype": "float32", "shape": shape, "host": False}
    return {**tensor, **named, "profiles": ranges, **more}


def manifest(*inputs):
    """What the manifest of an engine with these inputs says of its entry."""
    record = {"inputs": list(inputs), "outputs": []}
    return manifest_of_record(record, "m", "tensorrt-rtx")["entries"][0]


@pytest.mark.parametrize("name", ["batch size", "if", "max", "", "2"])
def test_names_that_are_none_are_replaced(name):
    """A size's name is one that can stand in an expression."""
    found = manifest(port("a", [None], ([1], [2], [3]), names={"0": name}))
    assert found["inputs"][0]["shape"] == ["a_0"]
    assert list(found["ranges"]) == ["a_0"]


def test_made_names_are_nobody_else_s():
    """Two sizes are one only where the text says so."""
    said = port("b", [None], ([1], [2], [3]), names={"0": "a_0"})
    found = manifest(port("a", [None], ([4], [5], [6])), said, port("x y", [None], ([7],) * 3))
    assert [each["shape"] for each in found["inputs"]] == [["a_0_"], ["a_0"], ["size_2"]]
    assert found["ranges"]["a_0_"]["max"] == 6


def test_a_size_of_two_inputs_is_what_both_take():
    """In each profile; over all profiles, from the least to the largest."""
    left = port("l", [None], ([1], [2], [8]), ([20], [20], [20]), names={"0": "B"})
    right = port("r", [None], ([2], [6], [6]), names={"0": "B"})
    both = port("r", [None], ([2], [6], [6]), ([10], [20], [30]), names={"0": "B"})
    assert manifest(left, both)["ranges"]["B"] == {
        "min": 2,
        "opt": 2,
        "max": 20,
        "multiple_of": 1,
    }
    assert manifest(port("l", [None], ([1], [2], [8]), names={"0": "B"}), right)["ranges"]["B"] == {
        "min": 2,
        "opt": 2,
        "max": 6,
        "multiple_of": 1,
    }


def test_a_profile_that_holds_all_others_needs_no_law():
    """What a spec's ranges are, beside the exact sizes that were asked for."""
    both = port("a", [None], ([1], [2], [8]), ([4], [4], [4]))
    assert manifest(both)["laws"] == []
    assert manifest(both, port("b", [2]))["laws"] == []
    apart = port("a", [None], ([1], [2], [3]), ([4], [4], [4]))
    assert [each["that"] for each in manifest(apart)["laws"]] == [
        "(1 <= a_0 <= 3) or (4 <= a_0 <= 4)"
    ]


def test_ranges_of_values_are_no_sizes():
    """A host input's profile is of what it holds."""
    found = manifest(port("shape", [2], ([1, 1], [2, 2], [3, 3]), of_values=True))
    assert found["ranges"] == {}
    assert found["laws"] == []


def test_an_engine_of_another_model_is_not_used():
    """Each input and output that differs is said."""
    record = {"inputs": [port("x", [2, 3])], "outputs": [port("y", [None]), port("z", [1])]}
    tensor = {"dtype": "float32", "shape": [2, 3]}
    declared = {
        "inputs": [{"name": "x", "dtype": "float16", "shape": ["B", 3]}, {"name": "w", **tensor}],
        "outputs": [{"name": "y", "dtype": "float32", "shape": ["B"]}],
    }
    with pytest.raises(DiagnosticError) as caught:
        check_record(record, declared)
    assert [(each.code, each.message) for each in caught.value.diagnostics] == [
        ("engine-mismatch", "the engine has float32[2, 3] for `x`, and not float16[B, 3]"),
        ("engine-mismatch", "the engine has nothing for `w`, and not float32[2, 3]"),
        ("engine-mismatch", "the engine has `z`, which is not declared"),
    ]
    declared["inputs"] = [{"name": "x", "dtype": "float32", "shape": ["B", 4]}]
    declared["outputs"].append({"name": "z", "dtype": "float32", "shape": [1]})
    with pytest.raises(DiagnosticError) as caught:
        check_record(record, declared)
    assert len(caught.value.diagnostics) == 1


def test_what_an_executable_needs_depends_on_its_target(tmp_path):
    """An engine has no graph; without its own members it is none."""
    compiled(tmp_path, PLAIN, output=tmp_path / "a.tpb")
    with container.open(tmp_path / "a.tpb") as opened:
        content = opened.manifest.content
        members = set(opened.manifest.members)
    check_manifest(content, members)
    for change, given in [
        (content, members - {PLAN}),
        ({**content, "entries": [{**content["entries"][0], "engine": {}}]}, members),
        ({**content, "target": "cpu"}, members),
    ]:
        with pytest.raises(DiagnosticError) as caught:
            check_manifest(change, given)
        assert caught.value.diagnostics[0].code == "executable-altered"
