"""Headers of compiled programs: one that does not describe its programs runs none of them."""

import copy

import numpy as np
import pytest

import tripybuild
from tripybuild.artifact import container
from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.stablehlo.functions import CallPlan
from tripybuild.targets.xla import pjrt
from tripybuild.targets.xla.payload_header import encode_payload, split_payload

DOUBLE = """
module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32> } }
"""
SPELLED = ["float32", [4]]
HUGE = ["float32", [1 << 40]]
SPEC = """\
tripybuild: 1
model: double
inputs: {x: "float32[B, 4]"}
ranges: {B: {min: 1, opt: 2, max: 9}}
outputs: {y: x + x}
"""


@pytest.fixture(scope="module")
def linked():
    """The payload of a program that runs twice."""
    plan = CallPlan((("float32", (4,)),), ((0, (0,)), (0, (1,))), (2,))
    return pjrt.link(plan, [pjrt.compile(DOUBLE)])


def changed(payload, keys, value):
    """A payload with another value under some keys of its header."""
    header, content = split_payload(memoryview(payload))
    header = inner = copy.deepcopy(header)
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return encode_payload(header, content)


def test_a_header_that_describes_its_programs_is_taken(linked):
    """The other cases change one thing in it."""
    (found,) = pjrt.load(changed(linked, ["returns"], [2]))(np.ones(4, np.float32))
    assert found.tolist() == [4.0] * 4


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (["identity"], 5),
        (["identity", "jaxlib"], None),
        (["parameters"], {}),
        (["parameters"], [5]),
        (["parameters", 0], ["complex64", [4]]),
        (["parameters", 0], ["float32", [-4]]),
        (["parameters", 0], ["float32", [4.0]]),
        (["parameters", 0], ["float32", [1 << 62, 1 << 62]]),
        (["results"], []),
        (["results"], [HUGE]),
        (["programs"], []),
        (["programs"], 7),
        (["programs", 0], []),
        (["programs", 0, "size"], 3),
        (["programs", 0, "size"], -1),
        (["programs", 0, "size"], 1 << 40),
        (["programs", 0, "results"], [HUGE]),
        (["programs", 0, "parameters"], [SPELLED, SPELLED]),
        (["steps"], None),
        (["steps"], []),
        (["steps", 0], [0]),
        (["steps", 0], [1, [0]]),
        (["steps", 0], [-1, [0]]),
        (["steps", 0], [False, [0]]),
        (["steps", 0], [0, [1]]),
        (["steps", 0], [0, [-1]]),
        (["steps", 0], [0, [0, 0]]),
        (["steps", 1], [0, [2]]),
        (["returns"], [3]),
        (["returns"], [-1]),
        (["returns"], [2, 2]),
        (["returns"], "2"),
        (["unknown"], 1),
    ],
)
def test_a_header_that_does_not_is_refused(linked, keys, value):
    """Whatever it says, in a diagnostic, before anything runs."""
    with pytest.raises(DiagnosticError) as caught:
        pjrt.load(changed(linked, keys, value))
    assert caught.value.diagnostics[0].code == "executable-altered"


def test_no_programs_and_no_steps_are_refused(linked):
    """Both lists are empty, and what is returned is what is taken."""
    payload = changed(linked, ["programs"], [])
    for keys in (["steps"], ["returns"]):
        payload = changed(payload, keys, [])
    with pytest.raises(DiagnosticError, match="executable-altered"):
        pjrt.load(payload)


@pytest.mark.parametrize("key", ["parameters", "results"])
def test_programs_take_and_give_the_bytes_of_their_types(key):
    """No array is made over less memory than it has."""
    payload = changed(pjrt.compile(DOUBLE), [key, 0], HUGE)
    with pytest.raises(DiagnosticError, match="executable-altered"):
        pjrt.load(payload)


@pytest.mark.parametrize("type", [["int32", [2, 4]], ["float32", [4, 2]]])
def test_results_are_of_the_types_in_the_manifest(tmp_path, type):
    """Though they take as many bytes."""
    (tmp_path / "double.yaml").write_text(SPEC)
    tripybuild.compile(tmp_path / "double.yaml", target="cpu:xla", output=tmp_path / "double.tpb")
    with container.open(tmp_path / "double.tpb") as file:
        members = {name: bytes(file.read(name)) for name in file.manifest.members}
        content = dict(file.manifest.content)
    members["cpu/B=2.bin"] = changed(members["cpu/B=2.bin"], ["results", 0], type)
    container.write(tmp_path / "other.tpb", content, members)
    x = np.ones((2, 4), np.float32)
    assert tripybuild.load(tmp_path / "double.tpb")(x=x)["y"].tolist() == [[2.0] * 4] * 2
    with pytest.raises(DiagnosticError, match="executable-altered"):
        tripybuild.load(tmp_path / "other.tpb")(x=x)


SHARDED = """
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32> } }
"""


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        *((["devices"], value) for value in (0, 1, -2, 1 << 40, True, 2.0, "2", None)),
        (["parameters"], [["float32", [2]]]),
        (["parameters"], [["float32", [5]]]),
        (["parameters"], []),
        (["results"], [["float32", [8]]]),
    ],
)
def test_a_header_of_a_mesh_is_held_against_the_program(keys, value):
    """How many devices there are, and what each of them has."""
    payload = pjrt.compile(SHARDED)
    (found,) = pjrt.load(payload)(np.arange(4, dtype=np.float32))
    assert found.tolist() == [0.0, 2.0, 4.0, 6.0]
    with pytest.raises(DiagnosticError) as caught:
        pjrt.load(changed(payload, keys, value))
    assert caught.value.diagnostics[0].code == "executable-altered"
