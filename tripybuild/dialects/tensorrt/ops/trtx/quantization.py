"""Quantization to four bits of floating point, which NVIDIA's dialect has on the way back only."""

from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure

from tripybuild.dialects.tensorrt.ops import attribute_kinds as attributes, kinds
from tripybuild.dialects.tensorrt.ops.base import operation
from tripybuild.dialects.tensorrt.ops.quantization import Scaled


@operation
class QuantizeToF4Op(Scaled):
    """Real numbers over a scale, rounded to f4; otherwise as `tensorrt.quantize`."""

    name = "trtx.quantize"
    input = operand_def(kinds.tensor(*kinds.FLOATS, ranks=kinds.NON_SCALAR))
    scale = operand_def(kinds.tensor(*kinds.FLOATS))
    axis = opt_prop_def(attributes.I32)
    result = result_def(kinds.tensor(kinds.F4))
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)` `scale` `(` $scale `:` type($scale) `)`"
        " `->` type($result)"
    )
    traits = traits_def(Pure())
    WORD: ClassVar[str] = "quantization"

    def quantized(self) -> SSAValue:
        """Give the result."""
        return self.result
