"""`tensorrt-raise-activations`: activations raised from frameworks' decompositions."""

from xdsl.dialects.builtin import ModuleOp

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.tensorrt.dialect import ActivationOp, ElementWiseOp
from tripybuild.tensorrt.passes.canonicalize import FOLDERS
from tripybuild.tensorrt.passes.rewriting import matching as tree
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter, greedy
from tripybuild.tensorrt.passes.rewriting.matching import (
    AnyValue,
    Node,
    NumberPattern,
    UniformValue,
    find,
)
from tripybuild.tensorrt.passes.rewriting.values import uniform

_X = AnyValue("x")
_HALF, _ONE, _CUBIC = NumberPattern(0.5), NumberPattern(1.0), NumberPattern(0.044715)
_ROOT = tree.power(NumberPattern(0.63661977236), _HALF)


def _tanh(a: object) -> Node:
    return Node(ActivationOp, "kTANH", (a,))


def _half_times(a: object) -> tuple[Node, ...]:
    """`x * a / 2`, in the orders in which it is written."""
    return (
        tree.product(_X, tree.product(a, _HALF)),
        tree.product(tree.product(_X, _HALF), a),
        tree.product(tree.product(_X, a), _HALF),
    )


_CUBES = tree.Alternatives(
    (
        tree.product(tree.product(tree.product(_X, _X), _X), _CUBIC),
        tree.product(tree.power(_X, NumberPattern(3.0)), _CUBIC),
    )
)
_INNER = tree.product(
    tree.sum_of(_X, _CUBES), tree.Alternatives((NumberPattern(0.797884583), _ROOT))
)
_CDF = tree.unary("kERF", tree.product(_X, NumberPattern(0.70710678)))


# What an activation is written as.
_GELUS = tuple(
    (kind, each)
    for kind, cdf in (("kGELU_TANH", _tanh(_INNER)), ("kGELU_ERF", _CDF))
    for each in _half_times(tree.sum_of(cdf, _ONE))
)
_CLIPPED = Node(
    ElementWiseOp,
    "kMIN",
    (UniformValue("high"), Node(ElementWiseOp, "kMAX", (_X, UniformValue("low")))),
)


def run(module: ModuleOp, *, target_tensorrt_version: str = "10.13") -> bool:
    """Raise what the targeted version has an activation for."""
    version = _version(target_tensorrt_version)
    return greedy(module, (_GELU, _CLIP) if version >= (10, 0) else (_CLIP,), FOLDERS)


def _version(text: str) -> tuple[int, ...]:
    parts = text.split(".")
    if len(parts) > 4 or not all(part.isdecimal() for part in parts):
        hint = "a TensorRT version has the form MAJOR.MINOR.PATCH.BUILD"
        raise DiagnosticError(Diagnostic("pipeline-syntax", f"invalid version: {text}", hint=hint))
    return tuple(int(part) for part in (*parts, "0", "0", "0"))[:4]


def _gelu(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`x` must have the result's type: it may not be broadcast on the way."""
    if op.value("elementwise_operation") != "kPROD":
        return False
    for kind, each in _GELUS:
        found = find(each, op.result)
        if found is not None and found["x"].type == op.result.type:
            return rewriter.replace_with(op, ActivationOp, found["x"], activation_type=kind)
    return False


def _clip(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`min(high, max(x, low))` is a clip if `low <= high`; if not, it is `high` everywhere."""
    found = find(_CLIPPED, op.result)
    if found is None or found["x"].type != op.result.type:
        return False
    low, high = uniform(found["low"]), uniform(found["high"])
    if not isinstance(low, float) or not isinstance(high, float) or not low <= high:
        return False
    return rewriter.replace_with(
        op, ActivationOp, found["x"], activation_type="kCLIP", alpha=low, beta=high
    )


_GELU = Pattern("gelu", ElementWiseOp, _gelu, "one layer for eight", benefit=8)
_CLIP = Pattern("clip", ElementWiseOp, _clip, "one layer for two", benefit=2)
