"""Operations on elements: activations, unary and binary functions."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, i32, i64
from xdsl.irdl import (
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tripybuild.dialects.tensorrt.ops import attribute_kinds as attributes, kinds
from tripybuild.dialects.tensorrt.ops.base import (
    Component,
    Problem,
    TensorrtOperation,
    element,
    operation,
    sizes,
)
from tripybuild.dialects.tensorrt.ops.checks import SAME_OPERANDS_ELEMENT_TYPE, Checks, all_match
from tripybuild.dialects.tensorrt.ops.effects import ElementwiseMappable
from tripybuild.dialects.tensorrt.shape_rules import arithmetic as rules

_ACTIVATED = kinds.tensor(kinds.I8, kinds.I32, kinds.I64, *kinds.FLOATS)
_WITHOUT_ALPHA = frozenset({"kRELU", "kSIGMOID", "kTANH", "kSOFTSIGN", "kGELU_ERF", "kGELU_TANH"})
_WITH_BETA = frozenset({"kSELU", "kSOFTPLUS", "kCLIP", "kHARD_SIGMOID", "kSCALED_TANH"})


@operation
class ActivationOp(TensorrtOperation):
    """A function of each element, with up to two parameters."""

    name = "tensorrt.activation"
    input = operand_def(VarConstraint("T", _ACTIVATED))
    activation_type = prop_def(
        attributes.enumeration("activation_type"), prop_name="activationType"
    )
    alpha = opt_prop_def(attributes.F32)
    beta = opt_prop_def(attributes.F32)
    result = result_def(VarConstraint("T", _ACTIVATED))
    assembly_format = "attr-dict $input `:` type($input)"
    traits = traits_def(Pure(), ElementwiseMappable())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The type of the input."""
        return [Component(sizes(self.input), element(self.input))]

    def wrong(self) -> Iterator[str | Problem]:
        """Check which parameters a function needs."""
        kind = self.value("activation_type")
        if element(self.input) in (i32, i64) and kind != "kRELU":
            yield "placeholder"


@operation
class ElementWiseOp(TensorrtOperation):
    """A function of the elements of two tensors, broadcast where a size is one."""

    name = "tensorrt.element_wise"
    input1 = operand_def(kinds.TENSOR)
    input2 = operand_def(kinds.TENSOR)
    elementwise_operation = prop_def(
        attributes.enumeration("element_wise_operation"), prop_name="elementwiseOperation"
    )
    result = result_def(kinds.RANKED)
    assembly_format = (
        "attr-dict $elementwiseOperation `(` operands `:` type(operands) `)` `->` type(results)"
    )
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (
        all_match("rank", "input1", "input2", "result"),
        SAME_OPERANDS_ELEMENT_TYPE,
    )
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The broadcast shape; bool where a truth is the result."""
        shape = rules.element_wise(sizes(self.input1), sizes(self.input2))
        return [Component(shape, IntegerType(1) if self.truths else element(self.input1))]

    @property
    def truths(self) -> bool:
        """Tell whether the result is bool, whatever the operands are."""
        return self.value("elementwise_operation") in rules.TRUTHS
