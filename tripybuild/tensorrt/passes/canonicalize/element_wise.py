"""`element_wise` canonicalization: activations, biases, splats, softmax and layer normalization.

Activations: the constants must not stretch the value; of unknown sizes that cannot be seen by its
type. Biases after a convolution have the form that TensorRT fuses: a sum in the convolution's
precision. `sum(x, -c)` and `sub(x, c)` do not take turns: after a convolution a constant is added,
and elsewhere only what is no constant is subtracted.

Idioms are frameworks' decompositions. mlir-tensorrt does not ask whether the sum of a softmax in
float16 is of its own exponentials, whether a layer norm subtracts its own mean, and whether a
broadcast stretched the input; here all of it is asked.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType, f16, f32
from xdsl.ir import BlockArgument, SSAValue

from tripybuild.tensorrt.dialect import (
    ActivationOp,
    CastOp,
    ConstantOp,
    ConvolutionOp,
    ElementWiseOp,
    ExpandRankOp,
    IdentityOp,
    NormalizationOp,
    ReduceOp,
    SoftMaxOp,
    UnaryOp,
)
from tripybuild.tensorrt.dialect.base import element, sizes, tensor_type
from tripybuild.tensorrt.mlir import elements
from tripybuild.tensorrt.passes.rewriting import matching as tree
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.matching import Alternatives, AnyValue, Found, Node, find
from tripybuild.tensorrt.passes.rewriting.values import (
    constant_of,
    defining_op,
    dense_of,
    element_wise,
    float_splat,
    splat,
    splat_of,
    stretches,
    unary,
    with_element,
)


def clip(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`min(max(x, low), high)` is CLIP if low <= high: else CLIP would give low, and not high.

    Bounds that are no number fit nothing.
    """
    inner = element_wise(op.input1, "kMAX")
    high = float_splat(op.input2) if inner is not None else None
    if inner is None or high is None:
        return False
    low, source = float_splat(inner.input2), inner.input1
    if low is None or not low <= high or source.type != op.result.type:
        return False
    if stretches(inner.input2, source) or stretches(op.input2, source):
        return False
    return rewriter.replace_with(
        op, ActivationOp, source, activation_type="kCLIP", alpha=low, beta=high
    )


