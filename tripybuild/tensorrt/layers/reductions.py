"""Reduction layers: reduce, top-k, cumulative, softmax, normalization."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.checks import (
    SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,
    Checks,
    all_match,
    check_min_rank,
)
from tripybuild.tensorrt.layers.declaration import MultiResultLayer, SingleResultLayer
from tripybuild.tensorrt.layers.operation import (
    UNARY,
    LayerOperation,
    OpProblem,
    attribute,
    operand,
    optional_attribute,
    output,
    sizes,
)
from tripybuild.tensorrt.shape_rules import (
    MaybeSize,
    Shape,
    ShapeError,
    Sizes,
    agree,
    is_static,
    replace_size,
)

if TYPE_CHECKING:
    from tripybuild.tensorrt.translation.emission import Emission

_REDUCED = (kinds.I8, kinds.I32, kinds.I64, *kinds.FLOATS)
_SORTED = (kinds.I32, kinds.I64, *kinds.FLOATS)
_RAGGED_RANK = 3


def _mask(axes: Iterable[int]) -> int:
    """Return the bit mask of some axes, as TensorRT wants them."""
    return sum(1 << axis for axis in axes)


class ReduceOp(LayerOperation):
    """One element of all those along some dimensions."""

    name = "tensorrt.reduce"
    input = operand(*_REDUCED)
    reduce_axes = attribute(kinds.DIMENSIONS, mlir="reduceAxes", parameter="axes")
    reduce_operation = attribute(
        kinds.enumeration("reduce_operation"), mlir="reduceOperation", parameter="kind"
    )
    keep_dimensions = attribute(kinds.BOOL_ATTR, default=False, mlir="keepDimensions")
    result = output(*_REDUCED, dtype="input")
    assembly_format = "$reduceOperation $input attr-dict `:` type($input) `->` type($result)"
    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)

    @staticmethod
    def result_shape(input: Shape, axes: Sequence[int], keep_dimensions: bool = False) -> Sizes:
        """The other dimensions, and ones for the reduced ones where they are kept."""
        if any(not 0 <= axis < len(input) for axis in axes):
            message = (
                "expected each element of reduceAxes to be smaller than input type rank "
                f"({len(input)})"
            )
            raise ShapeError(message)
        if keep_dimensions:
            return tuple(1 if axis in axes else size for axis, size in enumerate(input))
        return tuple(size for axis, size in enumerate(input) if axis not in axes)

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The dimensions are there."""
        try:
            self.components()
        except ShapeError as error:
            yield str(error)

    def translate(self, at: "Emission") -> Any:
        """Add a reduction."""
        kind = at.member("ReduceOperation", self.value("reduce_operation"))
        axes = _mask(self.value("reduce_axes"))
        return at.add("reduce", at.tensor(self.input), kind, axes, self.value("keep_dimensions"))


reduce = SingleResultLayer(ReduceOp)


class _Extremes(LayerOperation):
    """The largest or smallest elements along a dimension, which stays, and their indices."""

    CHECKS: ClassVar[Checks] = (
        all_match("rank", "input", "values", "indices"),
        all_match("shape", "values", "indices"),
    )

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The dimension is there, and long enough."""
        shape, axis = sizes(self.operands[0]), self.value("axis")
        count = self.value("k") if hasattr(self, "k") else 1
        if not 0 <= axis < len(shape):
            yield (
                f'"axis" attribute is {axis}, but this is out of bounds for input of rank '
                f"{len(shape)}"
            )
        elif sizes(self.results[0])[axis] != count:
            yield f"expected result shapes dim {axis} to equal {count}"
        elif is_static(size := shape[axis]) and size < count:
            yield 'expected K attribute value to be smaller than the dimension specified by "axis"'


class TopKOp(_Extremes):
    """The k largest or smallest elements along a dimension, sorted, and their indices."""

    name = "tensorrt.top_k"
    input = operand(*_SORTED)
    k = attribute(kinds.I64_ATTR)
    axis = attribute(kinds.I64_ATTR)
    topk_operation = attribute(
        kinds.enumeration("top_k_operation"), mlir="topkOperation", parameter="kind"
    )
    values = output(kinds.RANKED, dtype="input")
    indices = output(kinds.I32, dtype="int32")
    assembly_format = "$topkOperation attr-dict $input `:` type($input) `->` type(results)"

    @staticmethod
    def result_shape(input: Shape, k: int, axis: int) -> tuple[Sizes, Sizes]:
        """So many elements along the axis."""
        return (replace_size(input, axis, k),) * 2

    def translate(self, at: "Emission") -> Any:
        """Add a top-k layer."""
        kind, axes = at.member("TopKOperation", self.value("topk_operation")), [self.value("axis")]
        return at.add("topk", at.tensor(self.input), kind, self.value("k"), _mask(axes))


top_k = MultiResultLayer(TopKOp)


class _ArgExtreme(_Extremes):
    """One element along a dimension, and its index: `top_k` after expansion."""

    input = operand(*kinds.USUAL)
    axis = attribute(kinds.I64_ATTR)
    values = output(*kinds.USUAL, dtype="input")
    indices = output(kinds.I32, dtype="int32")
    assembly_format = "attr-dict $input `:` type($input) `->` type(results)"

    @staticmethod
    def result_shape(input: Shape, axis: int) -> tuple[Sizes, Sizes]:
        """One element along the axis, whose dimension stays."""
        return (replace_size(input, axis, 1),) * 2


class ArgMinOp(_ArgExtreme):
    """The smallest element along a dimension, and its index."""

    name = "tensorrt.argmin"


class ArgMaxOp(_ArgExtreme):
    """The largest element along a dimension, and its index."""

    name = "tensorrt.argmax"


argmin, argmax = MultiResultLayer(ArgMinOp), MultiResultLayer(ArgMaxOp)


class CumulativeOp(LayerOperation):
    """The sum of all elements up to each along an axis; without itself where `exclusive`."""

    name = "trtx.cumulative"
    input = operand(*_SORTED)
    axis = attribute(kinds.I64_ATTR)
    kind = attribute(kinds.enumeration("cumulative_operation"), call_default="kSUM")
    exclusive = attribute(kinds.BOOL_ATTR, default=False)
    reverse = attribute(kinds.BOOL_ATTR, default=False)
    result = output(*_SORTED, like="input")
    assembly_format = "$kind $input attr-dict `:` type($input)"

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The axis is one of the input's; it may count from the end."""
        rank, axis = len(sizes(self.input)), self.value("axis")
        yield from check_min_rank(self, "input", 1)
        if not -rank <= axis < rank:
            yield f"`axis` is {axis}, which is outside of [-{rank}, {rank})"

    def translate(self, at: "Emission") -> Any:
        """Add a cumulative layer."""
        kind = at.member("CumulativeOperation", self.value("kind"))
        axis = at.add("constant", (), at.integer_weights(self.value("axis"))).get_output(0)
        flags = self.value("exclusive"), self.value("reverse")
        return at.add("cumulative", at.tensor(self.input), axis, kind, *flags)


