"""That types of engines agree is a check that can fail, in each of its parts."""

from copy import deepcopy

import pytest
from tensorrt_recordings import PROFILE, RECORDINGS
from xdsl.dialects.builtin import f32

import tripyapi as tp
from tripybuild.targets.tensorrt.model import PIPELINE
from tripybuild.tensorrt.dialect import ActivationOp
from tripybuild.tensorrt.dialect.base import tensor_type
from tripybuild.tensorrt.emission import emit_module
from tripybuild.tensorrt.passes import pipeline
from tripybuild.tensorrt.runtime.engine import build
from tripybuild.tensorrt.translation.type_crosscheck import TypeClaim, disagreements
from tripybuild.testing.engines import layer_builds
from tripybuild.trace.graph import Graph
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.dtypes import float32

pytest.importorskip("tensorrt_rtx", reason="tensorrt-rtx is not installed")
OUTPUTS = [{"name": "y0", "dtype": "float32", "shape": [2, 4]}]


@pytest.fixture
def built():
    """A module of one layer, and the record of its engine."""
    made = emit_module(RECORDINGS["activation/static"].network(), "m", [PROFILE])
    pipeline.run(made.module, PIPELINE)
    return made.module, deepcopy(build(made.module, {"library": "tensorrt-rtx"}).record)


def test_an_engine_agrees(built):
    """With the module that it is of, and with the declared output."""
    assert not list(disagreements(*built, OUTPUTS))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"shape": [2, 5]},
            "float32[2, 4] in the module, float32[2, 5] in TensorRT, float32[2, 4]",
        ),
        ({"shape": [2]}, "float32[2] in TensorRT"),
        ({"dtype": "float16"}, "float16[2, 4] in TensorRT"),
    ],
)
def test_the_record_can_differ(built, change, message):
    """In a size, in the rank, in the dtype."""
    module, record = built
    record["layers"][0]["outputs"][0].update(change)
    (found,) = disagreements(module, record, OUTPUTS)
    assert found.startswith("`tensorrt.activation` gives ")
    assert message in found


def test_the_inference_can_differ(built, monkeypatch):
    """Or refuse what TensorRT has built."""
    module, record = built
    wrong = tensor_type((2, 7), f32)
    monkeypatch.setattr(ActivationOp, "infer_types", lambda _: [wrong])
    (found,) = disagreements(module, record, OUTPUTS)
    assert found.endswith("float32[2, 7] in the dialect as result 0")


def test_the_layers_can_be_others(built):
    """Then nothing else can be compared."""
    module, record = built
    record["layers"].append(record["layers"][0])
    assert list(disagreements(module, record, OUTPUTS)) == [
        "the record has other layers than the module has operations"
    ]


@pytest.mark.parametrize(
    ("change", "shown"), [({"shape": [4, 2]}, "float32[4, 2]"), ({"dtype": "int32"}, "int32[2, 4]")]
)
def test_the_declaration_can_differ(built, change, shown):
    """A size that is a text is a symbol, which nobody compares here."""
    (found,) = disagreements(*built, [{**OUTPUTS[0], **change}])
    assert found == f"`y0` is float32[2, 4] in the module, but declared as {shown}"
    assert not list(disagreements(*built, [{**OUTPUTS[0], "shape": ["B", 4]}]))


def test_unknown_sizes_agree_with_all():
    """Ranks and dtypes do not."""
    some = TypeClaim("float32", (None, 3))
    assert some.agrees(TypeClaim("float32", (2, None)))
    assert not some.agrees(TypeClaim("float32", (2, 4)))
    assert not some.agrees(TypeClaim("float32", (3,)))
    assert not some.agrees(TypeClaim("float16", (None, 3)))
    assert str(some) == "float32[?, 3]"


def test_suites_ask_for_it(monkeypatch):
    """What disagrees is a problem of the operator."""
    value = Value(TensorType(float32, (2, 4)))
    graph = Graph("one", {"x": value}, {}, {"y": tp.relu(tp.Tensor.of(value)).value})
    assert not list(layer_builds.engine_problems(graph))
    built = layer_builds.build_record

    def changed(module, gpu):
        record = built(module, gpu)
        record["layers"][0]["outputs"][0]["shape"] = [2, 5]
        return record

    monkeypatch.setattr(layer_builds, "build_record", changed)
    (found,) = layer_builds.engine_problems(graph)
    assert "float32[2, 4] in the module, float32[2, 5] in TensorRT" in found
