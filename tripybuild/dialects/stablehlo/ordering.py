"""Elements in order: sort and top_k.

Law: equal elements stay in the order that they had, and NaN comes last in either direction.
"""

from collections.abc import Sequence
from typing import Any

from tripybuild.dialects.stablehlo import bindings
from tripybuild.dialects.stablehlo.choice import greater, less, not_equal
from tripybuild.dialects.stablehlo.constants import iota
from tripybuild.dialects.stablehlo.elementwise import not_
from tripybuild.dialects.stablehlo.module import emit_regions, integer
from tripybuild.dialects.stablehlo.operands import check_dims
from tripybuild.dialects.stablehlo.slices import slice
from tripybuild.dialects.stablehlo.value import Value
from tripybuild.types import dtypes

INT32 = dtypes.BY_NAME["int32"]


def sort(input: Value, dim: int, descending: bool = False) -> Value:
    """The elements along one dimension in ascending, or descending, order."""
    return _sorted([input], dim, descending)[0]


def top_k(input: Value, k: int, dim: int, largest: bool = True) -> tuple[Value, Value]:
    """The `k` largest (or smallest) elements in order, and their positions as int32."""
    check_dims(input, [dim])
    if not 0 <= k <= input.shape[dim]:
        raise ValueError(f"there are no {k} elements along dimension {dim} of {input.shape}")
    places = iota(input.shape, dim, INT32)
    values, indices = _sorted([input, places], dim, largest)
    limit = [k if i == dim else n for i, n in enumerate(input.shape)]
    start = [0] * input.rank
    return slice(values, start, limit), slice(indices, start, limit)


def _sorted(values: Sequence[Value], dim: int, descending: bool) -> tuple[Value, ...]:
    check_dims(values[0], [dim])
    attributes: dict[str, Any] = {
        "dimension": integer(dim),
        "is_stable": bindings.ir.BoolAttr.get(True),
    }
    takes = [(value.dtype, ()) for value in values for _ in range(2)]

    def comes_first(first: Value, second: Value, *_: Value) -> list[Value]:
        before = greater(first, second) if descending else less(first, second)
        if first.dtype.kind == "float":
            before = before | (not_(not_equal(first, first)) & not_equal(second, second))
        return [before]

    results = [(value.dtype, value.shape) for value in values]
    return emit_regions("stablehlo.sort", values, results, [(takes, comes_first)], attributes)
