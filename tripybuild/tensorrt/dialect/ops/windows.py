"""Window operations: pooling and normalization."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

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
from tripybuild.tensorrt.dialect.checks import (
    SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,
    Checks,
    all_match,
)
from tripybuild.tensorrt.shape_rules import MaybeSize, Sizes, agree, is_static, windows as rules

_POOLED = types.tensor(types.I8, types.F16, types.F32, types.BF16)
_BLEND, _AVERAGE, _MAX = "kMAX_AVERAGE_BLEND", "kAVERAGE", "kMAX"
_WHERE_AVERAGED = (
    '"averageCountExcludesPadding" must be provided when pooling type is "kMAX_AVERAGE_BLEND" or '
    '"kMAX", otherwise it should not be provided'
)


@operation
class PoolingOp(TensorrtOperation):
    """One element of each window."""

    name = "tensorrt.pooling"
    input = operand_def(_POOLED)
    window_size = prop_def(attributes.I64_ARRAY, prop_name="windowSize")
    stride = prop_def(attributes.I64_ARRAY)
    pre_padding = prop_def(attributes.I64_ARRAY, prop_name="prePadding")
    post_padding = prop_def(attributes.I64_ARRAY, prop_name="postPadding")
    pooling_type = prop_def(attributes.enumeration("pooling_type"), prop_name="poolingType")
    blend_factor = opt_prop_def(attributes.F32, prop_name="blendFactor")
    average_count_excludes_padding = opt_prop_def(
        attributes.BOOL, prop_name="averageCountExcludesPadding"
    )
    result = result_def(_POOLED)
    assembly_format = "attr-dict `ins` `(` $input `:` type($input) `)` `->` type($result)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)
    INFERRED: ClassVar[bool] = True

    def _lists(self) -> tuple[tuple[int, ...], ...]:
        names = ("window_size", "stride", "pre_padding", "post_padding")
        return tuple(self.value(name) for name in names)

    def components(self) -> Sequence[Component]:
        """A place for each window."""
        size, *steps = self._lists()
        shape = rules.pool(sizes(self.input), size, rules.Windows(*steps))
        return [Component(shape, element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Two or three spatial dimensions, and the parameters that the kind of pooling needs."""
        rank = len(sizes(self.input))
        if len(sizes(self.result)) != rank:
            yield "input tensor type and result tensor type should have equal rank"
        if rank not in (4, 5):
            yield "expected input tensor type to be rank 4 (2D pooling) or 5 (3D pooling)"
        yield from self._parameter_problems(self.value("pooling_type"))
        size, stride, before, after = map(len, self._lists())
        if stride != size:
            yield '"stride" array size should be equal to the size of the "windowSize" array'
        if before != size or after != size:
            yield (
                '"prePadding" and "postPadding" array sizes should be equal to the size of the '
                '"windowSize" array'
            )

    def _parameter_problems(self, kind: str) -> Iterator[str]:
        if (self.value("blend_factor") is not None) != (kind == _BLEND):
            yield (
                'blendFactor is required when pooling type is "kMAX_AVERAGE_BLEND", otherwise it '
                "should not be present"
            )
        if (self.value("average_count_excludes_padding") is not None) != (kind != _MAX):
            yield _WHERE_AVERAGED


@operation
class NormalizationOp(TensorrtOperation):
    """Elements less their mean, over their deviation, along dimensions; then scale and bias."""

    name = "tensorrt.normalization"
    input = operand_def(types.FLOAT_TENSOR)
    scale = operand_def(types.FLOAT_TENSOR)
    bias = operand_def(types.FLOAT_TENSOR)
    axis = prop_def(attributes.DIMENSIONS)
    eps = opt_prop_def(attributes.F32)
    num_groups = opt_prop_def(attributes.I32)
    result = result_def(types.FLOAT_TENSOR)
    assembly_format = (
        "attr-dict `(` $input `:` type($input) `,` $scale `:` type($scale) `,`"
        " $bias `:` type($bias) `)` `->` type($result)"
    )
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (
        all_match("rank", "input", "scale", "bias", "result"),
        all_match("element type", "input", "scale", "bias", "result"),
    )
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The type of the input."""
        return [Component(sizes(self.input), element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """What is normalized over decides what shapes the scale and the bias have."""
        axes, shape = self.value("axis"), sizes(self.input)
        if not axes:
            yield "`axis` should contain at least one dimension"
        elif axes[-1] >= len(shape):
            rank = f"input tensor of rank {len(shape)}"
            yield f"`axis` value {axes[-1]} is out of the bound for {rank}"
        elif (self.value("num_groups") or 1) > 1:
            yield from self._group_problems(axes, shape, self.value("num_groups"))
        elif len(axes) > 1:
            yield from self._instance_problems(axes, shape)
        elif axes[0] == 0 and not self._by_channel(shape[1] if len(shape) > 1 else None):
            yield (
                "In case of batch normalization (axis=0), scale and bias shape is expected to be "
                "[1, C, 1, 1, ..] where input is in the form [N, C, H, W, ...]"
            )

    def _by_channel(self, channels: MaybeSize) -> bool:
        return all(
            len(shape) > 1
            and agree(shape[1], channels)
            and all(agree(size, 1) for size in (shape[0], *shape[2:]))
            for shape in (sizes(self.scale), sizes(self.bias))
        )

    def _group_problems(self, axes: Sequence[int], shape: Sizes, groups: int) -> Iterator[str]:
        channels = shape[1] if len(shape) > 1 else 1
        if is_static(channels) and channels % groups:
            yield (
                "It is an error to set `num_groups` to a value that does not evenly divide into "
                "the number of channels of the input tensor."
            )
        if list(axes) != list(range(2, len(shape))):
            yield (
                "If num_groups != 1, it is expected that axis array contains all dimensions after "
                "the channel dimension (which is 1)."
            )
        if not self._by_channel(groups):
            yield (
                "If num_groups != 1, scale and bias shape is expected to be [1, num_groups, 1, 1, "
                f"... N] where N is rank of input tensor i.e. {len(shape)}"
            )

    def _instance_problems(self, axes: Sequence[int], shape: Sizes) -> Iterator[str]:
        # A scale of ones alone may be one for each place, too: that is no instance normalization.
        kinds_of_scale = [sizes(self.scale), sizes(self.bias)]
        channels = all(
            each[1] == shape[1] != 1 and each.count(1) == len(each) - 1 for each in kinds_of_scale
        )
        if channels and list(axes) != list(range(2, len(shape))):
            yield (
                "If more than one axis is provided and scale/bias are in the form [1, C, 1, 1, .. "
                "N], this is the case for instance normalization. Array `axis` should contain all "
                "the axis after channel."
            )
