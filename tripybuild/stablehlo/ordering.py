"""Sorting: sort and top_k.

Invariant: equal elements stay in the order that they had, and NaN comes last in either direction.
"""

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.comparison import convert, equal, greater, less, not_equal, select
from tripybuild.stablehlo.constants import iota
from tripybuild.stablehlo.elementwise import negate, not_
from tripybuild.stablehlo.indexing import take_along
from tripybuild.stablehlo.module import integer
from tripybuild.stablehlo.operands import check_dims
from tripybuild.stablehlo.regions import emit_regions
from tripybuild.stablehlo.shapes import transpose
from tripybuild.stablehlo.value import HloValue
from tripybuild.types import dtypes

INT32 = dtypes.BY_NAME["int32"]


def sort(input: HloValue, dim: int, descending: bool = False) -> HloValue:
    """The elements along one dimension in ascending, or descending, order."""
    return _stable_sort([input], dim, descending)[0]


def sort_places(input: HloValue, dim: int, descending: bool = False) -> tuple[HloValue, ...]:
    """The elements in order, and where they were, as int32."""
    check_dims(input, [dim])
    return _stable_sort([input, iota(input.shape, dim, INT32)], dim, descending)


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
    results = [(ranks.dtype, shape), (INT32, shape)]
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
