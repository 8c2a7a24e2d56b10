"""Exactness: whether OpenVINO computes a model's integers as ONNX says.

Each node is visited once, in order, with what is known of the elements of its inputs. Integers
that OpenVINO's kernels (`integer_kernels`) would compute differently are refused before native
code sees the model. Inputs of 64 bits are taken to fit into 32, which each call checks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tripybuild.onnx.model import (
    GraphDef,
    OnnxAttribute,
    OnnxModel,
    OnnxNode,
    TensorData,
    ValueInfo,
)
from tripybuild.onnx.table import find_operator
from tripybuild.targets.openvino import bounds
from tripybuild.targets.openvino.bounds import FLOAT32, INT32, SIZES, ValueBounds, dtype_bounds
from tripybuild.targets.openvino.integer_kernels import (
    CARRYING,
    INDICES,
    NARROW,
    SHAPES,
    IntegerKernel,
    kernel_of,
)
from tripybuild.targets.openvino.refusals import Refusal
from tripybuild.targets.openvino.tensors import Array
from tripybuild.types.dtypes import boolean, dtype, float64, int64

Shape = tuple[ValueBounds | None, ...] | None
COMPARED = ValueBounds(FLOAT32.low + 1, FLOAT32.high - 1)
BYTE = 8  # bits
DEFAULT_DOMAINS = ("", "ai.onnx")


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a value.

    Args:
        dtype: Its dtype, where it is one of ours.
        bounds: Those of its elements, where they are integers.
        shape: Those of its sizes, where they are known.
        constant: Whether its elements are the same in each call.
        sizes: Whether its elements are sizes, or computed from sizes and constants alone.
        carried: Whether its elements are numbers of a narrower dtype. Constants beyond float32 are
            infinite then, which no number that is carried is beyond.
    """

    dtype: dtype | None
    bounds: ValueBounds | None = None
    shape: Shape = None
    constant: bool = False
    sizes: bool = False
    carried: bool = False


Values = dict[str, Known]


