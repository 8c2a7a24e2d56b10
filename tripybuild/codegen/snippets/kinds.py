"""What the values of a snippet can be: tensors, lists with tensors, or something else.

Law: a kind holds all that a value can be. None is no kind of its own: it is what is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce


@dataclass(frozen=True, slots=True)
class Kind:
    """What a value can be.

    Args:
        tensor: Whether it can be a tensor.
        other: Whether it can be something without tensors: a size, a dtype, a list of numbers.
        items: What the items are, where it can be a list with tensors.
        fields: What each of the items is, where that is known.
    """

    tensor: bool = False
    other: bool = False
    items: "Kind | None" = None
    fields: "tuple[Kind, ...] | None" = None

    @property
    def holds_tensors(self) -> bool:
        """Whether it can be a tensor, or hold one."""
        return self.tensor or self.items is not None

    @property
    def only_tensors(self) -> bool:
        """Whether it cannot be without tensors."""
        return self.holds_tensors and not self.other

    @property
    def is_list(self) -> bool:
        """Whether it can be nothing but a list with tensors."""
        return self.items is not None and not self.tensor and not self.other

    def __or__(self, another: "Kind") -> "Kind":
        """What is of the one kind or of the other."""
        if another in (self, NONE):
            return self
        if self == NONE:
            return another
        items = [each.items for each in (self, another) if each.items is not None]
        tensor, other = self.tensor or another.tensor, self.other or another.other
        return Kind(tensor, other, any_of(items) if items else None)

    def item(self, index: int | None = None) -> "Kind":
        """What an item is: that at an index, or any. The rows of a tensor are tensors."""
        count = len(self.fields or ())
        if index is not None and self.fields is not None and -count <= index < count:
            return self.fields[index]
        found = Kind(self.tensor, self.other)
        return found | self.items if self.items is not None else found


NONE = Kind()
OTHER = Kind(other=True)
TENSOR = Kind(tensor=True)


def any_of(kinds: Iterable[Kind]) -> Kind:
    """What is of one of several kinds."""
    return reduce(Kind.__or__, kinds, NONE)


def several(kind: Kind) -> Kind:
    """A list of what is of a kind."""
    return Kind(items=kind) if kind.holds_tensors else OTHER


def row(*kinds: Kind) -> Kind:
    """A list of so many values, each of its kind."""
    found = any_of(kinds)
    return Kind(items=found, fields=kinds) if found.holds_tensors else OTHER


TENSORS = several(TENSOR)
# What a call of an operator gives: how many tensors, its declaration says.
RESULT = TENSOR | TENSORS
