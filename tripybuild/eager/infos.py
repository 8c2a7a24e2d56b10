"""What a compiled function takes: dtypes, and sizes that are numbers or ranges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, SupportsIndex, TypeVar

from tripybuild.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.trace.location import here
from tripybuild.types.dtypes import dtype as DType  # noqa: N812 - it is a class
from tripybuild.types.shapes import is_int

THREE = 3  # the least, the best and the greatest size
Sizes = TypeVar("Sizes", int, tuple[int, ...])


@dataclass(frozen=True)
class Bounds(Generic[Sizes]):
    """The least size, the one to be fastest for, and the greatest: of a dimension, or of each.

    Args:
        min: The least size, or those of a shape.
        opt: The size to be fastest for, or those of a shape.
        max: The greatest size, or those of a shape.

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
            raise _refused(f"{tuple(three)} is no least, best and greatest size")

    def is_static(self) -> bool:
        """Whether there is one size only."""
        return self.min == self.max


def _in_order(*three: Any) -> bool:
    least, best, greatest = three
    return all(map(is_int, three)) and 0 <= least <= best <= greatest


@dataclass(frozen=True, init=False)
class NamedDimension:
    """A dimension with a name: all of one name have one size in a call."""

    name: str
    bounds: Bounds[int]

    def __init__(self, name: str, min: int, opt: int, max: int) -> None:
        if not isinstance(name, str):
            raise _refused(f"the name of a `NamedDimension` is a text, and not {name!r}")
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "bounds", Bounds(min, opt, max))

    @property
    def min(self) -> int:
        """The least size."""
        return self.bounds.min

    @property
    def opt(self) -> int:
        """The size to be fastest for."""
        return self.bounds.opt

    @property
    def max(self) -> int:
        """The greatest size."""
        return self.bounds.max

    def __str__(self) -> str:
        return f"{self.name}: ({self.min}, {self.opt}, {self.max})"


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

    shape_bounds: Bounds[tuple[int, ...]]
    dtype: DType
    dimension_names: Mapping[int, str]

    def __init__(
        self, shape: Sequence[SupportsIndex | Three | NamedDimension], dtype: DType
    ) -> None:
        if not isinstance(dtype, DType):
            raise _refused(f"`dtype` of `InputInfo` must be a dtype, and not {dtype!r}")
        if isinstance(shape, str) or not isinstance(shape, Sequence):
            raise _refused(f"`shape` of `InputInfo` must be a sequence of sizes, and not {shape!r}")
        names = {i: s.name for i, s in enumerate(shape) if isinstance(s, NamedDimension)}
        several = list(_bounds(shape))
        least, best = tuple(each.min for each in several), tuple(each.opt for each in several)
        bounds = Bounds(least, best, tuple(each.max for each in several))
        object.__setattr__(self, "shape_bounds", bounds)
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "dimension_names", names)

    @property
    def size_bounds(self) -> tuple[Bounds[int], ...]:
        """The bounds of each size by itself."""
        whole = self.shape_bounds
        return tuple(map(Bounds[int], whole.min, whole.opt, whole.max))

    def __str__(self) -> str:
        sizes = [
            str(each.min) if each.is_static() else f"({each.min}, {each.opt}, {each.max})"
            for each in self.size_bounds
        ]
        return f"InputInfo([{', '.join(sizes)}], {self.dtype})"


@dataclass(frozen=True, init=False)
class DimensionInputInfo:
    """A size that a compiled function takes as an argument: a `DimensionSize` in the function.

    Args:
        value_bounds: The least value, the one to be fastest for, and the greatest.

    Raises:
        DiagnosticError: These are no three sizes in order.
    """

    value_bounds: Bounds[int]

    def __init__(self, value_bounds: Three) -> None:
        (bounds,) = _bounds([value_bounds], "`value_bounds` of `DimensionInputInfo`")
        object.__setattr__(self, "value_bounds", bounds)

    def __str__(self) -> str:
        bounds = self.value_bounds
        return f"DimensionInputInfo(({bounds.min}, {bounds.opt}, {bounds.max}))"


@dataclass(frozen=True)
class OutputInfo:
    """A tensor that a compiled function gives: sizes that depend on the inputs' are texts."""

    shape: tuple[int | str, ...]
    dtype: DType

    def __str__(self) -> str:
        return f"OutputInfo([{', '.join(map(str, self.shape))}], {self.dtype})"


Info = InputInfo | DimensionInputInfo


def _bounds(shape: Sequence[Any], whose: str | None = None) -> Iterator[Bounds[int]]:
    for place, size in enumerate(shape):
        if isinstance(size, NamedDimension) and whose is None:
            yield size.bounds
            continue
        several = tuple(size) if isinstance(size, (tuple, list)) else (size,) * THREE
        numbers = [each.__index__() for each in several if hasattr(each, "__index__")]
        if len(several) != THREE or len(numbers) != THREE or isinstance(several[0], bool):
            message = f"{whose or f'size {place} of `InputInfo`'} is {size!r}"
            hint = "give a number, (min, opt, max), or a NamedDimension"
            hint = "give (min, opt, max)" if whose else hint
            raise _refused(message, hint)
        yield Bounds(*numbers)


def _refused(message: str, hint: str | None = None) -> DiagnosticError:
    return DiagnosticError(Diagnostic("wrong-value", message, here(PACKAGES).span(), hint=hint))
