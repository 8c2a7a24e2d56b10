"""Interpolation: `onnx.resample`, as `hlo.resample` has it, by `Resize`.

Invariant: where the elements of a resized tensor lie follows from the two sizes of a dimension
alone, so `Resize` is given sizes, and scales only where those are whole numbers: runtimes do more
with a constant. It computes places in float32: the nearest elements are so taken by indices that
are computed in integers, but where nothing is rounded.
"""

from collections.abc import Sequence
from typing import Any

from tripybuild.onnx.builder import current
from tripybuild.onnx.dialect.calls import call, convert
from tripybuild.onnx.dialect.compositions import holds, runs_in, tensor
from tripybuild.onnx.dialect.control import if_
from tripybuild.onnx.dialect.indexing import arange, reshape
from tripybuild.onnx.dialect.reductions import has_finite_sum
from tripybuild.onnx.value import OnnxValue, Size
from tripybuild.symbolic.dims import maximum, same
from tripybuild.types.dtypes import float32, int64
from tripybuild.types.shapes import prod

ROUNDING = {
    "floor": "floor",
    "ceil": "ceil",
    "half_up": "round_prefer_ceil",
    "half_down": "round_prefer_floor",
}
CENTERED = frozenset({"half_pixel", "pytorch_half_pixel"})
NEAREST = frozenset({"half_up", "half_down"})
# Beyond these sides, ONNX Runtime's `Resize` is faster than products with matrices of weights.
LONGEST_SIDE, LONGEST_SIDE_OF_CURVES = 64, 1024


def resample(
    input: OnnxValue,
    shape: Sequence[Size],
    kind: str,
    coordinates: str,
    selector: str = "formula",
    rounding: str = "floor",
    coefficient: float = -0.75,
) -> OnnxValue:
    """The input in another shape of the same rank, of which the last two or three sizes differ.

    Args:
        input: Numbers of any dtype; integers are rounded to the nearest, and kept in range.
        shape: The sizes of the result.
        kind: `nearest`, `linear` or `cubic`.
        coordinates: `align_corners`, `asymmetric` or `half_pixel`.
        selector: `upper` if a single element is the first one, whatever `coordinates` says.
        rounding: `half_up`, `half_down`, `floor` or `ceil`: what is nearest.
        coefficient: The slope of the cubic kernel at its first zero.
    """
    # It is `half_pixel`, but for a single element.
    upper = selector == "upper" and coordinates == "half_pixel"
    where = "pytorch_half_pixel" if upper else coordinates
    if kind == "nearest":
        return _nearest(input, shape, where, rounding)
    wide = convert(input, float32) if input.dtype.kind == "integer" else input
    y = _interpolate(wide, shape, kind, where, coefficient)
    if wide is input:
        return y
    whole = call("Clip", call("Round", y), float(input.dtype.lowest), float(input.dtype.highest))
    return convert(whole, input.dtype)


def _interpolate(
    input: OnnxValue, shape: Sequence[Size], kind: str, where: str, coefficient: float
) -> OnnxValue:
    """Interpolate by `Resize`, or by matrices where the engine is faster so.

    A product with a matrix spreads what is not finite, and takes longer the longer the sides are.
    """
    options = {"cubic_coeff_a": coefficient} if kind == "cubic" else {}

    def resize() -> OnnxValue:
        return _resize(input, shape, mode=kind, coordinate_transformation_mode=where, **options)

    old = input.shape or ()
    axes = [axis for axis, each in enumerate(old) if not same(each, shape[axis])]
    sides = [old[axis] for axis in axes]
    longest = LONGEST_SIDE_OF_CURVES if kind == "cubic" else LONGEST_SIDE
    is_long = any(holds(each > longest) for each in sides)
    if not (runs_in("onnxruntime") and input.dtype is float32) or is_long:
        return resize()
    if not axes or len(old) - axes[0] > 2:
        return resize()

    def multiply() -> OnnxValue:
        y = input
        for axis in reversed(axes):
            taps = _taps(old[axis], shape[axis], kind, where, coefficient)
            y = _weigh(y, taps, old[axis], is_last=axis == len(old) - 1)
        return y

    fits = has_finite_sum(input)
    for each in sides:
        if not holds(each <= longest):
            is_short = call("LessOrEqual", tensor(each, int64), longest)
            fits = call("And", fits, is_short)
    return if_(fits, multiply, resize)[0]


Taps = list[tuple[OnnxValue, OnnxValue]]


