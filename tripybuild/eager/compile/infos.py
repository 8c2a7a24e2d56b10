"""Input infos: dtypes, and sizes that are fixed or ranges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Generic, SupportsIndex, TypeVar

from tripybuild.errors.diagnostics import DiagnosticError
from tripybuild.frontend.checks.argument_error import (
    argument_error,
    caller_diagnostic,
    dtype_argument,
)
from tripybuild.types.dtypes import dtype as DType  # noqa: N812 - it is a class
from tripybuild.types.shapes import is_int
from tripybuild.types.size_range import SizeRange

HINT = "a size that varies is (min, opt, max)"
THREE = 3  # min, opt and max
Sizes = TypeVar("Sizes", int, tuple[int, ...])


@dataclass(frozen=True)
class Bounds(Generic[Sizes]):
    """The min, opt and max of a size, or of each size of a shape; `opt` is to be fastest for.

    Args:
        min: The smallest size, or those of a shape.
        opt: The size to be fastest for, or those of a shape.
        max: The largest size, or those of a shape.

    Raises:
        DiagnosticError: Sizes are out of order, are no integers, or are not equally many.
    """

    min: Sizes
    opt: Sizes
    max: Sizes

    def __post_init__(self) -> None:
        three: list[Any] = [self.min, self.opt, self.max]
        shapes = [each if isinstance(each, tuple) else (each,) for each in three]
        kinds = {(type(each), len(shape)) for each, shape in zip(three, shapes, strict=True)}
        if len(kinds) != 1 or not all(map(_in_order, *shapes)):
            message = f"{tuple(three)} is not a valid (min, opt, max) triple"
            hint = "they are integers: 0 <= min <= opt <= max"
            raise DiagnosticError(caller_diagnostic("wrong-value", message, hint))

    def is_static(self) -> bool:
        """Whether there is one size only."""
        return self.min == self.max


def _is_size(given: object) -> bool:
    return is_int(given) or isinstance(given, NamedDimension)


def _in_order(*three: Any) -> bool:
    return all(map(is_int, three)) and [0, *three] == sorted([0, *three])


@dataclass(frozen=True, init=False)
class NamedDimension:
    """A dimension with a name: all of one name have one size in a call.

    Args:
        name: The name.
        min: The smallest size.
        opt: The size to be fastest for.
        max: The largest size.

    Raises:
        DiagnosticError: The name is no text, or these are no three sizes in order.
    """

    name: str
    range: SizeRange

    def __init__(self, name: str, min: int, opt: int, max: int) -> None:
        if not isinstance(name, str):
            raise argument_error("NamedDimension", "name", "a string", name)
        object.__setattr__(self, "name", name)
        Bounds(min, opt, max)
        object.__setattr__(self, "range", SizeRange(min, opt, max))

    @property
    def min(self) -> int:
        """The smallest size."""
        return self.range.min

    @property
    def opt(self) -> int:
        """The size to be fastest for."""
        return self.range.opt

    @property
    def max(self) -> int:
        """The largest size."""
        return self.range.max or 0

    def __str__(self) -> str:
        return f"{self.name}: {self.range.bounds_text()}"


Three = tuple[SupportsIndex, SupportsIndex, SupportsIndex]


@dataclass(frozen=True, init=False)
class InputInfo:
    """A tensor that a compiled function takes.

    Args:
        shape: Each size: a number, `(min, opt, max)`, or a `NamedDimension`.
        dtype: The type of the elements.

    Raises:
        DiagnosticError: A size is none of these.
    """

    ranges: tuple[SizeRange, ...]
    dtype: DType
    dimension_names: Mapping[int, str]

    def __init__(
        self, shape: Sequence[SupportsIndex | Three | NamedDimension], dtype: DType
    ) -> None:
        if isinstance(shape, DType):
            hint = "the shape comes first: `tp.InputInfo(shape, dtype)`"
            raise argument_error("InputInfo", "shape", "a sequence of sizes", shape, hint)
        if not isinstance(dtype, DType):
            dtype = dtype_argument("InputInfo", "dtype", dtype)
        if isinstance(shape, str) or not isinstance(shape, Sequence):
            hint = "put it into a list: `[...]`" if _is_size(shape) else None
            raise argument_error("InputInfo", "shape", "a sequence of sizes", shape, hint)
        names = {i: s.name for i, s in enumerate(shape) if isinstance(s, NamedDimension)}
        object.__setattr__(self, "ranges", tuple(_ranges(shape)))
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "dimension_names", names)

    @property
    def shape_bounds(self) -> Bounds[tuple[int, ...]]:
        """The min, opt and max of the shape."""
        triples = ((each.min, each.opt, each.max or 0) for each in self.ranges)
        return Bounds(*(zip(*triples, strict=True) if self.ranges else ((), (), ())))

    def __str__(self) -> str:
        sizes = [str(each.min) if each.is_static() else each.bounds_text() for each in self.ranges]
        return f"InputInfo([{', '.join(sizes)}], {self.dtype})"


@dataclass(frozen=True, init=False)
class DimensionInputInfo:
    """A size that a compiled function takes as an argument: a `DimensionSize` in the function.

    Args:
        value_bounds: The smallest value, the one to be fastest for, and the largest.

    Raises:
        DiagnosticError: These are no three sizes in order.
    """

    range: SizeRange

    def __init__(self, value_bounds: Three) -> None:
        wanted = "a number or (min, opt, max)"
        found = _parse_range("DimensionInputInfo", "value_bounds", wanted, value_bounds)
        object.__setattr__(self, "range", found)

    @property
    def value_bounds(self) -> Bounds[int]:
        """The min, opt and max of the value."""
        return Bounds(self.range.min, self.range.opt, self.range.max or 0)

    def __str__(self) -> str:
        return f"DimensionInputInfo({self.range.bounds_text()})"


@dataclass(frozen=True)
class OutputInfo:
    """A tensor that a compiled function gives: sizes that depend on the inputs' are texts."""

    shape: tuple[int | str, ...]
    dtype: DType

    def __str__(self) -> str:
        return f"OutputInfo([{', '.join(map(str, self.shape))}], {self.dtype})"


