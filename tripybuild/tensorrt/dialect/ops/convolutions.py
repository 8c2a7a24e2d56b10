"""Convolution and deconvolution."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.ir import SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tripybuild.tensorrt.dialect import attribute_kinds as attributes, types
from tripybuild.tensorrt.dialect.base import (
    SEGMENTED,
    Component,
    OpProblem,
    TensorrtOperation,
    element,
    operation,
    sizes,
)
from tripybuild.tensorrt.dialect.checks import SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE, Checks
from tripybuild.tensorrt.shape_rules import Sizes, differ, is_static, windows

_DECONVOLVED = types.tensor(types.I8, types.F16, types.F32)
_ONE_GROUP = attributes.UI32.attribute(1)


class _Convolution(TensorrtOperation):
    """What convolutions and deconvolutions share: a kernel that is an operand or an attribute."""

    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)
    INFERRED: ClassVar[bool] = True
    # The names of the kernel and of the bias, in Python and in the text.
    KERNEL: ClassVar[tuple[str, str]]
    BIAS: ClassVar[str]

    def kernel_shape(self) -> Sizes:
        """Give the sizes of the kernel, wherever it is."""
        name, _ = self.KERNEL
        static = getattr(self, f"{name}_static")
        return sizes(getattr(self, name) if static is None else static.get_type())

    def _windows(self) -> windows.Windows:
        stride, before, after = (
            self.value(name) for name in ("stride", "pre_padding", "post_padding")
        )
        return windows.Windows(stride, before, after, self.value("dilation"))

    def _argument_problems(self) -> Iterator[str]:
        name, text = self.KERNEL
        given = [getattr(self, each) is not None for each in (name, f"{name}_static")]
        if not any(given):
            yield f"{text} operand or {text}Static attribute must be specified"
        if all(given):
            yield f"only one of {text} operand or {text}Static attribute can be specified"
        spatial = len(sizes(self.results[0])) - 2
        steps = self._windows()
        if any(len(e) != spatial for e in (steps.stride, steps.pre_padding, steps.post_padding)):
            yield (
                "stride/pre_padding/post_padding should have size equal to the number of spatial "
                "dimensions"
            )
        if steps.dilation is not None and len(steps.dilation) != spatial:
            yield "dilation should have size equal to the number of spatial dimensions"

    def _bias_problems(self) -> Iterator[str]:
        bias: SSAValue | None = getattr(self, self.BIAS)
        if bias is None:
            return
        shape, result = sizes(bias), sizes(self.results[0])
        if len(shape) != 1 or len(result) < 2 or differ(shape[0], result[1]):
            yield (
                "bias type should be a rank-1 tensor type with size equal to the number of "
                "channels (dim 1) of the result tensor type"
            )


@operation
class ConvolutionOp(_Convolution):
    """A convolution in two or three dimensions; the kernel is `[filters, channels, *spatial]`."""

    name = "tensorrt.convolution"
    input = operand_def(types.FLOAT_TENSOR)
    kernel = opt_operand_def(types.FLOAT_TENSOR)
    bias = opt_operand_def(types.FLOAT_TENSOR)
    kernel_static = opt_prop_def(attributes.ELEMENTS, prop_name="kernelStatic")
    bias_static = opt_prop_def(attributes.ELEMENTS, prop_name="biasStatic")
    stride = prop_def(attributes.I64_ARRAY)
    pre_padding = prop_def(attributes.I64_ARRAY)
    post_padding = prop_def(attributes.I64_ARRAY)
    num_groups = prop_def(attributes.UI32, default_value=_ONE_GROUP)
    dilation = opt_prop_def(attributes.I64_ARRAY)
    result = result_def(types.RANKED)
    irdl_options = SEGMENTED
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)`"
        " (`kernel` `(` $kernel^ `:` type($kernel) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?"
        " `->` type($result)"
    )
    traits = traits_def(Pure())
    KERNEL: ClassVar[tuple[str, str]] = ("kernel", "kernel")
    BIAS: ClassVar[str] = "bias"

    def components(self) -> Sequence[Component]:
        """As many channels as the kernel has filters, and a place for each window."""
        shape = windows.convolution(sizes(self.input), self.kernel_shape(), self._windows())
        return [Component(shape, element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """There is one kernel; lists have a number for each dimension; groups divide channels."""
        yield from self._argument_problems()
        if self.value("num_groups") != 1:
            yield from self._group_problems(self.value("num_groups"))
        yield from self._bias_problems()

    def _group_problems(self, groups: int) -> Iterator[str]:
        kernel, shape = self.kernel_shape(), sizes(self.input)
        if min(len(kernel), len(shape)) < 2 or not is_static(shape[1]):
            return
        channels, filters = shape[1], kernel[0]
        if groups == 0 or channels % groups or (is_static(filters) and filters % groups):
            yield 'both input channels and output channels must be divisible by "num_groups"'
        elif differ(channels // groups, kernel[1]):
            yield (
                f'for "num_groups" = {groups} and input channels = {channels}, second (idx = 1) '
                f"kernel dimension should be {channels // groups}"
            )


@operation
class DeconvolutionOp(_Convolution):
    """The reverse of a convolution; the kernel is `[channels, filters, *spatial]`."""

    name = "tensorrt.deconvolution"
    input = operand_def(_DECONVOLVED)
    kernel_weights = opt_operand_def(_DECONVOLVED)
    bias_weights = opt_operand_def(_DECONVOLVED)
    kernel_weights_static = opt_prop_def(attributes.ELEMENTS, prop_name="kernelWeightsStatic")
    bias_weights_static = opt_prop_def(attributes.ELEMENTS, prop_name="biasWeightsStatic")
    stride = prop_def(attributes.I64_ARRAY)
    pre_padding = prop_def(attributes.I64_ARRAY)
    post_padding = prop_def(attributes.I64_ARRAY)
    num_groups = prop_def(attributes.UI32, default_value=_ONE_GROUP)
    dilation = opt_prop_def(attributes.I64_ARRAY)
    result = result_def(types.RANKED)
    irdl_options = SEGMENTED
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)`"
        " (`kernelWeights` `(` $kernel_weights^ `:` type($kernel_weights) `)`)?"
        " (`biasWeights` `(` $bias_weights^ `:` type($bias_weights) `)`)? `->` type($result)"
    )
    traits = traits_def(Pure())
    KERNEL: ClassVar[tuple[str, str]] = ("kernel_weights", "kernelWeights")
    BIAS: ClassVar[str] = "bias_weights"

    def components(self) -> Sequence[Component]:
        """As many channels as all groups have filters, and what the windows reach."""
        groups = self.value("num_groups")
        shape, kernel = sizes(self.input), self.kernel_shape()
        result = windows.deconvolution(shape, kernel, self._windows(), groups)
        return [Component(result, element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """There is one kernel; lists have a number for each dimension; groups divide channels."""
        yield from self._argument_problems()
        groups, shape = self.value("num_groups"), sizes(self.input)
        channels = shape[1] if len(shape) > 1 else None
        if groups != 1 and is_static(channels) and (groups == 0 or channels % groups):
            yield 'input channels must be divisible by "num_groups"'
        yield from self._bias_problems()
