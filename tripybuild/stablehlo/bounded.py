"""Bounded sizes: a program for the largest of sizes, which serves the smaller ones as well.

Invariant: of each value, what lies below the true size in each dimension is what the program of the
true sizes computes there; what lies beyond is anything, NaN included. Each operation keeps that by
itself: it reads no element from beyond, or reads a neutral one in its place. So arguments may be
padded with anything, and results are cut. An operation that has no rule here is refused.

Sizes are symbols while operations are built, and each comparison holds for all that they can be: a
lowering that goes another way for one of them cannot be decided, and is refused as well.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tripybuild.stablehlo import bindings
from tripybuild.stablehlo.bounded_moves import (
    Results,
    Size,
    UnboundedOperation,
    concatenate_parts,
    is_dynamic,
    mask_beyond,
    pad_edges,
    places_below,
    require,
    reshape_groups,
    reverse_true,
    size_array,
    slice_part,
    take_part,
    update_part,
)
from tripybuild.stablehlo.broadcast import broadcast_in_dim
from tripybuild.stablehlo.comparison import (
    convert,
    equal,
    floor_divide,
    greater,
    greater_equal,
    less,
    less_equal,
    not_equal,
    select,
)
from tripybuild.stablehlo.constants import constant
from tripybuild.stablehlo.elementwise import Binary, and_, maximum, minimum, multiply, or_
from tripybuild.stablehlo.module import Emission, SizeArray, current
from tripybuild.stablehlo.reductions import neutral
from tripybuild.stablehlo.shapes import concatenate, reshape
from tripybuild.stablehlo.value import HloValue, Operand
from tripybuild.symbolic.conditions import Condition
from tripybuild.symbolic.dims import Dim, evaluate, same
from tripybuild.symbolic.polynomials import Atom, Terms
from tripybuild.types import dtypes

Rule = Callable[[Emission], Results]


class BoundedSizes:
    """The sizes of a module that have bounds.

    Args:
        bounds: The largest that each symbol can be.
    """

    def __init__(self, bounds: Mapping[str, int]) -> None:
        self._bounds = bounds
        self.symbols = tuple(sorted(bounds))

    def largest(self, size: Size) -> int:
        """The number that stands in types for a size: what it is for the largest symbols."""
        if not isinstance(size, Dim):
            return int(size)
        number = evaluate(size, self._bounds)
        if size.high is None or size.high > number:
            raise UnboundedOperation(f"{size} may be larger for a smaller size")
        return number

    def scalar(self, size: Dim, dtype: dtypes.dtype) -> HloValue:
        """What a size is in a call."""
        if dtype.kind == "integer" and not _fits(size, dtype):
            raise UnboundedOperation(f"{size} may be outside of {dtype.name}")
        symbols = dict(zip(self.symbols, current().true_sizes, strict=True))
        return convert(_sum(size.terms, symbols), dtype)

    def emit(self, emission: Emission) -> Results:
        """Append an operation, or others for it, whose results are right below the true sizes."""
        if not any(is_dynamic(each) for each in _sizes(emission)):
            return emission.append()
        name = emission.name
        rule = _elementwise if name in _ELEMENTWISE else _RULES.get(name)
        if rule is None:
            raise UnboundedOperation(f"`{name}` mixes what is padded with what is not")
        return rule(emission)


def _fits(size: Dim, dtype: dtypes.dtype) -> bool:
    low, high = size.low, size.high
    return low is not None and high is not None and dtype.lowest <= low and high <= dtype.highest


def _sizes(emission: Emission) -> list[Any]:
    shapes = [each.shape for each in emission.operands] + [shape for _, shape in emission.results]
    lists = [each.sizes for each in emission.attributes.values() if isinstance(each, SizeArray)]
    found = [size for each in (*shapes, *lists) for size in each]
    return [part for each in found for part in (each if isinstance(each, tuple) else (each,))]


def _sum(terms: Terms, symbols: Mapping[str, HloValue]) -> HloValue:
    """The value of a size, as int64."""
    total: HloValue | None = None
    for monomial, coefficient in terms:
        product: Operand = coefficient
        for atom in monomial:
            product = multiply(_atom(atom, symbols), product)
        part = product if isinstance(product, HloValue) else constant(product, dtypes.int64)
        total = part if total is None else total + part
    return constant(0, dtypes.int64) if total is None else total


def _atom(atom: Atom, symbols: Mapping[str, HloValue]) -> HloValue:
    if atom.operator == "symbol":
        symbol = symbols[atom.name]
        return symbol if atom.multiple == 1 else floor_divide(symbol, atom.multiple)
    parts = [_sum(each, symbols) for each in atom.arguments]
    if isinstance(atom.choice, Condition):
        return select(_truth(atom.choice, symbols), *parts)
    return {"//": floor_divide, "max": maximum, "min": minimum}[atom.operator](*parts)


_COMPARE: Mapping[str, Binary] = {
    "==": equal,
    "!=": not_equal,
    "<": less,
    "<=": less_equal,
    ">": greater,
    ">=": greater_equal,
}


def _truth(condition: Condition, symbols: Mapping[str, HloValue]) -> HloValue:
    if condition.sides:
        return _COMPARE[condition.operator](*[_sum(each, symbols) for each in condition.sides])
    first, *rest = [_truth(each, symbols) for each in condition.parts]
    join = and_ if condition.operator == "and" else or_
    for each in rest:
        first = join(first, each)
    return first


def _elementwise(emission: Emission) -> Results:
    shapes = [each.shape for each in emission.operands if each.shape]
    require(all(same(each, emission.results[0][1]) for each in shapes), "shapes differ")
    return emission.append()


def _as_it_is(emission: Emission) -> Results:
    """Each element of a result is that of the same place, whatever the sizes are."""
    return emission.append()


def _broadcast(emission: Emission) -> Results:
    (_, shape), (value,) = emission.results[0], emission.operands
    pairs = zip(value.shape, size_array(emission, "broadcast_dimensions"), strict=True)
    require(all(same(n, 1) or same(n, shape[dim]) for n, dim in pairs), "shapes differ")
    return emission.append()


def _reduce(emission: Emission) -> Results:
    """What is beyond is what the reduction begins with, which changes nothing."""
    count = len(emission.operands) // 2
    values, first = emission.operands[:count], emission.operands[count:]
    dims = size_array(emission, "dimensions")
    masked = [mask_beyond(*pair) for pair in zip(values, [dims] * count, first, strict=True)]
    emission.operands = [*masked, *first]
    return emission.append()


def _reduce_window(emission: Emission) -> Results:
    """Behind the true size, a window sees what it begins with, as it does behind the edge."""
    value, first = emission.operands
    keys = ("window_dimensions", "window_strides", "window_dilations", "padding")
    windows = list(zip(*[size_array(emission, key) for key in keys], strict=True))
    for size, (window, stride, gap, edges) in zip(value.shape, windows, strict=True):
        # One that is as long as the dimension, for running prefixes, begins or ends with it.
        running = same(window, size) and any(same(edges, e) for e in ((size - 1, 0), (0, size - 1)))
        fixed = not any(map(is_dynamic, (window, edges[0])))
        require(fixed or (running and same([stride, gap], [1, 1])), "its windows depend on a size")
    # One element alone is its own window, unless there is something around it.
    seen = [dim for dim, (n, _, _, edges) in enumerate(windows) if not same((n, *edges), (1, 0, 0))]
    emission.operands = [mask_beyond(value, seen, first), first]
    return emission.append()


def _convolution(emission: Emission) -> Results:
    value, weight = emission.operands
    keys = ("window_strides", "lhs_dilation", "rhs_dilation")
    steps = [each for key in keys for each in size_array(emission, key)]
    steps += [low for low, _ in size_array(emission, "padding")]
    require(not any(map(is_dynamic, (value.shape[1], *weight.shape, *steps))), "filters depend")
    emission.operands = [mask_beyond(value, range(2, value.rank), 0), weight]
    return emission.append()


def _dot_general(emission: Emission) -> Results:
    left, right = emission.operands
    numbers = bindings.stablehlo.DotDimensionNumbers(emission.attributes["dot_dimension_numbers"])
    pairs = [
        (list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)),
        (list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)),
    ]
    for ours, theirs in pairs:
        sizes = zip(ours, theirs, strict=True)
        require(all(same(left.shape[a], right.shape[b]) for a, b in sizes), "shapes differ")
    # Of both: zero times infinity would be NaN.
    emission.operands = [mask_beyond(left, pairs[1][0], 0), mask_beyond(right, pairs[1][1], 0)]
    return emission.append()


def _gather(emission: Emission) -> Results:
    """What lies outside is read at the edge, which is that of the true size."""
    value, indices = emission.operands
    numbers = bindings.stablehlo.GatherDimensionNumbers(emission.attributes["dimension_numbers"])
    index, last = list(numbers.start_index_map), int(numbers.index_vector_dim)
    parts = size_array(emission, "slice_sizes")
    pairs = zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True)
    require(all(same(value.shape[a], indices.shape[b]) for a, b in pairs), "shapes differ")
    require(not any(is_dynamic(parts[dim]) for dim in index), "it takes parts")
    room: list[Size] = [value.shape[dim] - parts[dim] for dim in index]
    if any(map(is_dynamic, room)):
        indices = convert(indices, dtypes.int64)
        most = [constant(each, dtypes.int64, [1]) for each in room]
        vector = concatenate(most, 0)
        dims = [last] if last < indices.rank else []
        vector = vector if dims else reshape(vector, ())
        indices = minimum(indices, broadcast_in_dim(vector, indices.shape, dims))
    emission.operands = [value, indices]
    return emission.append()


def _scatter(emission: Emission) -> Results:
    """Updates that are beyond are led outside, where nothing is written."""
    whole, indices, updates = emission.operands
    attribute = emission.attributes["scatter_dimension_numbers"]
    numbers = bindings.stablehlo.ScatterDimensionNumbers(attribute)
    windows = list(numbers.update_window_dims)
    require(not list(numbers.input_batching_dims), "it has batches")
    inserted = list(numbers.inserted_window_dims)
    kept = [size for dim, size in enumerate(whole.shape) if dim not in inserted]
    require(same([updates.shape[dim] for dim in windows], kept), "its updates are parts")
    last = int(numbers.index_vector_dim)
    lead = [dim for dim in range(indices.rank) if dim != last]
    indices = mask_beyond(convert(indices, dtypes.int64), lead, -1)
    emission.operands = [whole, indices, updates]
    return emission.append()


def _top_k(emission: Emission) -> Results:
    (value,) = emission.operands
    # Of equals the first are taken, which are not beyond.
    emission.operands = [mask_beyond(value, [value.rank - 1], neutral("maximum", value.dtype))]
    return emission.append()


def _sort(emission: Emission) -> Results:
    """What is beyond comes last, whatever it is."""
    dim = int(emission.attributes["dimension"].value)
    size: Size = emission.operands[0].shape[dim]
    if not is_dynamic(size):
        return emission.append()
    shape = emission.operands[0].shape
    beyond = broadcast_in_dim(greater_equal(places_below(size), size), shape, [dim])
    beyond = convert(beyond, dtypes.int32)
    ((takes, before),) = emission.regions

    def comes_first(*pair: HloValue) -> Sequence[HloValue]:
        *others, first, second = pair
        (inside,) = before(*others)
        return [less(first, second) | (equal(first, second) & inside)]

    emission.regions = [([*takes, (dtypes.int32, ()), (dtypes.int32, ())], comes_first)]
    emission.operands.append(beyond)
    emission.results.append((dtypes.int32, shape))
    return emission.append()[:-1]


_ELEMENTWISE = frozenset(
    [f"chlo.{name}" for name in ("erf", "erfc", "asin", "acos", "atan", "sinh", "cosh")]
    + ["chlo.asinh", "chlo.acosh", "chlo.atanh"]
    + [f"stablehlo.{name}" for name in ("abs", "add", "and", "atan2", "bitcast_convert", "cbrt")]
    + [f"stablehlo.{name}" for name in ("ceil", "clamp", "compare", "convert", "cosine", "divide")]
    + [f"stablehlo.{name}" for name in ("exponential", "exponential_minus_one", "floor", "power")]
    + [f"stablehlo.{name}" for name in ("is_finite", "log", "log_plus_one", "logistic", "maximum")]
    + [f"stablehlo.{name}" for name in ("minimum", "multiply", "negate", "not", "or", "remainder")]
    + [f"stablehlo.round_nearest_{name}" for name in ("afz", "even")]
    + [f"stablehlo.{name}" for name in ("rsqrt", "select", "shift_left", "shift_right_arithmetic")]
    + ["stablehlo.shift_right_logical"]
    + [f"stablehlo.{name}" for name in ("sign", "sine", "sqrt", "subtract", "tan", "tanh", "xor")]
)
_RULES: Mapping[str, Rule] = {
    "chlo.top_k": _top_k,
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.concatenate": concatenate_parts,
    "stablehlo.convolution": _convolution,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.dynamic_slice": take_part,
    "stablehlo.dynamic_update_slice": update_part,
    "stablehlo.gather": _gather,
    "stablehlo.iota": _as_it_is,
    "stablehlo.pad": pad_edges,
    "stablehlo.reduce": _reduce,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.reshape": reshape_groups,
    "stablehlo.reverse": reverse_true,
    "stablehlo.scatter": _scatter,
    "stablehlo.slice": slice_part,
    "stablehlo.sort": _sort,
    "stablehlo.transpose": _as_it_is,
    "stablehlo.while": _as_it_is,
}
