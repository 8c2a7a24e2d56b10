"""Softmax and layer normalization, found in the ops that frameworks write them with.

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
from tripybuild.tensorrt.passes.rewriting.driver import Rewriter
from tripybuild.tensorrt.passes.rewriting.matching import (
    Any_,
    Either,
    Found,
    Node,
    difference,
    find,
    product,
    quotient,
    sum_of,
    unary,
)
from tripybuild.tensorrt.passes.rewriting.values import made_by


def _along_one_axis(op: ReduceOp) -> bool:
    return len(op.value("reduce_axes")) == 1 and bool(op.value("keep_dimensions"))


def _converted(tree: Any) -> Either:
    return Either((Node(IdentityOp, None, (tree,)), Node(CastOp, None, (tree,))))


def _reduced(kind: str, tree: Any, name: str) -> Node:
    return Node(ReduceOp, kind, (tree,), _along_one_axis, name)


X, MEAN = Any_("x"), Any_("mean")

_SHIFTED = difference(X, _reduced("kMAX", X, "largest"))
_EXPONENTIAL = Node(UnaryOp, "kEXP", (_SHIFTED,), name="exponential")
_TOTAL = _reduced("kSUM", Any_("exponential"), "total")
_WIDE_TOTAL = _converted(_reduced("kSUM", _converted(Any_("exponential")), "total"))

# exp(x - max(x)) / sum(exp(x - max(x))); in float16 the sum is computed in float32.
_SOFTMAX = quotient(_EXPONENTIAL, _TOTAL)
_HALF_SOFTMAX = quotient(_EXPONENTIAL, _WIDE_TOTAL)


def softmax(op: ElementWiseOp, rewriter: Rewriter) -> bool:
    """A quotient of exponentials and their sum is a softmax, if the largest was taken off."""
    found = find(_HALF_SOFTMAX if element(op.result) == f16 else _SOFTMAX, op.result)
    if found is None or found["x"].type != op.result.type:
        return False
    largest, total = made_by(found["largest"], ReduceOp), made_by(found["total"], ReduceOp)
    if largest is None or total is None or largest.reduce_axes != total.reduce_axes:
        return False
    if element(op.result) == f16 and element(total.result) != f32:
        return False
    (axis,) = total.value("reduce_axes")
    rewriter.replace(op, rewriter.create(SoftMaxOp, found["x"], axis=axis))
    return True


def _average(tree: Any, name: str | None = None) -> Node:
    return Node(ReduceOp, "kAVG", (tree,), name=name)


def _expanded(tree: Any, name: str) -> Node:
    return Node(ExpandRankOp, None, (tree,), name=name)


_VARIANCE = difference(_average(product(X, X), "squares"), product(MEAN, MEAN))
_POSITIVE = _expanded(Node(ActivationOp, "kRELU", (_VARIANCE,)), "variance")
_DEVIATION = unary("kSQRT", unary("kRECIP", sum_of(_POSITIVE, Any_("epsilon"))))
_CENTERED = difference(X, _expanded(_average(X, "mean"), "expanded mean"))

# (x - mean) * (sqrt(1 / (relu(mean(x * x) - mean * mean) + epsilon)) * scale) + bias
_LAYER_NORM = sum_of(product(_CENTERED, product(_DEVIATION, Any_("scale"))), Any_("bias"))


def _given(value: SSAValue) -> bool:
    """Whether a value is a constant or an argument, with 1s added to its shape perhaps."""
    expanded = made_by(value, ExpandRankOp)
    source = expanded.input if expanded is not None else value
    return isinstance(source, BlockArgument) or made_by(source, ConstantOp) is not None


def _normalized(found: Found) -> tuple[int, ...] | None:
    """The axes of a layer norm, if all its parts are about the same ones, and stretch nothing."""
    mean, squares = made_by(found["mean"], ReduceOp), made_by(found["squares"], ReduceOp)
    if mean is None or squares is None or mean.reduce_axes != squares.reduce_axes:
        return None
    axes: tuple[int, ...] = tuple(mean.value("reduce_axes"))
    source = sizes(found["x"])
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(source))
    if sizes(found["expanded mean"]) != kept or sizes(found["variance"]) != kept:
        return None
    stretched = any(a not in {1, b} for a, b in zip(sizes(found["epsilon"]), kept, strict=True))
    return None if stretched else axes


def layer_norm(op: ElementWiseOp, rewriter: Rewriter) -> bool:
    """A difference to the mean, over the deviation, scaled and shifted, is a normalization."""
    found = find(_LAYER_NORM, op.result)
    if found is None or found["x"].type != op.result.type:
        return False
    scale, bias, epsilon = found["scale"], found["bias"], float_splat(found["epsilon"])
    if not _given(scale) or not _given(bias) or sizes(scale) != sizes(bias):
        return False
    axes = _normalized(found)
    if axes is None or epsilon is None or element(op.result) not in {f16, f32}:
        return False
    made = rewriter.create(NormalizationOp, found["x"], scale, bias, axis=axes, eps=epsilon)
    rewriter.replace(op, made)
    return True