@dataclass(slots=True)
class Exactness:
    """The visit of one model.

    Args:
        model: The model.
        ranges: The bounds of the symbols in shapes; others are any size.
        weights: The arrays of initializers that hold no data.
    """

    model: OnnxModel
    ranges: Mapping[str, ValueBounds] = field(default_factory=dict)
    weights: Mapping[str, Array] = field(default_factory=dict)
    found: list[Refusal] = field(default_factory=list)
    dtypes: dict[str, dtype | None] = field(default_factory=dict)

    def refusals(self) -> list[Refusal]:
        """What OpenVINO would compute differently."""
        graph = self.model.graph
        self._graph(graph, {each.name: self._input(each) for each in graph.inputs})
        return self.found

    def _graph(self, graph: GraphDef, known: Values) -> list[Known]:
        """Visit a graph with what is known around it and of its inputs."""
        known |= {
            each.name: _tensor(each, self.weights.get(each.name)) for each in graph.initializers
        }
        declared = {each.name: each for each in (*graph.values, *graph.outputs)}
        for node in graph.nodes:
            for name, result in zip(node.outputs, self._node(node, known), strict=False):
                known[name] = self._declared(result, declared.get(name))
        self.dtypes |= {name: each.dtype for name, each in known.items()}
        return [known.get(each.name, Known(each.dtype)) for each in graph.outputs]

    def _declared(self, found: Known, value: ValueInfo | None) -> Known:
        """What a declaration adds to what a node says."""
        if value is None:
            return found
        return replace(found, dtype=value.dtype, shape=self._shape(value))

    def _shape(self, value: ValueInfo) -> Shape:
        if value.shape is None:
            return None
        return tuple(
            ValueBounds(each, each) if isinstance(each, int) else self.ranges.get(each or "", SIZES)
            for each in value.shape
        )

    def _input(self, value: ValueInfo) -> Known:
        return Known(value.dtype, whole(value.dtype, INT32), self._shape(value))

    def _node(self, node: OnnxNode, known: Values) -> Sequence[Known]:
        """What is known of the results of a node."""
        inputs = [known.get(name, Known(None)) if name else None for name in node.inputs]
        if node.domain not in DEFAULT_DOMAINS:
            return [Known(None)] * len(node.outputs)
        if bodies := node.bodies:
            return self._regions(node, bodies, inputs, known)
        results = [Known(each) for each in self._types(node, inputs)]
        if node.operator in SHAPES:
            return [_size(node, inputs, results[0])]
        given = [each for each in inputs if each is not None]
        carried = self._check_floats(node, given, [each.dtype for each in results])
        results = [replace(each, carried=carried) for each in results]
        if node.operator == "Constant":
            return [_constant(node, results[0])]
        indices = INDICES.get(node.operator, len(results))
        return [
            *(self._result(node, inputs, each) for each in results[:indices]),
            *(replace(each, bounds=whole(each.dtype, SIZES)) for each in results[indices:]),
        ]

    def _check_floats(
        self, node: OnnxNode, inputs: Sequence[Known], results: Sequence[dtype | None]
    ) -> bool:
        """Refuse floats that no kernel computes with.

        Returns:
            Whether the results are numbers of a narrower dtype that float64 carries.
        """
        wide = [each for each in inputs if each.dtype is float64]
        carries = node.operator in CARRYING and all(e.carried or e.constant for e in wide)
        kinds = [*(each.dtype for each in inputs), *results]
        if float64 in kinds and not carries:
            self._refuse(node, "float64-is-float32", f"`{node.operator}`")
        for kind, operators in NARROW.items():
            if kind in kinds and node.operator not in operators:
                self._refuse(node, "no-kernel", f"`{node.operator}` of {kind}")
        return carries

    def _types(self, node: OnnxNode, inputs: Sequence[Known | None]) -> Sequence[dtype | None]:
        schema = find_operator(node.operator, self.model.opset)
        if schema is None:
            return [None] * len(node.outputs)
        given = [None if each is None else each.dtype for each in inputs]
        values = {name: each.value for name, each in node.attributes.items()}
        return schema.result_dtypes(given, values, len(node.outputs))

    def _result(self, node: OnnxNode, inputs: Sequence[Known | None], result: Known) -> Known:
        """What is known of one result, after the kernel that computes it was looked at."""
        reduction = _text(node.attributes.get("reduction"), "none") != "none"
        kernel = kernel_of(node.operator, reduction=reduction)
        places = range(len(inputs)) if kernel.data is None else kernel.data
        data = [each for i in places if i < len(inputs) and (each := inputs[i]) is not None]
        numbers = [each for each in data if _is_integer(each.dtype)]
        if node.operator == "Pad":
            self._check_padding(node, inputs)
        if not numbers and not _is_integer(result.dtype):
            return result
        sizes = any(each.sizes for each in data) and all(e.sizes or e.constant for e in data)
        self._check_inputs(node, kernel, numbers)
        if not _is_integer(result.dtype):
            return result
        known = [each.bounds or whole(each.dtype) for each in numbers]
        if any(each.dtype is boolean for each in data):  # which `Cast` makes numbers of
            known.append(ValueBounds(0, 1))
        made = self._bounds(node, kernel, [each for each in known if each is not None], result)
        return replace(result, bounds=self._fit(node, kernel, made, result, sizes), sizes=sizes)

    def _bounds(
        self, node: OnnxNode, kernel: IntegerKernel, data: Sequence[ValueBounds], result: Known
    ) -> ValueBounds:
        """The bounds of a result before it is fitted into its dtype."""
        assert result.dtype is not None
        every = dtype_bounds(result.dtype)
        if node.operator == "Cast":  # of no integer, or to another dtype, whose own rule is ONNX's
            return data[0].clamp(every) if data and data[0].within(every) else every.clamp(INT32)
        if kernel.result is None or not data:
            return every
        if node.operator == "Clip":
            return _clip(data)
        return kernel.result(data)

    def _check_inputs(
        self, node: OnnxNode, kernel: IntegerKernel, numbers: Sequence[Known]
    ) -> None:
        """Refuse what a kernel reads otherwise than it is."""
        for each in numbers:
            if each.bounds is not None and not each.bounds.within(INT32):
                self._refuse(node, "int64-is-int32", f"elements are {each.bounds}")
                return
        if kernel.rounds and any(e.dtype is not None and e.dtype.bits <= 8 for e in numbers):
            self._refuse(node, "rounds", f"`{node.operator}` of {numbers[0].dtype}")
        if kernel.exact or not numbers:
            return
        exact = [each.bounds is not None and each.bounds.within(COMPARED) for each in numbers]
        if kernel.compares:
            fit = any(exact)
        else:
            fit = all(e.bounds is not None and e.bounds.within(FLOAT32) for e in numbers)
        if not fit:
            wide = next(e for e, one in zip(numbers, exact, strict=True) if not one)
            detail = f"`{node.operator}` of {wide.dtype}, whose elements are {wide.bounds}"
            self._refuse(node, "int32-is-float32", detail)

    def _fit(
        self, node: OnnxNode, kernel: IntegerKernel, made: ValueBounds, result: Known, sizes: bool
    ) -> ValueBounds:
        """The bounds of a result in its dtype; what has no place there is refused."""
        kind = result.dtype
        assert kind is not None
        every = dtype_bounds(kind)
        if sizes:  # the number of elements of a tensor that is there
            made = made.clamp(INT32)
        if kind is int64 and not made.within(INT32):
            self._refuse(node, "int64-is-int32", f"`{node.operator}` may give {made}")
        elif kind.bits <= 8 and not made.within(every):
            self._refuse(node, "saturates", f"`{node.operator}` of {kind} may give {made}")
        elif not kernel.exact and not made.within(FLOAT32):
            detail = f"`{node.operator}` of {kind} may give {made}"
            self._refuse(node, "int32-is-float32", detail)
        if made.within(every):
            return made.clamp(INT32) if kind is int64 else made
        return every.clamp(INT32)

    def _check_padding(self, node: OnnxNode, inputs: Sequence[Known | None]) -> None:
        value = inputs[2] if len(inputs) > 2 else None
        if value is None:
            return
        if value.constant and value.bounds is not None and not value.bounds.within(FLOAT32):
            self._refuse(node, "int32-is-float32", f"`Pad` with {value.bounds.low}")

    def _regions(
        self,
        node: OnnxNode,
        bodies: Mapping[str, GraphDef],
        inputs: Sequence[Known | None],
        known: Values,
    ) -> list[Known]:
        """Visit the bodies of `If`, `Loop` and `Scan`; states are any numbers of their dtypes."""
        self._check_turns(node, bodies, inputs)
        found: list[list[Known]] = []
        for body in bodies.values():
            taken = {each.name: self._input(each) for each in body.inputs}
            if node.operator == "Loop" and body.inputs:
                turn = body.inputs[0]
                taken[turn.name] = Known(turn.dtype, SIZES)
            found.append(self._graph(body, {**known, **taken}))
        if node.operator == "If":
            return [_either(pair) for pair in zip(*found, strict=False)]
        results = found[0][1:] if node.operator == "Loop" else found[0]
        return [Known(each.dtype, whole(each.dtype, INT32)) for each in results]

    def _check_turns(
        self, node: OnnxNode, bodies: Mapping[str, GraphDef], inputs: Sequence[Known | None]
    ) -> None:
        """Refuse to collect results of a loop that may have no turn."""
        if node.operator != "Loop":
            return
        states, results = len(node.inputs) - 2, len(bodies["body"].outputs) - 1
        turns, condition = (*inputs, None, None)[:2]
        least = None if turns is None or turns.bounds is None else turns.bounds.low
        surely = (turns is None or (least or 0) >= 1) and condition is None
        if results > states and not surely:
            self._refuse(node, "no-turns", f"`{node.operator}` collects a result of each turn")

    def _refuse(self, node: OnnxNode, fact: str, detail: str) -> None:
        if not any(each.node is node for each in self.found):  # the first reason is enough
            self.found.append(Refusal(fact, node, detail))


