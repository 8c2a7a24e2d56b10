"""Reshapes moved through einsums: merged or split dimensions get new letters.

Invariant: dimensions that a reshape merges must stand in an input all together, in their full
sizes, or not at all; then a transpose brings them side by side, and the reshape does the same to
the input.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from tripybuild.tensorrt.dialect import EinsumOp, ReshapeOp
from tripybuild.tensorrt.passes.elimination.layouts import (
    make_plain_reshape,
    make_transpose,
    num_dynamic_dims,
    sizes_of,
    type_with_shape,
)
from tripybuild.tensorrt.passes.elimination.permutations import Permutation, inverse, permute
from tripybuild.tensorrt.passes.elimination.reshape_groups import groups
from tripybuild.tensorrt.passes.rewriting.driver import Pattern, PatternRewriter
from tripybuild.tensorrt.passes.rewriting.values import defining_op
from tripybuild.tensorrt.passes.transpose_reshape_elimination.costs import cost
from tripybuild.tensorrt.passes.transpose_reshape_elimination.equations import Equation
from tripybuild.tensorrt.passes.transpose_reshape_elimination.products import equation_of

Shape = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class LabelSubstitution:
    """Letters, with their sizes, that become other letters with other sizes."""

    old: str
    old_sizes: Shape
    new: str
    new_sizes: Shape

    def sizes_for(self, sizes: Shape) -> Shape | None:
        """The new sizes of what has these; None if they are others (one alone may broadcast)."""
        if sizes == self.old_sizes:
            return self.new_sizes
        return (1,) if sizes == (1,) and len(self.new) == 1 else None


@dataclass(frozen=True, slots=True)
class RelabeledTensor:
    """A tensor with other letters: how it is transposed first, and reshaped then."""

    permutation: Permutation
    shape: Shape
    letters: str


def rename(
    letters: str, shape: Shape, renamings: Sequence[LabelSubstitution]
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
            sizes = each.sizes_for(permute(places, shape))
            if sizes is None:
                return None
            permutation.extend(places)
            new_shape.extend(sizes)
            new += each.new
    return RelabeledTensor(tuple(permutation), tuple(new_shape), new)


def _rename_inputs(
    equation: Equation, op: EinsumOp, renamings: Sequence[LabelSubstitution]
) -> list[RelabeledTensor] | None:
    """The inputs with new letters, if each of them can have them."""
    found = [
        rename(part, sizes_of(value), renamings)
        for part, value in zip(equation.inputs, op.inputs, strict=True)
    ]
    done = [each for each in found if each is not None]
    return done if len(done) == len(found) else None


def _splits(op: ReshapeOp, equation: Equation) -> list[LabelSubstitution] | None:
    """What a reshape does to an einsum's result, in letters."""
    before, after = sizes_of(op.input), sizes_of(op.result)
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
    new = rewriter.create(
        EinsumOp,
        inputs,
        equation=str(Equation(tuple(part.letters for part in parts), result)),
        result_types=[op.result.type],
    )
    rewriter.replace(op, new)
    return True


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
        before, after = sizes_of(reshape.input), sizes_of(value)
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
        cost(base) for base, part in zip(bases, parts, strict=True) if sizes_of(base) != part.shape
    )
    return new < spent


def _down(op: EinsumOp, rewriter: PatternRewriter) -> bool:
    """`einsum(reshape(x), y)` is `transpose(reshape(einsum(x, reshape(transpose(y)))))`."""
    if any(num_dynamic_dims(sizes_of(value)) for value in op.inputs):
        return False
    equation, before = equation_of(op), sizes_of(op.result)
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
    new = rewriter.create(
        EinsumOp,
        inputs,
        equation=str(Equation(tuple(part.letters for part in parts), result.letters)),
        result_types=[type_with_shape(op.result, result.shape)],
    )
    merged = make_plain_reshape(new.results[0], permute(result.permutation, before), rewriter)
    rewriter.replace(op, make_transpose(merged, inverse(result.permutation), rewriter))
    return True


UP = Pattern("reshape-up", ReshapeOp, _up, "closer to the reshapes of the inputs")
DOWN = Pattern("reshape-down", EinsumOp, _down, "closer to the reshapes of what uses it")
