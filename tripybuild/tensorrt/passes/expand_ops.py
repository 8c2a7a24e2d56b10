"""`tensorrt-expand-ops`: extension ops are expanded to TensorRT's layers.

`transpose`, `reshape`, `expand_rank` and `collapse_rank` become `shuffle`; `broadcast` becomes a
`slice` that wraps around; `argmin` and `argmax` become `top_k`. Shuffles are simplified on the way.
"""

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType, f32, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    ArgMaxOp,
    ArgMinOp,
    BroadcastOp,
    CollapseRankOp,
    ConcatenationOp,
    ExpandRankOp,
    IdentityOp,
    ReshapeOp,
    ShapeOp,
    ShuffleOp,
    SliceOp,
    TopKOp,
    TransposeOp,
)
from tripybuild.tensorrt.dialect.base import element, tensor_type
from tripybuild.tensorrt.passes.canonicalize import FOLDERS, shuffles
from tripybuild.tensorrt.passes.elimination.layouts import (
    Sizes,
    make_transpose,
    num_dynamic_dims,
    permutation_of,
    sizes_of,
)
from tripybuild.tensorrt.passes.elimination.permutations import is_identity, permute
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter, greedy


def run(module: ModuleOp) -> bool:
    """Expand all extension ops."""
    return greedy(module, (*PATTERNS, *shuffles.PATTERNS), FOLDERS)


def _as(value: SSAValue, kind: Attribute, rewriter: PatternRewriter) -> SSAValue:
    """A value with other elements."""
    if element(value) == kind:
        return value
    type = tensor_type(sizes_of(value), kind)
    return rewriter.create(IdentityOp, value, result_types=[type]).results[0]


def _transpose(op: TransposeOp, rewriter: PatternRewriter) -> bool:
    permutation = permutation_of(op)
    shuffle = rewriter.create(
        ShuffleOp,
        op.input,
        first_transpose=permutation,
        second_transpose=range(len(permutation)),
        zero_is_placeholder=False,
        result_types=[op.result.type],
    )
    rewriter.replace(op, shuffle)
    return True


def _reshape(op: ReshapeOp | ExpandRankOp | CollapseRankOp, rewriter: PatternRewriter) -> bool:
    """As one `shuffle`; truths go through i32, which older releases of TensorRT want.

    Nothing is one where nothing changes (broadcasts are left with such reshapes).
    """
    result = op.results[0]
    target = sizes_of(result)
    shape = op.shape if isinstance(op, ReshapeOp) else None
    if shape is None and op.input.type == result.type and num_dynamic_dims(target) <= 1:
        rewriter.replace(op, op.input)
        return True
    kind = i32 if element(op.input) == i1 else element(op.input)
    operand = _as(op.input, kind, rewriter)
    zeros = False
    reshape: Sequence[int] | None = None
    if shape is None and target.count(None) > 1 and not isinstance(op, ReshapeOp):
        reshape, zeros = _placeholders(sizes_of(op.input), target), True
        if reshape is None:
            shape, zeros = (
                _build_shape(op.input, _origins(sizes_of(op.input), target), rewriter),
                False,
            )
    elif shape is None:
        reshape = [-1 if size is None else size for size in target]
    shuffle = rewriter.create(
        ShuffleOp,
        operand,
        shape,
        first_transpose=range(len(sizes_of(operand))),
        reshape=reshape,
        second_transpose=range(len(target)),
        zero_is_placeholder=zeros,
        result_types=[tensor_type(target, kind)],
    )
    rewriter.replace(op, _as(shuffle.results[0], element(result), rewriter))
    return True


def _placeholders(source: Sizes, target: Sizes) -> list[int] | None:
    """A static reshape to several unknown sizes: 0 is the size of the input at the same place."""
    origins = _origins(source, target)
    shape = [
        size if size is not None else 0 if origins[index] == index else -1
        for index, size in enumerate(target)
    ]
    return shape if shape.count(-1) <= 1 and 0 not in target else None


def _origins(source: Sizes, target: Sizes) -> list[int | None]:
    """Which dimension of the input each result dimension is; None for a size of one.

    Ranks are expanded and collapsed by ones only, so that all other sizes keep their order.
    """
    left = [index for index, size in enumerate(source) if size != 1]
    return [None if size == 1 or not left else left.pop(0) for size in target]


