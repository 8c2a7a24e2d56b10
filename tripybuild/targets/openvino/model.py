"""A model as OpenVINO reads it: checked, rewritten, and with its weights in memory that is shared.

OpenVINO copies what a file of ONNX holds, and every file beside it. Weights are therefore inputs of
the model that it reads, and become constants over the caller's arrays before it is compiled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.onnx.model import OnnxModel, TensorData, ValueInfo
from tripybuild.onnx.protobuf import encode_model
from tripybuild.targets.openvino.bounds import ValueBounds
from tripybuild.targets.openvino.exactness import Exactness
from tripybuild.targets.openvino.library import core, library
from tripybuild.targets.openvino.refusals import compile_failure, empty_tensors, ignored_lengths
from tripybuild.targets.openvino.tensors import Array, pack, tensor_over
from tripybuild.targets.openvino.work_around import work_around

SMALL = 1 << 13  # bytes


class ReadableModel:
    """What OpenVINO reads in any process: the file, and the arrays of its weights.

    Args:
        model: The model; initializers without data are weights.
        weights: Their arrays by name.
        ranges: The bounds of the symbols in shapes.

    Raises:
        DiagnosticError: OpenVINO would compute something else; all of that is said at once.
    """

    def __init__(
        self,
        model: OnnxModel,
        weights: Mapping[str, Array] | None = None,
        ranges: Mapping[str, ValueBounds] | None = None,
    ) -> None:
        weights = weights or {}
        exactness = Exactness(model, ranges or {}, weights)
        graph = model.graph
        found = [*empty_tensors(graph), *ignored_lengths(graph), *exactness.refusals()]
        if found:
            raise DiagnosticError(*dict.fromkeys(each.diagnostic() for each in found))
        model = self._model = _with_small_data(model, weights)
        self._shared = [each for each in model.graph.initializers if each.data is None]
        # Arrays are held as long as the model, which reads their memory.
        self._arrays = [pack(weights[each.name], each.dtype) for each in self._shared]
        self._content = encode_model(
            work_around(_with_inputs(model, self._shared), exactness.dtypes)
        )

    def read(self) -> Any:
        """The model in OpenVINO's own form, with constants over the arrays.

        Raises:
            DiagnosticError: OpenVINO cannot read it.
        """
        try:
            read = core().read_model(self._content)
        except RuntimeError as error:
            raise self.failure(error) from error
        inputs = {each.get_friendly_name(): each for each in read.get_parameters()}
        for weight, array in zip(self._shared, self._arrays, strict=True):
            tensor = tensor_over(array, weight.dtype, weight.shape)
            constant = library().op.Constant(tensor, shared_memory=True)
            constant.set_friendly_name(weight.name)
            parameter = inputs[weight.name]
            parameter.output(0).replace(constant.output(0))
            read.remove_parameter(parameter)
        return read

    def failure(self, error: RuntimeError) -> DiagnosticError:
        """What OpenVINO said, at the operation that it is about."""
        return DiagnosticError(compile_failure(error, self._model.graph))


def _with_small_data(model: OnnxModel, weights: Mapping[str, Array]) -> OnnxModel:
    """The model with the data of small weights, of which OpenVINO reads some in the file only.

    A rounding by a scale that is an input is no rounding that its convolutions of int8 know.
    """
    initializers = tuple(
        replace(each, data=pack(weights[each.name], each.dtype).reshape(-1).view(np.uint8).data)
        if each.data is None and weights[each.name].nbytes <= SMALL
        else each
        for each in model.graph.initializers
    )
    return replace(model, graph=replace(model.graph, initializers=initializers))


def _with_inputs(model: OnnxModel, weights: Sequence[TensorData]) -> OnnxModel:
    """The model with weights as inputs, behind its own."""
    graph = model.graph
    names = {each.name for each in weights}
    own = tuple(each for each in graph.initializers if each.name not in names)
    added = tuple(ValueInfo(each.name, each.dtype, each.shape) for each in weights)
    return replace(model, graph=replace(graph, inputs=(*graph.inputs, *added), initializers=own))
