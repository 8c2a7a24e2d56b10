"""Types: the dtypes of operands, and what a call gives, compared with what the source states.

Operands that share a type variable get one dtype, as the source does in silence: the one that it
states for the result, where the result has the variable. A value is never cast to a lower kind, as
floats to integers, since that would change it.

A result of another type than the source states is a reading that is wrong, and is never passed
over. Only the width of integers is mended, since positions and sizes are narrower here.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from tripybuild.importer.call_program import CallValue
from tripybuild.importer.translation.declarations import Declared
from tripybuild.symbolic.conditions import UndecidedSize
from tripybuild.symbolic.dims import Dim
from tripybuild.trace.values import Size, TensorType
from tripybuild.types.dtypes import (
    bfloat16,
    boolean,
    dtype,
    float4,
    float8,
    float16,
    float32,
    int4,
    int8,
    int32,
    int64,
    uint8,
)
from tripybuild.types.size_range import SizeRange

_KINDS = ("boolean", "integer", "float")
# Dtypes that have all values of others, narrowest first: what is computed there and given back is
# the same, as far as integers wrap, or is rounded less often.
WIDER = {
    float8: (float16, float32),
    float4: (float16, float32),
    float16: (float32,),
    bfloat16: (float32,),
    int4: (int8, int32, int64),
    int8: (int32, int64),
    uint8: (int32, int64),
    int32: (int64,),
}
SAMPLES = 5  # values of each symbol for which sizes are compared
MOST_POINTS = 200


def promoted_dtypes(
    declared: Declared, arguments: Mapping[str, Any], wanted: dtype | None
) -> dict[str, dtype]:
    """The dtype that the tensors of each input are to have, by the names of inputs.

    Args:
        declared: The operator.
        arguments: What is given, by name.
        wanted: What the source says of the dtype of the first result.
    """
    groups: dict[str, list[str]] = {}
    for name, variable in declared.variables.items():
        if arguments.get(name) is not None:
            groups.setdefault(variable, []).append(name)
    found: dict[str, dtype] = {}
    for variable, names in groups.items():
        each = [item for name in names for item in items_of(arguments[name])]
        taken = [item for item in each if not _is_declared(declared, names, item)]
        stated = wanted if variable == declared.result_variable else None
        target = common_dtype(taken, stated)
        if target is not None:
            found.update(dict.fromkeys(names, target))
    return found


def widened_dtypes(
    declared: Declared, arguments: Mapping[str, Any]
) -> Mapping[str, tuple[dtype, dtype]]:
    """The type variables whose operands are of a dtype that the operator does not take.

    Gives that dtype, and the one in which the call is the same, by the names of variables.
    """
    found: dict[str, tuple[dtype, dtype]] = {}
    for name, variable in declared.variables.items():
        taken = declared.operator.types[variable]
        for item in items_of(arguments.get(name)):
            if not isinstance(item, CallValue) or declared.takes(name, item.dtype):
                continue
            if any(isinstance(size, int) and size == 0 for size in item.shape):
                continue  # the largest of nothing is that of the dtype
            wider = [each for each in WIDER.get(item.dtype, ()) if each in taken]
            if item.dtype not in taken and wider:
                found[variable] = item.dtype, wider[0]
    return found


def items_of(value: Any) -> Sequence[Any]:
    """What an argument holds: the values of a list, or the one value."""
    return value if isinstance(value, list | tuple) else [value]


def _is_declared(declared: Declared, names: Sequence[str], value: Any) -> bool:
    """Whether a tensor has a dtype that one of these inputs names itself, as a mask's `bool`."""
    return isinstance(value, CallValue) and any(declared.takes(name, value.dtype) for name in names)


def common_dtype(operands: Iterable[Any], stated: dtype | None) -> dtype | None:
    """The dtype of a computation with some operands; None where they say none.

    Tensors of rank 0 and numbers give the kind alone, where a tensor with dimensions has it, too.
    """
    operands = list(operands)
    tensors = [each for each in operands if isinstance(each, CallValue)]
    numbers = [each for each in operands if isinstance(each, bool | int | float | Dim)]
    kind = max((_kind(each) for each in [*tensors, *numbers]), default=0)
    if stated is not None and _KINDS.index(stated.kind) >= kind:
        return stated
    if not tensors:
        return None
    ranked = [each for each in tensors if each.rank] or tensors
    best = [each.dtype for each in ranked if _kind(each) == kind]
    best = best or [each.dtype for each in tensors if _kind(each) == kind]
    if best:
        return max(best, key=lambda each: each.bits)
    return (boolean, int64, float32)[kind]


def _kind(value: Any) -> int:
    if isinstance(value, CallValue):
        return _KINDS.index(value.dtype.kind)
    return 0 if isinstance(value, bool) else 2 if isinstance(value, float) else 1


def number_in(value: float | bool, type: dtype) -> float | bool | None:
    """A Python number as one of a dtype; None where the dtype does not have it."""
    if type.kind == "float":
        return value if isinstance(value, float) else float(value)
    if type.kind == "integer":
        return int(value) if float(value).is_integer() else None
    return bool(value) if value in (0, 1) else None


