"""Rewrite table of `element_wise`, in mlir-tensorrt's order."""

from collections.abc import Mapping

from tripybuild.tensorrt.dialect import ElementWiseOp
from tripybuild.tensorrt.passes.canonicalize.activations import clip, relu
from tripybuild.tensorrt.passes.canonicalize.biases import (
    added_bias,
    bias_in_half,
    sum_to_difference,
)
from tripybuild.tensorrt.passes.canonicalize.idioms import layer_norm, softmax
from tripybuild.tensorrt.passes.canonicalize.splats import product_and_quotient, small_splat
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter


def _pattern(rewrite: object, why: str) -> Pattern:
    name = rewrite.__name__.replace("_", " ")  # type: ignore[attr-defined]
    return Pattern(name, ElementWiseOp, rewrite, why)  # type: ignore[arg-type]


_LAYER_NORM = _pattern(layer_norm, "one kernel")
_SOFTMAX = _pattern(softmax, "one kernel")
_CLIP = _pattern(clip, "one layer, fused with what comes before")
_RELU = _pattern(relu, "one layer, fused with what comes before")
_BIAS_IN_HALF = _pattern(bias_in_half, "fused with the convolution")
_ADDED_BIAS = _pattern(added_bias, "fused with the convolution")
_SUBTRACTED = _pattern(sum_to_difference, "one layer")
_SMALL_SPLAT = _pattern(small_splat, "less memory; equal constants become one")
_PRODUCT_AND_QUOTIENT = _pattern(product_and_quotient, "no layers")

BY_OPERATION: Mapping[str, tuple[Pattern, ...]] = {
    "kSUM": (_LAYER_NORM, _BIAS_IN_HALF, _SMALL_SPLAT, _SUBTRACTED),
    "kSUB": (_BIAS_IN_HALF, _SMALL_SPLAT, _ADDED_BIAS),
    "kPROD": (_BIAS_IN_HALF, _SMALL_SPLAT),
    "kDIV": (_SMALL_SPLAT, _SOFTMAX, _PRODUCT_AND_QUOTIENT),
    "kMAX": (_SMALL_SPLAT, _RELU),
    "kMIN": (_CLIP, _SMALL_SPLAT),
}
OTHERS = (_SMALL_SPLAT,)


def by_operation(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """Give an op to the patterns of its operation."""
    patterns = BY_OPERATION.get(op.value("elementwise_operation"), OTHERS)
    return any(pattern.rewrite(op, rewriter) for pattern in patterns)


PATTERNS = (Pattern("by operation", ElementWiseOp, by_operation, "few patterns fit each op"),)