Info = InputInfo | DimensionInputInfo


def _ranges(shape: Sequence[Any]) -> Iterator[SizeRange]:
    """The range of each size of an `InputInfo`."""
    for place, size in enumerate(shape):
        if isinstance(size, NamedDimension):
            yield size.range
        else:
            wanted = "a number, (min, opt, max) or a NamedDimension"
            yield _parse_range("InputInfo", "shape", wanted, size, place)


def _integer(given: Any) -> int | None:
    """The integer that something is; an array of one has the method, and may be none."""
    try:
        return index(given)
    except (TypeError, ValueError):
        return None


def _parse_range(owner: str, argument: str, wanted: str, size: Any, *path: int) -> SizeRange:
    """The range that a number or three numbers in an argument stand for."""
    three = tuple(size) if isinstance(size, (tuple, list)) else (size,) * THREE
    numbers = [number for number in map(_integer, three) if number is not None]
    if len(three) != THREE or len(numbers) != THREE or isinstance(three[0], bool):
        hint = HINT if size is None or len(three) != THREE else None
        if isinstance(size, str) and path:
            hint = f"a size with a name is `tp.NamedDimension({size!r}, min, opt, max)`"
        raise argument_error(owner, argument, wanted, size, hint, path=path, code="wrong-value")
    if not _in_order(*numbers):
        wanted = (
            "(min, opt, max) in their order"
            if isinstance(size, (tuple, list))
            else "no less than 0"
        )
        hint = None if isinstance(size, (tuple, list)) else HINT
        raise argument_error(owner, argument, wanted, size, hint, path=path, code="wrong-value")
    return SizeRange(*numbers)