class TypeDisagreement(Exception):  # noqa: N818 - a name that says what it is
    """A call gives another type than the source states."""


class StatedSizes:
    """The symbols of the source: those that have a range, and those that only data tells.

    A symbol without a range is that of a size which data decides. What a call gives stands for it
    from then on. Sizes are compared from the smallest on for which the source states types; a
    number in the place of a size that varies says nothing where the source `has_examples` there.
    """

    def __init__(
        self, ranges: Mapping[str, SizeRange], stated_from: int = 0, *, has_examples: bool = False
    ) -> None:
        self._ranges, self._stated_from = ranges, stated_from
        self._has_examples = has_examples
        self._found: dict[str, Size] = {}

    def substitute(self, value: Any) -> Any:
        """A size with those of ours for symbols that data tells; anything else as it is."""
        if isinstance(value, Dim) and not value.symbols <= self._ranges.keys():
            known = {name: self._found[name] for name in value.symbols if name in self._found}
            return value.substitute(known) if known else value
        if isinstance(value, slice):
            return slice(*map(self.substitute, (value.start, value.stop, value.step)))
        return value

    def compare(self, found: TensorType, stated: TensorType) -> None:
        """Compare a type with the one that the source states; widths of integers may differ.

        Raises:
            TypeDisagreement: They are not the same.
        """
        if found.dtype is not stated.dtype and not are_integers(found.dtype, stated.dtype):
            raise _disagreement(found, stated)
        if found.rank != stated.rank:
            raise _disagreement(found, stated)
        for ours, theirs in zip(found.shape, stated.shape, strict=True):
            if not self._same(ours, self.substitute(theirs)):
                raise _disagreement(found, stated)

    def _same(self, ours: Size, theirs: Size) -> bool:
        """Whether two sizes are one, for all sizes in their ranges."""
        if isinstance(theirs, Dim) and not theirs.symbols <= self._ranges.keys():
            if theirs.name is not None:
                self._found[theirs.name] = ours
            return True  # nothing is stated of a size that data decides
        if isinstance(ours, Dim) and not ours.symbols <= self._ranges.keys():
            return _may_be(ours, theirs)  # the source knows its data
        if self._has_examples and isinstance(ours, Dim) and not isinstance(theirs, Dim):
            return True  # a number may be that of an example
        alike = ours == theirs
        if isinstance(alike, bool):
            return alike
        return self._same_at_samples(ours, theirs)

    def _same_at_samples(self, ours: Size, theirs: Size) -> bool:
        """Whether two sizes, whose forms do not tell, are equal wherever they are computed."""
        symbols = sorted(_symbols(ours) | _symbols(theirs))
        if any(name not in self._ranges for name in symbols):
            return False
        axes = [_samples(self._ranges[name], self._stated_from) for name in symbols]
        compared = 0
        for _, point in zip(range(MOST_POINTS), product(*axes), strict=False):
            sizes = dict(zip(symbols, point, strict=True))
            try:
                stated = _at(theirs, sizes)
            except ZeroDivisionError:  # the source cannot have this size there
                continue
            except (UndecidedSize, ValueError):
                return False
            if not _is_at(ours, sizes, stated):
                return False
            compared += 1
        return compared > 0


def are_integers(*types: dtype) -> bool:
    """Whether all are dtypes of integers."""
    return all(each.kind == "integer" for each in types)


def is_lower_kind(type: dtype, other: dtype) -> bool:
    """Whether a cast of the other dtype to this one changes values: floats to integers, for one."""
    return _KINDS.index(type.kind) < _KINDS.index(other.kind)


def _disagreement(found: TensorType, stated: TensorType) -> TypeDisagreement:
    return TypeDisagreement(f"it is read as {found}, and the source states {stated}")


def _may_be(ours: Dim, theirs: Size) -> bool:
    """Whether a size that data decides can be another one."""
    if isinstance(theirs, Dim):
        return True
    return (ours.low or 0) <= theirs and (ours.high is None or theirs <= ours.high)


def _symbols(size: Size) -> frozenset[str]:
    return size.symbols if isinstance(size, Dim) else frozenset()


def _at(size: Size, sizes: Mapping[str, int]) -> Size:
    return size.substitute(sizes) if isinstance(size, Dim) else size


def _is_at(size: Size, sizes: Mapping[str, int], stated: Size) -> bool:
    """Whether a size has this value for the sizes of symbols."""
    try:
        return bool(_at(size, sizes) == stated)
    except (UndecidedSize, ValueError, ZeroDivisionError):
        return False


def _samples(range_: SizeRange, least: int) -> list[int]:
    """Some sizes of a range, of which its bounds are the first and the last.

    Those below `least` are left out where there are others.
    """
    step = range_.multiple_of
    last = range_.max if range_.max is not None else range_.min + 97 * step
    first = range_.min + max(-((range_.min - least) // step), 0) * step
    first = first if first <= last else range_.min
    count = (last - first) // step
    places = sorted({count * index // (SAMPLES - 1) for index in range(SAMPLES)})
    return [first + place * step for place in places]
