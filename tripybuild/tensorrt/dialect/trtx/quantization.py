"""FP4 quantization, which NVIDIA's dialect supports for dequantization only."""

from collections.abc import Sequence
from typing import Any, ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import (
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import ConstantLike, Pure

from tripybuild.tensorrt.dialect import attribute_kinds as attributes, types
from tripybuild.tensorrt.dialect.base import Component, TensorrtOperation, element, operation, sizes
from tripybuild.tensorrt.dialect.checks import Checks, all_match
from tripybuild.tensorrt.dialect.ops.quantization import ScaleOperation


@operation
class ConstantF4Op(TensorrtOperation):
    """A constant of f4; otherwise as `tensorrt.constant`."""

    name = "trtx.constant"
    weights = prop_def(attributes.WEIGHTS)
    result = result_def(VarConstraint("T", types.tensor(types.F4)))
    assembly_format = "attr-dict $weights"
    traits = traits_def(Pure(), ConstantLike())
    CHECKS: ClassVar[Checks] = (all_match("type", "weights", "result"),)

    def components(self) -> Sequence[Component]:
        """The type of the elements."""
        weights: Any = self.weights
        return [Component(sizes(weights.get_type()), element(weights.get_type()))]


@operation
class QuantizeToF4Op(ScaleOperation):
    """Real numbers over a scale, rounded to f4; otherwise as `tensorrt.quantize`."""

    name = "trtx.quantize"
    input = operand_def(types.tensor(*types.FLOATS, ranks=types.NON_SCALAR))
    scale = operand_def(types.tensor(*types.FLOATS))
    axis = opt_prop_def(attributes.I32)
    result = result_def(types.tensor(types.F4))
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)` `scale` `(` $scale `:` type($scale) `)`"
        " `->` type($result)"
    )
    traits = traits_def(Pure())
    WORD: ClassVar[str] = "quantization"

    def quantized(self) -> SSAValue:
        """Give the result."""
        return self.result
