"""Indexing layers: gather, scatter, one-hot, non-zero."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.checks import Checks, all_match
from tripybuild.tensorrt.layers.declaration import Arguments, SingleResultLayer, moves_values
from tripybuild.tensorrt.layers.operation import (
    LayerOperation,
    OpProblem,
    argument,
    attribute,
    operand,
    optional_attribute,
    output,
    sizes,
)
from tripybuild.tensorrt.recorder.argument_kinds import REQUIRED, integer
from tripybuild.tensorrt.shape_rules import (
    Shape,
    ShapeError,
    Sizes,
    agree,
    broadcast,
    compatible,
    is_static,
)

if TYPE_CHECKING:
    from xdsl.ir import Operation

    from tripybuild.tensorrt.translation.emission import Emission

_INDICES = (kinds.I32, kinds.I64)
_SCATTERED = (kinds.I8, kinds.I32, kinds.I64, *kinds.FLOATS)
_SCATTER_FORMAT = (
    "attr-dict `data` `(` $data `:` type($data) `)` `indices` `(` $indices `:` type($indices) `)`"
    " `updates` `(` $updates `:` type($updates) `)`"
)


def _add(at: "Emission", op: "Operation", layer: str, kind: str, mode: str) -> Any:
    return at.add(layer, *map(at.tensor, op.operands), at.member(kind, mode))


class GatherOp(LayerOperation):
    """Slices of the data along an axis, one for each index."""

    name = "tensorrt.gather"
    data = operand(*kinds.USUAL)
    indices = operand(*_INDICES)
    axis = attribute(kinds.I64_ATTR)
    num_broadcast_dims = attribute(kinds.I64_ATTR, default=0, mlir="numBroadcastDims")
    result = output(*kinds.USUAL, dtype="data")
    CHECKS: ClassVar[Checks] = (all_match("element type", "data", "result"),)

    @staticmethod
    def result_shape(data: Shape, indices: Shape, axis: int, num_broadcast_dims: int = 0) -> Sizes:
        """The data's shape, with the indices' in the place of the axis."""
        if not 0 <= axis < len(data):
            raise ShapeError("axis must obey 0 <= axis < rank(input).")
        count = num_broadcast_dims
        try:
            leading = broadcast(data[:count], indices[:count])
        except ShapeError:
            raise ShapeError("Failed to broadcast numBroadcastDims dimensions.") from None
        return (*leading, *data[count:axis], *indices[count:], *data[axis + 1 :])

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The axis and the dimensions before it fit."""
        axis, count = self.value("axis"), self.value("num_broadcast_dims")
        data, indices = sizes(self.data), sizes(self.indices)
        if count not in {0, 1}:
            yield "in kDEFAULT mode, numElementWiseDims must be 0 or 1"
        if not 0 <= axis < len(data):
            yield f'expected "axis" to must be in the range [0, {len(data)})'
        if count > axis:
            yield 'expected "numBroadcastDims" <= "axis"'
        if (
            count == 1
            and indices
            and not (1 in (data[0], indices[0]) or agree(data[0], indices[0]))
        ):
            yield (
                "when numBroadcastDims = 1, first dimension of data and indices must be "
                "broadcastable"
            )

    def translate(self, at: "Emission") -> Any:
        """Add a gather."""
        layer = _add(at, self, "gather_v2", "GatherMode", "DEFAULT")
        count = self.value("num_broadcast_dims")
        return at.set(layer, axis=self.value("axis"), num_elementwise_dims=count)


gather = SingleResultLayer(GatherOp, refuses=moves_values)


class GatherNdOp(LayerOperation):
    """Slices of the data, one for each vector of indices."""

    name = "tensorrt.gather_nd"
    data = operand(*kinds.USUAL)
    indices = operand(*_INDICES)
    num_broadcast_dims = argument(integer.with_default(0))  # NVIDIA's operation has none
    result = output(*kinds.USUAL, dtype="data")
    assembly_format = (
        "attr-dict `data` `(` $data `)` `indices` `(` $indices `)`"
        " `:` functional-type(operands, results)"
    )
    CHECKS: ClassVar[Checks] = (all_match("element type", "data", "result"),)

    @staticmethod
    def result_shape(data: Shape, indices: Shape, num_broadcast_dims: int = 0) -> Sizes:
        """The indices' shape, and the shape of a slice."""
        if not data or not indices:
            raise ShapeError("input rank and indices rank must be >= 1")
        length = indices[-1]
        if not isinstance(length, int) or not 0 < length <= len(data) - num_broadcast_dims:
            raise ShapeError(
                "the extent of the last dimension of 'indices' shape must be greater than zero and "
                "less-than-or-equal-to 'data' rank"
            )
        return (*indices[:-1], *data[num_broadcast_dims + length :])

    def translate(self, at: "Emission") -> Any:
        """Add a gather of slices."""
        return _add(at, self, "gather_v2", "GatherMode", "ND")


def _explicit_gather_nd(given: Arguments) -> Arguments:
    if given["num_broadcast_dims"]:
        raise ValueError("the dialect's `gather_nd` has no `num_broadcast_dims`: use `gather`")
    return {"num_broadcast_dims": None}


gather_nd = SingleResultLayer(GatherNdOp, explicit=_explicit_gather_nd, refuses=moves_values)


