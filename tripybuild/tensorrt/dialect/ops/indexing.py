"""Indexing operations: gather, scatter, nonzero and one-hot."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType
from xdsl.irdl import VarConstraint, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tripybuild.tensorrt.dialect import attribute_kinds as attributes, types
from tripybuild.tensorrt.dialect.base import (
    Component,
    OpProblem,
    TensorrtOperation,
    element,
    operation,
    sizes,
)
from tripybuild.tensorrt.dialect.checks import Checks, all_match
from tripybuild.tensorrt.shape_rules import agree, indexing as rules

_INDICES = types.tensor(types.I32, types.I64)
_NUMBERS = types.tensor(types.I32)
_SCATTERED = types.tensor(types.I8, types.I32, types.I64, *types.FLOATS)
_SCATTER_FORMAT = (
    "attr-dict `data` `(` $data `:` type($data) `)` `indices` `(` $indices `:` type($indices) `)`"
    " `updates` `(` $updates `:` type($updates) `)`"
)


@operation
class GatherOp(TensorrtOperation):
    """Slices of the data along an axis, one for each index."""

    name = "tensorrt.gather"
    data = operand_def(types.TENSOR)
    indices = operand_def(_INDICES)
    axis = prop_def(attributes.I64)
    num_broadcast_dims = prop_def(
        attributes.I64,
        prop_name="numBroadcastDims",
        default_value=attributes.I64.attribute(0),
    )
    result = result_def(types.TENSOR)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type($result)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (all_match("element type", "data", "result"),)
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The data's shape, with the indices' in the place of the axis."""
        shape = rules.gather(
            sizes(self.data),
            sizes(self.indices),
            self.value("axis"),
            self.value("num_broadcast_dims"),
        )
        return [Component(shape, element(self.data))]

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


@operation
class GatherNdOp(TensorrtOperation):
    """Slices of the data, one for each vector of indices."""

    name = "tensorrt.gather_nd"
    data = operand_def(types.TENSOR)
    indices = operand_def(_INDICES)
    result = result_def(types.TENSOR)
    assembly_format = (
        "attr-dict `data` `(` $data `)` `indices` `(` $indices `)`"
        " `:` functional-type(operands, results)"
    )
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (all_match("element type", "data", "result"),)
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The indices' shape, and the shape of a slice."""
        return [
            Component(rules.gather_nd(sizes(self.data), sizes(self.indices)), element(self.data))
        ]


@operation
class GatherElementsOp(TensorrtOperation):
    """An element of the data for each index along an axis."""

    name = "tensorrt.gather_elements"
    data = operand_def(types.TENSOR)
    indices = operand_def(_INDICES)
    axis = prop_def(attributes.I64)
    result = result_def(types.TENSOR)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type($result)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (all_match("rank", "data", "indices", "result"),)
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The indices' shape."""
        return [Component(sizes(self.indices), element(self.data))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The axis is one of the result's."""
        rank = len(sizes(self.result))
        if not 0 <= self.value("axis") < rank:
            yield f'expected "axis" to must be in the range [0, {rank})'


@operation
class ScatterOp(TensorrtOperation):
    """The data, with a slice replaced for each vector of indices."""

    name = "tensorrt.scatter_nd"
    data = operand_def(VarConstraint("T", _SCATTERED))
    indices = operand_def(_INDICES)
    updates = operand_def(_SCATTERED)
    result = result_def(VarConstraint("T", _SCATTERED))
    assembly_format = _SCATTER_FORMAT
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (all_match("element type", "data", "updates"),)
    INFERRED: ClassVar[bool] = True
    READ_WITHOUT_TYPE: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The type of the data."""
        shapes = (sizes(self.data), sizes(self.indices), sizes(self.updates))
        return [Component(rules.scatter_nd(*shapes, name=self.name), element(self.data))]


@operation
class ScatterElementsOp(TensorrtOperation):
    """The data, with an element replaced for each index along an axis."""

    name = "tensorrt.scatter_elements"
    data = operand_def(VarConstraint("T", _SCATTERED))
    indices = operand_def(_INDICES)
    updates = operand_def(_SCATTERED)
    axis = opt_prop_def(attributes.I64)
    result = result_def(VarConstraint("T", _SCATTERED))
    assembly_format = _SCATTER_FORMAT
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (
        all_match("element type", "data", "updates"),
        all_match("shape", "indices", "updates"),
        all_match("rank", "data", "updates", "indices"),
    )
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The type of the data."""
        return [Component(sizes(self.data), element(self.data))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The axis is one of the data's."""
        rank, axis = len(sizes(self.data)), self.value("axis")
        if rank < 1:
            yield f"expected data to have rank >= 1, got {rank}"
        if axis is not None and not 0 <= axis < rank:
            yield f"expected axis to be in the range [0, {rank})"


@operation
class OneHotOp(TensorrtOperation):
    """A new dimension, with the second of two values where the index is, else the first."""

    name = "tensorrt.one_hot"
    indices = operand_def(_NUMBERS)
    values = operand_def(_SCATTERED)
    depth = operand_def(_NUMBERS)
    axis = prop_def(attributes.SI64)
    result = result_def(_SCATTERED)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type(results)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (all_match("element type", "values", "result"),)
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The indices' shape, and a dimension that the depth's value decides."""
        shape = rules.one_hot(sizes(self.indices), sizes(self.values), self.value("axis"))
        return [Component(shape, element(self.values))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The depth is one number."""
        if sizes(self.depth):
            yield "expected depth to be of rank 0"


@operation
class NonZeroOp(TensorrtOperation):
    """The indices of elements that are not zero: a row for each dimension."""

    name = "tensorrt.non_zero"
    input = operand_def(types.tensor(types.I1, types.PLAIN_I8, types.I32, *types.FLOATS))
    result = result_def(_NUMBERS)
    assembly_format = "attr-dict $input `:` type($input) `->` type($result)"
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """Unknown number of elements: it depends on data."""
        return [Component(rules.non_zero(sizes(self.input)), IntegerType(32))]
