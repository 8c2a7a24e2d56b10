"""Quantization operations: quantize and dequantize.

Invariant: a scale is a scalar, or a list with one for each index of `axis`, or, for blocks, a
tensor of the input's rank whose sizes are the input's but for one of the last two, which it
divides.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import Float4E2M1FNType, Float8E4M3FNType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
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
from tripybuild.tensorrt.dialect.checks import PARTIALLY_INFERRED, Checks, all_match
from tripybuild.tensorrt.shape_rules import (
    MaybeSize,
    Sizes,
    differ,
    is_static,
    quantization as rules,
)

_REAL = (types.F32, types.F16, types.BF16)
_IN_BLOCKS = (types.I4, types.F8, types.F4)
_BLOCK = 16


class ScaleOperation(TensorrtOperation):
    """What quantize and dequantize share: how scale, axis and input go together."""

    CHECKS: ClassVar[Checks] = (all_match("rank", "input", "result"), PARTIALLY_INFERRED)
    # How NVIDIA's messages call what is done, the size of a scale, and what has few bits.
    WORD: ClassVar[str]
    SIZE: ClassVar[str]
    QUANTIZED: ClassVar[str]

    def components(self) -> Sequence[Component]:
        """The shape of the input."""
        return [Component(sizes(self.operands[0]))]

    def quantized(self) -> SSAValue:
        """Give the value whose elements have few bits."""
        return self.operands[0]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The scale fits the input.

        A vector with an axis is quantized by channel, though its scale has its rank, too:
        NVIDIA's verifier refuses it both with an axis and without one.
        """
        shape, scale = (sizes(operand) for operand in self.operands)
        axis = self.value("axis")
        if len(scale) not in (0, 1, len(shape)):
            yield (
                f"Scale value must be scalar for per-tensor {self.WORD}, 1D for per-channel "
                f"{self.WORD}, and same rank as the input for block {self.WORD}."
            )
        elif not scale and axis is not None:
            yield (
                f"When scale value is scalar, {self.WORD} is per-tensor and thus axis value "
                "shouldn't be provided."
            )
        elif len(scale) == 1:
            yield from self._channel_problems(shape, scale[0], axis)
        elif scale:
            yield from self._block_problems(shape, scale, axis)

    def _channel_problems(self, shape: Sizes, count: MaybeSize, axis: int | None) -> Iterator[str]:
        if axis is None:
            yield (
                f"When scale is 1D tensor, {self.WORD} is per-channel and thus axis value must be "
                "provided."
            )
        elif not 0 <= axis < len(shape):
            yield f"expected axis to be non-negative and less than {len(shape)}"
        elif differ(shape[axis], count):
            yield (
                f"For per-channel {self.WORD}, expected the scales tensor {self.SIZE} to match the "
                f"{self.WORD} axis dimension of input tensor"
            )

    def _block_problems(self, shape: Sizes, scale: Sizes, axis: int | None) -> Iterator[str]:
        if axis is not None:
            yield (
                f"Scale has same rank as that of input, thus this is block {self.WORD}. Axis is "
                "not valid in this case."
            )
        elif not any(kind.accepts(element(self.quantized())) for kind in _IN_BLOCKS):
            yield (
                f"Block {self.WORD} is supported only for int4, fp4 or fp8 {self.QUANTIZED} types."
            )
        uneven = [each for each, pair in enumerate(zip(shape, scale, strict=True)) if differ(*pair)]
        if uneven and uneven[0] < len(shape) - 2:
            yield (
                f"For block {self.WORD}, blocking dimension should be either last or second last."
            )
        elif len(uneven) > 1:
            yield (
                f"For block {self.WORD}, all input and scale dimensions match except a single "
                f"blocking dimension : {uneven[0]}"
            )
        for each in uneven:
            size, count = shape[each], scale[each]
            if is_static(size) and is_static(count) and (count == 0 or size % count):
                yield (
                    f"block {self.WORD} needs blocks of one size, but {size} is not a multiple of "
                    f"{count}"
                )


@operation
class QuantizeOp(ScaleOperation):
    """Real numbers over a scale, rounded; `result_types` says to what."""

    name = "tensorrt.quantize"
    input = operand_def(types.tensor(*_REAL, ranks=types.NON_SCALAR))
    scale = operand_def(types.tensor(*_REAL))
    axis = opt_prop_def(attributes.I32)
    result = result_def(types.tensor(types.I8, types.F8, types.I4))
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)` `scale` `(` $scale `:` type($scale) `)`"
        " `->` type($result)"
    )
    traits = traits_def(Pure())
    WORD: ClassVar[str] = "quantization"
    SIZE: ClassVar[str] = "dimension"
    QUANTIZED: ClassVar[str] = "output"

    def quantized(self) -> SSAValue:
        """Give the result."""
        return self.result


@operation
class DequantizeOp(ScaleOperation):
    """Few bits times a scale; `result_types` says in what type."""

    name = "tensorrt.dequantize"
    input = operand_def(
        types.tensor(types.I8, types.F8, types.F4, types.I4, ranks=types.NON_SCALAR)
    )
    scale = operand_def(types.tensor(*_REAL))
    axis = opt_prop_def(attributes.I32)
    result = result_def(types.tensor(*_REAL))
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)` `scale` `(` $scale `:` type($scale) `)`"
        " `->` type($result)"
    )
    traits = traits_def(Pure())
    WORD: ClassVar[str] = "dequantization"
    SIZE: ClassVar[str] = "dim"
    QUANTIZED: ClassVar[str] = "input"


@operation
class DynamicQuantizeOp(TensorrtOperation):
    """Real numbers as f4, with a scale as f8 for each block of 16 that is computed on the way."""

    name = "tensorrt.dynamic_quantize"
    input = operand_def(types.tensor(*_REAL, ranks=types.NON_SCALAR))
    double_quant_scale = operand_def(types.tensor(*_REAL, ranks=(0,)))
    axis = prop_def(attributes.I32)
    block_size = prop_def(attributes.I32, default_value=attributes.I32.attribute(_BLOCK))
    result = result_def(types.tensor(types.F4))
    scales = result_def(types.tensor(types.F8))
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

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Blocks of 16 lie along one of the last two dimensions."""
        shape, axis = sizes(self.input), self.value("axis")
        if self.value("block_size") != _BLOCK:
            yield f"currently only block size of {_BLOCK} is supported!"
        elif axis < 0 or not len(shape) - 2 <= axis < len(shape):
            yield ("invalid axis! Axis can be either last or second last dimension of the input.")
        elif is_static(size := shape[axis]) and size % _BLOCK:
            yield f"shape(input)[axis] must be divisible by {_BLOCK}."
