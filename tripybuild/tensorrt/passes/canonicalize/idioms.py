"""Idiom recognition: softmax and layer normalization in frameworks' decompositions.

mlir-tensorrt does not ask whether the sum of a softmax in float16 is of its own exponentials,
whether a layer norm subtracts its own mean, and whether a broadcast stretched the input; here all
of it is asked.
"""

from typing import Any

from xdsl.dialects.builtin import f16, f32
from xdsl.ir import BlockArgument, SSAValue

from tripybuild.tensorrt.dialect import (
    ActivationOp,
    CastOp,
    ConstantOp,
    ElementWiseOp,
    ExpandRankOp,
    IdentityOp,
    NormalizationOp,
    ReduceOp,
    SoftMaxOp,
    UnaryOp,
)
from tripybuild.tensorrt.dialect.base import element, sizes
from tripybuild.tensorrt.passes.canonicalize.matching import float_splat
from tripybuild.tensorrt.passes.rewriting.driver import PatternRewriter
from tripybuild.tensorrt.passes.rewriting.matching import (
    Alternatives,
    AnyValue,
    Found,
    Node,
    difference,
    find,
    product,
    quotient,
    sum_of,
    unary,
)
from tripybuild.tensorrt.passes.rewriting.values import defining_op


def _along_one_axis(op: ReduceOp) -> bool:
    return len(op.value("reduce_axes")) == 1 and bool(op.value("keep_dimensions"))


def _cast(tree: Any) -> Alternatives:
    return Alternatives((Node(IdentityOp, None, (tree,)), Node(CastOp, None, (tree,))))


def _reduction(kind: str, tree: Any, name: str) -> Node:
    return Node(ReduceOp, kind, (tree,), _along_one_axis, name)


X, MEAN = AnyValue("x"), AnyValue("mean")

_SHIFTED = difference(X, _reduction("kMAX", X, "largest"))
_EXPONENTIAL = Node(UnaryOp, "kEXP", (_SHIFTED,), name="exponential")
_TOTAL = _reduction("kSUM", AnyValue("exponential"), "total")
_WIDE_TOTAL = _cast(_reduction("kSUM", _cast(AnyValue("exponential")), "total"))

# exp(x - max(x)) / sum(exp(x - max(x))); in float16 the sum is computed in float32.
_SOFTMAX = quotient(_EXPONENTIAL, _TOTAL)
_HALF_SOFTMAX = quotient(_EXPONENTIAL, _WIDE_TOTAL)


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
    rewriter.replace(op, rewriter.create(SoftMaxOp, found["x"], axis=axis))
    return True


def _average(tree: Any, name: str | None = None) -> Node:
    return Node(ReduceOp, "kAVG", (tree,), name=name)


def _expand_rank(tree: Any, name: str) -> Node:
    return Node(ExpandRankOp, None, (tree,), name=name)


_VARIANCE = difference(_average(product(X, X), "squares"), product(MEAN, MEAN))
_POSITIVE = _expand_rank(Node(ActivationOp, "kRELU", (_VARIANCE,)), "variance")
_DEVIATION = unary("kSQRT", unary("kRECIP", sum_of(_POSITIVE, AnyValue("epsilon"))))
_CENTERED = difference(X, _expand_rank(_average(X, "mean"), "expanded mean"))

# (x - mean) * (sqrt(1 / (relu(mean(x * x) - mean * mean) + epsilon)) * scale) + bias
_LAYER_NORM = sum_of(product(_CENTERED, product(_DEVIATION, AnyValue("scale"))), AnyValue("bias"))


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
    made = rewriter.create(NormalizationOp, found["x"], scale, bias, axis=axes, eps=epsilon)
    rewriter.replace(op, made)
    return True
