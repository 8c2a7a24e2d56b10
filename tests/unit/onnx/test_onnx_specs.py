"""The models of specifications in each kind of opset: ONNX infers the types that we declare."""

from dataclasses import replace

import onnx_models
import pytest

from tripybuild.compiler.lowering.lower_onnx import lower_onnx
from tripybuild.model.graph_builder import build
from tripybuild.onnx.model import ValueInfo
from tripybuild.process import paths


@pytest.mark.parametrize("opset", [17, 20, 26])
@pytest.mark.parametrize("name", ["minilm", "lstm", "swin", "resnet18_int8"])
def test_onnx_infers_the_declared_types(name, opset):
    """Those of all values between, with weights as inputs: their data are of no interest."""
    graph = build(paths.CHECKOUT / "specs" / f"{name}.yaml", {}).entry().graph
    model = lower_onnx(graph, opset, types=True)
    whole = model.graph
    weights = [each for each in whole.initializers if each.data is None]
    infos = [ValueInfo(each.name, each.dtype, each.shape) for each in weights]
    rest = tuple(each for each in whole.initializers if each.data is not None)
    bare = replace(whole, inputs=(*whole.inputs, *infos), initializers=rest)
    assert len(whole.values) > len(graph.operations) // 2
    onnx_models.checked(replace(model, graph=bare))
