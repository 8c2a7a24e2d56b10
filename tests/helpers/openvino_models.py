"""Models of ONNX for the tests of OpenVINO, made by hand, and programs of them."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from tripybuild.errors.diagnostics import DiagnosticError, Span
from tripybuild.onnx.model import (
    GraphDef,
    OnnxAttribute,
    OnnxModel,
    OnnxNode,
    TensorData,
    ValueInfo,
)
from tripybuild.targets.openvino.bounds import ValueBounds
from tripybuild.targets.openvino.library import library
from tripybuild.targets.openvino.model import ReadableModel
from tripybuild.targets.openvino.program import Program
from tripybuild.targets.openvino.tensors import OpenvinoPort
from tripybuild.types.dtypes import dtype, from_numpy

OPSET = 20


def require_openvino():
    """Skip where OpenVINO is not installed, and only there."""
    if find_spec("openvino") is None:
        pytest.skip("openvino is not installed: pip install 'tripybuild[openvino]'")
    library()


def value(name: str, kind: dtype, *shape: int | str) -> ValueInfo:
    """A typed value."""
    return ValueInfo(name, kind, shape)


def constant(name: str, array: Any) -> TensorData:
    """An initializer."""
    array = np.asarray(array)
    return TensorData(name, from_numpy(array.dtype), array.shape, array.tobytes())


def attribute(given: Any) -> OnnxAttribute:
    """An attribute of the kind that a Python value has."""
    kinds = {int: "int", float: "float", str: "string", GraphDef: "graph", list: "ints"}
    return OnnxAttribute(kinds[type(given)], given)


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> OnnxNode:
    """A node; names are separated by spaces, and `-` is an input that is left out."""
    taken = tuple("" if each == "-" else each for each in inputs.split())
    given = {name: attribute(each) for name, each in attributes.items()}
    line = len(outputs)
    return OnnxNode(
        operator,
        taken,
        tuple(outputs.split()),
        given,
        f"{operator}/{outputs}",
        span=Span("model.yaml", line, 1, line, 2),
    )


def model(
    nodes: Sequence[OnnxNode],
    inputs: Sequence[ValueInfo],
    outputs: Sequence[ValueInfo],
    initializers: Sequence[TensorData] = (),
    opset: int = OPSET,
) -> OnnxModel:
    """A model of one graph."""
    graph = GraphDef("graph", tuple(nodes), tuple(inputs), tuple(outputs), tuple(initializers))
    return OnnxModel(graph, opset)


def program(
    made: OnnxModel,
    weights: Mapping[str, Any] | None = None,
    ranges: Mapping[str, ValueBounds] | None = None,
    **options: Any,
) -> Program:
    """A model, compiled."""
    graph = made.graph
    ports = [
        [OpenvinoPort(e.name, e.dtype) for e in each] for each in (graph.inputs, graph.outputs)
    ]
    return Program(ReadableModel(made, weights, ranges), *ports, {"threads": 1, **options})


def run(made: OnnxModel, *arrays: Any, shapes: Any = None, **more: Any) -> list[Any]:
    """What a model gives for arrays."""
    shapes = [None] * len(made.graph.outputs) if shapes is None else shapes
    return program(made, **more)(arrays, shapes)


def refusals(made: OnnxModel, **more: Any) -> list[str]:
    """The messages with which a model is refused."""
    try:
        ReadableModel(made, **more)
    except DiagnosticError as error:
        return [each.message for each in error.diagnostics]
    return []
