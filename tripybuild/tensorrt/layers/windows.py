"""Window layers: convolution, deconvolution and pooling.

Invariant: a shape is `[batch, channels, *spatial]`, with two or three spatial dimensions. Division
rounds down; what is not known stays unknown.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.checks import SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE, Checks
from tripybuild.tensorrt.layers.declaration import Arguments, ShapeRule, SingleResultLayer
from tripybuild.tensorrt.layers.operation import (
    Component,
    LayerOperation,
    OpProblem,
    attribute,
    element,
    operand,
    optional_attribute,
    optional_operand,
    output,
    sizes,
)
from tripybuild.tensorrt.recorder import argument_kinds as arguments
from tripybuild.tensorrt.shape_rules import (
    Shape,
    ShapeError,
    Sizes,
    Windows,
    differ,
    is_static,
)

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

    from tripybuild.tensorrt.translation.emission import Emission

_DECONVOLVED = (kinds.I8, kinds.F16, kinds.F32)
_POOLED = (kinds.I8, kinds.F16, kinds.F32, kinds.BF16)
_RANKS = (4, 5)
_STEPS = ("stride", "pre_padding", "post_padding", "dilation")


def convolution_shape(shape: Shape, kernel: Shape, windows: Windows, groups: int = 1) -> Sizes:  # noqa: ARG001
    """A kernel is `[filters, channels of a group, *spatial]`."""
    _check(shape, kernel, windows, "convolution")
    inner = windows.slots(shape[2:], kernel[2:])
    return _result((shape[0], kernel[0], *inner), "convolution")


def deconvolution_shape(shape: Shape, kernel: Shape, windows: Windows, groups: int = 1) -> Sizes:
    """A kernel is `[channels, filters of a group, *spatial]`."""
    _check(shape, kernel, windows, "deconvolution")
    filters = None if kernel[1] is None else kernel[1] * groups
    inner = windows.spread(shape[2:], kernel[2:])
    return _result((shape[0], filters, *inner), "deconvolution")


def _check_input(shape: Shape) -> None:
    if len(shape) not in _RANKS:
        message = "failed to create input shape components. Input must be 4D or 5D"
        raise ShapeError(message)


def _check(shape: Shape, kernel: Shape, windows: Windows, name: str) -> None:
    _check_input(shape)
    if len(kernel) not in _RANKS:
        message = "failed to create kernel shape components. Kernel must be 4D or 5D"
        raise ShapeError(message)
    if len(kernel) != len(shape) or not windows.fit(len(shape) - 2):
        raise ShapeError(f"failed to compute output shape of {name} operation")


def _result(sizes: Sizes, name: str) -> Sizes:
    if any(is_static(size) and size < 0 for size in sizes):
        raise ShapeError(f"failed to compute output shape of {name} operation")
    return sizes


class _Convolution(LayerOperation):
    """What convolutions and deconvolutions share: a kernel that is an operand or an attribute."""

    stride = attribute(kinds.I64_ARRAY)
    pre_padding = attribute(kinds.I64_ARRAY)
    post_padding = attribute(kinds.I64_ARRAY)
    num_groups = attribute(kinds.UI32_ATTR, default=1)
    dilation = optional_attribute(kinds.I64_ARRAY)
    result = output(kinds.RANKED, dtype="input")
    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)
    # The names of the kernel and of the bias, in Python and in the text, and of TensorRT's layer.
    KERNEL: ClassVar[tuple[str, str]]
    BIAS: ClassVar[tuple[str, str]]
    LAYER: ClassVar[str]
    SHAPE: ClassVar[Callable[..., Sizes]]

    def components(self) -> Sequence[Component]:
        """The channels of the kernel, and what its windows give."""
        given = sizes(self.operands[0])
        steps, groups = self._windows(), self.value("num_groups")
        shape = type(self).SHAPE(given, self.kernel_shape(), steps, groups)
        return [Component(shape, element(self.operands[0]))]

    def kernel_shape(self) -> Sizes:
        """Give the sizes of the kernel, wherever it is."""
        name, _ = self.KERNEL
        static = getattr(self, f"{name}_static")
        return sizes(getattr(self, name) if static is None else static.get_type())

    def _windows(self) -> Windows:
        return Windows(*map(self.value, _STEPS))

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
        bias: SSAValue | None = getattr(self, self.BIAS[0])
        if bias is None:
            return
        shape, result = sizes(bias), sizes(self.results[0])
        if len(shape) != 1 or len(result) < 2 or differ(shape[0], result[1]):
            yield (
                "bias type should be a rank-1 tensor type with size equal to the number of "
                "channels (dim 1) of the result tensor type"
            )

    def translate(self, at: "Emission") -> Any:
        """Add a convolution or its reverse."""
        given = self.operands[0]
        names = self.KERNEL[0], self.BIAS[0]
        kernel_static, bias_static = (self.value(f"{name}_static") for name in names)
        result: Any = self.results[0].type
        maps, shape = result.get_shape()[1], self.kernel_shape()[2:]
        nothing = at.library.module.Weights(at.dtype(given))
        weights = nothing if kernel_static is None else at.weights(kernel_static)
        layer = at.add(self.LAYER, at.tensor(given), maps, shape, weights, at.weights(bias_static))
        for index, name in enumerate(names, 1):
            if (value := getattr(self, name)) is not None:
                layer.set_input(index, at.tensor(value))
        return at.set(
            layer,
            stride_nd=self.value("stride"),
            pre_padding=self.value("pre_padding"),
            post_padding=self.value("post_padding"),
            dilation_nd=self.value("dilation"),
            num_groups=self.value("num_groups"),
        )


def _explicit_windows(given: Arguments) -> Arguments:
    spatial = given["weight"].shape[2:]
    if not all(isinstance(size, int) for size in spatial):
        raise ValueError("TensorRT needs numbers for all sizes of a kernel")
    return asdict(Windows.of(len(spatial), *map(given.get, _STEPS)))


def _recorded(rule: Callable[..., Sizes]) -> ShapeRule:
    def shape(given: Arguments) -> Sizes:
        kernel = given["weight"].shape
        steps = Windows.of(len(kernel) - 2, *map(given.get, _STEPS))
        return rule(given["input"].shape, kernel, steps, given["num_groups"])

    return shape


_PARAMETERS = {
    "input": arguments.tensor,
    "weight": arguments.tensor,
    "bias": arguments.optional_tensor,
    "stride": arguments.optional_integers,
    "dilation": arguments.optional_integers,
    "num_groups": arguments.integer.with_default(1),
    "pre_padding": arguments.optional_integers,
    "post_padding": arguments.optional_integers,
}


class ConvolutionOp(_Convolution):
    """A convolution in two or three dimensions; the kernel is `[filters, channels, *spatial]`."""

    name = "tensorrt.convolution"
    input = operand(*kinds.FLOATS)
    kernel = optional_operand(*kinds.FLOATS)
    bias = optional_operand(*kinds.FLOATS)
    kernel_static = optional_attribute(kinds.ELEMENTS, mlir="kernelStatic")
    bias_static = optional_attribute(kinds.ELEMENTS, mlir="biasStatic")
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)`"
        " (`kernel` `(` $kernel^ `:` type($kernel) `)`)? (`bias` `(` $bias^ `:` type($bias) `)`)?"
        " `->` type($result)"
    )
    KERNEL: ClassVar[tuple[str, str]] = ("kernel", "kernel")
    BIAS: ClassVar[tuple[str, str]] = ("bias", "bias")
    LAYER: ClassVar[str] = "convolution_nd"
    SHAPE: ClassVar[Callable[..., Sizes]] = convolution_shape

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


convolution = SingleResultLayer(
    ConvolutionOp,
    parameters=_PARAMETERS,
    shape=_recorded(convolution_shape),
    explicit=_explicit_windows,
    typed=True,
)


class DeconvolutionOp(_Convolution):
    """The reverse of a convolution; the kernel is `[channels, filters, *spatial]`."""

    name = "tensorrt.deconvolution"
    input = operand(*_DECONVOLVED)
    kernel_weights = optional_operand(*_DECONVOLVED)
    bias_weights = optional_operand(*_DECONVOLVED)
    kernel_weights_static = optional_attribute(kinds.ELEMENTS, mlir="kernelWeightsStatic")
    bias_weights_static = optional_attribute(kinds.ELEMENTS, mlir="biasWeightsStatic")
    assembly_format = (
        "attr-dict `in` `(` $input `:` type($input) `)`"
        " (`kernelWeights` `(` $kernel_weights^ `:` type($kernel_weights) `)`)?"
        " (`biasWeights` `(` $bias_weights^ `:` type($bias_weights) `)`)? `->` type($result)"
    )
    KERNEL: ClassVar[tuple[str, str]] = ("kernel_weights", "kernelWeights")
    BIAS: ClassVar[tuple[str, str]] = ("bias_weights", "biasWeights")
    LAYER: ClassVar[str] = "deconvolution_nd"
    ALLOWED_IN_REGIONS: ClassVar[bool] = False
    SHAPE: ClassVar[Callable[..., Sizes]] = deconvolution_shape

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """There is one kernel; lists have a number for each dimension; groups divide channels."""
        yield from self._argument_problems()
        groups, shape = self.value("num_groups"), sizes(self.input)
        channels = shape[1] if len(shape) > 1 else None
        if groups != 1 and is_static(channels) and (groups == 0 or channels % groups):
            yield 'input channels must be divisible by "num_groups"'
        yield from self._bias_problems()


deconvolution = SingleResultLayer(
    DeconvolutionOp,
    parameters=_PARAMETERS,
    shape=_recorded(deconvolution_shape),
    explicit=_explicit_windows,
    typed=True,
)


class PoolingOp(LayerOperation):
    """One element of each window."""

    name = "tensorrt.pooling"
    input = operand(*_POOLED)
    pooling_type = attribute(
        kinds.enumeration("pooling_type"), mlir="poolingType", parameter="kind"
    )
    window_size = attribute(kinds.I64_ARRAY, mlir="windowSize", parameter="window")
    stride = attribute(kinds.I64_ARRAY, optional_in_call=True)
    pre_padding = attribute(kinds.I64_ARRAY, mlir="prePadding", optional_in_call=True)
    post_padding = attribute(kinds.I64_ARRAY, mlir="postPadding", optional_in_call=True)
    average_count_excludes_padding = optional_attribute(
        kinds.BOOL_ATTR, mlir="averageCountExcludesPadding"
    )
    blend_factor = optional_attribute(kinds.F32_ATTR, mlir="blendFactor")
    result = output(*_POOLED, dtype="input")
    assembly_format = "attr-dict `ins` `(` $input `:` type($input) `)` `->` type($result)"
    ALLOWED_IN_REGIONS: ClassVar[bool] = False
    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)

    @staticmethod
    def result_shape(
        input: Shape,
        window: Sequence[int],
        stride: Sequence[int] | None,
        pre_padding: Sequence[int] | None,
        post_padding: Sequence[int] | None,
    ) -> Sizes:
        """A place for each window; channels stay apart."""
        steps = Windows.of(len(window), stride, pre_padding, post_padding)
        _check_input(input)
        lists = (window, steps.stride, steps.pre_padding, steps.post_padding)
        if any(len(each) != len(input) - 2 for each in lists):
            message = (
                '"windowSize", "stride" ,"prePadding", and "postPadding", should have size equal '
                "to number of spatial dimensions."
            )
            raise ShapeError(message)
        if not steps.fit(len(window)):
            raise ShapeError("failed to compute output shape of pooling operation")
        return _result((*input[:2], *steps.slots(input[2:], window)), "pooling")

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Two or three spatial dimensions, and the parameters that the kind of pooling needs."""
        rank = len(sizes(self.input))
        if len(sizes(self.result)) != rank:
            yield "input tensor type and result tensor type should have equal rank"
        if rank not in _RANKS:
            yield "expected input tensor type to be rank 4 (2D pooling) or 5 (3D pooling)"
        yield from self._parameter_problems(self.value("pooling_type"))
        names = ("window_size", "stride", "pre_padding", "post_padding")
        size, stride, before, after = (len(self.value(name)) for name in names)
        if stride != size:
            yield '"stride" array size should be equal to the size of the "windowSize" array'
        if before != size or after != size:
            yield (
                '"prePadding" and "postPadding" array sizes should be equal to the size of the '
                '"windowSize" array'
            )

    def _parameter_problems(self, kind: str) -> Iterator[str]:
        if (self.value("blend_factor") is not None) != (kind == "kMAX_AVERAGE_BLEND"):
            yield (
                'blendFactor is required when pooling type is "kMAX_AVERAGE_BLEND", otherwise it '
                "should not be present"
            )
        if (self.value("average_count_excludes_padding") is not None) != (kind != "kMAX"):
            yield (
                '"averageCountExcludesPadding" must be provided when pooling type is '
                '"kMAX_AVERAGE_BLEND" or "kMAX", otherwise it should not be provided'
            )

    def translate(self, at: "Emission") -> Any:
        """Add a pooling."""
        kind = at.member("PoolingType", self.value("pooling_type"))
        layer = at.add("pooling_nd", at.tensor(self.input), kind, self.value("window_size"))
        names = (
            *("pre_padding", "post_padding", "average_count_excludes_padding", "blend_factor"),
        )
        return at.set(layer, stride_nd=self.value("stride"), **{n: self.value(n) for n in names})


def _explicit_pooling(given: Arguments) -> Arguments:
    steps = Windows.of(len(given["window"]), *map(given.get, _STEPS[:3]))
    excludes = given["average_count_excludes_padding"]
    if given["kind"] == "kMAX":
        excludes = None
    elif excludes is None:
        excludes = True
    explicit = {name: getattr(steps, name) for name in _STEPS[:3]}
    return {**explicit, "average_count_excludes_padding": excludes}


pooling = SingleResultLayer(PoolingOp, explicit=_explicit_pooling)