def whole(kind: dtype | None, within: ValueBounds | None = None) -> ValueBounds | None:
    """All numbers of a dtype of integers, where they are within others."""
    if kind is None or not _is_integer(kind):
        return None
    every = dtype_bounds(kind)
    return every if within is None else every.clamp(within)


def _is_integer(kind: dtype | None) -> bool:
    return kind is not None and kind.kind == "integer"


def _numbers(shape: Sequence[int]) -> Shape:
    return tuple(ValueBounds(each, each) for each in shape)


def _text(attribute: OnnxAttribute | None, default: str) -> str:
    if attribute is None:
        return default
    value = attribute.value
    return value.decode() if isinstance(value, bytes) else str(value)


def _tensor(tensor: TensorData, array: Array | None = None) -> Known:
    """What is known of a constant: its elements, where they are here."""
    kind, shape = tensor.dtype, _numbers(tensor.shape)
    found = whole(kind)
    if found is not None and kind.bits >= BYTE:
        if array is None and isinstance(tensor.data, (bytes, bytearray, memoryview)):
            array = np.frombuffer(tensor.data, kind.numpy)
        if array is not None:
            some = array.size > 0
            found = ValueBounds(int(array.min()), int(array.max())) if some else ValueBounds(0, 0)
    return Known(kind, found, shape, constant=True)


