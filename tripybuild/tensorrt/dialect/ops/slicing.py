"""Slicing operations: concatenation, slice, and padding."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
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
from tripybuild.tensorrt.dialect.integer_lists import StaticIndexI32Array
from tripybuild.tensorrt.shape_rules import ShapeError, Sizes, differ, shapes as rules

_WITHOUT_BF16 = frozenset({"kCLAMP", "kFILL", "kREFLECT"})
_PADDED = types.tensor(types.I8, types.I32, types.F16, types.F32)


@operation
class ConcatenationOp(TensorrtOperation):
    """Tensors one after the other along an axis."""

    name = "tensorrt.concatenation"
    inputs = var_operand_def(
        types.tensor(types.I1, types.I8, types.I32, types.I64, types.F8, *types.FLOATS)
    )
    axis = prop_def(attributes.I32)
    result = result_def(types.RANKED)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type($result)"
    traits = traits_def(Pure())
    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The sum of the sizes along the axis."""
        shape = rules.concatenation([sizes(each) for each in self.inputs], self.value("axis"))
        return [Component(shape, element(self.inputs[0]))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """All other sizes are equal."""
        axis, shapes = self.value("axis"), [sizes(each) for each in self.inputs]
        first = shapes[0] if shapes else ()
        if shapes and not 0 <= axis < len(first):
            yield "concat axis exceeds the dimension of input tensor."
        for index, shape in enumerate(shapes[1:], start=1):
            yield from _other_sizes(index, shape, first, axis)


def _other_sizes(index: int, shape: Sizes, first: Sizes, axis: int) -> Iterator[str]:
    if len(shape) != len(first):
        yield (
            f"input rank at input[{index}] is {len(shape)} which is different from the rank of "
            "input tensor at index 0"
        )
    for dim, (size, wanted) in enumerate(zip(shape, first, strict=False)):
        if dim != axis and differ(size, wanted):
            yield (
                f"input tensor[{index}] has size {size} at dimension {dim}, while the value should "
                f"be {wanted}"
            )


@operation
class SliceOp(TensorrtOperation):
    """A piece: where it starts, its sizes and the steps are lists or tensors, each on its own."""

    name = "tensorrt.slice"
    irdl_options = SEGMENTED
    input = operand_def(types.TENSOR)
    fill = opt_operand_def(types.TENSOR)
    start = opt_operand_def(types.SHAPE)
    size = opt_operand_def(types.SHAPE)
    stride = opt_operand_def(types.SHAPE)
    static_start = opt_prop_def(attributes.I32_ARRAY)
    static_size = opt_prop_def(attributes.I32_ARRAY)
    static_stride = opt_prop_def(attributes.I32_ARRAY)
    mode = prop_def(
        attributes.enumeration("slice_mode"),
        default_value=attributes.enumeration("slice_mode").attribute("kDEFAULT"),
    )
    result = result_def(types.RANKED)
    custom_directives = (StaticIndexI32Array,)
    assembly_format = (
        "$input"
        " `[` ( $start^ `` `:` type($start) ) : ( `` custom<StaticIndexI32Array>($static_start) ) ?"
        " `]` `` `[` ( $size^ `` `:` type($size) )"
        " : ( `` custom<StaticIndexI32Array>($static_size) ) ?"
        " `]` `` `[` ( $stride^ `` `:` type($stride) )"
        " : ( `` custom<StaticIndexI32Array>($static_stride) ) ? `]`"
        " ( `fill` `(` $fill^ `:` type($fill) `)` )?"
        " attr-dict `:` type($input) `to` type($result)"
    )
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The static sizes, or else their number."""
        static: tuple[int, ...] | None = self.value("static_size")
        if static is not None:
            return [Component(static, element(self.input))]
        if self.size is None:
            raise ShapeError("expected size operand to be 1D tensor of known size")
        (count,) = sizes(self.size)
        assert isinstance(count, int)
        return [Component((None,) * count, element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """There is a number for each dimension, and the mode can be done."""
        rank, mode = len(sizes(self.input)), self.value("mode")
        tensors = [each for each in (self.start, self.stride, self.size) if each is not None]
        if any(sizes(each) != (rank,) for each in tensors):
            yield (
                "all dynamic index tensors should have a static size equal to the rank of the "
                "input tensor type"
            )
        lists = [self.value(f"static_{name}") for name in ("start", "size", "stride")]
        if any(each is not None and len(each) != rank for each in lists):
            yield (
                "the size of all static index arrays (start, size, stride) should be equal to the "
                "rank of the input tensor type"
            )
        if self.fill is not None and mode != "kFILL":
            yield 'when a fill value is provided, the slice "mode" must be kFILL'
        if mode in _WITHOUT_BF16 and types.BF16.accepts(element(self.input)):
            yield "kCLAMP, kFILL and kREFLECT modes do not support bfloat16 type"


@operation
class PaddingOp(TensorrtOperation):
    """Zeros around the two innermost dimensions; a negative number cuts off."""

    name = "tensorrt.padding"
    input = operand_def(_PADDED)
    pre_padding = prop_def(attributes.I64_ARRAY, prop_name="prePadding")
    post_padding = prop_def(attributes.I64_ARRAY, prop_name="postPadding")
    result = result_def(_PADDED)
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)` `->` type(results)"
    traits = traits_def(Pure())
    INFERRED: ClassVar[bool] = True

    def components(self) -> Sequence[Component]:
        """The two innermost sizes grow."""
        shape = rules.padding(
            sizes(self.input), self.value("pre_padding"), self.value("post_padding")
        )
        return [Component(shape, element(self.input))]

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """Something is left of each dimension."""
        shape, rank = sizes(self.input), len(sizes(self.input))
        before, after = self.value("pre_padding"), self.value("post_padding")
        if rank < 4:
            yield "input rank should be greater or equal than 4"
        if len(before) != 2 or len(after) != 2:
            yield (
                'padding exactly two innermost dimensions is supported but received "prePadding" '
                f'input of size: {len(before)} and "postPadding" input of size: {len(after)}'
            )
        if None in shape[-2:]:
            return
        for dim, size, low, high in zip(
            (rank - 2, rank - 1), shape[-2:], before, after, strict=True
        ):
            assert size is not None
            if min(low, high, low + high) + size < 0:
                yield (
                    f"shape error on dimension {dim} : pre padding amount: {low}; "
                    f"post padding amount: {high}; origin dimension: {size}"
                )
