"""Matrix products as `einsum`, whose dimensions move freely, and back again."""

import math
from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tripybuild.tensorrt.dialect import (
    CollapseRankOp,
    EinsumOp,
    ExpandRankOp,
    MatrixMultiplyOp,
    ReshapeOp,
    ShuffleOp,
    TransposeOp,
)
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.passes.elimination.layouts import (
    Sizes,
    inverse,
    make_plain_reshape,
    make_transpose,
    matrix_transposition,
    num_dynamic_dims,
    permutation_of,
    permute,
    type_with_shape,
)
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import defining_op
from tripybuild.tensorrt.passes.transpose_reshape_elimination import equations
from tripybuild.tensorrt.passes.transpose_reshape_elimination.equations import Equation


def replace_einsum(
    op: Operation, inputs: Sequence[SSAValue], equation: Equation, rewriter: PatternRewriter
) -> bool:
    """Let an einsum give the result of an op."""
    return rewriter.replace_with(op, EinsumOp, list(inputs), equation=str(equation))


def reshaped_einsum(
    op: EinsumOp,
    inputs: Sequence[SSAValue],
    equation: Equation,
    shape: Sizes,
    rewriter: PatternRewriter,
) -> SSAValue:
    """An einsum of other inputs, whose result has another shape than that of an op."""
    types = [type_with_shape(op.result, shape)]
    return rewriter.value(EinsumOp, list(inputs), equation=str(equation), result_types=types)


def equation_of(op: EinsumOp) -> Equation:
    """The equation of an einsum."""
    return Equation.parse(op.value("equation"))


def _to_einsum(op: MatrixMultiplyOp, rewriter: PatternRewriter) -> bool:
    """Each product is an einsum."""
    kinds = op.value("op0"), op.value("op1")
    batch = len(sizes(op.input0)) - (1 if kinds[0] == "kVECTOR" else 2)
    equation = equations.of_product(batch, *kinds)
    return replace_einsum(op, op.operands, equation, rewriter)


def _from_einsum(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """What is a product is one again; TensorRT has more kernels for these."""
    product = equations.as_product(equation_of(op))
    if product is None:
        return False
    left, right = (op.inputs[index] for index in product.order)
    return rewriter.replace_with(
        op, MatrixMultiplyOp, left, right, op0=product.operations[0], op1=product.operations[1]
    )


def _shuffle(op: ShuffleOp, rewriter: PatternRewriter) -> bool:
    """A shuffle is a transpose, a reshape and a transpose."""
    if op.value("zero_is_placeholder"):
        return False
    last = tuple(op.value("second_transpose"))
    middle = permute(inverse(last), sizes(op.result))
    moves_only = op.value("reshape") is None and op.dynamic_reshape is None
    if op.dynamic_reshape is None and not moves_only and num_dynamic_dims(middle) > 1:
        return False
    value = make_transpose(op.input, tuple(op.value("first_transpose")), rewriter)
    if op.dynamic_reshape is not None:
        type = type_with_shape(value, middle)
        value = rewriter.value(ReshapeOp, value, op.dynamic_reshape, result_types=[type])
    elif not moves_only:
        value = make_plain_reshape(value, middle, rewriter)
    return rewriter.replace(op, make_transpose(value, last, rewriter))


def _rank_change(op: CollapseRankOp | ExpandRankOp, rewriter: PatternRewriter) -> bool:
    """Dimensions of size 1 come and go by reshapes."""
    if num_dynamic_dims(sizes(op.result)) > 1:
        return False
    return rewriter.replace(op, make_plain_reshape(op.input, sizes(op.result), rewriter))


def _swaps_last(op: TransposeOp) -> bool:
    permutation = permutation_of(op)
    return len(permutation) >= 2 and permutation == matrix_transposition(len(permutation))


def _turn_operands(op: MatrixMultiplyOp, rewriter: PatternRewriter) -> bool:
    """A product reads transposed matrices by itself."""
    kinds, operands = [op.value("op0"), op.value("op1")], list(op.operands)
    for index, value in enumerate(op.operands):
        transpose = defining_op(value, TransposeOp)
        if transpose is None or kinds[index] == "kVECTOR" or not _swaps_last(transpose):
            continue
        kinds[index] = "kNONE" if kinds[index] == "kTRANSPOSE" else "kTRANSPOSE"
        operands[index] = transpose.input
    return operands != list(op.operands) and rewriter.replace_with(
        op, MatrixMultiplyOp, *operands, op0=kinds[0], op1=kinds[1]
    )


def _batch_for_both(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """A batch dimension that only one input has is 1 in the other."""
    equation = equation_of(op)
    if len(op.inputs) != 2 or any(num_dynamic_dims(sizes(value)) for value in op.inputs):
        return False
    missing = equations.units_for_product(equation)
    if not missing:
        return False
    letters = [list(part) for part in equation.inputs]
    shapes = [list(sizes(value)) for value in op.inputs]
    for unit in missing:
        letters[unit.index].insert(unit.place, unit.letter)
        shapes[unit.index].insert(unit.place, 1)
    inputs = [
        make_plain_reshape(value, tuple(shape), rewriter)
        for value, shape in zip(op.inputs, shapes, strict=True)
    ]
    both = Equation(tuple(map("".join, letters)), equation.result)
    return replace_einsum(op, inputs, both, rewriter)


def _sum_once(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """Dimensions that are summed side by side are one: `acd,bcd->ab` is `ac,bc->ab`."""
    equation = equation_of(op)
    together = equations.common_sum_labels(equation)
    letter = next(equation.fresh(), None)
    if together is None or letter is None:
        return False
    places = [part.index(together) for part in equation.inputs]
    shapes = [sizes(value) for value in op.inputs]
    merged = [s[at : at + len(together)] for s, at in zip(shapes, places, strict=True)]
    if any(map(num_dynamic_dims, shapes)) or merged.count(merged[0]) < len(merged):
        return False
    count = math.prod(size for size in merged[0] if size is not None)
    inputs = [
        make_plain_reshape(value, (*s[:at], count, *s[at + len(together) :]), rewriter)
        for value, s, at in zip(op.inputs, shapes, places, strict=True)
    ]
    parts = tuple(part.replace(together, letter) for part in equation.inputs)
    return replace_einsum(op, inputs, Equation(parts, equation.result), rewriter)


INTO_EINSUM = (
    Pattern("product", MatrixMultiplyOp, _to_einsum, "dimensions of an einsum have any order"),
    Pattern("shuffle", ShuffleOp, _shuffle, "its three steps move on their own"),
    Pattern("rank", (ExpandRankOp, CollapseRankOp), _rank_change, "one kind of reshape moves"),
)
OUT_OF_EINSUM = (
    Pattern("einsum-product", EinsumOp, _from_einsum, "products have more kernels"),
    Pattern("turn-operands", MatrixMultiplyOp, _turn_operands, "products read matrices turned"),
)
BATCH = Pattern("batch-for-both", EinsumOp, _batch_for_both, "then it is a product")
SUM_ONCE = Pattern("sum-once", EinsumOp, _sum_once, "then it is a product")
