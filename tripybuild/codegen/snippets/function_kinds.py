"""Result kinds of snippet functions that take tensors."""

from collections.abc import Callable, Mapping

from tripybuild.codegen.snippets.value_kinds import (
    OTHER,
    RESULT,
    TENSOR,
    ValueKind,
    any_of,
    list_of,
    row,
)


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
