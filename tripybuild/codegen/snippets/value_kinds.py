"""Kinds of snippet values: tensors, lists with tensors, or plain data.

Invariant: a kind holds all that a value can be. None is no kind of its own: it is what is left out.
"""

from collections.abc import Callable, Iterable, Mapping
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
        function: What it gives, where it is a function of the snippet.
    """

    tensor: bool = False
    other: bool = False
    items: "ValueKind | None" = None
    fields: "tuple[ValueKind, ...] | None" = None
    function: "ValueKind | None" = None

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


def result_kind(name: str, given: list[ValueKind]) -> ValueKind:
    """What a function gives for arguments of some kinds."""
    read = _GIVES.get(name)
    if read is not None:
        return read(given)
    if name in _COUNTS or not any(each.holds_tensors for each in given):
        return OTHER
    if name in _LISTS:
        return list_of(any_of(each.item() if each.is_list else each for each in given))
    return RESULT | OTHER


def arithmetic_kind(*kinds: ValueKind) -> ValueKind:
    """What arithmetic gives: a tensor, where one of its operands is one."""
    if any(each.tensor and not each.other for each in kinds):
        return TENSOR
    return TENSOR | OTHER if any(each.tensor for each in kinds) else OTHER


def _operand_kind(given: list[ValueKind]) -> ValueKind:
    return given[0] if given else OTHER


def _reversed_kind(given: list[ValueKind]) -> ValueKind:
    return list_of(given[0].item()) if given else OTHER


def _enumerate_kind(given: list[ValueKind]) -> ValueKind:
    return list_of(row(OTHER, given[0].item())) if given else OTHER


def _zip_kind(given: list[ValueKind]) -> ValueKind:
    return list_of(row(*(each.item() for each in given)))


def _sum_kind(given: list[ValueKind]) -> ValueKind:
    return arithmetic_kind(*(each.item() for each in given)) if given else OTHER


_GIVES: Mapping[str, Callable[[list[ValueKind]], ValueKind]] = {
    "list": _operand_kind,
    "tuple": _operand_kind,
    "reversed": _reversed_kind,
    "enumerate": _enumerate_kind,
    "zip": _zip_kind,
    "sum": _sum_kind,
}
# The functions that give numbers, whatever is in a list, and those that hand on what is there.
_COUNTS = frozenset({"count", "is_int", "len"})
_LISTS = frozenset({"drop", "insert", "replace", "select"})