def _build_shape(
    value: SSAValue, origins: Sequence[int | None], rewriter: PatternRewriter
) -> SSAValue:
    """A shape, put together from the sizes of a value and from ones."""
    shape = rewriter.create(ShapeOp, value).results[0]
    one = rewriter.constant(np.array([1], np.int32), TensorType(i32, [1]))
    parts = [
        one
        if origin is None
        else rewriter.create(
            SliceOp, shape, static_start=(origin,), static_size=(1,), static_stride=(1,)
        ).results[0]
        for origin in origins
    ]
    return rewriter.create(ConcatenationOp, parts, axis=0).results[0]


def _arg(op: ArgMinOp | ArgMaxOp, rewriter: PatternRewriter) -> bool:
    """As the first of the `top_k`, which takes numbers of two dimensions or more."""
    kind = "kMIN" if isinstance(op, ArgMinOp) else "kMAX"
    own = element(op.input)
    axis: int = op.value("axis")
    small = isinstance(own, IntegerType) and own != i64
    operand = _as(op.input, f32 if small else own, rewriter)
    flat = len(sizes_of(operand)) == 1
    if flat:
        matrix = tensor_type((1, *sizes_of(operand)), element(operand))
        operand = rewriter.create(ExpandRankOp, operand, result_types=[matrix]).results[0]
        axis = 1
    top = rewriter.create(TopKOp, operand, k=1, axis=axis, topk_operation=kind)
    found = list(top.results)
    if flat:
        found = [
            rewriter.create(
                CollapseRankOp, each, result_types=[tensor_type((1,), element(each))]
            ).results[0]
            for each in found
        ]
    rewriter.replace(op, _as(found[0], own, rewriter), found[1])
    return True


def _order(op: BroadcastOp) -> tuple[int, ...]:
    """The input's dimensions in the order of their places in the result."""
    places = op.value("broadcast_dims")
    return tuple(sorted(range(len(places)), key=places.__getitem__))


def _sort_dimensions(op: BroadcastOp, rewriter: PatternRewriter) -> bool:
    order = _order(op)
    if is_identity(order):
        return False
    broadcast = rewriter.create(
        BroadcastOp,
        make_transpose(op.input, order, rewriter),
        op.shape,
        broadcast_dims=permute(order, op.value("broadcast_dims")),
        result_types=[op.result.type],
    )
    rewriter.replace(op, broadcast)
    return True


def _full_rank(op: BroadcastOp, rewriter: PatternRewriter) -> SSAValue:
    """The input with ones between its dimensions, so that it has the result's rank."""
    source, count = sizes_of(op.input), len(sizes_of(op.result))
    if len(source) == count:
        return op.input
    places = op.value("broadcast_dims")
    origins = [places.index(i) if i in places else None for i in range(count)]
    type = tensor_type([1 if i is None else source[i] for i in origins], element(op.input))
    if None not in source:
        return rewriter.create(ExpandRankOp, op.input, result_types=[type]).results[0]
    shape = _build_shape(op.input, origins, rewriter)
    return rewriter.create(ReshapeOp, op.input, shape, result_types=[type]).results[0]


def _broadcast(op: BroadcastOp, rewriter: PatternRewriter) -> bool:
    if not is_identity(_order(op)):
        return False
    target = sizes_of(op.result)
    static = None not in target
    operand = _full_rank(op, rewriter)
    wrapped = rewriter.create(
        SliceOp,
        operand,
        None,
        None,
        None if static else op.shape,
        static_start=[0] * len(target),
        static_size=target if static else None,
        static_stride=[1] * len(target),
        mode="kWRAP",
        result_types=[op.result.type],
    )
    rewriter.replace(op, wrapped)
    return True


_RESHAPES: tuple[type[Operation], ...] = (ReshapeOp, ExpandRankOp, CollapseRankOp)

PATTERNS = (
    Pattern("arg-as-top-k", (ArgMinOp, ArgMaxOp), _arg, "there is no layer for it"),
    Pattern("transpose-as-shuffle", TransposeOp, _transpose, "there is no layer for it"),
    Pattern("reshape-as-shuffle", _RESHAPES, _reshape, "there is no layer for it"),
    Pattern("broadcast-as-slice", BroadcastOp, _broadcast, "there is no layer for it"),
    Pattern("broadcast-in-order", BroadcastOp, _sort_dimensions, "a slice does not transpose"),
)
