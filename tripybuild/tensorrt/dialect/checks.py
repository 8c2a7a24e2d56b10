"""Verifier traits: constraints between operands, attributes and results.

Invariant: each is a function from an operation to a problem or None, in MLIR's words; an operation
lists them in `CHECKS`, those that MLIR checks with the declaration (`all_match`) first.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from tripybuild.tensorrt.dialect.base import Component, TensorrtOperation, element, sizes
from tripybuild.tensorrt.dialect.problem import OpProblem
from tripybuild.tensorrt.shape_rules import ShapeError, compatible

Check = Callable[[TensorrtOperation], OpProblem | None]
Checks = tuple[Check, ...]

_ASPECTS: dict[str, Callable[[Attribute], object]] = {
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

    def check(op: TensorrtOperation) -> OpProblem | None:
        found = {read(each) for name in fields for each in _types(getattr(op, name))}
        return OpProblem(message) if len(found) > 1 else None

    return check


def same_element_type(*, results: bool) -> Check:
    """All operands (and results) have the same element type."""
    message = "requires the same element type for all operands" + " and results" * results

    def check(op: TensorrtOperation) -> OpProblem | None:
        values = [*op.operands, *(op.results if results else ())]
        return OpProblem(message) if len({element(value) for value in values}) > 1 else None

    return check


def matches_inference(op: TensorrtOperation) -> OpProblem | None:
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


def _mismatch(component: Component, given: Attribute) -> str | None:
    inferred, kind = component.sizes, component.element
    if inferred is not None and not compatible(inferred, sizes(given)):
        shape = "x".join("?" if size is None else str(size) for size in inferred)
        return f"type {given} but inferred tensor of shape <{shape}>"
    if kind is not None and kind != element(given):
        return f"element type '{element(given)}' but inferred element type'{kind}'"
    return None


PARTIALLY_INFERRED: Check = matches_inference
SAME_OPERANDS_ELEMENT_TYPE = same_element_type(results=False)
SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE = same_element_type(results=True)


def _types(field: object) -> Iterator[Attribute]:
    if isinstance(field, SSAValue):
        yield field.type
    elif isinstance(field, Sequence):
        yield from (each.type for each in field)
    elif field is not None:
        kind = getattr(field, "type", None) or getattr(field, "get_type", lambda: None)()
        assert isinstance(kind, TensorType)
        yield kind
