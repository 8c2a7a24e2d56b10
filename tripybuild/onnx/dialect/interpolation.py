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
from tripybuild.onnx.dialect.compositions import holds, tensor
from tripybuild.onnx.dialect.indexing import arange, reshape
from tripybuild.onnx.value import OnnxValue, Size
from tripybuild.symbolic.dims import same
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
    options = {"cubic_coeff_a": coefficient} if kind == "cubic" else {}
    y = _resize(wide, shape, mode=kind, coordinate_transformation_mode=where, **options)
    if wide is input:
        return y
    whole = call("Clip", call("Round", y), float(input.dtype.lowest), float(input.dtype.highest))
    return convert(whole, input.dtype)


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
