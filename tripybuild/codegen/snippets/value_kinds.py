"""Kinds of snippet values: tensors, lists with tensors, or plain data.

Invariant: a kind holds all that a value can be. None is no kind of its own: it is what is left out.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce


@dataclass(frozen=True, slots=True)
class ValueKind:
    """What a value can be.

    Args:
        tensor: Whether it can be a tensor.
        other: Whether it can be something without tensors: a size, a dtype, a list of numbers.
        items: What the items are, where it can be a list with tensors.
        fields: What each of the items is, where that is known.
    """

    tensor: bool = False
    other: bool = False
    items: "ValueKind | None" = None
    fields: "tuple[ValueKind, ...] | None" = None

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

    def __or__(self, another: "ValueKind") -> "ValueKind":
        """What is of the one kind or of the other."""
        if another in (self, NONE):
            return self
        if self == NONE:
            return another
        items = [each.items for each in (self, another) if each.items is not None]
        tensor, other = self.tensor or another.tensor, self.other or another.other
        return ValueKind(tensor, other, any_of(items) if items else None)

    def item(self, index: int | None = None) -> "ValueKind":
        """What an item is: that at an index, or any. The rows of a tensor are tensors."""
        count = len(self.fields or ())
        if index is not None and self.fields is not None and -count <= index < count:
            return self.fields[index]
        found = ValueKind(self.tensor, self.other)
        return found | self.items if self.items is not None else found


NONE = ValueKind()
OTHER = ValueKind(other=True)
TENSOR = ValueKind(tensor=True)


def any_of(kinds: Iterable[ValueKind]) -> ValueKind:
    """What is of one of several kinds."""
    return reduce(ValueKind.__or__, kinds, NONE)


def list_of(kind: ValueKind) -> ValueKind:
    """A list of what is of a kind."""
    return ValueKind(items=kind) if kind.holds_tensors else OTHER


def row(*kinds: ValueKind) -> ValueKind:
    """A list of so many values, each of its kind."""
    found = any_of(kinds)
    return ValueKind(items=found, fields=kinds) if found.holds_tensors else OTHER


TENSORS = list_of(TENSOR)
# What a call of an operator gives: how many tensors, its declaration says.
RESULT = TENSOR | TENSORS
