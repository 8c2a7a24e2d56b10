"""The range of a dynamic size: `min`, `opt` and `max`, in steps of `multiple_of`.

Invariant: the `ranges:` of a model, the infos of a compiled function, optimization profiles and the
manifest of an executable all hold the sizes of one dimension as a `SizeRange`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import lcm
from typing import Self

from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError, Span
from tripybuild.symbolic.dims import Dim, symbol


@dataclass(frozen=True, slots=True)
class SizeRange:
    """The sizes of a dynamic dimension; `opt` is the one to be fastest for.

    `max` is None where there is no limit.
    """

    min: int
    opt: int
    max: int | None
    multiple_of: int = 1

    @classmethod
    def of(cls, size: int) -> Self:
        """Give the range of one size alone."""
        return cls(size, size, size)

    @classmethod
    def from_json(cls, data: Mapping[str, int | None]) -> Self:
        """Read what `to_json` gave."""
        return cls(data["min"] or 0, data["opt"] or 0, data["max"], data["multiple_of"] or 1)

    def to_json(self) -> dict[str, int | None]:
        """Give the range as a manifest holds it."""
        return asdict(self)

    def is_static(self) -> bool:
        """Whether there is one size only."""
        return self.min == self.max

    def bounds_text(self) -> str:
        """The bounds as a Python program writes them: `(1, 4, 8)`."""
        return f"({self.min}, {self.opt}, {self.max})"

    def __str__(self) -> str:
        top = "" if self.max is None else f", max {self.max}"
        step = "" if self.multiple_of == 1 else f", multiple_of {self.multiple_of}"
        return f"min {self.min}, opt {self.opt}{top}{step}"

    def problem(self, name: str) -> str | None:
        """Say what is wrong with the bounds of a size of this name, if anything is."""
        bounds = [each for each in (0, self.min, self.opt, self.max) if each is not None]
        if self.multiple_of < 1:
            return f"`multiple_of` of `{name}` must be at least 1, but is {self.multiple_of}"
        if bounds != sorted(bounds):
            return f"`{name}` needs 0 <= min <= opt <= max, but has {self}"
        if any(each % self.multiple_of for each in bounds):
            return f"the bounds of `{name}` must be multiples of {self.multiple_of}"
        return None

    def contains(self, size: int) -> bool:
        """Whether a size is in the range."""
        above = self.max is not None and size > self.max
        return not (size < self.min or above or size % self.multiple_of)

    def violation(self, name: str, size: object) -> str | None:
        """Say why this is no size of a dimension of this name, or None where it is one."""
        found = size if isinstance(size, int) and not isinstance(size, bool) else -1
        if self.contains(found):
            return None
        limits = f"between {self.min} and {self.max}"
        if self.max is None:
            limits = f"at least {self.min}"
        if replace(self, multiple_of=1).contains(found):
            limits = f"a multiple of {self.multiple_of}"
        return f"`{name}` must be {limits}, but is {size}"

    def check(self, name: str, size: object, span: Span | None = None) -> None:
        """Check a size of a dimension of this name.

        Raises:
            DiagnosticError: It is not in the range, or no integer.
        """
        if text := self.violation(name, size):
            raise DiagnosticError(Diagnostic("size-out-of-range", text, span))

    def intersect(self, other: Self) -> Self:
        """Give the range of the sizes that both have; `opt` is this one's, moved into it."""
        lowest = max(self.min, other.min)
        highest = min((e for e in (self.max, other.max) if e is not None), default=None)
        opt = max(self.opt, lowest)
        opt = opt if highest is None else min(opt, highest)
        return type(self)(lowest, opt, highest, lcm(self.multiple_of, other.multiple_of))

    def bucket(self, buckets: Sequence[int], size: int) -> "SizeRange":
        """Give the sizes that share a program with one of them: they are padded to the largest.

        None and one stand alone, since a dimension of one element is repeated beside others.

        Args:
            buckets: The sizes that programs are for, ascending; without any, each has its own.
            size: A size in the range.
        """
        last = next((each for each in buckets if each >= size), size)
        if size < 2 or not buckets:
            return SizeRange.of(size)
        first = max(self.min, 2, *(each + 1 for each in buckets if each < size))
        first += -first % self.multiple_of
        return replace(self, min=first, opt=last, max=last)

    def powers_of_two(self, most: int) -> list[int]:
        """Give powers of two in the range, with its largest size behind them."""
        powers = (1 << bits for bits in range(most.bit_length()))
        return [each for each in powers if self.contains(each) and each < most] + [most]

    def symbol(self, name: str) -> Dim:
        """Give the symbol of a size in this range.

        Raises:
            ValueError: It cannot have this name.
        """
        return symbol(name, self.min, self.max, self.multiple_of)
