"""`tripybuild profile`: kernels of engines as operations of the spec."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from block_specs import block_spec

from tripybuild.process import paths

SPEC = block_spec(64, 256, opt=64, most=128)
PRODUCTS = {f"blocks.{n}.{name}:linear" for n in range(2) for name in ("up", "down")}


def check(found):
    """Each product is in one kernel, with what is fused, and shares add up to the kernels."""
    held = [name for kernel in found["kernels"] for name in kernel["operations"]]
    assert set(held) >= PRODUCTS
    # An activation is in a kernel of its own, or in that of the product before it.
    own = {name: kernel for kernel in found["kernels"] for name in kernel["operations"]}
    for number in range(2):
        kernel = own[f"blocks.{number}.out:relu"]
        assert set(kernel["operations"]) <= {
            f"blocks.{number}.up:linear",
            f"blocks.{number}.out:relu",
        }
    times = {each["id"]: each["seconds"] for each in found["operations"]}
    whole = sum(times.values()) + found["own"]
    assert whole == pytest.approx(found["total"])
    assert found["total"] == pytest.approx(sum(each["seconds"] for each in found["kernels"]))
    assert sum(times[name] for name in PRODUCTS) > found["total"] / 3
    assert all(each["line"] == "readers.yaml:20" for each in found["operations"])


def test_an_engine_tells_the_time_of_each_operation(run, tmp_path):
    words = ("--random", "--rounds", "5", "--flame", "flame.svg")
    found = json.loads(run("profile", "readers.yaml", *words, "--json"))
    check(found)
    schema = json.loads((paths.schemas() / "answers" / "profile.json").read_text())
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    jsonschema.validate(found, schema)
    (tmp_path / "profile.json").write_text(json.dumps(found))
    assert "time" in run("graph", "readers.yaml", "--times", "profile.json").splitlines()[1]
    drawn = ET.parse(tmp_path / "flame.svg").getroot()
    titles = [each.text for each in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert titles[0].startswith("readers  ")
    assert any(each.startswith("up  ") for each in titles)
    boxes = [float(each.get("width")) for each in drawn.iter("{http://www.w3.org/2000/svg}rect")]
    assert max(boxes[1:]) == pytest.approx(1179.5, abs=1)


@pytest.mark.parametrize("engine", ["openvino", "xla"])
def test_engines_tell_what_they_have_fused(run, engine):
    if engine == "openvino":
        pytest.importorskip("openvino", reason="openvino is not installed")
    words = ("--random", "--target", f"cpu:{engine}", "--rounds", "5", "--shapes", "B=32")
    found = json.loads(run("profile", "readers.yaml", *words, "--json"))
    check(found)
    assert found["sizes"] == {"B": 32}


def test_an_engine_that_does_not_tell_is_said(run):
    said = run("profile", "readers.yaml@reference", "--random", code=1)
    assert "does not tell how long its kernels take" in said
    assert "--target cpu:onnxruntime" in said
    assert "or draw them by `--random`" in run("profile", "readers.yaml", code=1)
    for name in ("readers.yaml", "mine.svg"):
        Path("mine.svg").write_text("<svg>mine</svg>")
        said = run(
            "profile", "readers.yaml", "--flame", name, code=1
        )  # before weights are asked for
        assert f"`{name}`" in said
        assert "picture" in said
