"""Differences of arrays, and the tolerances that they are held against.

An element agrees if `|a - b| <= absolute + relative * max(|b|, rms)`, where `rms` is the root mean
square of what it is compared with: elements near zero, which cancellation leaves, are measured
against the size of their tensor. NaN agrees with NaN alone, and an infinity with the same one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tripybuild.artifact.call_signature import Array
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.schema.files import ToleranceEntry
from tripybuild.trace.graph import Graph
from tripybuild.trace.region import walk_operations
from tripybuild.types.dtypes import dtype, floating, from_numpy

# How far a whole model may be off in each dtype, as a part of the root mean square.
MODEL_TOLERANCE: Mapping[str, float] = {
    "float64": 1e-10,
    "float32": 1e-5,
    "float16": 1e-2,
    "bfloat16": 8e-2,
    "float8": 0.3,
    "float4": 0.5,
}
_WHOLE = frozenset("biu")
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@dataclass(frozen=True, slots=True)
class Witness:
    """The first element that is beyond the tolerance, and what it is on both sides."""

    index: tuple[int, ...]
    one: float | int | bool
    other: float | int | bool


@dataclass(frozen=True, slots=True)
class ArrayDifference:
    """How two arrays differ; what is no finite number is counted, and not measured.

    Args:
        name: What the array is called.
        shapes: Both shapes.
        dtypes: Both dtypes, by name.
        greatest: The largest difference of two finite elements.
        average: The mean of all those.
        relative: The largest part of an element, or of the root mean square where that is more:
            what a relative tolerance bounds.
        scaled: The largest one as a part of the root mean square.
        cosine: That of the angle between both as vectors; None where one is zero.
        ulps: The most numbers of the coarser dtype that lie between two elements, of those that
            are as large as the root mean square; None of those that are no floats.
        unequal: How many elements are not the same.
        outside: How many are beyond the tolerance.
        nans: How many are NaN on either side.
        infinities: How many are infinite on either side.
        witness: The first that is beyond the tolerance.
    """

    name: str
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    dtypes: tuple[str, str]
    greatest: float = 0.0
    average: float = 0.0
    relative: float = 0.0
    scaled: float = 0.0
    cosine: float | None = None
    ulps: int | None = None
    unequal: int = 0
    outside: int = 0
    nans: tuple[int, int] = (0, 0)
    infinities: tuple[int, int] = (0, 0)
    witness: Witness | None = None

    @property
    def agrees(self) -> bool:
        """Whether the shapes are one, and each element is within the tolerance."""
        return self.shapes[0] == self.shapes[1] and not self.outside


def coarsest(graphs: Iterable[Graph]) -> str | None:
    """The float with the fewest bits that programs compute in; None where they have no floats."""
    found: set[dtype] = set()
    for graph in graphs:
        values = [*graph.inputs.values(), *graph.weights.values()]
        values += [out for each in walk_operations(graph.operations) for out in each.outputs]
        found |= {each.dtype for each in values if issubclass(each.dtype, floating)}
    return finest_common(found).name if found else None


def finest_common(kinds: Iterable[dtype]) -> dtype:
    """The float whose numbers all of these floats are about as fine as, or finer."""
    return min((each for each in kinds if issubclass(each, floating)), key=_precision)


def _precision(kind: dtype) -> float:
    """How fine a float is: its distance from 1 to the next number, negated."""
    import ml_dtypes  # noqa: PLC0415 - `finfo` of all dtypes

    return -float(ml_dtypes.finfo(kind.numpy).eps)


def model_tolerance(
    kind: str | None,
    given: Mapping[str, float] | None = None,
    absolute: float | None = None,
    relative: float | None = None,
) -> ToleranceEntry:
    """What holds for models that compute in a dtype.

    Args:
        kind: The coarsest dtype that takes part; None is exact.
        given: What a spec says below `test: tolerance:`.
        absolute: What the user says, whatever the dtype.
        relative: The same.
    """
    own = {**MODEL_TOLERANCE, **(given or {})}
    usual = 0.0 if kind is None else own.get(kind, MODEL_TOLERANCE["float8"])
    return ToleranceEntry(
        relative=usual if relative is None and absolute is None else relative or 0.0,
        absolute=absolute or 0.0,
    )


def compare_arrays(name: str, one: Array, other: Array, within: ToleranceEntry) -> ArrayDifference:
    """Compare an array with another one, element by element."""
    head = (tuple(one.shape), tuple(other.shape)), (_dtype_name(one), _dtype_name(other))
    if one.shape != other.shape:
        return ArrayDifference(name, *head)
    a, b = _wide(one), _wide(other)
    finite = np.isfinite(a) & np.isfinite(b)
    exact = one.dtype.kind in _WHOLE and other.dtype.kind in _WHOLE
    same = (one == other) if exact else (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        apart = np.where(finite, np.abs(a - b), 0.0)
        if exact:  # float64 has not all of them
            apart = np.where(same, 0.0, np.maximum(apart, 1.0))
        rms = _root_mean_square(b)
        limit = within.absolute + within.relative * np.maximum(np.abs(b), rms)
        outside = ~same & ~(finite & (apart <= limit))
        scale = rms or _root_mean_square(a) or 1.0
        relative = np.where(finite, apart / np.maximum(np.abs(b), scale), 0.0)
    witness = None
    if outside.any():
        index = tuple(int(i) for i in np.argwhere(outside)[0])
        witness = Witness(index, one[index].item(), other[index].item())
    return ArrayDifference(
        name,
        *head,
        greatest=_largest(apart),
        average=float(apart[finite].mean()) if finite.any() else 0.0,
        relative=_largest(relative),
        scaled=_largest(apart) / scale,
        cosine=_cosine(a[finite], b[finite]),
        ulps=_ulps(one, other, finite & (np.abs(b) >= rms)),
        unequal=int(np.count_nonzero(~same)),
        outside=int(np.count_nonzero(outside)),
        nans=(int(np.isnan(a).sum()), int(np.isnan(b).sum())),
        infinities=(int(np.isinf(a).sum()), int(np.isinf(b).sum())),
        witness=witness,
    )


def match_outputs(
    one: Mapping[str, Array] | Sequence[Array], other: Mapping[str, Array] | Sequence[Array]
) -> tuple[list[tuple[str, Array, Array]], bool]:
    """Outputs of both sides by their names, or by their order; and whether they have one name.

    Raises:
        DiagnosticError: There are more of them on one side.
    """
    names = [list(each) if isinstance(each, Mapping) else None for each in (one, other)]
    if names[0] is not None and names[1] is not None and set(names[0]) == set(names[1]):
        assert isinstance(one, Mapping)
        assert isinstance(other, Mapping)
        return [(name, np.asarray(one[name]), np.asarray(other[name])) for name in one], True
    if len(one) != len(other):
        counts = map(str, map(len, (one, other)))
        told = [", ".join(each or [n]) for each, n in zip(names, counts, strict=True)]
        message = f"the outputs cannot be matched: one side has {told[0]}, the other {told[1]}"
        raise DiagnosticError(Diagnostic("wrong-value", message))
    arrays = [list(e.values()) if isinstance(e, Mapping) else list(e) for e in (one, other)]
    shown = names[0] or names[1] or [str(number) for number in range(len(one))]
    pairs = zip(shown, *arrays, strict=True)
    return [(name, np.asarray(a), np.asarray(b)) for name, a, b in pairs], False


def compare_outputs(
    pairs: Iterable[tuple[str, Array, Array]], within: ToleranceEntry
) -> Iterator[ArrayDifference]:
    """Compare matched outputs."""
    return (compare_arrays(name, one, other, within) for name, one, other in pairs)


def _wide(array: Array) -> Array:
    """The elements in float64, which has no integers of more than 53 bits."""
    return array.astype(np.float64)


def _dtype_name(array: Array) -> str:
    return _kind(array).name


def _kind(array: Array) -> dtype:
    return from_numpy(array.dtype)


def _largest(values: Array) -> float:
    return float(values.max()) if values.size else 0.0


def _root_mean_square(values: Array) -> float:
    finite = values[np.isfinite(values)]
    return float(np.sqrt(np.mean(np.square(finite)))) if finite.size else 0.0


def _cosine(a: Array, b: Array) -> float | None:
    """The cosine of two vectors, scaled before so that squares stay finite."""
    highest = [_largest(np.abs(each)) for each in (a, b)]
    if not all(highest):
        return None
    a, b = a / highest[0], b / highest[1]
    return float(min(1.0, a.ravel() @ b.ravel() / np.sqrt((a * a).sum() * (b * b).sum())))


def _ulps(one: Array, other: Array, where: Array) -> int | None:
    """How many numbers of the coarser dtype lie between elements: their codes are in order."""
    floats = [each for each in map(_kind, (one, other)) if issubclass(each, floating)]
    if len(floats) != 2 or not where.any():
        return None
    coarse = finest_common(floats).numpy
    codes = [_ordered(each[where].astype(coarse)) for each in (one, other)]
    return int(np.abs(codes[0] - codes[1]).max())


def _ordered(array: Array) -> Any:
    """Integers in the order of the floats: sign and magnitude, as IEEE 754 has them."""
    bits = array.view(_UNSIGNED[array.dtype.itemsize])
    sign = 1 << (8 * array.dtype.itemsize - 1)
    magnitude = (bits & bits.dtype.type(sign - 1)).astype(np.int64)
    return np.where(bits & bits.dtype.type(sign), -magnitude, magnitude)
