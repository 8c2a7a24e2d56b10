"""`tensorrt-expand-ops`: extension ops are expanded to TensorRT's layers.

`transpose`, `reshape`, `expand_rank` and `collapse_rank` become `shuffle`; `broadcast` becomes a
`slice` that wraps around; `argmin` and `argmax` become `top_k`. Shuffles are simplified on the way.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, ModuleOp, f32, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    ArgMaxOp,
    ArgMinOp,
    BroadcastOp,
    CollapseRankOp,
    ExpandRankOp,
    IdentityOp,
    ReshapeOp,
    ShapeOp,
    ShuffleOp,
    SliceOp,
    TopKOp,
    TransposeOp,
)
from tripybuild.tensorrt.dialect.base import element, sizes, tensor_type
from tripybuild.tensorrt.passes.canonicalize import FOLDERS, shuffles
from tripybuild.tensorrt.passes.elimination.layouts import (
    Sizes,
    argsort,
    is_identity,
    make_transpose,
    num_dynamic_dims,
    permutation_of,
    permute,
)
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter, greedy
from tripybuild.tensorrt.passes.rewriting.op_builder import OpBuilder


def run(module: ModuleOp) -> bool:
    """Expand all extension ops."""
    return greedy(module, (*PATTERNS, *shuffles.PATTERNS), FOLDERS)


def _as(value: SSAValue, kind: Attribute, rewriter: PatternRewriter) -> SSAValue:
    """A value with other elements."""
    if element(value) == kind:
        return value
    type = tensor_type(sizes(value), kind)
    return rewriter.value(IdentityOp, value, result_types=[type])


def _transpose(op: TransposeOp, rewriter: PatternRewriter) -> bool:
    permutation = permutation_of(op)
    return rewriter.replace_with(
        op,
        ShuffleOp,
        op.input,
        first_transpose=permutation,
        second_transpose=range(len(permutation)),
        zero_is_placeholder=False,
    )


def _reshape(op: ReshapeOp | ExpandRankOp | CollapseRankOp, rewriter: PatternRewriter) -> bool:
    """As one `shuffle`; truths go through i32, which older releases of TensorRT want.

    Nothing is one where nothing changes (broadcasts are left with such reshapes).
    """
    result = op.results[0]
    target = sizes(result)
    shape = op.shape if isinstance(op, ReshapeOp) else None
    if shape is None and op.input.type == result.type and num_dynamic_dims(target) <= 1:
        return rewriter.replace(op, op.input)
    kind = i32 if element(op.input) == i1 else element(op.input)
    operand = _as(op.input, kind, rewriter)
    zeros = False
    reshape: Sequence[int] | None = None
    if shape is None and target.count(None) > 1 and not isinstance(op, ReshapeOp):
        reshape = _placeholders(sizes(op.input), target)
        zeros = reshape is not None
        if reshape is None:
            shape = _build_shape(op.input, _origins(sizes(op.input), target), rewriter)
    elif shape is None:
        reshape = [-1 if size is None else size for size in target]
    shuffle = rewriter.value(
        ShuffleOp,
        operand,
        shape,
        first_transpose=range(len(sizes(operand))),
        reshape=reshape,
        second_transpose=range(len(target)),
        zero_is_placeholder=zeros,
        result_types=[tensor_type(target, kind)],
    )
    return rewriter.replace(op, _as(shuffle, element(result), rewriter))


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
    make = OpBuilder(rewriter)
    shape = make.make(ShapeOp, value)
    return make.vector([1 if origin is None else make.entry(shape, origin) for origin in origins])


def _arg(op: ArgMinOp | ArgMaxOp, rewriter: PatternRewriter) -> bool:
    """As the first of the `top_k`, which takes numbers of two dimensions or more."""
    kind = "kMIN" if isinstance(op, ArgMinOp) else "kMAX"
    own = element(op.input)
    axis: int = op.value("axis")
    small = isinstance(own, IntegerType) and own != i64
    operand = _as(op.input, f32 if small else own, rewriter)
    flat = len(sizes(operand)) == 1
    if flat:
        matrix = tensor_type((1, *sizes(operand)), element(operand))
        operand = rewriter.value(ExpandRankOp, operand, result_types=[matrix])
        axis = 1
    top = rewriter.create(TopKOp, operand, k=1, axis=axis, topk_operation=kind)
    found: list[SSAValue] = list(top.results)
    if flat:
        found = [
            rewriter.value(CollapseRankOp, each, result_types=[tensor_type((1,), element(each))])
            for each in found
        ]
    return rewriter.replace(op, _as(found[0], own, rewriter), found[1])


def _sort_dimensions(op: BroadcastOp, rewriter: PatternRewriter) -> bool:
    order = argsort(op.value("broadcast_dims"))
    if is_identity(order):
        return False
    return rewriter.replace_with(
        op,
        BroadcastOp,
        make_transpose(op.input, order, rewriter),
        op.shape,
        broadcast_dims=permute(order, op.value("broadcast_dims")),
    )


def _full_rank(op: BroadcastOp, rewriter: PatternRewriter) -> SSAValue:
    """The input with ones between its dimensions, so that it has the result's rank."""
    source, count = sizes(op.input), len(sizes(op.result))
    if len(source) == count:
        return op.input
    places = op.value("broadcast_dims")
    origins = [places.index(i) if i in places else None for i in range(count)]
    type = tensor_type([1 if i is None else source[i] for i in origins], element(op.input))
    if None not in source:
        return rewriter.value(ExpandRankOp, op.input, result_types=[type])
    shape = _build_shape(op.input, origins, rewriter)
    return rewriter.value(ReshapeOp, op.input, shape, result_types=[type])


def _broadcast(op: BroadcastOp, rewriter: PatternRewriter) -> bool:
    if not is_identity(argsort(op.value("broadcast_dims"))):
        return False
    target = sizes(op.result)
    static = None not in target
    operand = _full_rank(op, rewriter)
    return rewriter.replace_with(
        op,
        SliceOp,
        operand,
        None,
        None,
        None if static else op.shape,
        static_start=[0] * len(target),
        static_size=target if static else None,
        static_stride=[1] * len(target),
        mode="kWRAP",
    )


_RESHAPES: tuple[type[Operation], ...] = (ReshapeOp, ExpandRankOp, CollapseRankOp)

PATTERNS = (
    Pattern("arg-as-top-k", (ArgMinOp, ArgMaxOp), _arg, "there is no layer for it"),
    Pattern("transpose-as-shuffle", TransposeOp, _transpose, "there is no layer for it"),
    Pattern("reshape-as-shuffle", _RESHAPES, _reshape, "there is no layer for it"),
    Pattern("broadcast-as-slice", BroadcastOp, _broadcast, "there is no layer for it"),
    Pattern("broadcast-in-order", BroadcastOp, _sort_dimensions, "a slice does not transpose"),
)
