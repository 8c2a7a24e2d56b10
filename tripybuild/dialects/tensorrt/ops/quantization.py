"""Operations between real numbers and the few bits that stand for them.

Law: a scale is a scalar, or a list with one for each index of `axis`, or, for blocks, a tensor of
the input's rank whose sizes are the input's but for one of the last two, which it divides.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import Float4E2M1FNType, Float8E4M3FNType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
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
from tripybuild.dialects.tensorrt.ops.checks import PARTIALLY_INFERRED, Checks, all_match
from tripybuild.dialects.tensorrt.shape_rules import Sizes, differ, known, quantization as rules

_REAL = (kinds.F32, kinds.F16, kinds.BF16)
_IN_BLOCKS = (kinds.I4, kinds.F8, kinds.F4)
_SHORT = (kinds.I4, kinds.F4)
_BLOCK = 16


class _Scaled(TensorrtOperation):
    """What quantize and dequantize share: how scale, axis and input go together."""

    CHECKS: ClassVar[Checks] = (all_match("rank", "input", "result"), PARTIALLY_INFERRED)
    WORD: ClassVar[str]

    def components(self) -> Sequence[Component]:
        """The shape of the input."""
        return [Component(sizes(self.operands[0]))]

    def quantized(self) -> SSAValue:
        """Give the value whose elements have few bits."""
        return self.operands[0]

    def wrong(self) -> Iterator[str | Problem]:
        """The scale fits the input."""
        shape, scale = (sizes(operand) for operand in self.operands)
        axis = self.value("axis")
        if axis is not None:
            yield from self._wrong_channels(shape, scale, axis)
        elif len(scale) > 1:
            yield from self._wrong_blocks(shape, scale)
        elif scale:
            yield (
                f"if no axis is provided and input is not INT4, {self.WORD} is per-tensor. In this "
                "case, `scale` must be a scalar i.e. 0 dim tensor."
            )

    def _wrong_channels(self, shape: Sizes, scale: Sizes, axis: int) -> Iterator[str]:
        if not 0 <= axis < len(shape):
            yield f"expected axis to be non-negative and less than {len(shape)}"
        elif len(scale) != 1:
            yield "if axis is provided, scale must be a 1D tensor for per channel quantization"
        elif differ(shape[axis], scale[0]):
            yield f"expected the scales size to match the {self.WORD} axis of input tensor"

    def _wrong_blocks(self, shape: Sizes, scale: Sizes) -> Iterator[str]:
        if not any(kind.accepts(element(self.quantized())) for kind in _IN_BLOCKS):
            yield f"{len(scale)}D scale is supported only for {self.WORD} of INT4, FP8 and FP4"
        elif len(scale) != len(shape):
            yield f"block {self.WORD} needs a scale of the rank of its input, {len(shape)}"
        elif not _blocks(shape, scale):
            yield (
                f"block {self.WORD} needs a scale of the shape of its input, but for one of the "
                "last two dimensions, whose size it divides"
            )


def _blocks(shape: Sizes, scale: Sizes) -> bool:
    """Tell whether sizes differ along one of the last two dimensions alone, and divide there."""
    pairs = list(zip(shape, scale, strict=True))
    uneven = [axis for axis, (size, count) in enumerate(pairs) if differ(size, count)]
    if not uneven:
        return True
    size, count = pairs[uneven[0]]
    divides = known(size) and known(count) and count > 0 and size % count == 0
    return len(uneven) == 1 and uneven[0] >= len(pairs) - 2 and divides


@operation
class QuantizeOp(_Scaled):
    """Real numbers over a scale, rounded; `result_types` says to what."""

    name = "tensorrt.quantize"
    input = operand_def(kinds.tensor(*_REAL, ranks=kinds.NON_SCALAR))
    scale = operand_def(kinds.tensor(*_REAL))
    axis = opt_prop_def(attributes.I32)
    result = result_def(kinds.tensor(kinds.I8, kinds.F8, kinds.I4))
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)` `scale` `(` $scale `:` type($scale) `)`"
        " `->` type($result)"
    )
    traits = traits_def(Pure())
    WORD: ClassVar[str] = "quantization"

    def quantized(self) -> SSAValue:
        """Give the result."""
        return self.result


@operation
class DequantizeOp(_Scaled):
    """Few bits times a scale; `result_types` says in what type."""

    name = "tensorrt.dequantize"
    input = operand_def(
        kinds.tensor(kinds.I8, kinds.F8, kinds.F4, kinds.I4, ranks=kinds.NON_SCALAR)
    )
    scale = operand_def(kinds.tensor(*_REAL))
    axis = opt_prop_def(attributes.I32)
    result = result_def(kinds.tensor(*_REAL))
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)` `scale` `(` $scale `:` type($scale) `)`"
        " `->` type($result)"
    )
    traits = traits_def(Pure())
    WORD: ClassVar[str] = "dequantization"

    def wrong(self) -> Iterator[str | Problem]:
        """The scale fits the input, whose rows fill whole bytes."""
        yield from super().wrong()
        last = sizes(self.input)[-1]
        if known(last) and last % 2 and any(k.accepts(element(self.input)) for k in _SHORT):
            yield (
                "input tensor with sub-byte element type must have even final dimension, but input "
                f"tensor has final dimension of size {last}"
            )


@operation
class DynamicQuantizeOp(TensorrtOperation):
    """Real numbers as f4, with a scale as f8 for each block of 16 that is computed on the way."""

    name = "tensorrt.dynamic_quantize"
    input = operand_def(kinds.tensor(*_REAL, ranks=kinds.NON_SCALAR))
    double_quant_scale = operand_def(kinds.tensor(*_REAL, ranks=(0,)))
    axis = prop_def(attributes.I32)
    block_size = prop_def(attributes.I32, default_value=attributes.I32.attribute(_BLOCK))
    result = result_def(kinds.tensor(kinds.F4))
    scales = result_def(kinds.tensor(kinds.F8))
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)`"
        " `double_quant_scale` `(` $double_quant_scale `:` type($double_quant_scale) `)`"
        " `->` type(results)"
    )
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (all_match("rank", "input", "result", "scales"),)
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The shape of the input, and a scale for each block."""
        shape = sizes(self.input)
        scales = rules.block_scales(shape, self.value("axis"), _BLOCK)
        f4: Attribute = Float4E2M1FNType()
        return [Component(shape, f4), Component(scales, Float8E4M3FNType())]

    def wrong(self) -> Iterator[str | Problem]:
        """Blocks of 16 lie along one of the last two dimensions."""
        shape, axis = sizes(self.input), self.value("axis")
        if self.value("block_size") != _BLOCK:
            yield f"expected block_size to be {_BLOCK}"
        elif axis < 0 or not len(shape) - 2 <= axis < len(shape):
            yield "expected axis to be the last or the second last dimension of the input"
        elif known(size := shape[axis]) and size % _BLOCK:
            yield f"expected the size of dimension {axis} of the input to be divisible by {_BLOCK}"