class GatherElementsOp(LayerOperation):
    """An element of the data for each index along an axis."""

    name = "tensorrt.gather_elements"
    data = operand(*kinds.USUAL)
    indices = operand(*_INDICES)
    axis = attribute(kinds.I64_ATTR)
    result = output(*kinds.USUAL, like="indices", dtype="data")
    CHECKS: ClassVar[Checks] = (all_match("rank", "data", "indices", "result"),)

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The axis is one of the result's."""
        rank = len(sizes(self.result))
        if not 0 <= self.value("axis") < rank:
            yield f'expected "axis" to must be in the range [0, {rank})'

    def translate(self, at: "Emission") -> Any:
        """Add a gather of elements."""
        layer = _add(at, self, "gather_v2", "GatherMode", "ELEMENT")
        return at.set(layer, axis=self.value("axis"))


gather_elements = SingleResultLayer(GatherElementsOp, refuses=moves_values)


class ScatterOp(LayerOperation):
    """The data, with a slice replaced for each vector of indices."""

    name = "tensorrt.scatter_nd"
    data = operand(*_SCATTERED)
    indices = operand(*_INDICES)
    updates = operand(*_SCATTERED)
    result = output(*_SCATTERED, like="data")
    assembly_format = _SCATTER_FORMAT
    CHECKS: ClassVar[Checks] = (all_match("element type", "data", "updates"),)
    READ_WITHOUT_TYPE: ClassVar[bool] = True

    @staticmethod
    def result_shape(data: Shape, indices: Shape, updates: Shape) -> Sizes:
        """The data's shape, where the updates have the shape of what the indices lead to."""
        name = ScatterOp.name
        if not indices:
            raise ShapeError(f"{name} indices must have rank >= 1")
        length = indices[-1]
        if not isinstance(length, int):
            raise ShapeError(
                f"the last dimension in {name} indices tensor (the index vector size) must be "
                "static"
            )
        if length > len(data):
            raise ShapeError(f"{name} index vector size cannot be larger than the input rank")
        rank = len(data) + len(indices) - length - 1
        if len(updates) != rank:
            raise ShapeError(f"{name} expected updates tensor rank to be {rank}")
        if not compatible(updates[len(indices) - 1 :], data[length:]):
            raise ShapeError(
                f"{name} input tensor shape is incompatible with the shape of the updates tensor"
            )
        return tuple(data)

    def translate(self, at: "Emission") -> Any:
        """Add a scatter of slices."""
        return _add(at, self, "scatter", "ScatterMode", "ND")


scatter_nd = SingleResultLayer(ScatterOp)


class ScatterElementsOp(LayerOperation):
    """The data, with an element replaced for each index along an axis."""

    name = "tensorrt.scatter_elements"
    data = operand(*_SCATTERED)
    indices = operand(*_INDICES)
    updates = operand(*_SCATTERED)
    axis = optional_attribute(kinds.I64_ATTR, call_default=REQUIRED)
    result = output(*_SCATTERED, like="data")
    assembly_format = _SCATTER_FORMAT
    CHECKS: ClassVar[Checks] = (
        all_match("element type", "data", "updates"),
        all_match("shape", "indices", "updates"),
        all_match("rank", "data", "updates", "indices"),
    )

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The axis is one of the data's."""
        rank, axis = len(sizes(self.data)), self.value("axis")
        if rank < 1:
            yield f"expected data to have rank >= 1, got {rank}"
        if axis is not None and not 0 <= axis < rank:
            yield f"expected axis to be in the range [0, {rank})"

    def translate(self, at: "Emission") -> Any:
        """Add a scatter of elements."""
        layer = _add(at, self, "scatter", "ScatterMode", "ELEMENT")
        return at.set(layer, axis=self.value("axis"))


scatter_elements = SingleResultLayer(ScatterElementsOp)


class OneHotOp(LayerOperation):
    """A new dimension, with the second of two values where the index is, else the first."""

    name = "tensorrt.one_hot"
    indices = operand(kinds.I32)
    values = operand(*_SCATTERED)
    depth = operand(kinds.I32)
    axis = attribute(kinds.SI64_ATTR)
    result = output(*_SCATTERED, dtype="values")
    CHECKS: ClassVar[Checks] = (all_match("element type", "values", "result"),)

    @staticmethod
    def result_shape(indices: Shape, values: Shape, axis: int) -> Sizes:
        """The indices' shape, and a dimension at the axis that the depth's value decides."""
        rank = len(indices)
        if not -rank - 1 <= axis <= rank:
            raise ShapeError("expected axis to be in the range [-rank(indices)-1, rank(indices)]")
        if len(values) != 1:
            raise ShapeError("expected values to be of rank 1")
        if values[0] is None or (is_static(values[0]) and values[0] != 2):
            raise ShapeError("expected values to have two elements")
        place = axis % (rank + 1)
        return (*indices[:place], None, *indices[place:])

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The depth is one number."""
        if sizes(self.depth):
            yield "expected depth to be of rank 0"

    def translate(self, at: "Emission") -> Any:
        """Add a one-hot layer."""
        return at.add("one_hot", *map(at.tensor, self.operands), self.value("axis"))


one_hot = SingleResultLayer(OneHotOp)


class NonZeroOp(LayerOperation):
    """The indices of elements that are not zero: a row for each dimension."""

    name = "tensorrt.non_zero"
    input = operand(kinds.I1, kinds.PLAIN_I8, kinds.I32, *kinds.FLOATS)
    result = output(kinds.I32, dtype="int32")
    assembly_format = "attr-dict $input `:` type($input) `->` type($result)"

    @staticmethod
    def result_shape(input: Shape) -> Sizes:
        """One row for each dimension; the number of columns depends on data."""
        return (len(input), None)

    def translate(self, at: "Emission") -> Any:
        """Add a non-zero layer."""
        return at.add("non_zero", at.tensor(self.input))


non_zero = SingleResultLayer(NonZeroOp)
