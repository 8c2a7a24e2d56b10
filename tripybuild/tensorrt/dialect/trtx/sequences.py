"""Sequence operations: cumulative sums, and reversal of sequences."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

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
from tripybuild.tensorrt.dialect.trtx.attributes import enumeration
from tripybuild.tensorrt.dialect.trtx.operand_checks import check_equal_sizes, check_min_rank

_SUMMED = types.tensor(types.I32, types.I64, *types.FLOATS)
_LENGTHS = types.tensor(types.I32, types.I64, ranks=(1,))


@operation
class CumulativeOp(TensorrtOperation):
    """The sum of all elements up to each along an axis; without itself where `exclusive`."""

    name = "trtx.cumulative"
    input = operand_def(VarConstraint("T", _SUMMED))
    kind = prop_def(enumeration("cumulative_operation"))
    axis = prop_def(attributes.I64)
    exclusive = prop_def(attributes.BOOL, default_value=attributes.BOOL.attribute(value=False))
    reverse = prop_def(attributes.BOOL, default_value=attributes.BOOL.attribute(value=False))
    result = result_def(VarConstraint("T", _SUMMED))
    assembly_format = "$kind $input attr-dict `:` type($input)"
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The input's type."""
        return [Component(sizes(self.input), element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The axis is one of the input's; it may count from the end."""
        rank, axis = len(sizes(self.input)), self.value("axis")
        yield from check_min_rank(self, "input", 1)
        if not -rank <= axis < rank:
            yield f"`axis` is {axis}, which is outside of [-{rank}, {rank})"


@operation
class ReverseSequenceOp(TensorrtOperation):
    """The first elements of each sequence in the other order; `lengths` says how many they are."""

    name = "trtx.reverse_sequence"
    input = operand_def(VarConstraint("T", types.TENSOR))
    lengths = operand_def(_LENGTHS)
    batch_axis = prop_def(attributes.I64, default_value=attributes.I64.attribute(1))
    sequence_axis = prop_def(attributes.I64, default_value=attributes.I64.attribute(0))
    result = result_def(VarConstraint("T", types.TENSOR))
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)`"
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The input's type."""
        return [Component(sizes(self.input), element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The axes are two of the input's, and there is a length for each sequence."""
        shape = sizes(self.input)
        yield from check_min_rank(self, "input", 2)
        axes = {name: self.value(name) for name in ("batch_axis", "sequence_axis")}
        for name, axis in axes.items():
            if not 0 <= axis < len(shape):
                yield f"`{name}` is {axis}, which is outside of [0, {len(shape)})"
        if len(set(axes.values())) == 1:
            yield f"`batch_axis` and `sequence_axis` are both {axes['batch_axis']}"
        (count,) = sizes(self.lengths)
        batch = shape[axes["batch_axis"]]
        yield from check_equal_sizes("lengths", "one number for each of a batch of", count, batch)