def _taps(length: Size, resized: Size, kind: str, where: str, coefficient: float) -> Taps:
    """Which elements are summed up for each new one, and what weights they have."""
    step: Size
    start: Size
    unit: Size
    if where == "align_corners":
        step, start, unit = length - 1, 0, resized - 1
    elif where == "asymmetric":
        step, start, unit = length, 0, resized
    else:
        step, start, unit = 2 * length, length - resized, 2 * resized
    unit = maximum(unit, 1)
    scale, offset, whole = [tensor(each, int64) for each in (step, start + unit, unit)]
    numerators = arange(resized, int64) * scale + offset  # of places and 1, so none is negative
    if where == "pytorch_half_pixel":
        numerators = call("Where", tensor(resized, int64) > 1, numerators, whole)
    first = numerators / whole - 1
    rest = convert(numerators % whole, float32) / convert(whole, float32)
    is_cubic = kind == "cubic"
    weights = _cubic_weights(rest, coefficient) if is_cubic else [1 - rest, rest]
    begin = -1 if is_cubic else 0
    last = tensor(length - 1, int64)
    places = [
        call("Min", call("Max", first + n, 0), last) for n in range(begin, begin + len(weights))
    ]
    return list(zip(places, weights, strict=True))


def _cubic_weights(rest: OnnxValue, coefficient: float) -> list[OnnxValue]:
    """Those of the elements at -1, 0, 1 and 2, for a place between the middle two."""

    def near(x: OnnxValue) -> OnnxValue:
        return (x * (coefficient + 2) - (coefficient + 3)) * x * x + 1

    def far(x: OnnxValue) -> OnnxValue:
        return ((x - 5) * x + 8) * x * coefficient - 4 * coefficient

    return [far(rest + 1), near(rest), near(1 - rest), far(2 - rest)]


def _weigh(input: OnnxValue, taps: Taps, length: Size, *, is_last: bool) -> OnnxValue:
    """The product of values and the matrix of weights, along the last dimension or that before."""
    axis = 0 if is_last else 1
    numbers = call("Unsqueeze", arange(length, int64), [1 - axis])
    parts = []
    for place, weight in taps:
        here, each = (call("Unsqueeze", x, [axis]) for x in (place, weight))
        parts.append(call("Where", call("Equal", here, numbers), each, 0.0))
    matrix = parts[0]
    for part in parts[1:]:
        matrix = matrix + part
    product: OnnxValue = input @ matrix if is_last else matrix @ input
    return product


def _resize(input: OnnxValue, shape: Sequence[Size], **options: object) -> OnnxValue:
    """`Resize` of images: runtimes interpolate along two or three last dimensions only."""
    old = input.shape or ()
    deep = options["mode"] != "cubic" and len(old) > 2 and not holds(old[-3] == shape[-3])
    count = 3 if deep else 2
    sizes = [list(old), list(shape)]
    flat = len(old) not in {count, count + 2}
    if flat:
        lead, ones = prod(old[:-count]), [1] * (count - len(old))
        sizes = [[lead, 1, *ones, *each[-count:]] for each in (old, shape)]
        input = reshape(input, sizes[0])
    y: OnnxValue = call("Resize", input, sizes=sizes[1], **options)
    return reshape(y, shape) if flat else y


def _nearest(input: OnnxValue, shape: Sequence[Size], where: str, rounding: str) -> OnnxValue:
    sizes = list(zip(input.shape or (), shape, strict=True))
    repeats = all(same(n, m) or (holds(n != 0) and holds(m % n == 0)) for n, m in sizes)
    if repeats and where in CENTERED and rounding in NEAREST:
        where, rounding = "asymmetric", "floor"  # no place is in the middle of two
    if repeats or where == "align_corners":
        options = {"coordinate_transformation_mode": where, "nearest_mode": ROUNDING[rounding]}
        kept: OnnxValue = call(
            "Resize", input, **_new_sizes(sizes, where), mode="nearest", **options
        )
        return kept
    y = input
    for axis, (length, resized) in enumerate(sizes):
        if not holds(length == resized):
            places = _nearest_places(length, resized, where, rounding)
            y = call("Gather", y, places, axis=axis)
    return y


def _new_sizes(sizes: Sequence[tuple[Size, Size]], where: str) -> dict[str, Any]:
    """How often elements are repeated, where that is known, and else the new sizes."""
    if where != "align_corners":
        scales = [1 if same(n, m) else m // n for n, m in sizes]
        if all(isinstance(each, int) for each in scales):
            return {"scales": list(map(float, scales))}
    return {"sizes": [m for _, m in sizes]}


def _nearest_places(length: Size, resized: Size, where: str, rounding: str) -> OnnxValue:
    """The indices of the nearest elements, as quotients of integers that are not negative."""
    if where == "asymmetric":
        half, step, start = resized, 2 * length, 0 * length
    else:
        half, step, start = 2 * resized, 4 * length, 2 * length - 2 * resized
    more = {"floor": 0, "ceil": 2 * half - 1, "half_up": half, "half_down": half - 1}[rounding]
    scale, offset, whole = [tensor(each, int64) for each in (step, start + more, 2 * half)]
    numerators = arange(resized, int64) * scale + offset
    places: OnnxValue = call("Clip", numerators / whole, 0, length - 1)
    if where == "pytorch_half_pixel" and holds(resized == 1):
        first: OnnxValue = current().numbers([0], int64)
        return first
    return places
