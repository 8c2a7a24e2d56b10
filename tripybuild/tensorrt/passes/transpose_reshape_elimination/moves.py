"""Transposes and reshapes moved through unary ops, sums, and each other."""

from xdsl.ir import Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    ActivationOp,
    ConstantOp,
    DequantizeOp,
    ElementWiseOp,
    IdentityOp,
    QuantizeOp,
    ReshapeOp,
    ShuffleOp,
    SoftMaxOp,
    TransposeOp,
    UnaryOp,
)
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.passes.elimination.layouts import (
    inverse,
    make_plain_reshape,
    make_transpose,
    num_dynamic_dims,
    permutation_of,
    type_with_shape,
)
from tripybuild.tensorrt.passes.elimination.reshape_groups import (
    groups,
    reshape_first,
    transpose_first,
)
from tripybuild.tensorrt.passes.elimination.transpose_elimination import transpose_below
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import defining_op

FREE, MERGED, SEPARATE = 0, 100, 1000
FARTHEST = 10  # ops that are looked back through

_LAYOUTS = (ShuffleOp, ReshapeOp, TransposeOp)
_PASSABLE = (UnaryOp, ActivationOp, IdentityOp, *_LAYOUTS)


def cost(value: SSAValue) -> int:
    """What a new reshape of a value would cost."""
    op, found, passable = value.owner, SEPARATE, True
    for _ in range(FARTHEST):
        if not isinstance(op, Operation):
            break
        if isinstance(op, ConstantOp):
            return FREE
        if passable and isinstance(op, _LAYOUTS):
            found = MERGED
        passable = passable and isinstance(op, _PASSABLE)
        if len(op.operands) != 1:
            break
        op = op.operands[0].owner
    return found


ONE_BY_ONE = (ActivationOp, UnaryOp, IdentityOp)


def _reshaped_like(op: ReshapeOp, value: SSAValue, rewriter: PatternRewriter) -> SSAValue:
    """A value that is reshaped as an op does it to another."""
    type = type_with_shape(value, sizes(op.result))
    return rewriter.value(ReshapeOp, value, op.shape, result_types=[type])


def _reshape_down(op: ActivationOp | UnaryOp | IdentityOp, rewriter: PatternRewriter) -> bool:
    """`activation(reshape(x))` is `reshape(activation(x))`."""
    reshape = defining_op(op.input, ReshapeOp)
    if reshape is None:
        return False
    new = rewriter.clone(op, [reshape.input], type_with_shape(op.result, sizes(reshape.input)))
    return rewriter.replace(op, _reshaped_like(reshape, new, rewriter))


def _reshape_up(op: ReshapeOp, rewriter: PatternRewriter) -> bool:
    """`reshape(activation(x))` is `activation(reshape(x))`."""
    producer = op.input.owner
    if not isinstance(producer, ONE_BY_ONE):
        return False
    moved = _reshaped_like(op, producer.input, rewriter)
    return rewriter.replace(op, rewriter.clone(producer, [moved], op.result.type))


def _pair(op: DequantizeOp) -> QuantizeOp | None:
    """The quantization that an op undoes, with one number for all elements."""
    quantize = defining_op(op.input, QuantizeOp)
    if quantize is None or quantize.scale is not op.scale or sizes(op.scale) not in {(), (1,)}:
        return None
    axes = op.value("axis"), quantize.value("axis")
    return quantize if axes == (None, None) else None


def _repeat_quantization(
    op: DequantizeOp, quantize: QuantizeOp, value: SSAValue, rewriter: PatternRewriter
) -> SSAValue:
    """The same two steps for another value."""
    shape = sizes(value)
    first = rewriter.clone(quantize, [value, op.scale], type_with_shape(quantize.result, shape))
    return rewriter.clone(op, [first, op.scale], type_with_shape(op.result, shape))


