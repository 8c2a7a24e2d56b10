"""Transposes and reshapes that pass through ops of one tensor, through sums, and each other."""

from xdsl.ir import Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    ActivationOp,
    ConstantOp,
    DequantizeOp,
    ElementWiseOp,
    IdentityOp,
    QuantizeOp,
    ReshapeOp,
    SoftMaxOp,
    TransposeOp,
    UnaryOp,
)
from tripybuild.tensorrt.passes.elimination.layouts import (
    like,
    permutation_of,
    plainly_reshaped,
    retyped,
    sizes_of,
    transposed,
    unknown,
)
from tripybuild.tensorrt.passes.elimination.permutations import inverse
from tripybuild.tensorrt.passes.elimination.reshape_groups import (
    groups,
    reshape_first,
    transpose_first,
)
from tripybuild.tensorrt.passes.elimination.transpose_elimination import transpose_below
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, Rewriter
from tripybuild.tensorrt.passes.rewriting.values import made_by
from tripybuild.tensorrt.passes.transpose_reshape_elimination.costs import cost

ONE_BY_ONE = (ActivationOp, UnaryOp, IdentityOp)


def _reshaped_like(op: ReshapeOp, value: SSAValue, rewriter: Rewriter) -> SSAValue:
    """A value that is reshaped as an op does it to another."""
    type = retyped(value, sizes_of(op.result))
    return rewriter.create(ReshapeOp, value, op.shape, result_types=[type]).results[0]


def _reshape_down(op: ActivationOp | UnaryOp | IdentityOp, rewriter: Rewriter) -> bool:
    """`activation(reshape(x))` is `reshape(activation(x))`."""
    reshape = made_by(op.input, ReshapeOp)
    if reshape is None:
        return False
    new = rewriter.insert(like(op, [reshape.input], retyped(op.result, sizes_of(reshape.input))))
    rewriter.replace(op, _reshaped_like(reshape, new.results[0], rewriter))
    return True


def _reshape_up(op: ReshapeOp, rewriter: Rewriter) -> bool:
    """`reshape(activation(x))` is `activation(reshape(x))`."""
    producer = op.input.owner
    if not isinstance(producer, ONE_BY_ONE):
        return False
    moved = _reshaped_like(op, producer.input, rewriter)
    rewriter.replace(op, rewriter.insert(like(producer, [moved], op.result.type)))
    return True


def _pair(op: DequantizeOp) -> QuantizeOp | None:
    """The quantization that an op undoes, with one number for all elements."""
    quantize = made_by(op.input, QuantizeOp)
    if quantize is None or quantize.scale is not op.scale or sizes_of(op.scale) not in {(), (1,)}:
        return None
    axes = op.value("axis"), quantize.value("axis")
    return quantize if axes == (None, None) else None


def _quantized(
    op: DequantizeOp, quantize: QuantizeOp, value: SSAValue, rewriter: Rewriter
) -> Operation:
    """The same two steps for another value."""
    shape = sizes_of(value)
    first = like(quantize, [value, op.scale], retyped(quantize.result, shape))
    rewriter.insert(first)
    return rewriter.insert(like(op, [first.results[0], op.scale], retyped(op.result, shape)))


def _quantize_up(op: TransposeOp | ReshapeOp, rewriter: Rewriter) -> bool:
    """`transpose(dequantize(quantize(x)))` is `dequantize(quantize(transpose(x)))`."""
    dequantize = made_by(op.input, DequantizeOp)
    quantize = _pair(dequantize) if dequantize is not None else None
    if dequantize is None or quantize is None:
        return False
    operands = [quantize.input, *op.operands[1:]]
    type = retyped(quantize.input, sizes_of(op.result))
    moved = rewriter.insert(like(op, operands, type))
    rewriter.replace(op, _quantized(dequantize, quantize, moved.results[0], rewriter))
    return True


def _quantize_down(op: DequantizeOp, rewriter: Rewriter) -> bool:
    """`dequantize(quantize(transpose(x)))` is `transpose(dequantize(quantize(x)))`."""
    quantize = _pair(op)
    layout = quantize.input.owner if quantize is not None else None
    if quantize is None or not isinstance(layout, TransposeOp | ReshapeOp):
        return False
    new = _quantized(op, quantize, layout.input, rewriter)
    operands = [new.results[0], *layout.operands[1:]]
    rewriter.replace(op, rewriter.insert(like(layout, operands, op.result.type)))
    return True


def _softmax(value: SSAValue, axis: int, rewriter: Rewriter) -> SSAValue:
    """A softmax of another tensor over another axis."""
    return rewriter.create(SoftMaxOp, value, axis=axis, result_types=[value.type]).results[0]


