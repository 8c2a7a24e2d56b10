"""Contractions: einsum on dot_general.

Invariant: the equation names its result; everything else is refused.
"""

from collections.abc import Sequence

from tripybuild.stablehlo.broadcast import broadcast_in_dim
from tripybuild.stablehlo.comparison import equal, select
from tripybuild.stablehlo.constants import iota
from tripybuild.stablehlo.linear import dot_general
from tripybuild.stablehlo.reductions import reduce
from tripybuild.stablehlo.shapes import transpose
from tripybuild.stablehlo.value import HloValue
from tripybuild.types import dtypes


def einsum(inputs: Sequence[HloValue], equation: str) -> HloValue:
    """Multiply the inputs and sum over the labels that the result lacks: `bij,bjk->bik`."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow or len(terms) != len(inputs):
        raise ValueError(f"{equation!r} does not name {len(inputs)} inputs and a result")
    for term, value in zip(terms, inputs, strict=True):
        if not set(term) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"):
            raise ValueError(f"{term!r} is not made of letters")
        if len(term) != value.rank:
            raise ValueError(f"{term!r} does not name the dimensions of shape {value.shape}")
    if len(set(result)) != len(result) or not set(result) <= set(left):
        raise ValueError(f"{equation!r} has a result that its inputs do not give")
    pairs = [_diagonals(value, term) for value, term in zip(inputs, terms, strict=True)]
    terms = [term for _, term in pairs]
    sizes = _sizes([value for value, _ in pairs], terms)
    values = [_expand_labels(value, term, sizes) for value, term in pairs]
    value, term = _reduce_labels(values[0], terms[0], {*result, *"".join(terms[1:])})
    for i in range(1, len(values)):
        needed = {*result, *"".join(terms[i + 1 :])}
        other, labels = _reduce_labels(values[i], terms[i], {*needed, *term})
        value, term = _product(value, term, other, labels, needed)
    value, term = _reduce_labels(value, term, set(result))
    return transpose(value, [term.index(label) for label in result])


def _diagonals(value: HloValue, term: str) -> tuple[HloValue, str]:
    """The diagonal along each label that the term repeats."""
    for last in range(len(term) - 1, 0, -1):
        first = term.index(term[last])
        if first < last:
            if value.shape[first] != value.shape[last]:
                raise ValueError(f"{term!r} names no diagonal of shape {value.shape}")
            rows, columns = [iota(value.shape, dim, dtypes.int32) for dim in (first, last)]
            value = reduce(select(equal(rows, columns), value, 0), [last], "sum")
            term = term[:last] + term[last + 1 :]
    return value, term


def _sizes(inputs: Sequence[HloValue], terms: Sequence[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for term, value in zip(terms, inputs, strict=True):
        for label, size in zip(term, value.shape, strict=True):
            known = sizes.get(label, 1)
            if size not in (1, known) and known != 1:
                raise ValueError(f"`{label}` is both {known} and {size}")
            sizes[label] = known if size == 1 else size
    return sizes


def _expand_labels(value: HloValue, term: str, sizes: dict[str, int]) -> HloValue:
    return broadcast_in_dim(value, [sizes[label] for label in term], range(len(term)))


def _reduce_labels(value: HloValue, term: str, needed: set[str]) -> tuple[HloValue, str]:
    """Sum over labels that occur in no other operand or result."""
    dims = [dim for dim, label in enumerate(term) if label not in needed]
    rest = "".join(label for label in term if label in needed)
    return reduce(value, dims, "sum"), rest


def _product(
    lhs: HloValue, left: str, rhs: HloValue, right: str, needed: set[str]
) -> tuple[HloValue, str]:
    shared = [label for label in left if label in right]
    batch = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]
    places = [
        [[term.index(x) for x in labels] for term in (left, right)] for labels in (summed, batch)
    ]
    product = dot_general(lhs, rhs, places[0], places[1])
    free = [label for label in left + right if label not in shared]
    return product, "".join([*batch, *free])
