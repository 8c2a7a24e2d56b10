"""Slicing layers: concatenate, slice, pad, reverse."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tripybuild.tensorrt.layers import kinds
from tripybuild.tensorrt.layers.checks import (
    SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,
    Checks,
    check_equal_sizes,
    check_min_rank,
)
from tripybuild.tensorrt.layers.declaration import (
    Arguments,
    SingleResultLayer,
    moves_values,
    sizes_of,
)
from tripybuild.tensorrt.layers.operation import (
    Component,
    LayerOperation,
    OpProblem,
    attribute,
    element,
    operand,
    operands,
    optional_attribute,
    optional_operand,
    output,
    sizes,
)
from tripybuild.tensorrt.recorder import argument_kinds as arguments
from tripybuild.tensorrt.shape_rules import MaybeSize, Shape, ShapeError, Sizes, differ
from tripybuild.types import dtypes

if TYPE_CHECKING:
    from tripybuild.tensorrt.emission.layer_emission import LayerEmission
    from tripybuild.tensorrt.translation.emission import Emission

_JOINED = (kinds.I1, kinds.I8, kinds.I32, kinds.I64, kinds.F8, *kinds.FLOATS)
_PADDED = (kinds.I8, kinds.I32, kinds.F16, kinds.F32)
_WITHOUT_BF16 = frozenset({"kCLAMP", "kFILL", "kREFLECT"})


class ConcatenationOp(LayerOperation):
    """Tensors one after the other along an axis."""

    name = "tensorrt.concatenation"
    inputs = operands(*_JOINED, parameter="tensors")
    axis = attribute(kinds.I32_ATTR)
    result = output(kinds.RANKED, dtype="tensors")
    CHECKS: ClassVar[Checks] = (SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE,)

    @staticmethod
    def result_shape(tensors: Sequence[Shape], axis: int) -> Sizes:
        """The first shape, with the sum of all sizes along the axis."""
        if not tensors:
            raise ShapeError("expected at least one input")
        first = tensors[0]
        if any(len(shape) != len(first) for shape in tensors):
            raise ShapeError("all inputs must have equal rank")
        if not 0 <= axis < len(first):
            raise ShapeError("expected axis to be in the range of [0, input rank)")
        return (*first[:axis], _total([shape[axis] for shape in tensors]), *first[axis + 1 :])

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """All other sizes are equal."""
        axis, shapes = self.value("axis"), [sizes(each) for each in self.inputs]
        first = shapes[0] if shapes else ()
        if shapes and not 0 <= axis < len(first):
            yield "concat axis exceeds the dimension of input tensor."
        for index, shape in enumerate(shapes[1:], start=1):
            yield from _other_sizes(index, shape, first, axis)

    def translate(self, at: "Emission") -> Any:
        """Add a concatenation."""
        layer = at.add("concatenation", [at.tensor(each) for each in self.inputs])
        return at.set(layer, axis=self.value("axis"))


concatenation = SingleResultLayer(ConcatenationOp, refuses=moves_values)


def _total(several: Sequence[MaybeSize]) -> MaybeSize:
    total: MaybeSize = 0
    for size in several:
        if size is None or total is None:
            return None
        total = total + size
    return total


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


class SliceOp(LayerOperation):
    """A piece: where it starts, its sizes and the steps are lists or tensors, each on its own."""

    name = "tensorrt.slice"
    input = operand(*kinds.USUAL)
    fill = optional_operand(*kinds.USUAL)
    start = optional_operand(kinds.SHAPE)
    size = optional_operand(kinds.SHAPE)
    stride = optional_operand(kinds.SHAPE)
    static_start = optional_attribute(kinds.I32_ARRAY)
    static_size = optional_attribute(kinds.I32_ARRAY)
    static_stride = optional_attribute(kinds.I32_ARRAY)
    mode = attribute(kinds.enumeration("slice_mode"), default="kDEFAULT")
    result = output(kinds.RANKED, dtype="input")
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
        if mode in _WITHOUT_BF16 and self.is_of(self.input, kinds.BF16):
            yield "kCLAMP, kFILL and kREFLECT modes do not support bfloat16 type"

    def translate(self, at: "Emission") -> Any:
        """Add a slice."""
        layer = at.add("slice", at.tensor(self.input), (), (), ())
        at.set(layer, mode=at.member("SampleMode", self.value("mode")))
        at.set(
            layer,
            start=self.value("static_start"),
            shape=self.value("static_size"),
            stride=self.value("static_stride"),
        )
        for index, value in enumerate((self.start, self.size, self.stride, self.fill), 1):
            if value is not None:
                layer.set_input(index, at.tensor(value))
        return layer


def _emit_slice(place: "LayerEmission") -> Any:
    """Numbers are attributes, each list on its own; other sizes are tensors."""
    given = place.layer.arguments
    step = given["step"] or [1] * len(given["start"])
    lists = {"start": given["start"], "size": given["size"], "stride": step}
    tensors = {name: place.dynamic(each) for name, each in lists.items()}
    static = {f"static_{name}": lists[name] for name, each in tensors.items() if each is None}
    operands = [place.argument("input"), place.argument("fill"), *tensors.values()]
    return place.like_result("tensorrt.slice", *operands, mode=given["mode"], **static)


def _refuses_slice(given: Arguments, dtype: dtypes.dtype) -> bool:
    beyond = given["mode"] in _WITHOUT_BF16 and dtype is dtypes.bfloat16
    return beyond or moves_values(given, dtype)


slice = SingleResultLayer(
    SliceOp,
    parameters={
        "input": arguments.tensor,
        "start": arguments.sizes,
        "size": arguments.sizes,
        "step": arguments.sizes.with_default(None),
        "fill": arguments.optional_tensor,
        "mode": arguments.one_of("slice_mode").with_default("kDEFAULT"),
    },
    shape=sizes_of("size"),
    emit=_emit_slice,
    refuses=_refuses_slice,
)


class PaddingOp(LayerOperation):
    """Zeros around the two innermost dimensions; a negative number cuts off."""

    name = "tensorrt.padding"
    input = operand(*_PADDED)
    pre_padding = attribute(kinds.I64_ARRAY, mlir="prePadding")
    post_padding = attribute(kinds.I64_ARRAY, mlir="postPadding")
    result = output(*_PADDED, dtype="input")
    ALLOWED_IN_REGIONS: ClassVar[bool] = False

    @staticmethod
    def result_shape(
        input: Shape, pre_padding: Sequence[int], post_padding: Sequence[int]
    ) -> Sizes:
        """The two innermost sizes grow by what is put before and after them."""
        if len(pre_padding) != 2 or len(post_padding) != 2:
            raise ShapeError("padding exactly two innermost dimensions is supported.")
        edges = [low + high for low, high in zip(pre_padding, post_padding, strict=True)]
        inner = zip(input[-2:], edges, strict=True)
        return (*input[:-2], *(None if size is None else size + edge for size, edge in inner))

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

    def translate(self, at: "Emission") -> Any:
        """Add a padding."""
        edges = self.value("pre_padding"), self.value("post_padding")
        return at.add("padding_nd", at.tensor(self.input), *edges)


padding = SingleResultLayer(PaddingOp)


class ReverseSequenceOp(LayerOperation):
    """The first elements of each sequence in the other order; `lengths` says how many they are."""

    name = "trtx.reverse_sequence"
    input = operand(*kinds.USUAL)
    lengths = operand(kinds.I32, kinds.I64, ranks=(1,))
    batch_axis = attribute(kinds.I64_ATTR, default=1)
    sequence_axis = attribute(kinds.I64_ATTR, default=0)
    result = output(*kinds.USUAL, like="input")
    assembly_format = "attr-dict `ins` `(` operands `:` type(operands) `)`"

    def semantic_problems(self) -> Iterator[str | OpProblem]:
        """The axes are two of the input's, and there is a length for each sequence."""
        shape = sizes(self.input)
        yield from check_min_rank(self, "input", 2)
        axes = {name: self.value(name) for name in ("batch_axis", "sequence_axis")}
        for name, axis in axes.items():
            if not 0 <= axis < len(shape):
                yield f"`{name}` is {axis}, which is outside of [0, {len(shape)})"
        if len(set(axes.values())) == 1:
            yield f"`batch_axis` and `sequence_axis` are both {axes['batch_axis']}"
        (count,) = sizes(self.lengths)
        batch = shape[axes["batch_axis"]]
        yield from check_equal_sizes("lengths", "one number for each of a batch of", count, batch)

    def translate(self, at: "Emission") -> Any:
        """Add a layer that reverses sequences."""
        layer = at.add("reverse_sequence", at.tensor(self.input), at.tensor(self.lengths))
        axes = {name: self.value(name) for name in ("batch_axis", "sequence_axis")}
        return at.set(layer, **axes)


reverse_sequence = SingleResultLayer(ReverseSequenceOp)
