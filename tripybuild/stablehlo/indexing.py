"""Gather, scatter and sort: elements at computed indices, and indices of elements in order.

Invariant: an index along one dimension may be negative, as in NumPy, and counts from the end then.
A compiled program cannot raise: what is outside is read at the edge, and written nowhere. Equal
elements stay in the order that they had, and NaN comes last in either direction.
"""

import math
from typing import Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.broadcast import broadcast_shapes, broadcast_to
from tripybuild.stablehlo.comparison import convert, equal, greater, less, not_equal, select
from tripybuild.stablehlo.constants import iota
from tripybuild.stablehlo.elementwise import negate, not_
from tripybuild.stablehlo.module import emit, integer, integers
from tripybuild.stablehlo.operands import check_dims
from tripybuild.stablehlo.reductions import COMBINE, check_kind, is_narrow
from tripybuild.stablehlo.regions import emit_regions
from tripybuild.stablehlo.shapes import concatenate, reshape, transpose
from tripybuild.stablehlo.value import HloValue, same_sizes
from tripybuild.types import dtypes


def _from_start(indices: HloValue, size: int) -> HloValue:
    """Count indices from the start, also those that counted from the end."""
    if indices.dtype.kind != "integer":
        raise ValueError(f"indices must be integers, not {indices.dtype.name}")
    if indices.dtype.lowest == 0:
        return indices
    return select(less(indices, 0), indices + size, indices)


def take(input: HloValue, indices: HloValue, dim: int) -> HloValue:
    """numpy.take: `dim` is replaced by the dimensions of `indices`."""
    if not 0 <= dim < input.rank or (input.shape[dim] == 0 and 0 not in indices.shape):
        raise ValueError(f"nothing to take from dimension {dim} of shape {input.shape}")
    extra = indices.rank
    shape = (*input.shape[:dim], *indices.shape, *input.shape[dim + 1 :])
    offsets = [i for i in range(len(shape)) if not dim <= i < dim + extra]
    numbers = bindings.stablehlo.GatherDimensionNumbers.get(offsets, [dim], [], [], [dim], extra)
    sizes = [*input.shape[:dim], min(input.shape[dim], 1), *input.shape[dim + 1 :]]
    return _gather(input, _from_start(indices, input.shape[dim]), numbers, sizes, shape)


def take_along(input: HloValue, indices: HloValue, dim: int) -> HloValue:
    """numpy.take_along_axis: equal ranks; all other dimensions are matched, or broadcast."""
    if not (0 <= dim < input.rank == indices.rank):
        shapes = f"{input.shape} and {indices.shape}"
        raise ValueError(f"dimension {dim} cannot be taken along shapes {shapes}")
    others = [i for i in range(input.rank) if i != dim]
    common = broadcast_shapes(*[tuple(each.shape[i] for i in others) for each in (input, indices)])
    source = broadcast_to(input, (*common[:dim], input.shape[dim], *common[dim:]))
    where = broadcast_to(indices, (*common[:dim], indices.shape[dim], *common[dim:]))
    if input.shape[dim] == 0 and 0 not in where.shape:
        raise ValueError(f"nothing to take from dimension {dim} of shape {input.shape}")
    numbers = bindings.stablehlo.GatherDimensionNumbers.get(
        [], [dim], others, others, [dim], input.rank
    )
    sizes = [min(size, 1) for size in source.shape]
    return _gather(source, _from_start(where, input.shape[dim]), numbers, sizes, where.shape)


def _gather(
    input: HloValue, indices: HloValue, numbers: Any, sizes: list[int], shape: tuple[int, ...]
) -> HloValue:
    attributes = {"dimension_numbers": numbers, "slice_sizes": integers(sizes)}
    return emit("stablehlo.gather", (input, indices), input.dtype, shape, attributes)


def gather_nd(input: HloValue, indices: HloValue) -> HloValue:
    """`result[*j] = input[*indices[*j]]`: each vector along the last dimension leads somewhere.

    A vector shorter than the input's rank leads to all that is behind it.
    """
    length = _vector_length(input, indices)
    lead, behind = indices.shape[:-1], input.shape[length:]
    if 0 in input.shape[:length] and math.prod(lead) > 0:
        raise ValueError(f"nothing to take from shape {input.shape}")
    dims = list(range(length))
    offsets = [len(lead) + i for i in range(len(behind))]
    numbers = bindings.stablehlo.GatherDimensionNumbers.get(
        offsets, dims, [], [], dims, indices.rank - 1
    )
    sizes = [*(min(size, 1) for size in input.shape[:length]), *behind]
    return _gather(input, indices, numbers, sizes, (*lead, *behind))


