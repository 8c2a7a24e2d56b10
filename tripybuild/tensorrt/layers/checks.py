"""Verifier traits: constraints between operands, attributes and results.

Invariant: each is a function from an operation to a problem or None, in MLIR's words; an operation
lists them in `CHECKS`, those that MLIR checks with the declaration (`all_match`) first.
"""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tripybuild.tensorrt.layers.operation import Component, OpProblem, element, sizes
from tripybuild.tensorrt.shape_rules import MaybeSize, ShapeError, compatible, differ

if TYPE_CHECKING:
    from xdsl.ir import Attribute

    from tripybuild.tensorrt.dialect.base import TensorrtOperation

Check = Callable[[Any], OpProblem | None]
Checks = tuple[Check, ...]

_ASPECTS: dict[str, Callable[[Any], object]] = {
    "type": lambda given: given,
    "rank": lambda given: len(sizes(given)),
    "element type": element,
    "shape": sizes,
}


def all_match(aspect: str, *names: str) -> Check:
    """Fields have the same `type`, `rank`, `element type` or `shape`; absent ones do not count.

    The names are NVIDIA's (`thenInput`), since the message shows them.
    """
    read = _ASPECTS[aspect]
    fields = [re.sub("([A-Z])", r"_\1", name).lower() for name in names]
    message = f"failed to verify that all of {{{', '.join(names)}}} have same {aspect}"

    def check(op: "TensorrtOperation") -> OpProblem | None:
        found = {read(each) for name in fields for each in _types(getattr(op, name))}
        return OpProblem(message) if len(found) > 1 else None

    return check


def same_element_type(*, results: bool) -> Check:
    """All operands (and results) have the same element type."""
    message = "requires the same element type for all operands" + " and results" * results

    def check(op: "TensorrtOperation") -> OpProblem | None:
        values = [*op.operands, *(op.results if results else ())]
        return OpProblem(message) if len({element(value) for value in values}) > 1 else None

    return check


def matches_inference(op: "TensorrtOperation") -> OpProblem | None:
    """The results are what inference knows about them."""
    try:
        components = op.components() or ()
    except ShapeError as error:
        return OpProblem(str(error), op_name_first=False)
    for index, (component, given) in enumerate(zip(components, op.result_types, strict=False)):
        message = _mismatch(component, given)
        if message is not None:
            return OpProblem(f"result {index} has {message}")
    return None


def _mismatch(component: Component, given: "Attribute") -> str | None:
    inferred, kind = component.sizes, component.element
    shape_of_type = sizes(given)
    if inferred not in (None, shape_of_type) and not compatible(inferred, shape_of_type):
        shape = "x".join("?" if size is None else str(size) for size in inferred)
        return f"type {given} but inferred tensor of shape <{shape}>"
    if kind is not None and kind != element(given):
        return f"element type '{element(given)}' but inferred element type'{kind}'"
    return None


PARTIALLY_INFERRED: Check = matches_inference
SAME_OPERANDS_ELEMENT_TYPE = same_element_type(results=False)
SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE = same_element_type(results=True)


def _types(field: Any) -> Iterator[Any]:
    if isinstance(field, tuple):
        yield from (each.type for each in field)
    elif field is not None:
        yield field.type if hasattr(field, "type") else field.get_type()


# What verifiers of the `trtx` dialect share.


def check_same_types(op: "TensorrtOperation", first: str, *others: str) -> Iterator[str]:
    """Operands have the element type of the first: TensorRT converts nothing."""
    wanted = element(getattr(op, first))
    for name in others:
        given = element(getattr(op, name))
        if given != wanted:
            yield f"{name} has element type '{given}', but {first} has '{wanted}'"


def check_rank(op: "TensorrtOperation", name: str, rank: int, why: str = "") -> Iterator[str]:
    """An operand has so many dimensions."""
    given = len(sizes(getattr(op, name)))
    if given != rank:
        yield f"expected {name} to be of rank {rank}{why}, but it is of rank {given}"


def check_min_rank(op: "TensorrtOperation", name: str, rank: int) -> Iterator[str]:
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
