"""Operand checks shared by the verifiers of the `trtx` dialect."""

from collections.abc import Iterator

from tripybuild.tensorrt.dialect.base import TensorrtOperation, element, sizes
from tripybuild.tensorrt.shape_rules import MaybeSize, differ


def check_same_types(op: TensorrtOperation, first: str, *others: str) -> Iterator[str]:
    """Operands have the element type of the first: TensorRT converts nothing."""
    wanted = element(getattr(op, first))
    for name in others:
        given = element(getattr(op, name))
        if given != wanted:
            yield f"{name} has element type '{given}', but {first} has '{wanted}'"


def check_rank(op: TensorrtOperation, name: str, rank: int, why: str = "") -> Iterator[str]:
    """An operand has so many dimensions."""
    given = len(sizes(getattr(op, name)))
    if given != rank:
        yield f"expected {name} to be of rank {rank}{why}, but it is of rank {given}"


def check_min_rank(op: TensorrtOperation, name: str, rank: int) -> Iterator[str]:
    """An operand has so many dimensions or more."""
    given = len(sizes(getattr(op, name)))
    if given < rank:
        yield f"expected {name} to be of rank {rank} or more, but it is of rank {given}"


def check_equal_sizes(name: str, what: str, given: MaybeSize, wanted: MaybeSize) -> Iterator[str]:
    """Two sizes are the same, as far as they are known."""
    if differ(given, wanted):
        yield f"expected {name} to have {what} {wanted}, but got {given}"


def check_range(name: str, given: float, low: float, high: float) -> Iterator[str]:
    """A number is in a range."""
    if not low <= given <= high:
        yield f"`{name}` is {given:g}, but must be from {low:g} to {high:g}"