def scatter_nd(
    input: HloValue, indices: HloValue, updates: HloValue, kind: str | None = None
) -> HloValue:
    """The input, where `result[*indices[*j]] = updates[*j]` for each vector of indices.

    Which of several updates of one place stays is not said. With a kind of `reduce`, all of them
    are combined with the element that is there.
    """
    if kind is not None:
        check_kind(kind, input.dtype)
        if is_narrow(kind, input.dtype):
            wide, new = (convert(each, dtypes.float32) for each in (input, updates))
            return convert(scatter_nd(wide, indices, new, kind), input.dtype)
    length = _vector_length(input, indices)
    lead = indices.shape[:-1]
    if (
        not same_sizes(updates.shape, (*lead, *input.shape[length:]))
        or updates.dtype is not input.dtype
    ):
        raise ValueError(f"{updates} does not fit {indices} of {input}")
    dims = list(range(length))
    windows = list(range(len(lead), updates.rank))
    numbers = bindings.stablehlo.ScatterDimensionNumbers.get(
        windows, dims, [], [], dims, indices.rank - 1
    )

    def combine(old: HloValue, new: HloValue) -> list[HloValue]:
        return [new if kind is None else COMBINE[kind](old, new)]

    region = ([(input.dtype, ())] * 2, combine)
    return emit_regions(
        "stablehlo.scatter",
        (input, indices, updates),
        [(input.dtype, input.shape)],
        [region],
        {"scatter_dimension_numbers": numbers},
    )[0]


def scatter_along(
    input: HloValue, indices: HloValue, updates: HloValue, dim: int, kind: str | None = None
) -> HloValue:
    """The input, where each update stands at its own place but for `dim`, which its index says.

    `indices` and `updates` have one shape, that is no larger than the input's beside `dim`. `kind`
    is that of `scatter_nd`.
    """
    if not (0 <= dim < input.rank and same_sizes(indices.shape, updates.shape)):
        raise ValueError(f"{updates} cannot be put along dimension {dim} of {input} by {indices}")
    along = _from_start(indices, input.shape[dim])
    shape = indices.shape
    places = [along if i == dim else iota(shape, i, indices.dtype) for i in range(len(shape))]
    vectors = concatenate([reshape(place, [*shape, 1]) for place in places], len(shape))
    return scatter_nd(input, vectors, updates, kind)


def _vector_length(input: HloValue, indices: HloValue) -> int:
    """How many dimensions each vector of indices leads through."""
    if indices.dtype.kind != "integer" or not indices.shape or indices.shape[-1] > input.rank:
        raise ValueError(f"{indices} does not lead into {input}")
    return indices.shape[-1]


def sort(input: HloValue, dim: int, descending: bool = False) -> HloValue:
    """The elements along one dimension in ascending, or descending, order."""
    return _stable_sort([input], dim, descending)[0]


def sort_places(input: HloValue, dim: int, descending: bool = False) -> tuple[HloValue, ...]:
    """The elements in order, and where they were, as int32."""
    check_dims(input, [dim])
    return _stable_sort([input, iota(input.shape, dim, dtypes.int32)], dim, descending)


def _stable_sort(values: list[HloValue], dim: int, descending: bool) -> tuple[HloValue, ...]:
    """The values, all moved as the first one is sorted."""
    check_dims(values[0], [dim])

    def comes_first(first: HloValue, second: HloValue, *_others: HloValue) -> list[HloValue]:
        before = greater(first, second) if descending else less(first, second)
        if first.dtype.kind == "float":
            before = before | (equal(first, first) & not_equal(second, second))
        return [before]

    attributes = {"dimension": integer(dim), "is_stable": bindings.ir.BoolAttr.get(True)}
    scalars = [(value.dtype, ()) for value in values for _ in range(2)]
    types = [(value.dtype, value.shape) for value in values]
    return emit_regions("stablehlo.sort", values, types, [(scalars, comes_first)], attributes)


def top_k(input: HloValue, k: int, dim: int, largest: bool = True) -> tuple[HloValue, HloValue]:
    """The `k` largest (or smallest) elements in order, and their positions as int32.

    NaN ranks with the infinity that comes last.
    """
    check_dims(input, [dim])
    if not 0 <= k <= input.shape[dim]:
        raise ValueError(f"there are no {k} elements along dimension {dim} of {input.shape}")
    rest = [i for i in range(input.rank) if i != dim]
    ranks = transpose(_ranks(input, largest), [*rest, dim])
    shape = (*ranks.shape[:-1], k)
    results = [(ranks.dtype, shape), (dtypes.int32, shape)]
    attributes = {"k": integer(k)}
    _, places = emit_regions("chlo.top_k", [ranks], results, [], attributes)
    back = sorted(range(input.rank), key=[*rest, dim].__getitem__)
    indices = transpose(places, back)
    return take_along(input, indices, dim), indices


def _ranks(input: HloValue, largest: bool) -> HloValue:
    """Numbers whose descending order is the wanted one; float32 where it holds them all.

    The compiler has a fast path for float32 alone, fifty times faster than its sort.
    """
    dtype = input.dtype
    if dtype.bits < 32 or dtype.kind == "boolean":
        input = convert(input, dtypes.float32)
    if input.dtype.kind == "integer":
        return input if largest else not_(input)
    keys = input if largest else negate(input)
    return select(not_equal(keys, keys), float("-inf"), keys) if dtype.kind == "float" else keys