def _quantize_up(op: TransposeOp | ReshapeOp, rewriter: PatternRewriter) -> bool:
    """`transpose(dequantize(quantize(x)))` is `dequantize(quantize(transpose(x)))`."""
    dequantize = defining_op(op.input, DequantizeOp)
    quantize = _pair(dequantize) if dequantize is not None else None
    if dequantize is None or quantize is None:
        return False
    operands = [quantize.input, *op.operands[1:]]
    type = type_with_shape(quantize.input, sizes(op.result))
    moved = rewriter.clone(op, operands, type)
    return rewriter.replace(op, _repeat_quantization(dequantize, quantize, moved, rewriter))


def _quantize_down(op: DequantizeOp, rewriter: PatternRewriter) -> bool:
    """`dequantize(quantize(transpose(x)))` is `transpose(dequantize(quantize(x)))`."""
    quantize = _pair(op)
    layout = quantize.input.owner if quantize is not None else None
    if quantize is None or not isinstance(layout, TransposeOp | ReshapeOp):
        return False
    new = _repeat_quantization(op, quantize, layout.input, rewriter)
    operands = [new, *layout.operands[1:]]
    return rewriter.replace(op, rewriter.clone(layout, operands, op.result.type))


def _softmax(value: SSAValue, axis: int, rewriter: PatternRewriter) -> SSAValue:
    """A softmax of another tensor over another axis."""
    return rewriter.value(SoftMaxOp, value, axis=axis, result_types=[value.type])


def _softmax_first(op: SoftMaxOp, rewriter: PatternRewriter) -> bool:
    """`softmax(transpose(x))` is `transpose(softmax(x))`, and so for `reshape`."""
    layout, axis = op.input.owner, op.value("axis")
    if isinstance(layout, TransposeOp):
        before = permutation_of(layout)[axis]
    elif isinstance(layout, ReshapeOp):
        before = _same_axis(sizes(layout.result), sizes(layout.input), axis)
    else:
        return False
    if before is None:
        return False
    new = _softmax(layout.input, before, rewriter)
    moved = rewriter.clone(layout, [new, *layout.operands[1:]], op.result.type)
    return rewriter.replace(op, moved)


def _softmax_last(op: TransposeOp | ReshapeOp, rewriter: PatternRewriter) -> bool:
    """`transpose(softmax(x))` is `softmax(transpose(x))`, and so for `reshape`."""
    softmax = defining_op(op.input, SoftMaxOp)
    if softmax is None:
        return False
    axis = softmax.value("axis")
    if isinstance(op, TransposeOp):
        after = inverse(permutation_of(op))[axis]
    else:
        after = _same_axis(sizes(op.input), sizes(op.result), axis)
    if after is None:
        return False
    moved = rewriter.clone(op, [softmax.input, *op.operands[1:]], op.result.type)
    return rewriter.replace(op, _softmax(moved, after, rewriter))


def _same_axis(
    source: tuple[int | None, ...], result: tuple[int | None, ...], axis: int
) -> int | None:
    """The dimension that a reshape leaves a dimension as it is in; None if it does not."""
    for group in groups(source, result) or ():
        if axis in group.source:
            same = [index for index in group.result if result[index] == source[axis]]
            others = [source[index] for index in group.source if index != axis]
            alone = all(size == 1 for size in others) and source[axis] != 1
            return (
                same[0] if same and (alone or len(group.source) == len(group.result) == 1) else None
            )
    return None


def _reshape_below_sum(op: ElementWiseOp, rewriter: PatternRewriter) -> bool:
    """`element_wise(reshape(x), y)` is `reshape(element_wise(x, reshape(y)))`, if cheaper."""
    reshapes = [defining_op(value, ReshapeOp) for value in op.operands]
    shapes = [sizes(value) for value in op.operands]
    bases = [each.input if each is not None else None for each in reshapes]
    if shapes[0] != shapes[1] or any(map(num_dynamic_dims, shapes)):
        return False
    inner = [sizes(base) if base is not None else None for base in bases]
    costs = [cost(value) for value in op.operands]
    spent = sum(c for c, each in zip(costs, reshapes, strict=True) if each is not None)
    both = inner[0] is not None and inner[0] == inner[1]
    chosen = inner[int(not both and costs[0] < costs[1])]
    if (0 if both else min(costs)) >= spent or chosen is None or num_dynamic_dims(chosen):
        return False
    operands = [
        make_plain_reshape(base if base is not None else value, chosen, rewriter)
        for base, value in zip(bases, op.operands, strict=True)
    ]
    new = rewriter.clone(op, operands, type_with_shape(op.result, chosen))
    return rewriter.replace(op, make_plain_reshape(new, sizes(op.result), rewriter))


