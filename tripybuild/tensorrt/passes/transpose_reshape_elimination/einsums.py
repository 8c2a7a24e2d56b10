"""Einsum fusion: transposes, unit dimensions and reshapes move into einsums and through them.

Invariant: dimensions that a reshape merges must stand in an input all together, in their full
sizes, or not at all; then a transpose brings them side by side, and the reshape does the same to
the input. Merged or split dimensions get new letters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect import (
    CollapseRankOp,
    EinsumOp,
    ExpandRankOp,
    ReshapeOp,
    TransposeOp,
)
from tripybuild.tensorrt.dialect.base import sizes
from tripybuild.tensorrt.passes.elimination.layouts import (
    Permutation,
    Sizes,
    collapsed_dims,
    inverse,
    is_identity,
    make_plain_reshape,
    make_transpose,
    num_dynamic_dims,
    permutation_of,
    permute,
)
from tripybuild.tensorrt.passes.elimination.reshape_groups import groups
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import defining_op
from tripybuild.tensorrt.passes.transpose_reshape_elimination.equations import (
    Equation,
    input_like_result,
    result_like_inputs,
)
from tripybuild.tensorrt.passes.transpose_reshape_elimination.moves import cost
from tripybuild.tensorrt.passes.transpose_reshape_elimination.products import (
    equation_of,
    replace_einsum,
    reshaped_einsum,
)


def _take_operands(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """`einsum(transpose(x), y)` is `einsum(x, y)`."""
    equation, inputs = equation_of(op), list(op.inputs)
    for index, value in enumerate(op.inputs):
        transpose = defining_op(value, TransposeOp)
        if transpose is not None:
            equation = equation.before_transpose(index, permutation_of(transpose))
            inputs[index] = transpose.input
    return inputs != list(op.inputs) and replace_einsum(op, inputs, equation, rewriter)


def _take_result(op: TransposeOp, rewriter: PatternRewriter) -> bool:
    """`transpose(einsum(x, y))` is `einsum(x, y)`."""
    einsum = defining_op(op.input, EinsumOp)
    if einsum is None or not op.input.has_one_use():
        return False
    equation = equation_of(einsum).after_transpose(permutation_of(op))
    return replace_einsum(op, einsum.inputs, equation, rewriter)


def _order_result(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """The result's dimensions have the order of the inputs': that may be a product."""
    equation = equation_of(op)
    permutation = result_like_inputs(equation)
    if is_identity(permutation) or any(defining_op(v, TransposeOp) for v in op.inputs):
        return False
    shape = permute(permutation, sizes(op.result))
    new = reshaped_einsum(op, op.inputs, equation.after_transpose(permutation), shape, rewriter)
    return rewriter.replace(op, make_transpose(new, inverse(permutation), rewriter))


def _order_operands(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """The inputs' dimensions have the order of the result's: that may be a product."""
    equation, inputs = equation_of(op), list(op.inputs)
    for index, value in enumerate(op.inputs):
        permutation = input_like_result(equation, index)
        if not is_identity(permutation):
            inputs[index] = make_transpose(value, permutation, rewriter)
            equation = equation.with_input(index, permute(permutation, equation.inputs[index]))
    return inputs != list(op.inputs) and replace_einsum(op, inputs, equation, rewriter)


def _non_unit_dims(shape: Sizes) -> Sequence[int]:
    """The places that are not of size 1 (all of them where no other is left)."""
    return [place for place, size in enumerate(shape) if size != 1] or range(len(shape))


def _drop_units(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """Dimensions of size 1 are no part of a sum: reshapes, which can move on, see to them."""
    equation, shapes = equation_of(op), [sizes(value) for value in op.inputs]
    kept = [_non_unit_dims(shape) for shape in shapes]
    parts = tuple(
        "".join(part[place] for place in places)
        for part, places in zip(equation.inputs, kept, strict=True)
    )
    before = sizes(op.result)
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
    inputs = [
        make_plain_reshape(value, new, rewriter)
        for value, new in zip(op.inputs, smaller, strict=True)
    ]
    smaller_equation = Equation(parts, "".join(equation.result[place] for place in left))
    new = reshaped_einsum(op, inputs, smaller_equation, shape, rewriter)
    return rewriter.replace(op, make_plain_reshape(new, before, rewriter))


def _take_collapse(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """`einsum(collapse_rank(x), y)` is `einsum(x, y)`: a dimension of size 1 more is summed."""
    equation, inputs = equation_of(op), list(op.inputs)
    for index, value in enumerate(op.inputs):
        collapse = defining_op(value, CollapseRankOp)
        if collapse is None:
            continue
        letters, fresh = iter(equation.inputs[index]), equation.fresh()
        gone = collapsed_dims(sizes(collapse.input), sizes(value))
        new = [
            next(fresh if at in gone else letters, "") for at in range(len(sizes(collapse.input)))
        ]
        if not all(new):
            return False
        equation = equation.with_input(index, new)
        inputs[index] = collapse.input
    return inputs != list(op.inputs) and replace_einsum(op, inputs, equation, rewriter)


def _units(op: EinsumOp, equation: Equation) -> list[str]:
    """The letters that are of size 1 in every input, and not in the result."""
    known: dict[str, set[int | None]] = {}
    for part, value in zip(equation.inputs, op.inputs, strict=True):
        for letter, size in zip(part, sizes(value), strict=True):
            known.setdefault(letter, set()).add(size)
    return [c for c, found in known.items() if found == {1} and equation.sums(c)]


def _take_expand(op: ExpandRankOp, rewriter: PatternRewriter) -> bool:
    """`expand_rank(einsum(x, y))` is `einsum(x, y)`, if an input has a 1 for each new one."""
    einsum = defining_op(op.input, EinsumOp)
    if einsum is None or not op.input.has_one_use():
        return False
    equation = equation_of(einsum)
    letters, units = iter(equation.result), iter(_units(einsum, equation))
    gone = collapsed_dims(sizes(op.result), sizes(op.input))
    new = [next(units if at in gone else letters, "") for at in range(len(sizes(op.result)))]
    if not all(new):
        return False
    return replace_einsum(op, einsum.inputs, equation.with_result(new), rewriter)


@dataclass(frozen=True, slots=True)
class LabelSubstitution:
    """Letters, with their sizes, that become other letters with other sizes."""

    old: str
    old_sizes: Sizes
    new: str
    new_sizes: Sizes

    def sizes_for(self, old: Sizes) -> Sizes | None:
        """The new sizes of what has these; None if they are others (one alone may broadcast)."""
        if old == self.old_sizes:
            return self.new_sizes
        return (1,) if old == (1,) and len(self.new) == 1 else None


@dataclass(frozen=True, slots=True)
class RelabeledTensor:
    """A tensor with other letters: how it is transposed first, and reshaped then."""

    permutation: Permutation
    shape: Sizes
    letters: str


def rename(
    letters: str, shape: Sizes, renamings: Sequence[LabelSubstitution]
) -> RelabeledTensor | None:
    """Give a tensor's dimensions their new letters; None if they are not all there."""
    permutation: list[int] = []
    new_shape: list[int | None] = []
    new = ""
    belongs = {letter: each for each in renamings for letter in each.old}
    for place, letter in enumerate(letters):
        each = belongs.get(letter)
        if each is None:
            permutation.append(place)
            new_shape.append(shape[place])
            new += letter
        elif any(c not in letters for c in each.old):
            return None
        elif letter == each.old[0]:
            places = [letters.index(c) for c in each.old]
            new_sizes = each.sizes_for(permute(places, shape))
            if new_sizes is None:
                return None
            permutation.extend(places)
            new_shape.extend(new_sizes)
            new += each.new
    return RelabeledTensor(tuple(permutation), tuple(new_shape), new)


