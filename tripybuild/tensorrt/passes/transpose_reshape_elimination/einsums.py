"""Einsum fusion: absorbs transposes of its inputs and result, and unit dimensions."""

from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect import CollapseRankOp, EinsumOp, ExpandRankOp, TransposeOp
from tripybuild.tensorrt.passes.elimination.layouts import (
    collapsed_dims,
    make_plain_reshape,
    make_transpose,
    num_dynamic_dims,
    permutation_of,
    sizes_of,
    type_with_shape,
)
from tripybuild.tensorrt.passes.elimination.permutations import inverse, is_identity, permute
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import defining_op
from tripybuild.tensorrt.passes.transpose_reshape_elimination.equations import (
    Equation,
    input_like_result,
    result_like_inputs,
)
from tripybuild.tensorrt.passes.transpose_reshape_elimination.products import (
    equation_of,
    replace_einsum,
)


def _take_operands(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """`einsum(transpose(x), y)` is `einsum(x, y)`."""
    equation, inputs, changed = equation_of(op), list(op.inputs), False
    for index, value in enumerate(op.inputs):
        transpose = defining_op(value, TransposeOp)
        if transpose is not None:
            equation = equation.before_transpose(index, permutation_of(transpose))
            inputs[index] = transpose.input
            changed = True
    if changed:
        replace_einsum(op, inputs, equation, rewriter)
    return changed


def _take_result(op: TransposeOp, rewriter: PatternRewriter) -> bool:
    """`transpose(einsum(x, y))` is `einsum(x, y)`."""
    einsum = defining_op(op.input, EinsumOp)
    if einsum is None or not op.input.has_one_use():
        return False
    equation = equation_of(einsum).after_transpose(permutation_of(op))
    new = rewriter.create(
        EinsumOp, list(einsum.inputs), equation=str(equation), result_types=[op.result.type]
    )
    rewriter.replace(op, new)
    return True


def _order_result(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """The result's dimensions have the order of the inputs': that may be a product."""
    equation = equation_of(op)
    permutation = result_like_inputs(equation)
    if is_identity(permutation) or any(defining_op(v, TransposeOp) for v in op.inputs):
        return False
    new = rewriter.create(
        EinsumOp,
        list(op.inputs),
        equation=str(equation.after_transpose(permutation)),
        result_types=[type_with_shape(op.result, permute(permutation, sizes_of(op.result)))],
    )
    rewriter.replace(op, make_transpose(new.results[0], inverse(permutation), rewriter))
    return True


def _order_operands(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """The inputs' dimensions have the order of the result's: that may be a product."""
    equation, inputs, changed = equation_of(op), list(op.inputs), False
    for index, value in enumerate(op.inputs):
        permutation = input_like_result(equation, index)
        if not is_identity(permutation):
            inputs[index] = make_transpose(value, permutation, rewriter)
            equation = equation.with_input(index, permute(permutation, equation.inputs[index]))
            changed = True
    if changed:
        replace_einsum(op, inputs, equation, rewriter)
    return changed


def _non_unit_dims(shapes: list[tuple[int | None, ...]]) -> list[list[int]]:
    """For each input, the places that are not of size 1 (all of them where no other is left)."""
    kept: list[list[int]] = []
    for shape in shapes:
        places = [place for place, size in enumerate(shape) if size != 1]
        kept.append(places or list(range(len(shape))))
    return kept


def _drop_units(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """Dimensions of size 1 are no part of a sum: reshapes, which can move on, see to them."""
    equation, shapes = equation_of(op), [sizes_of(value) for value in op.inputs]
    kept = _non_unit_dims(shapes)
    parts = tuple(
        "".join(part[place] for place in places)
        for part, places in zip(equation.inputs, kept, strict=True)
    )
    before = sizes_of(op.result)
    left = [
        place for place, letter in enumerate(equation.result) if any(letter in p for p in parts)
    ]
    shape = tuple(before[place] for place in left)
    smaller = [tuple(s[place] for place in places) for s, places in zip(shapes, kept, strict=True)]
    gone = [size for place, size in enumerate(before) if place not in left]
    if parts == equation.inputs or any(size != 1 for size in gone):
        return False
    if max(map(num_dynamic_dims, (*smaller, shape))) > 1:
        return False
    inputs: list[SSAValue] = [
        make_plain_reshape(value, new, rewriter)
        for value, new in zip(op.inputs, smaller, strict=True)
    ]
    result = "".join(equation.result[place] for place in left)
    new = rewriter.create(
        EinsumOp,
        inputs,
        equation=str(Equation(parts, result)),
        result_types=[type_with_shape(op.result, shape)],
    )
    rewriter.replace(op, make_plain_reshape(new.results[0], before, rewriter))
    return True


def _take_collapse(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """`einsum(collapse_rank(x), y)` is `einsum(x, y)`: a dimension of size 1 more is summed."""
    equation, inputs, changed = equation_of(op), list(op.inputs), False
    for index, value in enumerate(op.inputs):
        collapse = defining_op(value, CollapseRankOp)
        if collapse is None:
            continue
        letters, fresh = iter(equation.inputs[index]), equation.fresh()
        gone = collapsed_dims(sizes_of(collapse.input), sizes_of(value))
        new = [next(fresh if at in gone else letters, "") for at in range(_rank(collapse.input))]
        if not all(new):
            return False
        equation = equation.with_input(index, new)
        inputs[index] = collapse.input
        changed = True
    if changed:
        replace_einsum(op, inputs, equation, rewriter)
    return changed


def _rank(value: SSAValue) -> int:
    return len(sizes_of(value))


def _units(op: EinsumOp, equation: Equation) -> list[str]:
    """The letters that are of size 1 in every input, and not in the result."""
    sizes: dict[str, set[int | None]] = {}
    for part, value in zip(equation.inputs, op.inputs, strict=True):
        for letter, size in zip(part, sizes_of(value), strict=True):
            sizes.setdefault(letter, set()).add(size)
    return [c for c, found in sizes.items() if found == {1} and equation.sums(c)]


def _take_expand(op: ExpandRankOp, rewriter: PatternRewriter) -> bool:
    """`expand_rank(einsum(x, y))` is `einsum(x, y)`, if an input has a 1 for each new one."""
    einsum = defining_op(op.input, EinsumOp)
    if einsum is None or not op.input.has_one_use():
        return False
    equation = equation_of(einsum)
    letters, units = iter(equation.result), iter(_units(einsum, equation))
    gone = collapsed_dims(sizes_of(op.result), sizes_of(op.input))
    new = [next(units if at in gone else letters, "") for at in range(_rank(op.result))]
    if not all(new):
        return False
    made = rewriter.create(
        EinsumOp,
        list(einsum.inputs),
        equation=str(equation.with_result(new)),
        result_types=[op.result.type],
    )
    rewriter.replace(op, made)
    return True


OPERANDS = Pattern("take-operands", EinsumOp, _take_operands, "an einsum transposes for nothing")
RESULT = Pattern("take-result", TransposeOp, _take_result, "an einsum transposes for nothing")
ORDER_RESULT = Pattern("order-result", EinsumOp, _order_result, "products sort", benefit=0)
ORDER_OPERANDS = Pattern("order-operands", EinsumOp, _order_operands, "products sort", benefit=0)
UNITS = Pattern("drop-units", EinsumOp, _drop_units, "reshapes can move on")
COLLAPSE = Pattern("take-collapse", EinsumOp, _take_collapse, "no op for a dimension of size 1")
EXPAND = Pattern("take-expand", ExpandRankOp, _take_expand, "no op for a dimension of size 1")
