"""`tensorrt-raise-normalizations`: normalizations raised from frameworks' decompositions.

A normalization is made only where the dialect takes it, and where its numbers are those of the ops:
the divisor is the count that the sum goes over, and both means go over the same dimensions.
"""

import math
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, bf16, f16, f32
from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect import (
    CastOp,
    ElementWiseOp,
    ExpandRankOp,
    NormalizationOp,
    ReduceOp,
    ReshapeOp,
)
from tripybuild.tensorrt.dialect.base import element, sizes
from tripybuild.tensorrt.passes.canonicalize import FOLDERS
from tripybuild.tensorrt.passes.rewriting import matching as tree
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter, greedy
from tripybuild.tensorrt.passes.rewriting.matching import AnyValue, Found, Node, UniformValue, find
from tripybuild.tensorrt.passes.rewriting.op_builder import OpBuilder
from tripybuild.tensorrt.passes.rewriting.values import defining_op, uniform

_EPSILON = float(np.float32(1e-5))  # TensorRT's own, and the largest that an instance norm has


def run(module: ModuleOp) -> bool:
    """Raise instance and layer normalizations."""
    return greedy(module, PATTERNS, FOLDERS)


def _is_last_sum(op: ReduceOp) -> bool:
    return bool(op.value("reduce_axes") == (len(sizes(op.input)) - 1,))


def _is_last_mean(op: ReduceOp) -> bool:
    return _is_last_sum(op) and bool(op.value("keep_dimensions"))


def _joins_planes(op: ReshapeOp) -> bool:
    """`[N, C, H, W]` as `[N, C, H * W]`; how many images there are may be unknown."""
    source, target = sizes(op.input), sizes(op.result)
    planes = [size for size in source[1:] if size is not None]
    if len(source) != 4 or len(planes) != 3 or op.shape is not None:
        return False
    channels, height, width = planes
    return target == (source[0], channels, height * width)


def _adds_planes(op: ExpandRankOp) -> bool:
    """`[N, C]` as `[N, C, 1, 1]`."""
    return len(sizes(op.result)) == 4 and sizes(op.result) == (*sizes(op.input), 1, 1)


def _plane_mean(value: Any, count: str) -> Node:
    """The mean of each plane: the sum over `H * W`, divided by a number."""
    joined = Node(ReshapeOp, None, (value,), _joins_planes)
    total = Node(ReduceOp, "kSUM", (joined,), _is_last_sum)
    return tree.quotient(Node(ExpandRankOp, None, (total,), _adds_planes), UniformValue(count))


def _row_mean(value: Any, count: str) -> tree.Alternatives:
    """The mean over the last dimension: `canonicalize` makes averages of divided sums."""
    total = Node(ReduceOp, "kSUM", (value,), _is_last_mean)
    return tree.Alternatives((tree.quotient(total, UniformValue(count)), _average(value)))


def _average(value: Any) -> Node:
    return Node(ReduceOp, "kAVG", (value,), _is_last_mean)


def _scale_and_shift(centered: Any, variance: Any) -> tree.Alternatives:
    """`centered * scale / sqrt(variance + eps) + offset`, in the orders of the frameworks."""
    inverse = tree.inverse_root(tree.sum_of(variance, UniformValue("epsilon")))
    scale, offset = AnyValue("scale"), AnyValue("offset")
    return tree.Alternatives(
        (
            tree.sum_of(tree.product(tree.product(scale, inverse), centered), offset),
            tree.sum_of(tree.product(tree.product(centered, inverse), scale), offset),
        )
    )


_COUNTS = ("count", "count again")
_X = AnyValue("x")
_CENTERED = tree.difference(_X, _plane_mean(_X, _COUNTS[0]))
_INSTANCE = _scale_and_shift(_CENTERED, _plane_mean(tree.product(_CENTERED, _CENTERED), _COUNTS[1]))

_AGAIN = tree.difference(_X, _row_mean(_X, _COUNTS[0]))
_LAYER = _scale_and_shift(
    tree.difference(_X, _average(_X)),
    _row_mean(tree.product(_AGAIN, _AGAIN), _COUNTS[1]),
)


def _instance_norm(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    found = find(_INSTANCE, op.result)
    if found is None:
        return False
    epsilon = _number(found["epsilon"])
    if epsilon is None or epsilon > _EPSILON:
        return False
    return _normalize(op, found, (2, 3), None if epsilon == _EPSILON else epsilon, rewriter)


def _layer_norm(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    found = find(_LAYER, op.result)
    epsilon = None if found is None else _number(found["epsilon"])
    if found is None or epsilon is None:
        return False
    return _normalize(op, found, (len(sizes(op.result)) - 1,), epsilon, rewriter)


def _number(value: SSAValue) -> float | None:
    number = uniform(value)
    return number if isinstance(number, float) else None


def _normalize(
    op: ElementWiseOp,
    found: Found,
    axes: tuple[int, ...],
    epsilon: float | None,
    rewriter: PatternRewriter,
) -> bool:
    """Put a normalization in the place of an op, if it computes the same."""
    x = found["x"]
    over = [sizes(x)[axis] for axis in axes]
    total = math.prod(size for size in over if size is not None)
    counts = [_number(found[name]) for name in _COUNTS if name in found]
    if counts and (None in over or any(count != total for count in counts)):
        return False
    new = NormalizationOp.make(
        x,
        found["scale"],
        found["offset"],
        axis=axes,
        eps=epsilon,
        result_types=[x.type],
        location=op.location,
    )
    if new.result.type != op.result.type or next(new.problems(), None) is not None:
        new.drop_all_references()
        return False
    return rewriter.replace(op, rewriter.insert(new))


def _drop_casts(op: CastOp, rewriter: PatternRewriter) -> bool:
    """A normalization between casts: TensorRT's kernels add up in f32 themselves."""
    norm = defining_op(op.input, NormalizationOp)
    cast = defining_op(norm.input, CastOp) if norm is not None else None
    if norm is None or cast is None or element(cast.input) != element(op.result):
        return False
    if norm.value("num_groups") not in (None, 1):
        return False
    kind = element(op.result)
    if kind not in _FLOATS:
        return False
    scale, offset = (OpBuilder(rewriter).cast(value, kind) for value in (norm.scale, norm.bias))
    return rewriter.replace_with(
        op,
        NormalizationOp,
        cast.input,
        scale,
        offset,
        axis=norm.value("axis"),
        eps=norm.properties.get("eps"),
    )


_FLOATS = (f16, bf16, f32)

PATTERNS = (
    Pattern("layer-norm", ElementWiseOp, _layer_norm, "one layer for thirteen", benefit=13),
    Pattern("instance-norm", ElementWiseOp, _instance_norm, "one layer for fifteen", benefit=15),
    Pattern("norm-between-casts", CastOp, _drop_casts, "casts block fusion"),
)