def _rename_inputs(
    equation: Equation, op: EinsumOp, renamings: Sequence[LabelSubstitution]
) -> list[RelabeledTensor] | None:
    """The inputs with new letters, if each of them can have them."""
    found = [
        rename(part, sizes(value), renamings)
        for part, value in zip(equation.inputs, op.inputs, strict=True)
    ]
    done = [each for each in found if each is not None]
    return done if len(done) == len(found) else None


def _splits(op: ReshapeOp, equation: Equation) -> list[LabelSubstitution] | None:
    """What a reshape does to an einsum's result, in letters."""
    before, after = sizes(op.input), sizes(op.result)
    found, fresh = groups(before, after), equation.fresh()
    if found is None or all(len(each.source) == len(each.result) for each in found):
        return None
    renamings = [
        LabelSubstitution(
            "".join(permute(each.source, equation.result)),
            permute(each.source, before),
            "".join(letter for _, letter in zip(each.result, fresh, strict=False)),
            permute(each.result, after),
        )
        for each in found
    ]
    short = any(len(each.new) < len(each.new_sizes) for each in renamings)
    return None if short else renamings


def _up(op: ReshapeOp, rewriter: PatternRewriter) -> bool:
    """`reshape(einsum(x, y))` is `einsum(reshape(transpose(x)), reshape(transpose(y)))`."""
    einsum = defining_op(op.input, EinsumOp)
    if einsum is None or not op.input.has_one_use():
        return False
    equation = equation_of(einsum)
    renamings = _splits(op, equation)
    parts = None if renamings is None else _rename_inputs(equation, einsum, renamings)
    if (
        renamings is None
        or parts is None
        or any(num_dynamic_dims(part.shape) > 1 for part in parts)
    ):
        return False
    inputs = [
        make_plain_reshape(make_transpose(value, part.permutation, rewriter), part.shape, rewriter)
        for value, part in zip(einsum.inputs, parts, strict=True)
    ]
    result = "".join(each.new for each in renamings)
    renamed = Equation(tuple(part.letters for part in parts), result)
    return replace_einsum(op, inputs, renamed, rewriter)


