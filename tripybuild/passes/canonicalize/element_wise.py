"""`element_wise` as an activation, as a bias that TensorRT fuses, and with small constants.

`sum(x, -c)` and `sub(x, c)` do not take turns: after a convolution a constant is added, and
elsewhere only what is no constant is subtracted.
"""

import math

from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, f16, f32
from xdsl.ir import SSAValue

from tripybuild.dialects.tensorrt.ops import (
    ActivationOp,
    ConstantOp,
    ConvolutionOp,
    ElementWiseOp,
    IdentityOp,
)
from tripybuild.dialects.tensorrt.ops.base import element, sizes, tensor_type
from tripybuild.passes.canonicalize.matching import (
    dense_of,
    element_wise,
    float_splat,
    with_element,
)
from tripybuild.passes.rewriting import Pattern, Rewriter
from tripybuild.passes.values import made_by, splat_of

_CHANNEL_WISE = ("kSUB", "kPROD", "kSUM")


def clip(op: ElementWiseOp, rewriter: Rewriter) -> bool:
    """`min(max(x, low), high)` is CLIP if low <= high: else CLIP would give low, and not high.

    Bounds that are no number fit nothing.
    """
    if op.value("elementwise_operation") != "kMIN":
        return False
    inner = element_wise(op.input1, "kMAX")
    if inner is None or inner.input1.type != op.result.type:
        return False
    high, low = float_splat(op.input2), float_splat(inner.input2)
    if high is None or low is None or not low <= high:
        return False
    made = rewriter.create(
        ActivationOp, inner.input1, activation_type="kCLIP", alpha=low, beta=high
    )
    rewriter.replace(op, made)
    return True


def relu(op: ElementWiseOp, rewriter: Rewriter) -> bool:
    """`max(x, 0)` of floats is RELU, unless the zeros stretch x."""
    if op.value("elementwise_operation") != "kMAX":
        return False
    if float_splat(op.input1) == 0:
        source = op.input2
    elif float_splat(op.input2) == 0:
        source = op.input1
    else:
        return False
    if source.type != op.result.type:
        return False
    rewriter.replace(op, rewriter.create(ActivationOp, source, activation_type="kRELU"))
    return True


def _follows_convolution(value: SSAValue) -> bool:
    """Whether a value is a convolution's, scaled and shifted perhaps."""
    owner = value.owner
    while isinstance(owner, ElementWiseOp):
        if owner.value("elementwise_operation") not in _CHANNEL_WISE:
            return False
        owner = owner.input1.owner
    return isinstance(owner, ConvolutionOp)


def bias_in_half(op: ElementWiseOp, rewriter: Rewriter) -> bool:
    """A convolution in f16, made f32, and then its bias: the bias comes first, in f16.

    TensorRT fuses both only in one precision. This rounds in another way, as mlir-tensorrt does.
    """
    operation = op.value("elementwise_operation")
    widened = made_by(op.input1, IdentityOp)
    if operation not in _CHANNEL_WISE or widened is None:
        return False
    if made_by(op.input2, ConstantOp) is None or element(op.result) != f32:
        return False
    if element(widened.input) != f16 or not _follows_convolution(widened.input):
        return False
    bias = rewriter.create(IdentityOp, op.input2, result_types=[with_element(op.input2.type, f16)])
    sum_ = rewriter.create(
        ElementWiseOp,
        widened.input,
        bias.result,
        elementwise_operation=operation,
        result_types=[with_element(op.result.type, f16)],
    )
    made = rewriter.create(IdentityOp, sum_.result, result_types=[op.result.type])
    rewriter.replace(op, made)
    return True


def _repeating(op: ElementWiseOp) -> int | None:
    """Which operand is a constant that repeats one number; the second is asked first."""
    for place in (1, 0):
        found = dense_of(op.operands[place])
        if found is not None and splat_of(found) is not None:
            return place
    return None


def small_splat(op: ElementWiseOp, rewriter: Rewriter) -> bool:
    """A constant that repeats a number has size 1 where the other operand brings the size along.

    Not so for infinities: TensorRT was seen to round scalars to finite numbers.
    """
    place = _repeating(op)
    if place is None:
        return False
    value, other = op.operands[place], op.operands[1 - place]
    found = dense_of(value)
    before = sizes(value)
    after = tuple(
        1 if size is not None and size > 1 and size == given else size
        for size, given in zip(before, sizes(other), strict=True)
    )
    if found is None or after == before or not math.isfinite(splat_of(found) or 0):
        return False
    data = found.data.data
    type = tensor_type(after, element(value))
    kept = len(data) // len(found) * math.prod(type.get_shape())
    small = DenseIntOrFPElementsAttr(type, BytesAttr(data[:kept]))
    rewriter.set_operand(op, place, rewriter.constant(small, type))
    return True


PATTERNS = (
    Pattern("clip", ElementWiseOp, clip, "one layer, fused with what comes before"),
    Pattern("bias in half", ElementWiseOp, bias_in_half, "fused with the convolution"),
    Pattern("small splat", ElementWiseOp, small_splat, "less memory; equal constants become one"),
    Pattern("relu", ElementWiseOp, relu, "one layer, fused with what comes before"),
)