def relu(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`max(x, 0)` of floats is RELU."""
    source, zero = op.operands
    if float_splat(source) == 0:
        source, zero = zero, source
    elif float_splat(zero) != 0:
        return False
    if source.type != op.result.type or stretches(zero, source):
        return False
    return rewriter.replace_with(op, ActivationOp, source, activation_type="kRELU")


CHANNEL_WISE = ("kSUB", "kPROD", "kSUM")


def _follows_convolution(value: SSAValue) -> bool:
    """Whether a value is a convolution's, scaled and shifted perhaps."""
    owner = value.owner
    while isinstance(owner, ElementWiseOp):
        if owner.value("elementwise_operation") not in CHANNEL_WISE:
            return False
        owner = owner.input1.owner
    return isinstance(owner, ConvolutionOp)


def bias_in_half(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """A convolution in f16, made f32, and then its bias: the bias comes first, in f16.

    TensorRT fuses both only in one precision. This rounds in another way, as mlir-tensorrt does.
    """
    wide, bias = op.operands
    widened = defining_op(wide, IdentityOp)
    if widened is None or defining_op(bias, ConstantOp) is None or element(wide) != f32:
        return False
    if element(widened.input) != f16 or not _follows_convolution(widened.input):
        return False
    half = rewriter.value(IdentityOp, bias, result_types=[with_element(bias.type, f16)])
    biased = rewriter.value(
        ElementWiseOp,
        widened.input,
        half,
        elementwise_operation=op.elementwise_operation,
        result_types=[with_element(op.result.type, f16)],
    )
    return rewriter.replace_with(op, IdentityOp, biased)


def added_bias(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`sub(convolution, constant)` is a sum with the negated constant."""
    source, bias = op.operands
    if defining_op(source, ConvolutionOp) is None or constant_of(bias) is None:
        return False
    negated = rewriter.value(UnaryOp, bias, unary_operation="kNEG")
    return rewriter.replace_with(op, ElementWiseOp, source, negated, elementwise_operation="kSUM")


def sum_to_difference(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`sum(x, neg(y))` is `sub(x, y)`, unless y is a constant."""
    negation = unary(op.input2, "kNEG")
    if negation is None or constant_of(negation.input) is not None:
        return False
    operands = op.input1, negation.input
    return rewriter.replace_with(op, ElementWiseOp, *operands, elementwise_operation="kSUB")


def small_splat(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """Such a constant has size 1 where the other operand brings the size along.

    Not so for infinities: TensorRT was seen to round scalars to finite numbers.
    """
    for place in (1, 0):
        found = dense_of(op.operands[place])
        if found is None:
            continue
        shape = _small(op.operands[place], op.operands[1 - place])
        number = splat_of(found) if shape is not None else None
        if shape is None or number is None or not math.isfinite(number):
            continue
        type = tensor_type(shape, found.type.element_type)
        one = found.data.data[: elements.size_of(found.type.element_type)]
        data = elements.splat_bytes(one, math.prod(shape))
        small: DenseIntOrFPElementsAttr[Any] = DenseIntOrFPElementsAttr(type, BytesAttr(data))
        rewriter.set_operand(op, place, rewriter.constant(small, type))
        return True
    return False


def _small(constant: SSAValue, other: SSAValue) -> Sequence[int] | None:
    """The smallest shape that a constant can have beside a value; None if it is that small."""
    assert isinstance(constant.type, TensorType)
    assert isinstance(other.type, TensorType)
    before = constant.type.get_shape()
    shape = tuple(
        1 if size == beside else size
        for size, beside in zip(before, other.type.get_shape(), strict=True)
    )
    return shape if shape != before else None


def product_and_quotient(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`x * a / a` is x: mlir-tensorrt accepts what this changes where the product overflows.

    The factors must have stretched nothing, which mlir-tensorrt does not ask.
    """
    product = element_wise(op.input1, "kPROD")
    if product is None:
        return False
    source, factor = product.operands
    if source.type != op.result.type or not _cancels(factor, op.input2):
        return False
    if stretches(factor, source) or stretches(op.input2, source):
        return False
    return rewriter.replace(op, source)


def _cancels(factor: SSAValue, divisor: SSAValue) -> bool:
    """Whether `x * factor / divisor` is x: one finite float that is not zero, or the integer 1."""
    number, other = splat(factor), splat(divisor)
    if isinstance(number, int):
        return number == other == 1
    return number is not None and number != 0 and number == other and math.isfinite(number)


def _along_one_axis(op: ReduceOp) -> bool:
    return len(op.value("reduce_axes")) == 1 and bool(op.value("keep_dimensions"))


def _cast(value: Any) -> Alternatives:
    return Alternatives((Node(IdentityOp, None, (value,)), Node(CastOp, None, (value,))))


def _reduction(kind: str, value: Any, name: str) -> Node:
    return Node(ReduceOp, kind, (value,), _along_one_axis, name)


X, MEAN = AnyValue("x"), AnyValue("mean")

_SHIFTED = tree.difference(X, _reduction("kMAX", X, "largest"))
_EXPONENTIAL = Node(UnaryOp, "kEXP", (_SHIFTED,), name="exponential")
_TOTAL = _reduction("kSUM", AnyValue("exponential"), "total")
_WIDE_TOTAL = _cast(_reduction("kSUM", _cast(AnyValue("exponential")), "total"))

# exp(x - max(x)) / sum(exp(x - max(x))); in float16 the sum is computed in float32.
_SOFTMAX = tree.quotient(_EXPONENTIAL, _TOTAL)
_HALF_SOFTMAX = tree.quotient(_EXPONENTIAL, _WIDE_TOTAL)


def softmax(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """A quotient of exponentials and their sum is a softmax, if the largest was taken off."""
    found = find(_HALF_SOFTMAX if element(op.result) == f16 else _SOFTMAX, op.result)
    if found is None or found["x"].type != op.result.type:
        return False
    largest, total = defining_op(found["largest"], ReduceOp), defining_op(found["total"], ReduceOp)
    if largest is None or total is None or largest.reduce_axes != total.reduce_axes:
        return False
    if element(op.result) == f16 and element(total.result) != f32:
        return False
    (axis,) = total.value("reduce_axes")
    return rewriter.replace_with(op, SoftMaxOp, found["x"], axis=axis)


def _average(value: Any, name: str | None = None) -> Node:
    return Node(ReduceOp, "kAVG", (value,), name=name)


def _expand_rank(value: Any, name: str) -> Node:
    return Node(ExpandRankOp, None, (value,), name=name)


_VARIANCE = tree.difference(_average(tree.product(X, X), "squares"), tree.product(MEAN, MEAN))
_POSITIVE = _expand_rank(Node(ActivationOp, "kRELU", (_VARIANCE,)), "variance")
_DEVIATION = tree.unary("kSQRT", tree.unary("kRECIP", tree.sum_of(_POSITIVE, AnyValue("epsilon"))))
_CENTERED = tree.difference(X, _expand_rank(_average(X, "mean"), "expanded mean"))

# (x - mean) * (sqrt(1 / (relu(mean(x * x) - mean * mean) + epsilon)) * scale) + bias
_LAYER_NORM = tree.sum_of(
    tree.product(_CENTERED, tree.product(_DEVIATION, AnyValue("scale"))), AnyValue("bias")
)


def _is_parameter(value: SSAValue) -> bool:
    """Whether a value is a constant or an argument, with 1s added to its shape perhaps."""
    expanded = defining_op(value, ExpandRankOp)
    source = expanded.input if expanded is not None else value
    return isinstance(source, BlockArgument) or defining_op(source, ConstantOp) is not None


def _norm_axes(found: Found) -> tuple[int, ...] | None:
    """The axes of a layer norm, if all its parts are about the same ones, and stretch nothing."""
    mean, squares = defining_op(found["mean"], ReduceOp), defining_op(found["squares"], ReduceOp)
    if mean is None or squares is None or mean.reduce_axes != squares.reduce_axes:
        return None
    axes: tuple[int, ...] = tuple(mean.value("reduce_axes"))
    source = sizes(found["x"])
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(source))
    if sizes(found["expanded mean"]) != kept or sizes(found["variance"]) != kept:
        return None
    stretched = any(a not in {1, b} for a, b in zip(sizes(found["epsilon"]), kept, strict=True))
    return None if stretched else axes


def layer_norm(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """A difference to the mean, over the deviation, scaled and shifted, is a normalization."""
    found = find(_LAYER_NORM, op.result)
    if found is None or found["x"].type != op.result.type:
        return False
    scale, bias, epsilon = found["scale"], found["bias"], float_splat(found["epsilon"])
    if not _is_parameter(scale) or not _is_parameter(bias) or sizes(scale) != sizes(bias):
        return False
    axes = _norm_axes(found)
    if axes is None or epsilon is None or element(op.result) not in {f16, f32}:
        return False
    return rewriter.replace_with(
        op, NormalizationOp, found["x"], scale, bias, axis=axes, eps=epsilon
    )


# The rewrites of each operation in mlir-tensorrt's order; a small splat alone for the others.
BY_OPERATION: Mapping[str, tuple[Callable[[ElementWiseOp, PatternRewriter], bool], ...]] = {
    "kSUM": (layer_norm, bias_in_half, small_splat, sum_to_difference),
    "kSUB": (bias_in_half, small_splat, added_bias),
    "kPROD": (bias_in_half, small_splat),
    "kDIV": (small_splat, softmax, product_and_quotient),
    "kMAX": (small_splat, relu),
    "kMIN": (clip, small_splat),
}


def by_operation(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """Give an op to the rewrites of its operation."""
    rewrites = BY_OPERATION.get(op.value("elementwise_operation"), (small_splat,))
    return any(rewrite(op, rewriter) for rewrite in rewrites)


PATTERNS = (Pattern("by operation", ElementWiseOp, by_operation, "few patterns fit each op"),)