def _merges(op: EinsumOp, equation: Equation) -> dict[str, LabelSubstitution] | None:
    """What the reshapes of an einsum's inputs did, in letters, undone; None if they disagree."""
    fresh, known = equation.fresh(), dict[str, LabelSubstitution]()
    for each in _inverse_renamings(op, equation):
        if each is None:
            return None
        if each.old not in known:
            letters = "".join(letter for _, letter in zip(each.new_sizes, fresh, strict=False))
            known[each.old] = replace(each, new=letters)
            if len(letters) < len(each.new_sizes):
                return None
        elif known[each.old].new_sizes != each.new_sizes:
            return None
    letters = "".join(known)
    return known if len(set(letters)) == len(letters) else None


def _inverse_renamings(op: EinsumOp, equation: Equation) -> Iterator[LabelSubstitution | None]:
    """What each reshape did, without new letters; None where one has no place for them."""
    for part, value in zip(equation.inputs, op.inputs, strict=True):
        reshape = defining_op(value, ReshapeOp)
        if reshape is None:
            continue
        before, after = sizes(reshape.input), sizes(value)
        found = groups(before, after)
        if found is None or 1 in before or 1 in after:
            yield None
            return
        for each in found:
            old, new = permute(each.result, after), permute(each.source, before)
            if old != new:
                yield LabelSubstitution("".join(permute(each.result, part)), old, "", new)


def _skip_reshapes(value: SSAValue) -> SSAValue:
    """What reshapes have made a value of."""
    while (reshape := defining_op(value, ReshapeOp)) is not None:
        value = reshape.input
    return value


def _cheaper(op: EinsumOp, parts: Sequence[RelabeledTensor]) -> bool:
    """Whether reshapes of the inputs as they were before cost less than those that are there."""
    spent = sum(cost(value) for value in op.inputs if defining_op(value, ReshapeOp) is not None)
    bases = [_skip_reshapes(value) for value in op.inputs]
    new = sum(
        cost(base) for base, part in zip(bases, parts, strict=True) if sizes(base) != part.shape
    )
    return new < spent


def _down(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """`einsum(reshape(x), y)` is `transpose(reshape(einsum(x, reshape(transpose(y)))))`."""
    if any(num_dynamic_dims(sizes(value)) for value in op.inputs):
        return False
    equation, before = equation_of(op), sizes(op.result)
    merges = _merges(op, equation)
    if not merges:
        return False
    renamings = tuple(merges.values())
    parts = _rename_inputs(equation, op, renamings)
    result = rename(equation.result, before, renamings)
    if parts is None or result is None or not _cheaper(op, parts):
        return False
    inputs = [
        make_plain_reshape(
            _skip_reshapes(make_transpose(value, part.permutation, rewriter)), part.shape, rewriter
        )
        for value, part in zip(op.inputs, parts, strict=True)
    ]
    renamed = Equation(tuple(part.letters for part in parts), result.letters)
    new = reshaped_einsum(op, inputs, renamed, result.shape, rewriter)
    merged = make_plain_reshape(new, permute(result.permutation, before), rewriter)
    return rewriter.replace(op, make_transpose(merged, inverse(result.permutation), rewriter))


OPERANDS = Pattern("take-operands", EinsumOp, _take_operands, "an einsum transposes for nothing")
RESULT = Pattern("take-result", TransposeOp, _take_result, "an einsum transposes for nothing")
ORDER_RESULT = Pattern("order-result", EinsumOp, _order_result, "products sort", benefit=0)
ORDER_OPERANDS = Pattern("order-operands", EinsumOp, _order_operands, "products sort", benefit=0)
UNITS = Pattern("drop-units", EinsumOp, _drop_units, "reshapes can move on")
COLLAPSE = Pattern("take-collapse", EinsumOp, _take_collapse, "no op for a dimension of size 1")
EXPAND = Pattern("take-expand", ExpandRankOp, _take_expand, "no op for a dimension of size 1")
UP = Pattern("reshape-up", ReshapeOp, _up, "closer to the reshapes of the inputs")
DOWN = Pattern("reshape-down", EinsumOp, _down, "closer to the reshapes of what uses it")
