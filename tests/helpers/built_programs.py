"""Call programs by hand: each call is recorded by the public function, which says what it gives."""

from contextlib import contextmanager

import numpy as np

import tripyapi as tp
from tripybuild.frontend.sizes import trace_mode
from tripybuild.importer.call_program import Call, CallGraph, CallProgram, CallValue
from tripybuild.importer.foreign_program import ForeignNode, ForeignWeight, ModuleCall, SourcePlace
from tripybuild.symbolic.dims import symbol
from tripybuild.trace.values import TensorType, Value
from tripybuild.types.size_range import SizeRange


class ProgramBuilder:
    """Builds a program call by call."""

    def __init__(self, name, **ranges):
        self.name = name
        self.ranges = {n: SizeRange(low, low, high) for n, (low, high) in ranges.items()}
        self.symbols = {n: symbol(n, low, high) for n, (low, high) in ranges.items()}
        self.inputs, self.calls, self.weights, self.modules = [], [], {}, []
        self.tensors, self.counts = {}, {}
        self.random = np.random.default_rng(0)

    def _value(self, tensor, **fields):
        type = TensorType(tensor.dtype, tuple(tensor.value.type.shape))
        value = CallValue(type, **fields)
        self.tensors[id(value)] = tensor
        return value

    def _typed(self, dtype, shape, name, *, weight=False):
        sizes = tuple(self.symbols.get(size, size) for size in shape)
        return tp.Tensor.of(Value(TensorType(dtype, sizes), name=name, weight=weight))

    def input(self, name, *shape, dtype=tp.float32):
        value = self._value(self._typed(dtype, shape, name), name=name)
        self.inputs.append(value)
        return value

    def weight(self, path, *shape, dtype=tp.float32, value=None):
        """A weight with random values, or with one; or the one that is there already."""
        if path not in self.weights:
            tensor = self._typed(dtype, shape, path, weight=True)
            data = self.random.normal(size=shape) * 0.3 if value is None else np.full(shape, value)
            array = np.asarray(data).astype(dtype.numpy)
            held = ForeignWeight(path, tensor.value.type, load=lambda: array)
            self.weights[path] = self._value(tensor, name=path, weight=held)
        return self.weights[path]

    @contextmanager
    def module(self, path, class_name):
        """The calls inside are those of a call of a module."""
        count = self.counts[path] = self.counts.get(path, -1) + 1
        self.modules.append(ModuleCall(path, class_name, count))
        yield
        self.modules.pop()

    def call(self, operator, **arguments):
        """A call, by keyword; what it gives is a value, or a list of some."""
        given = {name: self._tensor(value) for name, value in arguments.items()}
        with trace_mode():
            result = getattr(tp, operator)(**given)
        node = ForeignNode(operator, {}, (), SourcePlace(operator), modules=tuple(self.modules))
        several = isinstance(result, (list, tuple))
        call = Call(operator, arguments, (), several, node)
        tensors = result if several else [result]
        call.results = [self._value(t, call=call, index=i) for i, t in enumerate(tensors)]
        self.calls.append(call)
        return call.results if several else call.results[0]

    def region(self, function, *like):
        """A graph that a function makes of inputs, for control flow."""
        outside, self.calls = self.calls, []
        inputs = [self._value(self._typed(v.dtype, v.shape, f"x{i}")) for i, v in enumerate(like)]
        result = function(*inputs)
        made, self.calls = CallGraph(inputs, self.calls, [("out", result)]), outside
        return made

    def _tensor(self, value):
        if isinstance(value, CallGraph):
            return self._function(value)
        if isinstance(value, CallValue):
            return self.tensors[id(value)]
        if isinstance(value, list):
            return tuple(self._tensor(each) for each in value)  # a list is no index in Python
        return value

    def _function(self, graph):
        """The function that a graph of control flow is."""

        def function(*given):
            known = dict(zip(map(id, graph.inputs), given, strict=True))
            for call in graph.calls:
                arguments = {
                    name: known.get(id(value), self._tensor(value))
                    for name, value in call.arguments.items()
                }
                known[id(call.results[0])] = getattr(tp, call.operator)(**arguments)
            ((_, result),) = graph.outputs
            return known[id(result)]

        return function

    def linear(self, path, x, rows, columns, *, bias=True):
        """A call of a linear layer."""
        with self.module(path, "Linear"):
            added = {"bias": self.weight(f"{path}.bias", columns)} if bias else {}
            weight = self.weight(f"{path}.weight", columns, rows)
            return self.call("linear", input=x, weight=weight, **added)

    def program(self, config=None, updates=None, **outputs):
        graph = CallGraph(self.inputs, self.calls, list(outputs.items()))
        return CallProgram(
            self.name, "aten", graph, self.weights, self.ranges, updates or {}, config=config or {}
        )
