"""What the functions of snippets give, where tensors are among what they are given."""

from collections.abc import Callable, Mapping

from tripybuild.codegen.snippets.kinds import OTHER, RESULT, TENSOR, Kind, any_of, row, several


def given_by(name: str, given: list[Kind]) -> Kind:
    """What a function gives for arguments of some kinds."""
    read = _GIVES.get(name)
    if read is not None:
        return read(given)
    if name in _COUNTS or not any(each.holds_tensors for each in given):
        return OTHER
    if name in _LISTS:
        return several(any_of(each.item() if each.is_list else each for each in given))
    return RESULT | OTHER


def computed(*kinds: Kind) -> Kind:
    """What arithmetic gives: a tensor, where one of its operands is one."""
    if any(each.tensor and not each.other for each in kinds):
        return TENSOR
    return TENSOR | OTHER if any(each.tensor for each in kinds) else OTHER


def _same(given: list[Kind]) -> Kind:
    return given[0] if given else OTHER


def _reversed(given: list[Kind]) -> Kind:
    return several(given[0].item()) if given else OTHER


def _enumerated(given: list[Kind]) -> Kind:
    return several(row(OTHER, given[0].item())) if given else OTHER


def _zipped(given: list[Kind]) -> Kind:
    return several(row(*(each.item() for each in given)))


def _summed(given: list[Kind]) -> Kind:
    return computed(*(each.item() for each in given)) if given else OTHER


_GIVES: Mapping[str, Callable[[list[Kind]], Kind]] = {
    "list": _same,
    "tuple": _same,
    "reversed": _reversed,
    "enumerate": _enumerated,
    "zip": _zipped,
    "sum": _summed,
}
# The functions that give numbers, whatever is in a list, and those that hand on what is there.
_COUNTS = frozenset({"count", "is_int", "len"})
_LISTS = frozenset({"drop", "insert", "replace", "select"})