def _softmax_first(op: SoftMaxOp, rewriter: Rewriter) -> bool:
    """`softmax(transpose(x))` is `transpose(softmax(x))`, and so for `reshape`."""
    layout, axis = op.input.owner, op.value("axis")
    if isinstance(layout, TransposeOp):
        before = permutation_of(layout)[axis]
    elif isinstance(layout, ReshapeOp):
        before = _same_axis(sizes_of(layout.result), sizes_of(layout.input), axis)
    else:
        return False
    if before is None:
        return False
    new = _softmax(layout.input, before, rewriter)
    moved = like(layout, [new, *layout.operands[1:]], op.result.type)
    rewriter.replace(op, rewriter.insert(moved))
    return True


def _softmax_last(op: TransposeOp | ReshapeOp, rewriter: Rewriter) -> bool:
    """`transpose(softmax(x))` is `softmax(transpose(x))`, and so for `reshape`."""
    softmax = made_by(op.input, SoftMaxOp)
    if softmax is None:
        return False
    axis = softmax.value("axis")
    if isinstance(op, TransposeOp):
        after = inverse(permutation_of(op))[axis]
    else:
        after = _same_axis(sizes_of(op.input), sizes_of(op.result), axis)
    if after is None:
        return False
    moved = rewriter.insert(like(op, [softmax.input, *op.operands[1:]], op.result.type))
    rewriter.replace(op, _softmax(moved.results[0], after, rewriter))
    return True


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


def _reshape_below_sum(op: ElementWiseOp, rewriter: Rewriter) -> bool:
    """`element_wise(reshape(x), y)` is `reshape(element_wise(x, reshape(y)))`, if cheaper."""
    reshapes = [made_by(value, ReshapeOp) for value in op.operands]
    shapes = [sizes_of(value) for value in op.operands]
    bases = [each.input if each is not None else None for each in reshapes]
    if shapes[0] != shapes[1] or any(map(unknown, shapes)):
        return False
    inner = [sizes_of(base) if base is not None else None for base in bases]
    costs = [cost(value) for value in op.operands]
    spent = sum(c for c, each in zip(costs, reshapes, strict=True) if each is not None)
    both = inner[0] is not None and inner[0] == inner[1]
    chosen = inner[int(not both and costs[0] < costs[1])]
    if (0 if both else min(costs)) >= spent or chosen is None or unknown(chosen):
        return False
    operands = [
        plainly_reshaped(base if base is not None else value, chosen, rewriter)
        for base, value in zip(bases, op.operands, strict=True)
    ]
    new = rewriter.insert(like(op, operands, retyped(op.result, chosen)))
    rewriter.replace(op, plainly_reshaped(new.results[0], sizes_of(op.result), rewriter))
    return True


def _reshape_above_sum(op: ReshapeOp, rewriter: Rewriter) -> bool:
    """`reshape(element_wise(x, y))` is `element_wise(reshape(x), reshape(y))`."""
    element_wise = made_by(op.input, ElementWiseOp)
    if element_wise is None or unknown(sizes_of(op.result)):
        return False
    shapes = [sizes_of(value) for value in element_wise.operands]
    meets = (ReshapeOp, TransposeOp, ConstantOp)
    if shapes[0] != shapes[1] or not any(
        isinstance(value.owner, meets) for value in element_wise.operands
    ):
        return False
    operands = [
        plainly_reshaped(value, sizes_of(op.result), rewriter) for value in element_wise.operands
    ]
    rewriter.replace(op, rewriter.insert(like(element_wise, operands, op.result.type)))
    return True


def _reshape_before_transpose(op: ReshapeOp, rewriter: Rewriter) -> bool:
    """`reshape(transpose(x))` is `transpose(reshape(x))`, where no group is torn."""
    transpose = made_by(op.input, TransposeOp)
    if transpose is None:
        return False
    permutation = permutation_of(transpose)
    swapped = reshape_first(permutation, sizes_of(op.input), sizes_of(op.result))
    if swapped is None:
        return False
    value = plainly_reshaped(transpose.input, swapped.shape, rewriter)
    rewriter.replace(op, transposed(value, swapped.permutation, rewriter))
    return True


def _transpose_before_reshape(op: TransposeOp, rewriter: Rewriter) -> bool:
    """`transpose(reshape(x))` is `reshape(transpose(x))`, where no group is torn."""
    reshape = made_by(op.input, ReshapeOp)
    if reshape is None:
        return False
    source, result = sizes_of(reshape.input), sizes_of(reshape.result)
    swapped = transpose_first(source, result, permutation_of(op))
    if swapped is None:
        return False
    value = transposed(reshape.input, swapped.permutation, rewriter)
    rewriter.replace(op, plainly_reshaped(value, swapped.shape, rewriter))
    return True


def _transpose_of_units(op: TransposeOp, rewriter: Rewriter) -> bool:
    """A transpose that moves only dimensions of size 1 moves nothing: it is a reshape."""
    shape = sizes_of(op.input)
    moved = [source for source in permutation_of(op) if shape[source] != 1]
    if unknown(shape) or moved != sorted(moved):
        return False
    rewriter.replace(op, plainly_reshaped(op.input, sizes_of(op.result), rewriter))
    return True


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
