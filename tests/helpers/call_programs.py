"""Call programs, run by calling the public functions that they name."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import tripyapi as tp
from tripybuild.importer.call_program import Call, CallGraph, CallProgram, CallValue
from tripybuild.symbolic.dims import Dim


def run_calls(program: CallProgram, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The outputs of a program for arrays, and what its states are then, by name."""
    sizes = {}
    for value in program.graph.inputs:
        for size, found in zip(value.shape, np.shape(inputs[value.name]), strict=True):
            if isinstance(size, Dim) and size.name is not None:
                sizes[size.name] = found
            else:
                assert size == found, (value.name, value.shape, np.shape(inputs[value.name]))
    run = _Run(sizes)
    for value in program.graph.inputs:
        run.tensors[value] = tp.Tensor(np.array(inputs[value.name], order="C"))
    for value in program.weights.values():
        run.tensors[value] = tp.Tensor(np.array(value.weight.load(), order="C"))
    run.calls(program.graph.calls)
    found = [*program.graph.outputs, *program.updates.items()]
    return {name: np.asarray(run.tensors[value]) for name, value in found}


class _Run:
    def __init__(self, sizes: Mapping[str, int]) -> None:
        self.sizes = sizes
        self.tensors: dict[CallValue, Any] = {}

    def calls(self, calls: Sequence[Call]) -> None:
        for call in calls:
            arguments = {name: self.value(each) for name, each in call.arguments.items()}
            result = getattr(tp, call.operator)(**arguments)
            results = list(result) if call.is_list else [result]
            assert len(results) == len(call.results), call
            for value, tensor in zip(call.results, results, strict=True):
                assert tensor.dtype is value.dtype, (call, tensor.dtype)
                self.tensors[value] = tensor

    def value(self, argument: Any) -> Any:
        if isinstance(argument, CallValue):
            return self.tensors[argument]
        if isinstance(argument, list | tuple):
            return tuple(map(self.value, argument))  # a list is no index in Python
        if isinstance(argument, slice):
            return slice(*map(self.value, (argument.start, argument.stop, argument.step)))
        if isinstance(argument, Dim):
            return argument.substitute(self.sizes)
        return self.body(argument) if isinstance(argument, CallGraph) else argument

    def body(self, graph: CallGraph) -> Any:
        def function(*given: Any) -> Any:
            self.tensors.update(zip(graph.inputs, given, strict=True))
            self.calls(graph.calls)
            return [self.tensors[value] for _, value in graph.outputs]

        return function