def _constant(node: OnnxNode, result: Known) -> Known:
    """What `Constant` gives."""
    value = next((each.value for each in node.attributes.values()), None)
    if isinstance(value, TensorData):
        return _tensor(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return replace(result, bounds=ValueBounds(value, value), constant=True)
    if isinstance(value, (list, tuple)) and value and isinstance(value[0], int):
        found = ValueBounds(min(map(int, value)), max(map(int, value)))
        return replace(result, bounds=found, constant=True)
    return replace(result, bounds=whole(result.dtype), constant=True)


def _size(node: OnnxNode, inputs: Sequence[Known | None], result: Known) -> Known:
    """What `Shape` and `Size` give."""
    given = inputs[0].shape if inputs and inputs[0] is not None else None
    if given is None:
        found = SIZES if node.operator == "Shape" else INT32.clamp(ValueBounds(0, INT32.high))
    else:
        sizes = [each or SIZES for each in given]
        if node.operator == "Size":
            found = bounds.hull([ValueBounds(1, 1)])
            for each in sizes:
                found = bounds.multiply([found, each])
        else:
            start, end = (_index(node, key) for key in ("start", "end"))
            part = sizes[slice(start, end)]
            found = bounds.hull(part) if part else SIZES
    return replace(result, bounds=found.clamp(INT32), sizes=True)


def _index(node: OnnxNode, name: str) -> int | None:
    found = node.attributes.get(name)
    return found.value if found is not None and isinstance(found.value, int) else None


def _clip(data: Sequence[ValueBounds]) -> ValueBounds:
    """The bounds of elements between two others; both are there, or the first one is the least."""
    if len(data) < 3:
        return bounds.hull(data)
    elements, least, greatest = data
    raised = bounds.maximum([elements, least])
    return bounds.minimum([raised, greatest])


def _either(pair: Sequence[Known]) -> Known:
    first = pair[0]
    every = [each.bounds for each in pair]
    if any(each is None for each in every):
        return Known(first.dtype, whole(first.dtype, INT32))
    return Known(first.dtype, bounds.hull(each for each in every if each is not None))
