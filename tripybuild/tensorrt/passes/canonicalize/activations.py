"""Activation fusion: `element_wise` that is an activation of its operand.

The constants must not stretch the value: of unknown sizes that cannot be seen by its type.
"""

from tripybuild.tensorrt.dialect import ActivationOp, ElementWiseOp
from tripybuild.tensorrt.passes.canonicalize.matching import element_wise, float_splat, stretches
from tripybuild.tensorrt.passes.rewriting.driver import PatternRewriter


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
    made = rewriter.create(ActivationOp, source, activation_type="kCLIP", alpha=low, beta=high)
    rewriter.replace(op, made)
    return True


def relu(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`max(x, 0)` of floats is RELU."""
    source, zero = op.operands
    if float_splat(source) == 0:
        source, zero = zero, source
    elif float_splat(zero) != 0:
        return False
    if source.type != op.result.type or stretches(zero, source):
        return False
    rewriter.replace(op, rewriter.create(ActivationOp, source, activation_type="kRELU"))
    return True