cumulative = SingleResultLayer(CumulativeOp)


class SoftMaxOp(LayerOperation):
    """The exponential of each element, over the sum of those along a dimension."""

    name = "tensorrt.softmax"
    input = operand(*kinds.FLOATS)
    axis = attribute(kinds.I64_ATTR)
    result = output(*kinds.FLOATS, like="input")
    assembly_format = UNARY

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The dimension is there."""
        rank = len(sizes(self.input))
        if not 0 <= self.value("axis") < rank:
            yield f"expected axis to be non-negative and less than {rank}"

    def translate(self, at: "Emission") -> Any:
        """Add a softmax."""
        return at.set(at.add("softmax", at.tensor(self.input)), axes=_mask([self.value("axis")]))


softmax = SingleResultLayer(SoftMaxOp)


class RaggedSoftMaxOp(LayerOperation):
    """Softmax of sequences of several lengths."""

    name = "tensorrt.ragged_softmax"
    input = operand(*kinds.FLOATS)
    bounds = operand(kinds.I32)
    result = output(*kinds.FLOATS, dtype="input")
    CHECKS: ClassVar[Checks] = (all_match("element type", "input", "result"),)
    ALLOWED_IN_REGIONS: ClassVar[bool] = False

    @staticmethod
    def result_shape(input: Shape, bounds: Shape) -> Sizes:
        """The shape of the input; both have three dimensions."""
        if len(input) != _RAGGED_RANK or len(bounds) != _RAGGED_RANK:
            raise ShapeError("expected input and bounds to be of rank 3")
        return tuple(input)

    def translate(self, at: "Emission") -> Any:
        """Add a ragged softmax."""
        return at.add("ragged_softmax", *map(at.tensor, self.operands))


ragged_softmax = SingleResultLayer(RaggedSoftMaxOp)


class NormalizationOp(LayerOperation):
    """Elements less their mean, over their deviation, along dimensions; then scale and bias."""

    name = "tensorrt.normalization"
    input = operand(*kinds.FLOATS)
    scale = operand(*kinds.FLOATS)
    bias = operand(*kinds.FLOATS)
    axis = attribute(kinds.DIMENSIONS, parameter="axes")
    eps = optional_attribute(kinds.F32_ATTR, parameter="epsilon", call_default=1e-5)
    num_groups = optional_attribute(kinds.I32_ATTR, call_default=1)
    result = output(*kinds.FLOATS, like="input")
    assembly_format = (
        "attr-dict `(` $input `:` type($input) `,` $scale `:` type($scale) `,`"
        " $bias `:` type($bias) `)` `->` type($result)"
    )
    CHECKS: ClassVar[Checks] = (
        all_match("rank", "input", "scale", "bias", "result"),
        all_match("element type", "input", "scale", "bias", "result"),
    )

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

    def translate(self, at: "Emission") -> Any:
        """Add a normalization."""
        inputs = (at.tensor(each) for each in (self.input, self.scale, self.bias))
        layer = at.add("normalization", *inputs, _mask(self.value("axis")))
        return at.set(layer, epsilon=self.value("eps"), num_groups=self.value("num_groups"))


normalization = SingleResultLayer(NormalizationOp)
