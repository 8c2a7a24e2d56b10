"""What a compiled function takes: dtypes, and sizes that are numbers or ranges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tripybuild.diagnostics import Diagnostic, DiagnosticError
from tripybuild.frontend.tensor import PACKAGES
from tripybuild.trace.location import here
from tripybuild.types.dtypes import dtype as DType  # noqa: N812 - it is a class

THREE = 3  # the least, the best and the greatest size


@dataclass(frozen=True)
class Bounds:
    """The least size of a dimension, the one to be fastest for, and the greatest."""

    min: int
    opt: int
    max: int

    def __post_init__(self) -> None:
        if not 0 <= self.min <= self.opt <= self.max:
            three = (self.min, self.opt, self.max)
            raise _refused(f"{three} is no least, best and greatest size")

    def is_static(self) -> bool:
        """Whether there is one size only."""
        return self.min == self.max


@dataclass(frozen=True, init=False)
class NamedDimension:
    """A dimension with a name: all of one name have one size in a call."""

    name: str
    bounds: Bounds

    def __init__(self, name: str, min: int, opt: int, max: int) -> None:
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


@dataclass(frozen=True, init=False)
class InputInfo:
    """A tensor that a compiled function takes.

    Args:
        shape: Each size: a number, `(min, opt, max)`, or a `NamedDimension`.
        dtype: The type of the elements.

    Raises:
        DiagnosticError: A size is none of these.
    """

    shape_bounds: tuple[Bounds, ...]
    dtype: DType
    dimension_names: Mapping[int, str]

    def __init__(self, shape: Sequence[Any], dtype: DType) -> None:
        if not isinstance(dtype, DType):
            raise _refused(f"`dtype` of `InputInfo` must be a dtype, and not {dtype!r}")
        names = {i: s.name for i, s in enumerate(shape) if isinstance(s, NamedDimension)}
        object.__setattr__(self, "shape_bounds", tuple(_bounds(shape)))
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "dimension_names", names)

    def __str__(self) -> str:
        sizes = [
            str(each.min) if each.is_static() else f"({each.min}, {each.opt}, {each.max})"
            for each in self.shape_bounds
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

    value_bounds: Bounds

    def __init__(self, value_bounds: Any) -> None:
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


def _bounds(shape: Sequence[Any], whose: str | None = None) -> Iterator[Bounds]:
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
