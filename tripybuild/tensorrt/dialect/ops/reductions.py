"""Reduction operations along dimensions: reduce, softmax, argmax and top-k."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i32
from xdsl.irdl import VarConstraint, operand_def, prop_def, result_def, traits_def
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
from tripybuild.tensorrt.dialect.checks import (
    SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,
    Checks,
    all_match,
)
from tripybuild.tensorrt.shape_rules import ShapeError, Sizes, is_static, reductions as rules

_REDUCED = types.tensor(types.I8, types.I32, types.I64, *types.FLOATS)
_SORTED = types.tensor(types.I32, types.I64, *types.FLOATS)
_INDICES = types.tensor(types.I32)


@operation
class ReduceOp(TensorrtOperation):
    """One element of all those along some dimensions."""

    name = "tensorrt.reduce"
    input = operand_def(_REDUCED)
    reduce_axes = prop_def(attributes.DIMENSIONS, prop_name="reduceAxes")
    keep_dimensions = prop_def(
        attributes.BOOL, default_value=attributes.BOOL.attribute(False), prop_name="keepDimensions"
    )
    reduce_operation = prop_def(
        attributes.enumeration("reduce_operation"), prop_name="reduceOperation"
    )
    result = result_def(_REDUCED)
    assembly_format = "$reduceOperation $input attr-dict `:` type($input) `->` type($result)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)
    INFERRED: ClassVar[bool] = True

    def _shape(self) -> Sizes:
        axes, keep = self.value("reduce_axes"), self.value("keep_dimensions")
        return rules.reduce(sizes(self.input), axes, keep_dimensions=keep)

    def components(self) -> Sequence[Component]:
        """The other dimensions, and ones for the reduced ones where they are kept."""
        return [Component(self._shape(), element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The dimensions are there."""
        try:
            self._shape()
        except ShapeError as error:
            yield str(error)


@operation
class SoftMaxOp(TensorrtOperation):
    """The exponential of each element, over the sum of those along a dimension."""

    name = "tensorrt.softmax"
    input = operand_def(VarConstraint("T", types.FLOAT_TENSOR))
    axis = prop_def(attributes.I64)
    result = result_def(VarConstraint("T", types.FLOAT_TENSOR))
    assembly_format = "attr-dict $input `:` type($input)"
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The type of the input."""
        return [Component(sizes(self.input), element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The dimension is there."""
        rank = len(sizes(self.input))
        if not 0 <= self.value("axis") < rank:
            yield f"expected axis to be non-negative and less than {rank}"


@operation
class RaggedSoftMaxOp(TensorrtOperation):
    """Softmax of sequences of several lengths."""

    name = "tensorrt.ragged_softmax"
    input = operand_def(types.FLOAT_TENSOR)
    bounds = operand_def(_INDICES)
    result = result_def(types.FLOAT_TENSOR)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type(results)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (all_match("element type", "input", "result"),)
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The type of the input."""
        shape = rules.ragged_softmax(sizes(self.input), sizes(self.bounds))
        return [Component(shape, element(self.input))]


class _Extremes(TensorrtOperation):
    """The largest or smallest elements along a dimension, which stays, and their indices."""

    CHECKS: ClassVar[Checks] = (
        all_match("rank", "input", "values", "indices"),
        all_match("shape", "values", "indices"),
    )
    INFERRED: ClassVar[bool] = True

    def count(self) -> int:
        """Give how many elements there are of each row."""
        return 1

    def components(self) -> Sequence[Component]:
        """The `k` requested elements; indices are i32."""
        given = self.operands[0]
        shape = rules.top_k(sizes(given), self.count(), self.value("axis"))
        return [Component(shape, element(given)), Component(shape, i32)]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The dimension is there, and long enough."""
        shape, axis, count = sizes(self.operands[0]), self.value("axis"), self.count()
        if not 0 <= axis < len(shape):
            yield (
                f'"axis" attribute is {axis}, but this is out of bounds for input of rank '
                f"{len(shape)}"
            )
        elif sizes(self.results[0])[axis] != count:
            yield f"expected result shapes dim {axis} to equal {count}"
        elif is_static(size := shape[axis]) and size < count:
            yield 'expected K attribute value to be smaller than the dimension specified by "axis"'


@operation
class TopKOp(_Extremes):
    """The k largest or smallest elements along a dimension, sorted, and their indices."""

    name = "tensorrt.top_k"
    input = operand_def(_SORTED)
    k = prop_def(attributes.I64)
    axis = prop_def(attributes.I64)
    topk_operation = prop_def(attributes.enumeration("top_k_operation"), prop_name="topkOperation")
    values = result_def(types.RANKED)
    indices = result_def(_INDICES)
    assembly_format = "$topkOperation attr-dict $input `:` type($input) `->` type(results)"
    traits = traits_def(Pure())

    def count(self) -> int:
        """Give `k`."""
        k: int = self.value("k")
        return k


@operation
class ArgMinOp(_Extremes):
    """The smallest element along a dimension, and its index."""

    name = "tensorrt.argmin"
    input = operand_def(types.TENSOR)
    axis = prop_def(attributes.I64)
    values = result_def(types.TENSOR)
    indices = result_def(_INDICES)
    assembly_format = "attr-dict $input `:` type($input) `->` type(results)"
    traits = traits_def(Pure())


@operation
class ArgMaxOp(_Extremes):
    """The largest element along a dimension, and its index."""

    name = "tensorrt.argmax"
    input = operand_def(types.TENSOR)
    axis = prop_def(attributes.I64)
    values = result_def(types.TENSOR)
    indices = result_def(_INDICES)
    assembly_format = "attr-dict $input `:` type($input) `->` type(results)"
    traits = traits_def(Pure())
