"""Quantization layers.

Invariant: a scale is a scalar, or a list with one for each index of `axis`, or, for blocks, a
tensor of the input's rank whose sizes are the input's but for one of the last two, which it
divides.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.checks import Checks, all_match
from tripybuild.tensorrt.layers.declaration import MultiResultLayer, SingleResultLayer
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
from tripybuild.tensorrt.recorder import argument_kinds as arguments
from tripybuild.tensorrt.shape_rules import (
    MaybeSize,
    Shape,
    Sizes,
    differ,
    is_static,
    replace_size,
)
from tripybuild.types.dtypes import float8

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission

_REAL = (kinds.F32, kinds.F16, kinds.BF16)
_FEW_BITS = (kinds.I8, kinds.F8, kinds.F4, kinds.I4)
_IN_BLOCKS = (kinds.I4, kinds.F8, kinds.F4)
_BLOCK = 16


class _Scaled(LayerOperation):
    """What quantize and dequantize share: how scale, axis and input go together."""

    input = operand(*_REAL, ranks=kinds.NON_SCALAR)
    scale = operand(*_REAL)
    dtype = argument(arguments.dtype)
    axis = optional_attribute(kinds.I32_ATTR)
    result = output(*_REAL, like="input", dtype="dtype")
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)` `scale` `(` $scale `:` type($scale) `)`"
        " `->` type($result)"
    )
    CHECKS: ClassVar[Checks] = (all_match("rank", "input", "result"),)
    # How NVIDIA's messages call what is done, the size of a scale, and what has few bits.
    WORD: ClassVar[str] = "quantization"
    SIZE: ClassVar[str] = "dimension"
    QUANTIZED: ClassVar[str] = "output"

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The scale fits the input.

        A vector with an axis is quantized by channel, though its scale has its rank, too:
        NVIDIA's verifier refuses it both with an axis and without one.
        """
        shape, scale = sizes(self.input), sizes(self.scale)
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
        quantized = self.input if self.QUANTIZED == "input" else self.result
        if axis is not None:
            yield (
                f"Scale has same rank as that of input, thus this is block {self.WORD}. Axis is "
                "not valid in this case."
            )
        elif not self.is_of(quantized, *_IN_BLOCKS):
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

    def translate(self, at: "Emission") -> Any:
        """Add a quantize or dequantize layer."""
        layer = self.name.partition(".")[2]
        tensors = at.tensor(self.input), at.tensor(self.scale)
        return at.set(at.add(layer, *tensors, at.dtype(self.result)), axis=self.value("axis"))


class QuantizeOp(_Scaled):
    """Real numbers over a scale, rounded; `result_types` says to what."""

    name = "tensorrt.quantize"
    result = output(kinds.I8, kinds.F8, kinds.I4, like="input", dtype="dtype")


class QuantizeToF4Op(_Scaled):
    """Real numbers over a scale, rounded to f4, which NVIDIA's dialect only dequantizes."""

    name = "trtx.quantize"
    input = operand(*kinds.FLOATS, ranks=kinds.NON_SCALAR)
    scale = operand(*kinds.FLOATS)
    result = output(kinds.F4, like="input", dtype="dtype")


quantize = SingleResultLayer(QuantizeOp, float4=QuantizeToF4Op)


class DequantizeOp(_Scaled):
    """Few bits times a scale; `result_types` says in what type."""

    name = "tensorrt.dequantize"
    input = operand(*_FEW_BITS, ranks=kinds.NON_SCALAR)
    WORD: ClassVar[str] = "dequantization"
    SIZE: ClassVar[str] = "dim"
    QUANTIZED: ClassVar[str] = "input"


dequantize = SingleResultLayer(DequantizeOp)


class DynamicQuantizeOp(LayerOperation):
    """Real numbers as f4, with a scale as f8 for each block of 16 that is computed on the way."""

    name = "tensorrt.dynamic_quantize"
    input = operand(*_REAL, ranks=kinds.NON_SCALAR)
    double_quant_scale = operand(*_REAL, ranks=(0,))
    axis = attribute(kinds.I32_ATTR)
    block_size = attribute(kinds.I32_ATTR, default=_BLOCK)
    result = output(kinds.F4, dtype="float4")
    scales = output(kinds.F8, dtype="float8")
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)`"
        " `double_quant_scale` `(` $double_quant_scale `:` type($double_quant_scale) `)`"
        " `->` type(results)"
    )
    CHECKS: ClassVar[Checks] = (all_match("rank", "input", "result", "scales"),)

    @staticmethod
    def result_shape(input: Shape, axis: int) -> tuple[Shape, Sizes]:
        """The shape of the input, and a scale for each block along an axis."""
        scales = replace_size(input, axis, 1)
        size = input[axis]
        return input, replace_size(scales, axis, None if size is None else size // _BLOCK)

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Blocks of 16 lie along one of the last two dimensions."""
        shape, axis = sizes(self.input), self.value("axis")
        if self.value("block_size") != _BLOCK:
            yield f"currently only block size of {_BLOCK} is supported!"
        elif axis < 0 or not len(shape) - 2 <= axis < len(shape):
            yield ("invalid axis! Axis can be either last or second last dimension of the input.")
        elif is_static(size := shape[axis]) and size % _BLOCK:
            yield f"shape(input)[axis] must be divisible by {_BLOCK}."

    def translate(self, at: "Emission") -> Any:
        """Add a layer that quantizes dynamically."""
        block = self.value("axis"), self.value("block_size")
        dtypes = at.dtype(self.result), at.dtype(self.scales)
        layer = at.add("dynamic_quantize", at.tensor(self.input), *block, *dtypes)
        layer.set_input(1, at.tensor(self.double_quant_scale))
        return layer


dynamic_quantize = MultiResultLayer(
    DynamicQuantizeOp,
    parameters={
        "input": arguments.tensor,
        "double_quant_scale": arguments.optional_tensor,
        "dtype": arguments.dtype,
        "axis": arguments.integer,
        "block_size": arguments.integer.with_default(_BLOCK),
        "scale_dtype": arguments.dtype.with_default(float8),
    },
    results=("dtype", "scale_dtype"),
    typed=True,
)