def _reshape_above_sum(op: ReshapeOp, rewriter: PatternRewriter) -> bool:
    """`reshape(element_wise(x, y))` is `element_wise(reshape(x), reshape(y))`."""
    element_wise = defining_op(op.input, ElementWiseOp)
    if element_wise is None or num_dynamic_dims(sizes(op.result)):
        return False
    shapes = [sizes(value) for value in element_wise.operands]
    meets = (ReshapeOp, TransposeOp, ConstantOp)
    if shapes[0] != shapes[1] or not any(
        isinstance(value.owner, meets) for value in element_wise.operands
    ):
        return False
    operands = [
        make_plain_reshape(value, sizes(op.result), rewriter) for value in element_wise.operands
    ]
    return rewriter.replace(op, rewriter.clone(element_wise, operands, op.result.type))


def _reshape_before_transpose(op: ReshapeOp, rewriter: PatternRewriter) -> bool:
    """`reshape(transpose(x))` is `transpose(reshape(x))`, where no group is torn."""
    transpose = defining_op(op.input, TransposeOp)
    if transpose is None:
        return False
    permutation = permutation_of(transpose)
    swapped = reshape_first(permutation, sizes(op.input), sizes(op.result))
    if swapped is None:
        return False
    value = make_plain_reshape(transpose.input, swapped.shape, rewriter)
    return rewriter.replace(op, make_transpose(value, swapped.permutation, rewriter))


def _transpose_before_reshape(op: TransposeOp, rewriter: PatternRewriter) -> bool:
    """`transpose(reshape(x))` is `reshape(transpose(x))`, where no group is torn."""
    reshape = defining_op(op.input, ReshapeOp)
    if reshape is None:
        return False
    source, result = sizes(reshape.input), sizes(reshape.result)
    swapped = transpose_first(source, result, permutation_of(op))
    if swapped is None:
        return False
    value = make_transpose(reshape.input, swapped.permutation, rewriter)
    return rewriter.replace(op, make_plain_reshape(value, swapped.shape, rewriter))


def _transpose_of_units(op: TransposeOp, rewriter: PatternRewriter) -> bool:
    """A transpose that moves only dimensions of size 1 moves nothing: it is a reshape."""
    shape = sizes(op.input)
    moved = [source for source in permutation_of(op) if shape[source] != 1]
    if num_dynamic_dims(shape) or moved != sorted(moved):
        return False
    return rewriter.replace(op, make_plain_reshape(op.input, sizes(op.result), rewriter))


DOWN = (
    Pattern("reshape-before", ReshapeOp, _reshape_before_transpose, "reshapes meet"),
    Pattern("reshape-down", ONE_BY_ONE, _reshape_down, "reshapes meet"),
    Pattern("quantize-first", DequantizeOp, _quantize_down, "they meet below"),
    Pattern("reshape-below", ElementWiseOp, _reshape_below_sum, "reshapes meet"),
    Pattern("softmax-first", SoftMaxOp, _softmax_first, "they meet below"),
)
UP = (
    Pattern("transpose-before", TransposeOp, _transpose_before_reshape, "transposes meet"),
    Pattern("reshape-up", ReshapeOp, _reshape_up, "reshapes meet"),
    Pattern("quantize-last", (TransposeOp, ReshapeOp), _quantize_up, "they meet above"),
    Pattern("reshape-above", ReshapeOp, _reshape_above_sum, "reshapes meet"),
    Pattern("softmax-last", (TransposeOp, ReshapeOp), _softmax_last, "they meet above"),
)
UNARY_DOWN = Pattern("unary-first", UnaryOp, transpose_below, "transposes meet")
UNITS = Pattern("transpose-units", TransposeOp, _transpose_of_units, "a reshape costs nothing")
